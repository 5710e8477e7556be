package leafmodel

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Model gives the class probabilities of the objects of a leaf by their codes, as its Leaf
// does by values.
type Model struct {
	Leaf *tree.LeafModel // as tree.json has it; features have the numbers of Fit's

	values   [][]float64 // by feature and code: see codeValues
	features []dataset.Feature
}

// Probabilities sets the class probabilities of object i.
func (m *Model) Probabilities(o *dataset.Objects, i int, probabilities []float64) {
	z := probabilities[:len(m.Leaf.Intercept)]
	m.score(o, i, z)
	portable.FillProbabilities(probabilities, z)
}

// score sets the scores of object i.
func (m *Model) score(o *dataset.Objects, i int, z []float64) {
	copy(z, m.Leaf.Intercept)
	for t := range m.Leaf.Terms {
		term := &m.Leaf.Terms[t]
		term.AddTo(z, m.values[term.Feature][o.Codes[term.Feature].At(i)])
	}
	if m.Leaf.Booster != nil {
		m.Leaf.Booster.AddTo(z, m.features, func(feature int) int { return o.Codes[feature].At(i) })
	}
}

// codeValues returns by code a value of each feature: the middles of bins, and NaN for
// missing values. Values of categorical features are not used.
func codeValues(features []dataset.Feature) [][]float64 {
	values := make([][]float64, len(features))
	for i := range features {
		f := &features[i]
		if f.Kind != dataset.Numeric {
			continue
		}
		for bin := range f.Bins() {
			values[i] = append(values[i], middle(f, bin))
		}
		values[i] = append(values[i], math.NaN())
	}
	return values
}

// middle returns the middle of a bin. The first and the last bin end at the range of the
// training values.
func middle(f *dataset.Feature, bin int) float64 {
	low, high := math.Inf(-1), math.Inf(1)
	if bin > 0 {
		low = f.Cuts[bin-1]
	} else if f.Range != nil {
		low = f.Range[0]
	}
	if bin < len(f.Cuts) {
		high = f.Cuts[bin]
	} else if f.Range != nil {
		high = f.Range[1]
	}
	switch {
	case math.IsInf(low, 0):
		return high
	case math.IsInf(high, 0):
		return low
	default:
		return float64(low/2) + float64(high/2)
	}
}

// curve is the part of a feature in a model, by the bins of the leaf's objects.
type curve struct {
	feature     int
	first, last int         // least and greatest bin of the leaf's objects
	raised      []int       // the scores that are not flat; nil: all
	scores      [][]float64 // by bin from first on, then for missing values, and by raised score
}

// model returns the model of a leaf: the sum of its layers. It is nil if no layer has a term.
func (f *fitter) model(l *layer, p *place) *Model {
	intercept, own := make([]float64, f.scores), l
	var layers []*layer
	for ; l != nil; l = l.above {
		layers = append(layers, l)
	}
	slices.Reverse(layers)
	var curves []*curve
	raised, place := own.raised()
	for _, l := range layers {
		for k, v := range l.intercept {
			intercept[k] += v
		}
		for i := range l.terms {
			t := &l.terms[i]
			at, found := slices.BinarySearchFunc(curves, t.basis.feature, func(c *curve, feature int) int {
				return cmp.Compare(c.feature, feature)
			})
			if !found {
				curves = slices.Insert(curves, at, f.newCurve(t.basis.feature, p, own, raised))
			}
			curves[at].add(l, t, place)
		}
	}
	if len(curves) == 0 {
		return nil
	}
	for k, z := range own.flat {
		if z == z {
			intercept[k] = z
		}
	}
	m := &Model{Leaf: &tree.LeafModel{Intercept: rounded(intercept)}, values: f.values, features: f.features}
	for _, c := range curves {
		m.Leaf.Terms = append(m.Leaf.Terms, c.term(f.values[c.feature], f.scores))
	}
	return m
}

// add adds a layer's part of the feature. place is that of each score among the raised ones;
// below 0: the score is flat.
func (c *curve) add(l *layer, t *layerTerm, place []int) {
	last := len(c.scores) - 1
	for i, scores := range c.scores {
		code := c.first + i
		if i == last {
			code = t.basis.missing
		}
		values := t.basis.of(code)
		for at, k := range l.scores {
			if to := place[k]; to >= 0 {
				scores[to] += dot(values, t.coefficients[at*len(values):])
			}
		}
	}
}

// newCurve returns a curve of zeros for the bins of the leaf's objects. If no object of the
// leaf has a value, it has all bins.
func (f *fitter) newCurve(feature int, p *place, own *layer, raised []int) *curve {
	bins := f.features[feature].Bins()
	codes := &f.objects.Codes[feature]
	c := &curve{feature: feature, first: bins, last: -1, raised: raised}
	ids := p.ids
	for t := range own.terms {
		if b := own.terms[t].basis; own.whole && b.feature == feature {
			c.first, c.last, ids = b.first, b.last, nil
		}
	}
	for _, id := range ids {
		if bin := codes.At(int(id)); bin < bins {
			c.first, c.last = min(c.first, bin), max(c.last, bin)
		}
	}
	if c.last < 0 {
		c.first, c.last = 0, bins-1
	}
	c.scores = make([][]float64, c.last-c.first+2)
	width := len(raised)
	all := make([]float64, len(c.scores)*width)
	for i := range c.scores {
		c.scores[i] = all[i*width:][:width:width]
	}
	return c
}

// term returns a curve as tree.json has it: a piecewise linear function of the value. values
// are those of the feature's codes. width is the number of all scores.
func (c *curve) term(values []float64, width int) tree.Term {
	last := len(c.scores) - 1
	t := tree.Term{Feature: c.feature, Missing: c.rounded(last, width)}
	at := values[c.first : c.last+1]
	kept := knots(at, c.scores[:last])
	t.At, t.Values = make([]float64, len(kept)), make([][]float64, len(kept))
	for i, k := range kept {
		t.At[i], t.Values[i] = at[k], c.rounded(k, width)
	}
	return t
}

// rounded returns the scores at a position. Flat scores are 0.
func (c *curve) rounded(at, width int) []float64 {
	list := rounded(c.scores[at])
	if c.raised == nil || len(list) == width {
		return list
	}
	all := make([]float64, width)
	for i, k := range c.raised {
		all[k] = list[i]
	}
	return all
}

const (
	// exactness is the greatest change of a score by leaving out knots of a term. A leaf's
	// model then has few knots, which a person can read.
	exactness = 0.05

	// decimals is the inverse of the unit of scores in tree.json.
	decimals = 1000
)

// rounded returns scores to three decimals.
func rounded(scores []float64) []float64 {
	list := make([]float64, len(scores))
	for k, v := range scores {
		list[k] = math.Round(v*decimals)/decimals + 0 // no -0
	}
	return list
}

// knots returns the positions that a piecewise linear function keeps: at all others it is
// within exactness of the line between the kept ones beside them (Ramer, Douglas and
// Peucker).
func knots(at []float64, scores [][]float64) []int {
	kept := []int{0}
	var between func(a, b int)
	between = func(a, b int) {
		worst, split := exactness, -1
		for i := a + 1; i < b; i++ {
			share := (at[i] - at[a]) / (at[b] - at[a])
			for k, u := range scores[a] {
				if d := math.Abs(u + float64(share*(scores[b][k]-u)) - scores[i][k]); d > worst {
					worst, split = d, i
				}
			}
		}
		if split >= 0 {
			between(a, split)
			between(split, b)
			return
		}
		kept = append(kept, b)
	}
	if last := len(at) - 1; last > 0 {
		between(0, last)
	}
	return kept
}

// Attach returns a tree with the models of its leaves, by node.
func Attach(t *tree.Tree, models []*Model) *tree.Tree {
	with := *t
	with.Nodes = slices.Clone(t.Nodes)
	for i, m := range models {
		if m != nil {
			with.Nodes[i].Model = m.Leaf
		}
	}
	return &with
}
