package leafmodel

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Model gives the class probabilities of the objects of a leaf by their codes.
type Model struct {
	scores    int
	intercept []float64
	terms     []term // by ascending feature
}

// term is the part of a feature.
type term struct {
	feature     int
	first, last int       // least and greatest bin of the leaf's objects
	scores      []float64 // by code and score
}

// model returns the model of a leaf: the sum of its layers.
func (f *fitter) model(l *layer, p *place) *Model {
	m := &Model{scores: f.scores, intercept: make([]float64, f.scores)}
	var layers []*layer
	for ; l != nil; l = l.above {
		layers = append(layers, l)
	}
	slices.Reverse(layers)
	for _, l := range layers {
		for k, v := range l.intercept {
			m.intercept[k] += v
		}
		for i := range l.terms {
			m.add(&l.terms[i])
		}
	}
	for i := range m.terms {
		f.clip(&m.terms[i], p)
	}
	return m
}

// add adds a layer's part of a feature.
func (m *Model) add(t *layerTerm) {
	at, found := slices.BinarySearchFunc(m.terms, t.basis.feature, func(t term, feature int) int { return t.feature - feature })
	if !found {
		m.terms = slices.Insert(m.terms, at, term{feature: t.basis.feature, scores: make([]float64, len(t.scores))})
	}
	for i, v := range t.scores {
		m.terms[at].scores[i] += v
	}
}

// clip makes a term constant beyond the bins of the leaf's objects. If no object of the leaf
// has a value, the term keeps its bins.
func (f *fitter) clip(t *term, p *place) {
	bins := f.features[t.feature].Bins()
	codes := &f.objects.Codes[t.feature]
	t.first, t.last = bins, -1
	for _, id := range p.ids {
		if bin := codes.At(int(id)); bin < bins {
			t.first, t.last = min(t.first, bin), max(t.last, bin)
		}
	}
	if t.last < 0 {
		t.first, t.last = 0, bins-1
	}
	for bin := range bins {
		from := max(t.first, min(t.last, bin)) * f.scores
		copy(t.scores[bin*f.scores:], t.scores[from:from+f.scores])
	}
}

// Probabilities sets the class probabilities of object i.
func (m *Model) Probabilities(o *dataset.Objects, i int, probabilities []float64) {
	z := probabilities[len(probabilities)-m.scores:] // two classes: the second
	copy(z, m.intercept)
	for t := range m.terms {
		code := o.Codes[m.terms[t].feature].At(i)
		for k, v := range m.terms[t].scores[code*m.scores : (code+1)*m.scores] {
			z[k] += v
		}
	}
	normaliser(slices.Clone(z), z)
	if m.scores == 1 {
		probabilities[0] = 1 - probabilities[1]
	}
}

// exactness is the greatest error of a score, by leaving out knots of a term.
const exactness = 0.002

// Leaf returns the model as tree.json has it. Knots are the middles of bins.
func (m *Model) Leaf(features []dataset.Feature) *tree.LeafModel {
	l := &tree.LeafModel{Intercept: slices.Clone(m.intercept)}
	for i := range m.terms {
		t := &m.terms[i]
		f := &features[t.feature]
		row := func(code int) []float64 { return slices.Clone(t.scores[code*m.scores : (code+1)*m.scores]) }
		made := tree.Term{Feature: t.feature, Missing: row(f.MissingCode())}
		middles := middles(f, t.first, t.last)
		for _, k := range m.knots(t, middles) {
			made.At = append(made.At, middles[k])
			made.Values = append(made.Values, row(t.first+k))
		}
		l.Terms = append(l.Terms, made)
	}
	return l
}

// middles returns the middles of the bins first to last, strictly ascending.
func middles(f *dataset.Feature, first, last int) []float64 {
	list := make([]float64, 0, last-first+1)
	for bin := first; bin <= last; bin++ {
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
			low = high
		case math.IsInf(high, 0):
			high = low
		}
		list = append(list, low/2+high/2)
	}
	return list
}

// knots returns the positions of the middles that a term keeps: all others are within
// exactness of the line between the kept ones beside them (Ramer, Douglas and Peucker).
func (m *Model) knots(t *term, middles []float64) []int {
	kept := []int{0}
	var between func(a, b int)
	between = func(a, b int) {
		worst, at := exactness, -1
		for k := a + 1; k < b; k++ {
			share := (middles[k] - middles[a]) / (middles[b] - middles[a])
			for s := range m.scores {
				u, v := t.scores[(t.first+a)*m.scores+s], t.scores[(t.first+b)*m.scores+s]
				if d := math.Abs(u + float64(share*(v-u)) - t.scores[(t.first+k)*m.scores+s]); d > worst {
					worst, at = d, k
				}
			}
		}
		if at >= 0 {
			between(a, at)
			between(at, b)
			return
		}
		kept = append(kept, b)
	}
	if last := len(middles) - 1; last > 0 {
		between(0, last)
	}
	return kept
}

// Attach returns a tree with the models of its leaves, by node.
func Attach(t *tree.Tree, models []*Model) *tree.Tree {
	with := *t
	with.Nodes = slices.Clone(t.Nodes)
	made := make(map[*Model]*tree.LeafModel)
	for i, m := range models {
		if m == nil || len(m.terms) == 0 {
			continue
		}
		if made[m] == nil {
			made[m] = m.Leaf(t.Features)
		}
		with.Nodes[i].Model = made[m]
	}
	return &with
}
