package onnx

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// modelling holds the data of leaf models. A second forest has a tree for the first terms of all
// models, a tree for the second terms and so on, followed by a tree for the first trees of all
// boosters and so on. A tree of terms finds a segment: a part of some term between two knots, in
// which the term is linear. A tree of boosters finds an end (leaf). Models and boosters are
// numbered, in two further columns; the last number means that there is no model or booster.
type modelling struct {
	second   forest
	byLeaf   []int // number of the leaf's model
	models   []*tree.LeafModel
	boosters []*boost.Booster
	ofModel  []int // booster by model
	terms    int   // number of trees of terms

	// By segment: the line, by score; the knot at which it begins, and the distance of the next
	// knot; whether it is a line rather than a constant; the column of its feature.
	from, delta      [][]float64
	begins, distance []float64
	inclined         []bool
	feature          []int

	ends [][]float64 // by end of a booster: what it adds, by score
}

// number returns the index of a model or booster in the list, and appends it if it is new.
func number[T comparable](list *[]T, of T) int {
	at := slices.Index(*list, of)
	if at < 0 {
		at = len(*list)
		*list = append(*list, of)
	}
	return at
}

// growModels makes the second forest.
func (w *writer) growModels() {
	for _, id := range w.leaves {
		m := w.tree.Nodes[id].Model
		if m == nil {
			w.byLeaf = append(w.byLeaf, -1)
			continue
		}
		w.byLeaf = append(w.byLeaf, len(w.models))
		w.models = append(w.models, m)
		w.terms = max(w.terms, len(m.Terms))
		booster := -1
		if m.Booster != nil {
			booster = number(&w.boosters, m.Booster)
		}
		w.ofModel = append(w.ofModel, booster)
	}
	zero := make([]float64, portable.Scores(len(w.tree.Label.Classes)))
	w.segment(zero, zero, 0, 1, -1)
	for k := range w.terms {
		w.growTerms(k)
	}
	w.ends = [][]float64{zero}
	most := 0
	for _, b := range w.boosters {
		most = max(most, len(b.Trees))
	}
	for k := range most {
		w.growBoosters(k)
	}
	for i := range w.byLeaf {
		if w.byLeaf[i] < 0 {
			w.byLeaf[i] = len(w.models)
		}
	}
	for i := range w.ofModel {
		if w.ofModel[i] < 0 {
			w.ofModel[i] = len(w.boosters)
		}
	}
	w.ofModel = append(w.ofModel, len(w.boosters))
}

// The columns of the numbers of models and boosters.
const (
	modelColumn   = -1
	boosterColumn = -2
)

// growTerms makes the tree of the terms with the same index in all models.
func (w *writer) growTerms(place int) {
	g := w.second.grow()
	g.search(modelColumn, counted(len(w.models)+1), func(model int) int {
		if model == len(w.models) || place >= len(w.models[model].Terms) {
			return g.leaf(0)
		}
		t := &w.models[model].Terms[place]
		constant := func(values []float64) int {
			return g.leaf(w.segment(values, make([]float64, len(values)), 0, 1, -1))
		}
		missing := func() int { return constant(t.Missing) }
		return g.ask(w.missing(t.Feature), 1, false, missing, func() int {
			return g.search(w.raw(t.Feature), t.At, func(passed int) int {
				switch passed {
				case 0:
					return constant(t.Values[0])
				case len(t.At):
					return constant(t.Values[passed-1])
				}
				from := t.Values[passed-1]
				delta := slices.Clone(t.Values[passed])
				for i := range delta {
					delta[i] -= from[i]
				}
				return g.leaf(w.segment(from, delta, t.At[passed-1], t.At[passed]-t.At[passed-1], w.raw(t.Feature)))
			})
		})
	})
}

// segment adds a segment, and returns its number. Without a column it is a constant.
func (w *writer) segment(from, delta []float64, begins, distance float64, column int) int {
	w.from = append(w.from, from)
	w.delta = append(w.delta, delta)
	w.begins = append(w.begins, begins)
	w.distance = append(w.distance, distance)
	w.feature = append(w.feature, column)
	w.inclined = append(w.inclined, column >= 0)
	return len(w.from) - 1
}

// growBoosters makes the tree of the trees with the same index in all boosters.
func (w *writer) growBoosters(place int) {
	g := w.second.grow()
	g.search(boosterColumn, counted(len(w.boosters)+1), func(booster int) int {
		if booster == len(w.boosters) || place >= len(w.boosters[booster].Trees) {
			return g.leaf(0)
		}
		of := w.boosters[booster].Trees[place]
		var node func(at int) int
		side := func(s *boost.Side) func() int {
			return func() int {
				if s.Values == nil {
					return node(s.Split)
				}
				w.ends = append(w.ends, s.Values)
				return g.leaf(len(w.ends) - 1)
			}
		}
		node = func(at int) int {
			s := &of[at]
			f := &w.columns.tree.Features[s.Feature]
			if f.Kind == dataset.Numeric {
				return g.ask(w.raw(s.Feature), f.Cuts[s.Code-1], s.Missing, side(&s.Yes), side(&s.No))
			}
			var codes []int
			for _, code := range s.Codes {
				codes = append(codes, int(code))
			}
			if s.Missing {
				codes = append(codes, f.MissingCode())
			}
			return g.ask(w.is(s.Feature, codes...), 1, false, side(&s.Yes), side(&s.No))
		}
		return node(0)
	})
}

// modelled adds the nodes of leaf models, given the matrix of the columns, the number of the leaf,
// and the prediction of the leaf without its model.
func (w *writer) modelled(matrix, leaf, class, probabilities string) (decided, adapted string) {
	model := w.gather(w.wholes(wide(w.byLeaf), len(w.byLeaf)), leaf)
	scores := w.scores(matrix, model)
	p := w.softmax(scores)
	p = w.rescaled(p)
	has := make([]bool, len(w.models)+1)
	for i := range w.models {
		has[i] = true
	}
	which := w.gather(w.truths(has, len(has)), model)
	decided = w.call("Where", which, w.decide(p), class)
	return decided, w.call("Where", w.reshape(which, -1, 1), p, probabilities)
}

func wide(list []int) []int64 {
	all := make([]int64, len(list))
	for i, x := range list {
		all[i] = int64(x)
	}
	return all
}

// scores adds the nodes that compute the scores from the numbers of models.
func (w *writer) scores(matrix, model string) string {
	width := portable.Scores(len(w.tree.Label.Classes))
	var intercepts []float64
	for _, m := range w.models {
		intercepts = append(intercepts, m.Intercept...)
	}
	intercepts = append(intercepts, make([]float64, width)...)
	parts := []string{w.reshape(w.gather(w.doubles(intercepts, len(w.models)+1, width), model), -1, 1, int64(width))}
	if w.second.trees > 0 {
		booster := w.gather(w.wholes(wide(w.ofModel), len(w.ofModel)), model)
		columns := w.concat(matrix, w.cast(w.reshape(model, -1, 1), double), w.cast(w.reshape(booster, -1, 1), double))
		found := w.cast(w.second.add(w.graph, columns, func(column int) int {
			if column < 0 {
				return w.count - 1 - column
			}
			return w.position(column)
		}), whole)
		if w.terms > 0 {
			parts = append(parts, w.lines(matrix, w.slice(found, 0, w.terms)))
		}
		if w.terms < w.second.trees {
			ends := w.slice(found, w.terms, w.second.trees)
			parts = append(parts, w.gather(w.doubles(slices.Concat(w.ends...), len(w.ends), width), ends))
		}
	}
	return w.sum(w.concat(parts...))
}

// slice takes the columns [from, to) of a matrix.
func (w *writer) slice(matrix string, from, to int) string {
	return w.call("Slice", matrix, w.wholes([]int64{int64(from)}, 1), w.wholes([]int64{int64(to)}, 1),
		w.wholes([]int64{1}, 1))
}

// lines adds the nodes that compute from segments what their terms add, by score.
func (w *writer) lines(matrix, segments string) string {
	n := len(w.from)
	width := len(w.from[0])
	features := make([]int64, n)
	for i, column := range w.feature {
		if column >= 0 {
			features[i] = int64(w.position(column))
		}
	}
	columns := w.gather(w.wholes(features, n), segments)
	value := w.op("GatherElements", []string{matrix, columns}, numberAttribute("axis", 1))
	begins := w.gather(w.doubles(w.begins, n), segments)
	value = w.call("Where", w.gather(w.truths(w.inclined, n), segments), value, begins)
	share := w.call("Div", w.call("Sub", value, begins), w.gather(w.doubles(w.distance, n), segments))
	share = w.call("Unsqueeze", share, w.wholes([]int64{2}, 1))
	delta := w.gather(w.doubles(slices.Concat(w.delta...), n, width), segments)
	return w.call("Add", w.gather(w.doubles(slices.Concat(w.from...), n, width), segments), w.call("Mul", delta, share))
}

// softmax adds the nodes that turn scores into probabilities.
func (w *writer) softmax(scores string) string {
	if len(w.tree.Label.Classes) != 2 {
		most := w.op("ReduceMax", []string{scores}, numbersAttribute("axes", []int64{1}), numberAttribute("keepdims", 1))
		return w.shares(w.call("Exp", w.call("Sub", scores, most)))
	}
	one := w.doubles([]float64{1})
	e := w.call("Exp", w.call("Neg", w.call("Abs", scores)))
	below := w.call("Add", one, e)
	rare := w.call("Div", e, below)
	frequent := w.call("Div", one, below)
	negative := w.call("Less", scores, w.doubles([]float64{0}))
	return w.concat(w.call("Where", negative, frequent, rare), w.call("Where", negative, rare, frequent))
}

// shares adds the nodes that divide numbers by their sum, unless it is 0.
func (w *writer) shares(numbers string) string {
	total := w.reshape(w.sum(numbers), -1, 1)
	some := w.call("Greater", total, w.doubles([]float64{0}))
	return w.call("Where", some, w.call("Div", numbers, total), numbers)
}

// rescaled adds the nodes that adapt probabilities to priors, if there are any.
func (w *writer) rescaled(p string) string {
	factors := w.tree.PriorFactors()
	if factors == nil {
		return p
	}
	return w.shares(w.call("Mul", p, w.doubles(factors, 1, len(factors))))
}

// decide adds the nodes that turn probabilities into the class.
func (w *writer) decide(p string) string {
	first := []message{numberAttribute("axis", 1), numberAttribute("keepdims", 0), numberAttribute("select_last_index", 0)}
	label := &w.tree.Label
	if label.Thresholded() { // the class of interest is above or below all other classes
		positive := make([]bool, len(label.Classes))
		positive[label.Positive()] = true
		enough := w.call("GreaterOrEqual", p, w.doubles([]float64{label.Decision.Threshold}))
		rank := w.call("Where", enough, w.doubles([]float64{2}), w.doubles([]float64{-1}))
		return w.op("ArgMax", []string{w.call("Where", w.truths(positive, 1, len(positive)), rank, p)}, first...)
	}
	costs := label.ErrorCosts
	if costs == nil {
		return w.op("ArgMax", []string{p}, first...)
	}
	expected := w.call("MatMul", p, w.doubles(slices.Concat(costs...), len(costs), len(costs)))
	along := []message{numbersAttribute("axes", []int64{1}), numberAttribute("keepdims", 1)}
	limit := w.call("Add", w.op("ReduceMin", []string{expected}, along...),
		w.call("Mul", w.doubles([]float64{tie}), w.op("ReduceMax", []string{expected}, along...)))
	within := w.cast(w.call("LessOrEqual", expected, limit), whole)
	return w.op("ArgMax", []string{within}, first...)
}

// tie is the share of the greatest expected cost within which expected costs are equal, as in
// package tree.
const tie = 1e-12
