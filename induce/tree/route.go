package tree

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// step is an inner node of a compiled tree. Rows are looked up by their values or by their codes. A target is the id
// of an inner node, or the complement (below 0) of the id of a leaf.
type step struct {
	// Numbers, or codes of categories, from low on and below high take the yes branch. A missing number is never in
	// such a range.
	low, high  float64 // high is NaN: no bound
	code, span uint16  // the codes of the yes branch: from code to code+span
	yes, no    int32   // targets
	feature    int32   // index of the feature, or of the input of a scorer
	fan        *fan    // branches of a multiway test, or of a test for a set; nil for a range of codes
}

// target returns what a step stores to lead to a node: the step of an inner node, or the complement of a leaf.
func (t *Tree) target(node int) int32 {
	if t.Nodes[node].Leaf() {
		return ^int32(node)
	}
	return int32(node)
}

// compile returns the steps of the tree, by node.
func (t *Tree) compile() []step {
	steps := make([]step, len(t.Nodes))
	for i := range t.Nodes {
		if n := &t.Nodes[i]; !n.Leaf() {
			steps[i] = t.step(n)
		}
	}
	return steps
}

// step returns the step of an inner node.
func (t *Tree) step(n *Node) step {
	f := &t.Features[n.Test.Feature]
	to := step{feature: int32(n.Test.Feature)}
	if n.Test.Kind == split.Multiway || n.Test.Kind == split.In {
		to.fan = t.newFan(n, f)
		return to
	}
	for _, b := range n.Branches {
		if b.Outcome == 1 {
			to.yes = t.target(b.Child)
		} else {
			to.no = t.target(b.Child)
		}
	}
	to.decideBy(&n.Test.Test, f)
	return to
}

// decideBy sets the ranges of a two-outcome test.
func (s *step) decideBy(test *split.Test, f *dataset.Feature) {
	code, span := test.Yes(f.MissingCode())
	s.code = uint16(code)
	s.span = uint16(span)
	s.low, s.high = math.Inf(-1), math.NaN()
	switch {
	case f.Kind == dataset.Categorical:
		s.low, s.high = float64(test.Code), float64(test.Code+1)
	case test.Kind == split.Missing: // the values that are not missing have a range
		s.code, s.span = 0, uint16(f.MissingCode()-1)
		s.yes, s.no = s.no, s.yes
	case test.Code > 0:
		s.low = f.Cuts[test.Code-1]
	}
	if end := test.Code + test.Span; test.Kind == split.Bin && end < len(f.Cuts) { // the last bin has no upper bound
		s.high = f.Cuts[end]
	}
}

// next returns the target for a value: a number, or the code of a category.
func (s *step) next(x float64) int32 {
	switch {
	case s.fan != nil:
		return s.fan.child(int(x))
	case x >= s.low && !(x >= s.high):
		return s.yes
	default:
		return s.no
	}
}

// byCode returns the target for a code.
func (s *step) byCode(code int) int32 {
	switch {
	case s.fan != nil:
		return s.fan.child(code)
	case uint16(code)-s.code <= s.span:
		return s.yes
	default:
		return s.no
	}
}

// fan maps the codes of a multiway test, or of a test for a set, to branches.
type fan struct {
	branches []Branch      // by code, or by outcome of a test for a set; the children are targets
	missing  int           // code of missing
	set      split.CodeSet // the codes of outcome 1; empty for a multiway test
}

// newFan returns the fan of a node.
func (t *Tree) newFan(n *Node, f *dataset.Feature) *fan {
	made := &fan{slices.Clone(n.Branches), f.MissingCode(), n.Test.Set}
	for i := range made.branches {
		b := &made.branches[i]
		b.Child = int(t.target(b.Child))
	}
	slices.SortFunc(made.branches, func(a, b Branch) int { return a.Outcome - b.Outcome })
	return made
}

// branch returns the branch for a code.
func (n *fan) branch(code int) int {
	if n.set != "" {
		return count(n.set.Has(code))
	}
	at, listed := slices.BinarySearchFunc(n.branches, code, func(b Branch, code int) int { return b.Outcome - code })
	if !listed {
		at = slices.IndexFunc(n.branches, func(b Branch) bool { return b.Missing && code == n.missing || b.Other && code != n.missing })
	}
	return at
}

// child returns the target for a code.
func (n *fan) child(code int) int32 { return int32(n.branches[n.branch(code)].Child) }

// Router finds the leaves of rows by their codes. It is read-only, so goroutines may share it.
type Router struct {
	steps []step
	root  int32 // a target
}

// Router returns the tree's router.
func (t *Tree) Router() *Router { return &Router{steps: t.compile(), root: t.target(0)} }

// nodeOf returns the node of a target.
func nodeOf(target int32) int { return int(max(target, ^target)) }

// Child returns the child of an inner node for a code of the feature that it tests.
func (r *Router) Child(node, code int) int { return nodeOf(r.steps[node].byCode(code)) }

// Leaf returns the id of the leaf that object i reaches.
func (r *Router) Leaf(o *dataset.Objects, i int) int { return r.leafBelow(r.root, o, i) }

// leafBelow returns the id of the leaf that object i reaches from a target.
func (r *Router) leafBelow(at int32, o *dataset.Objects, i int) int {
	for at >= 0 {
		s := &r.steps[at]
		at = s.byCode(o.Codes[s.feature].At(i))
	}
	return int(^at)
}

// routed is how many objects pass a tree together, so that their codes of a feature and the lists of them fit into
// the cache. With at most fewRouted objects at a node, each goes on alone.
const (
	routed    = 1 << 15
	fewRouted = 4
)

// Leaves calls visit with leaves and objects that reach them, until each object has reached its leaf.
func (r *Router) Leaves(o *dataset.Objects, visit func(leaf int, ids []int32)) {
	memory := make([]int32, 2*min(o.Len(), routed))
	for from := 0; from < o.Len(); from += routed {
		n := min(routed, o.Len()-from)
		ids := memory[:n]
		for i := range ids {
			ids[i] = int32(from + i)
		}
		r.leaves(r.root, o, ids, memory[n:][:n], visit)
	}
}

// leaves is Leaves for the objects ids, which have reached a target. It changes ids and spare, which are equally long.
func (r *Router) leaves(at int32, o *dataset.Objects, ids, spare []int32, visit func(leaf int, ids []int32)) {
	if at < 0 {
		visit(int(^at), ids)
		return
	}
	if len(ids) <= fewRouted {
		for i, id := range ids {
			visit(r.leafBelow(at, o, int(id)), ids[i:i+1])
		}
		return
	}
	r.steps[at].divide(o, ids, spare, func(child int32, part []int32) {
		r.leaves(child, o, part, ids[:len(part)], visit)
		ids = ids[len(part):]
	})
}

// Divide divides the objects ids, which have reached an inner node: it calls visit for each child with the objects
// of ids that reach it, in their order, in the memory of into. ids and into are equally long.
func (t *Tree) Divide(node int, o *dataset.Objects, ids, into []int32, visit func(child int, ids []int32)) {
	s := t.step(&t.Nodes[node])
	s.divide(o, ids, into, func(child int32, part []int32) { visit(nodeOf(child), part) })
}

// divide is Divide for targets.
func (s *step) divide(o *dataset.Objects, ids, into []int32, visit func(child int32, ids []int32)) {
	codes := &o.Codes[s.feature]
	if s.fan != nil {
		for i, part := range codes.Deal(ids, into, len(s.fan.branches), s.fan.branch) {
			visit(int32(s.fan.branches[i].Child), part)
		}
		return
	}
	no := codes.Partition(ids, into, uint32(s.code), uint32(s.span))
	visit(s.yes, into[no:])
	visit(s.no, into[:no])
}
