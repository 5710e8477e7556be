package metric

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
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
	// Thresholds are, at the positions from the second one on, the probabilities of the class from which rows are predicted
	// as the class: short decimals between two probabilities, at last 0; absent in files of earlier versions.
	Thresholds []float64 `json:"thresholds,omitempty" jsonschema:"minItems=1,maxItems=99,minimum=0,maximum=1"`
	// EffectiveRows is how many independent rows of equal weight the rows of the class count for; absent: unknown.
	EffectiveRows float64 `json:"effective_rows,omitempty" jsonschema:"minimum=0"`
	// EffectiveOthers is the same number for the rows of other classes.
	EffectiveOthers float64 `json:"effective_other_rows,omitempty" jsonschema:"minimum=0"`
}

// roc returns the ROC curve; nil without rows of the class or without other rows.
func (r *ranking) roc(t *table) *ROC {
	if r.own == 0 || r.rest == 0 {
		return nil
	}
	corners, slots := r.corners()
	points := make([]rates, len(corners))
	for i, c := range corners {
		points[i] = rates{float64(c.rest) / float64(r.rest), float64(c.own) / float64(r.own)}
	}
	c := &ROC{}
	thresholds := r.thresholds(t, slots)
	for _, i := range thinned(points, ROCPoints) {
		c.FalsePositiveRate = append(c.FalsePositiveRate, points[i].x)
		c.TruePositiveRate = append(c.TruePositiveRate, points[i].y)
		if i > 0 {
			c.Thresholds = append(c.Thresholds, thresholds[i])
		}
	}
	return c
}

// corners returns the weights of the likeliest rows, from none to all, at the points where the
// curve turns, and for each of them the highest slot of the other rows; -1 for all rows.
func (r *ranking) corners() (list []tier, slots []int) {
	list = []tier{{}}
	slots = []int{len(r.tiers)}
	var sum, step tier // all so far, and since the last corner
	for slot, t := range slices.Backward(r.tiers) {
		if t == (tier{}) {
			continue
		}
		if step != (tier{}) && !aligned(step, t) {
			list = append(list, sum)
			slots = append(slots, slot)
			step = tier{}
		}
		sum = tier{sum.own + t.own, sum.rest + t.rest}
		step = tier{step.own + t.own, step.rest + t.rest}
	}
	return append(list, sum), append(slots, -1)
}

// thresholds returns the least probability of the rows above each of the given slots, as a short decimal if possible: see
// ROC.Thresholds.
func (r *ranking) thresholds(t *table, slots []int) []float64 {
	low := slices.Repeat([]float64{2}, len(r.tiers)) // by slot: the least probability of a row
	high := make([]float64, len(r.tiers))            // and the greatest
	for i := range t.leaves {
		if t.totals[i] > 0 {
			p := t.leaves[i].Probabilities[r.class]
			slot := r.slots[i]
			low[slot], high[slot] = min(low[slot], p), max(high[slot], p)
		}
	}
	list := make([]float64, len(slots)) // the first one, for no row, is not used
	above := 2.0                        // the least probability of a row above the slot
	from := len(r.tiers)
	for i, slot := range slots {
		for from > slot+1 {
			from--
			above = min(above, low[from])
		}
		if i > 0 && slot >= 0 {
			list[i] = Between(high[slot], above)
		}
	}
	return list
}

// Between returns a number above low and below high with as few digits as possible; high, if no decimal lies there.
func Between(low, high float64) float64 {
	const digits = 17 // tell all numbers apart
	middle := float64(low/2) + float64(high/2)
	for n := range digits {
		x, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'e', n, 64), 64)
		if err == nil && low < x && x < high {
			return x
		}
	}
	return high
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
