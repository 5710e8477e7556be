package leafmodel

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Model gives the class probabilities of the objects of a leaf by their codes, as its Leaf does by
// values.
type Model struct {
	Leaf *tree.LeafModel // as in tree.json; features are numbered as for Fit

	values  [][]float64      // by feature and code: see codeValues
	booster *boost.Evaluator // evaluator of the booster in Leaf; nil if absent
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
	if m.booster != nil {
		m.booster.AddTo(z, o.Codes, i)
	}
}

// codeValues returns a value for each code of each feature: the middle of the bin, and NaN for
// missing. Values of categorical features are not used.
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

// middle returns the middle of a bin. The first and the last bin end at the range of the training
// values.
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

// curve is the contribution of a feature to the scores of a model, by the bins of the leaf's
// objects.
type curve struct {
	feature     int
	first, last int         // least and greatest bin of the leaf's objects
	raised      []int       // the scores that are not flat; nil: all
	scores      [][]float64 // by bin, starting at first, then for missing; by raised score
}

// sketch is the memory of the curves of a model.
type sketch struct {
	values []float64
	scores [][]float64
}

// rows returns number lists of zeros, each of length width.
func (s *sketch) rows(number, width int) [][]float64 {
	from := len(s.values)
	first := len(s.scores)
	s.values = slices.Grow(s.values, number*width)[:from+number*width]
	all := s.values[from:]
	clear(all)
	for i := range number {
		s.scores = append(s.scores, all[i*width:][:width:width])
	}
	return s.scores[first:]
}

// model returns the model of a leaf: the sum of its layers. It is nil if no layer has a term.
func (f *fitter) model(l *layer, p *place) *Model {
	s, _ := f.sketches.Get().(*sketch)
	if s == nil {
		s = new(sketch)
	}
	defer f.sketches.Put(s)
	s.values = s.values[:0]
	s.scores = s.scores[:0]
	intercept := make([]float64, f.scores)
	own := l
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
				curves = slices.Insert(curves, at, f.newCurve(s, t.basis.feature, p, own, raised))
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
	m := &Model{Leaf: &tree.LeafModel{Intercept: rounded(intercept)}, values: f.values}
	for _, c := range curves {
		m.Leaf.Terms = append(m.Leaf.Terms, c.term(f.values[c.feature], f.scores))
	}
	return m
}

// add adds the contribution of a layer for the feature of the curve. place holds for each score its
// index among the raised scores; negative if the score is flat.
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
				z := 0.0
				for j, c := range t.coefficients[at*len(values):][:len(values)] {
					z += float64(c * values[j])
				}
				scores[to] += z
			}
		}
	}
}

// newCurve returns a curve of zeros for the bins of the leaf's objects, or for all bins if no
// object of the leaf has a value.
func (f *fitter) newCurve(s *sketch, feature int, p *place, own *layer, raised []int) *curve {
	bins := f.features[feature].Bins()
	codes := &f.objects.Codes[feature]
	c := &curve{feature: feature, first: bins, last: -1, raised: raised}
	ids := p.ids
	for t := range own.terms {
		if b := own.terms[t].basis; own.whole && b.feature == feature {
			c.first = b.first
			c.last = b.last
			ids = nil
		}
	}
	for _, id := range ids {
		if bin := codes.At(int(id)); bin < bins {
			c.first, c.last = min(c.first, bin), max(c.last, bin)
		}
	}
	if c.last < 0 {
		c.first = 0
		c.last = bins - 1
	}
	c.scores = s.rows(c.last-c.first+2, len(raised))
	return c
}

// term returns a curve as in tree.json: a piecewise linear function of the value. values are the
// values of the codes of the feature. width is how many scores there are.
func (c *curve) term(values []float64, width int) tree.Term {
	last := len(c.scores) - 1
	at := values[c.first : c.last+1]
	kept := knots(at, c.scores[:last])
	all := make([]float64, len(kept)+(len(kept)+1)*width) // a single allocation instead of many
	t := tree.Term{Feature: c.feature, At: all[:len(kept):len(kept)], Values: make([][]float64, len(kept))}
	all = all[len(kept):]
	for i, k := range kept {
		t.At[i] = at[k]
		t.Values[i] = all[i*width:][:width:width]
		c.round(t.Values[i], k)
	}
	t.Missing = all[len(kept)*width:]
	c.round(t.Missing, last)
	return t
}

// round sets scores to the rounded raised scores at a position.
func (c *curve) round(scores []float64, at int) {
	for i, v := range c.scores[at] {
		k := i
		if c.raised != nil {
			k = c.raised[i]
		}
		scores[k] = round(v)
	}
}

const (
	// exactness is the greatest change of a score from leaving out knots of a term. It leaves the
	// model of a leaf few knots, so that people can read it.
	exactness = 0.05

	// decimals is the inverse of the unit of scores in tree.json.
	decimals = 1000
)

// round rounds a score to three decimals.
func round(score float64) float64 {
	return math.Round(score*decimals)/decimals + 0 // no -0
}

// rounded returns scores rounded to three decimals.
func rounded(scores []float64) []float64 {
	list := make([]float64, len(scores))
	for k, v := range scores {
		list[k] = round(v)
	}
	return list
}

// knots returns the positions that a piecewise linear function keeps. At every other position it is
// within exactness of the line between the neighbouring kept positions (Ramer, Douglas and
// Peucker).
func knots(at []float64, scores [][]float64) []int {
	kept := []int{0}
	var between func(a, b int)
	between = func(a, b int) {
		worst := exactness
		split := -1
		for i := a + 1; i < b; i++ {
			share := (at[i] - at[a]) / (at[b] - at[a])
			for k, u := range scores[a] {
				if d := math.Abs(u + float64(share*(scores[b][k]-u)) - scores[i][k]); d > worst {
					worst = d
					split = i
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

// Attach returns a tree with models at its leaves, given by node.
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
