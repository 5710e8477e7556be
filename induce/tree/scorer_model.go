package tree

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/portable"
)

// modelling holds what a scorer needs at leaves with models.
type modelling struct {
	label    *Label
	width    int            // how many scores a model has
	factors  []float64      // PriorFactors, by class; nil without priors
	leaves   []compiledLeaf // by node
	plain    []int32        // by node: the class predicted without the model
	terms    []compiledTerm // terms of all leaves
	boosters []compiledBooster
}

// compiledLeaf is the model of a leaf. The leaf has no model if intercept is nil.
type compiledLeaf struct {
	intercept []float64
	// raised lists the scores to which some term or the booster adds, ascending. Other scores equal
	// their intercepts. nil means that all scores are raised.
	raised   []int32
	terms    numbers
	boosters numbers // parts of the booster, which leaves may share
}

// numbers is the half-open range [from, to) of a list of the modelling.
type numbers struct{ from, to int32 }

// compiledTerm is a term of an input, with values for the raised scores only.
type compiledTerm struct {
	Term

	input int32
}

// newModelling compiles the models of the leaves; nil if no leaf has one.
func (s *Scorer) newModelling(t *Tree) *modelling {
	if !t.Modelled() {
		return nil
	}
	m := &modelling{
		label: &t.Label, factors: t.PriorFactors(), leaves: make([]compiledLeaf, len(s.leaves)),
		width: portable.Scores(len(t.Label.Classes)),
	}
	boosters := m.compileBoosters(s, t)
	for i := range t.Nodes {
		node := &t.Nodes[i]
		m.plain = append(m.plain, int32(node.Class))
		if !node.Leaf() || node.Model == nil {
			continue
		}
		leaf := &m.leaves[i]
		raised := node.Model.raised()
		leaf.intercept = node.Model.Intercept
		leaf.terms.from = int32(len(m.terms))
		for k := range node.Model.Terms {
			term := node.Model.Terms[k]
			if len(raised) < m.width {
				term.Values = slices.Clone(term.Values)
				for at, values := range term.Values {
					term.Values[at] = picked(nil, values, raised)
				}
				term.Missing = picked(nil, term.Missing, raised)
			}
			m.terms = append(m.terms, compiledTerm{term, int32(s.columns[term.Feature] - 1)})
		}
		leaf.terms.to = int32(len(m.terms))
		leaf.boosters = boosters[node.Model.Booster]
		if len(raised) < m.width {
			leaf.raised = append([]int32{}, raised...)
		}
	}
	return m
}

// raised lists the scores to which some term or the booster adds a value other than 0.
func (m *LeafModel) raised() []int32 {
	var list []int32
	for k := range m.Intercept {
		not0 := func(values []float64) bool { return values != nil && values[k] != 0 }
		inTerm := func(t Term) bool { return not0(t.Missing) || slices.ContainsFunc(t.Values, not0) }
		inSplit := func(s boost.Split) bool { return not0(s.Yes.Values) || not0(s.No.Values) }
		inTree := func(t boost.Tree) bool { return slices.ContainsFunc(t, inSplit) }
		if slices.ContainsFunc(m.Terms, inTerm) || m.Booster != nil && slices.ContainsFunc(m.Booster.Trees, inTree) {
			list = append(list, int32(k))
		}
	}
	return list
}

// picked appends the numbers at the given positions to list.
func picked(list, numbers []float64, at []int32) []float64 {
	for _, k := range at {
		list = append(list, numbers[k])
	}
	return list
}

// begin sets the raised scores to their intercepts, in the memory of probabilities.
func (l *compiledLeaf) begin(probabilities []float64) (scores []float64) {
	if l.raised == nil {
		scores = probabilities[:len(l.intercept)]
		copy(scores, l.intercept)
		return scores
	}
	return picked(probabilities[:0], l.intercept, l.raised)
}

// finish turns the raised scores, which are at the front of probabilities, into probabilities, and
// returns the predicted class.
func (m *modelling) finish(l *compiledLeaf, probabilities []float64) (class int) {
	scores := probabilities[:len(l.intercept)]
	if l.raised != nil {
		at := len(l.raised) - 1
		for k := len(scores) - 1; k >= 0; k-- {
			if at >= 0 && int(l.raised[at]) == k {
				scores[k] = scores[at]
				at--
			} else {
				scores[k] = l.intercept[k]
			}
		}
	}
	portable.FillProbabilities(probabilities, scores)
	if m.factors != nil {
		rescale(probabilities, m.factors)
	}
	return m.label.Decide(probabilities)
}

// refine sets the probabilities of a row at a leaf with a model, given a value per input, and
// returns the predicted class.
func (s *Scorer) refine(leaf uint32, values []Value, probabilities []float64) (class int) {
	m := s.models
	l := &m.leaves[leaf]
	scores := l.begin(probabilities)
	terms := m.terms[l.terms.from:l.terms.to]
	for i := range terms {
		terms[i].AddTo(scores, values[terms[i].input].number())
	}
	s.boost(l, values, scores)
	return m.finish(l, probabilities)
}

// Modelled reports whether predictions depend on more than the leaf: some leaf has a model.
func (s *Scorer) Modelled() bool { return s.models != nil }

// ModelOf returns the inputs that the model of a leaf uses, given the id of the leaf's node: first
// the inputs of its terms, in their order, then further inputs of its booster, in the order of
// Features. ok is false if the node is not a leaf with a model.
func (s *Scorer) ModelOf(leaf int) (inputs []*Input, ok bool) {
	if s.models == nil || s.LeafPrediction(leaf) == nil {
		return nil, false
	}
	l := &s.models.leaves[leaf]
	for _, t := range s.models.terms[l.terms.from:l.terms.to] {
		inputs = append(inputs, &s.inputs[t.input])
	}
	for _, input := range s.models.inputs(l) {
		if in := &s.inputs[input]; !slices.Contains(inputs, in) {
			inputs = append(inputs, in)
		}
	}
	return inputs, l.intercept != nil
}

// modelled reports whether a leaf has a model.
func (s *Scorer) modelled(leaf uint32) bool {
	return s.models != nil && s.models.leaves[leaf].intercept != nil
}

// PredictInto is Predict into memory of the caller. It allocates no memory if p has been used
// before with the same tree. The probabilities are not shared, and may be changed.
func (s *Scorer) PredictInto(values []Value, p *Prediction) error {
	leaf, err := s.leafOf(values)
	if err != nil {
		return err
	}
	class := -1
	if room := s.room(p); s.modelled(leaf) {
		class = s.refine(leaf, values, room)
	}
	s.fill(p, leaf, class)
	return nil
}

// room makes room for the probabilities of p, and returns it.
func (s *Scorer) room(p *Prediction) []float64 {
	if cap(p.Probabilities) < s.classes {
		p.Probabilities = make([]float64, s.classes)
	}
	p.Probabilities = p.Probabilities[:s.classes]
	return p.Probabilities
}

// fill sets all fields of p from the leaf and class, the class of its model. Probabilities are left
// to the caller, unless class is -1: then the leaf has no model, and its probabilities are copied.
func (s *Scorer) fill(p *Prediction, leaf uint32, class int) {
	of := s.leaves[leaf]
	probabilities := p.Probabilities
	*p = *of
	if p.Probabilities = probabilities; class < 0 {
		copy(probabilities, of.Probabilities)
		return
	}
	p.Class = s.models.label.Classes[class]
}
