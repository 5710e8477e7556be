package metric

import (
	"math"
	"math/bits"
	"slices"
)

// ROCPoints is the greatest number of points of a ROC curve.
const ROCPoints = 100

// ROC is the ROC curve of a class against its complement: its corners from (0, 0) to (1, 1),
// connected by straight lines. The area below them is the AUC of the class. Rows count by their
// weight. If a curve has more than ROCPoints corners, it starts with both ends, and repeatedly adds
// the corner farthest from the lines so far until it has ROCPoints corners.
type ROC struct {
	// FalsePositiveRate are the shares of the rows of other classes, ascending.
	FalsePositiveRate []float64 `json:"false_positive_rate" jsonschema:"minItems=2,maxItems=100,minimum=0,maximum=1"`
	// TruePositiveRate are the shares of the rows of the class, at the same positions.
	TruePositiveRate []float64 `json:"true_positive_rate" jsonschema:"minItems=2,maxItems=100,minimum=0,maximum=1"`
}

// roc returns the ROC curve; nil without rows of the class or without other rows.
func (r *ranking) roc() *ROC {
	if r.own == 0 || r.rest == 0 {
		return nil
	}
	corners := r.corners()
	points := make([]rates, len(corners))
	for i, c := range corners {
		points[i] = rates{float64(c.rest) / float64(r.rest), float64(c.own) / float64(r.own)}
	}
	c := &ROC{}
	for _, i := range thinned(points, ROCPoints) {
		c.FalsePositiveRate = append(c.FalsePositiveRate, points[i].x)
		c.TruePositiveRate = append(c.TruePositiveRate, points[i].y)
	}
	return c
}

// corners returns the weights of the likeliest rows, from none to all, at the points where the
// curve turns.
func (r *ranking) corners() []tier {
	list := []tier{{}}
	var sum, step tier // all so far, and since the last corner
	for _, t := range slices.Backward(r.tiers) {
		if t == (tier{}) {
			continue
		}
		if step != (tier{}) && !aligned(step, t) {
			list = append(list, sum)
			step = tier{}
		}
		sum = tier{sum.own + t.own, sum.rest + t.rest}
		step = tier{step.own + t.own, step.rest + t.rest}
	}
	return append(list, sum)
}

// aligned reports whether two steps of the curve have the same direction.
func aligned(a, b tier) bool {
	hi, lo := bits.Mul64(a.own, b.rest)
	otherHi, otherLo := bits.Mul64(a.rest, b.own)
	return hi == otherHi && lo == otherLo
}

// rates is a point of the curve.
type rates struct{ x, y float64 }

// arc is a part of a curve between two kept points.
type arc struct {
	from, to int
	worst    int     // the point in between that is farthest from the line
	distance float64 // distance of worst; -1 if there is no point in between
}

// thinned returns the positions of at most most points: see ROC. If several points are equally far,
// the first is added.
func thinned(points []rates, most int) []int {
	kept := []int{0, len(points) - 1}
	if len(points) <= most {
		kept = kept[:0]
		for i := range points {
			kept = append(kept, i)
		}
		return kept
	}
	arcs := []arc{arcOf(points, 0, len(points)-1)}
	for len(kept) < most {
		next := 0
		for i := range arcs {
			if arcs[i].distance > arcs[next].distance {
				next = i
			}
		}
		a := arcs[next]
		kept = append(kept, a.worst)
		arcs = slices.Replace(arcs, next, next+1, arcOf(points, a.from, a.worst), arcOf(points, a.worst, a.to))
	}
	slices.Sort(kept)
	return kept
}

func arcOf(points []rates, from, to int) arc {
	a := arc{from: from, to: to, distance: -1}
	dx, dy := points[to].x-points[from].x, points[to].y-points[from].y
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	for i := from + 1; i < to; i++ {
		off := float64(dx*(points[i].y-points[from].y)) - float64(dy*(points[i].x-points[from].x))
		if d := math.Abs(off) / length; d > a.distance {
			a.worst = i
			a.distance = d
		}
	}
	return a
}
