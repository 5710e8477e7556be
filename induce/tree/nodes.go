package tree

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/wire"
)

// New returns a tree of grown nodes over the features. It sets the counts of inner nodes, the branches of missing and
// unlisted values, and the names in the runners-up. The caller adds the descriptions of label, algorithm and training,
// and then the bills of the tests, the class estimates and the complexity.
func New(features []dataset.Feature, nodes []Node) *Tree {
	nodes = SumUp(withPresence(features, nodes))
	t := &Tree{Features: features, Nodes: nodes}
	t.WeighKnown()
	for i := range nodes {
		n := &nodes[i]
		if n.Leaf() {
			continue
		}
		n.Test.Prior = 0 // growth alone needs it
		f := &features[n.Test.Feature]
		n.Test.Test = ofValues(f, n.Test.Test)
		t.branch(n, f.MissingCode()).Missing = true
		if f.Kind == dataset.Categorical {
			t.branch(n, f.OtherCode()).Other = true
		}
		if r := n.Test.RunnerUp; r != nil && r.Feature == "" {
			second := &features[r.Test.Feature]
			test := ofValues(second, r.Test)
			n.Test.RunnerUp = NewRunnerUp(second, &test, r.Cost, r.Total)
		}
	}
	return t
}

// ofValues returns a test of the codes of a feature as a test of its values, if they are ordered: a threshold is a test
// for the set of the values from its code on.
func ofValues(f *dataset.Feature, t split.Test) split.Test {
	switch {
	case !f.Ordered:
	case t.Kind == split.Bin:
		t.Kind = split.Equals
	case t.Kind == split.Threshold:
		t.Set = split.NewCodeSet(len(f.Values), func(code int) bool { return code >= t.Code })
		t.Kind = split.In
		t.Code = 0
	}
	return t
}

// branch returns the branch that takes a code. A code that no training row of a node with a multiway test has takes
// the branch with the greatest weight.
func (t *Tree) branch(n *Node, code int) *Branch {
	outcome := n.Test.Outcome(code, t.Features[n.Test.Feature].MissingCode())
	heaviest := &n.Branches[0]
	for i := range n.Branches {
		b := &n.Branches[i]
		if b.Outcome == outcome {
			return b
		}
		if t.Nodes[b.Child].Weight > t.Nodes[heaviest.Child].Weight {
			heaviest = b
		}
	}
	return heaviest
}

// Ordered returns the nodes numbered breadth-first in the order of branches, without nodes to which no branch leads.
// The first node is the root.
func Ordered(nodes []Node) []Node {
	queue := []int{0}
	for at := 0; at < len(queue); at++ {
		for _, b := range nodes[queue[at]].Branches {
			queue = append(queue, b.Child)
		}
	}
	ordered, branches := make([]Node, len(queue)), make([]Branch, 0, len(queue)) // all branches, in one piece
	for at, id := range queue {
		n := nodes[id]
		from := len(branches)
		for _, b := range n.Branches {
			b.Child = len(branches) + 1
			branches = append(branches, b)
		}
		if !n.Leaf() {
			n.Branches = branches[from:len(branches):len(branches)]
		}
		ordered[at] = n
	}
	return ordered
}

// SumUp sets the counts of inner nodes to the sums over their children, which come after their parents. It returns
// the nodes.
func SumUp(nodes []Node) []Node {
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		if n.Leaf() {
			continue
		}
		classes := len(nodes[n.Branches[0].Child].ClassWeights)
		n.Rows = 0
		n.Objects = 0
		n.Weight = 0
		n.ClassWeights = make([]int64, classes)
		n.RawClassWeights = make([]int64, classes)
		for _, b := range n.Branches {
			child := &nodes[b.Child]
			n.Rows += child.Rows
			n.Objects += child.Objects
			n.Weight += child.Weight
			for k := range n.ClassWeights {
				n.ClassWeights[k] += child.ClassWeights[k]
				n.RawClassWeights[k] += child.RawClassWeights[k]
			}
		}
	}
	return nodes
}

// BestFirst prunes the nodes of a fully grown tree to the tree that best-first growth to this many leaves would
// make. The two are equal because the score of a node does not depend on which other nodes are split. The node
// with the highest score is split first; ties go to the node nearer to the root, then to the last one. A split that
// would exceed the number of leaves is skipped. If leaves is 0 or less, the tree stays as it is.
func BestFirst(nodes []Node, leaves int) []Node {
	if leaves <= 0 {
		return nodes
	}
	SumUp(nodes) // a node that becomes a leaf needs its counts
	depth := make([]int, len(nodes))
	kept := make([]bool, len(nodes))
	order := func(a, b int) int { // the next node is the last one
		return cmp.Or(cmp.Compare(nodes[a].Test.Score.Total, nodes[b].Test.Score.Total),
			cmp.Compare(depth[b], depth[a]), cmp.Compare(a, b))
	}
	var queue []int
	open := func(node int) {
		if !nodes[node].Leaf() {
			at, _ := slices.BinarySearchFunc(queue, node, order)
			queue = slices.Insert(queue, at, node)
		}
	}
	open(0)
	for have := 1; len(queue) > 0; {
		best := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		branches := nodes[best].Branches
		if have+len(branches)-1 > leaves {
			continue
		}
		have += len(branches) - 1
		kept[best] = true
		for _, b := range branches {
			depth[b.Child] = depth[best] + 1
			open(b.Child)
		}
	}
	for i := range nodes {
		if !kept[i] {
			nodes[i].Test = nil
			nodes[i].Branches = nil
		}
	}
	return Ordered(nodes)
}

// ByOutcome returns a branch of an inner node: the no branch is 0 and the yes branch 1; the branches of a multiway test
// are in the order of their codes.
func (n *Node) ByOutcome(outcome int) *Branch {
	if n.Test.Kind != split.Multiway {
		outcome = 1 - outcome
	}
	return &n.Branches[outcome]
}

// Outcomes returns the codes of a multiway test by branch; nil for a test with two outcomes.
func (n *Node) Outcomes() []int32 {
	var codes []int32
	for _, b := range n.Branches {
		if n.Test.Kind == split.Multiway {
			codes = append(codes, int32(b.Outcome))
		}
	}
	return codes
}

// The bits of a node and of a branch in binary form.
const (
	codedInner    = 1
	codedBilled   = 2
	codedRunnerUp = 4
	codedStopped  = 8

	codedMissing = 1
	codedOther   = 2
)

// AppendNodes appends nodes that are numbered breadth-first in the order of branches, in a binary form. Only leaves
// have weights there, because the weights of inner nodes are sums. No node has an estimate.
func AppendNodes(w wire.Writer, nodes []Node) wire.Writer {
	for i := range nodes {
		w = appendNode(w, &nodes[i])
	}
	return w
}

func appendNode(w wire.Writer, n *Node) wire.Writer {
	bits := byte(0)
	if n.Stopped {
		bits |= codedStopped
	}
	if n.Leaf() {
		w = w.Byte(bits).Count(n.Rows).Count(n.Objects).Count(n.Weight)
		return appendWeights(appendWeights(w, n.ClassWeights), n.RawClassWeights)
	}
	t := n.Test
	bits |= codedInner
	if t.Billed != nil {
		bits |= codedBilled
	}
	if t.RunnerUp != nil {
		bits |= codedRunnerUp
	}
	w = w.Byte(bits).Length(t.Feature).Length(int(t.Kind)).Length(t.Code).Length(t.Span).Length(len(n.Branches))
	if t.Kind == split.In {
		w = w.Bytes([]byte(t.Set)).Float(t.Trust).Float(t.Prior)
	}
	s := &t.Score
	w = w.Float(t.Cost).Float(s.Balance).Float(s.Efficiency).Float(s.Discrimination).Float(s.Total)
	if t.Billed != nil {
		w = w.Float(*t.Billed)
	}
	if t.RunnerUp != nil {
		b, err := json.Marshal(t.RunnerUp)
		if err != nil { // only numbers and texts
			panic(err)
		}
		w = w.Bytes(b)
	}
	for i := range n.Branches { // children follow in the order of the branches
		b := &n.Branches[i]
		bits := byte(0)
		if b.Missing {
			bits |= codedMissing
		}
		if b.Other {
			bits |= codedOther
		}
		w = w.Length(b.Outcome).Byte(bits)
	}
	return w
}

// appendWeights appends the classes that have weight.
func appendWeights(w wire.Writer, weights []int64) wire.Writer {
	shares := counting.Listed(weights)
	w = w.Length(len(shares))
	for _, s := range shares {
		w = w.Length(int(s.Class)).Count(s.Weight)
	}
	return w
}

var errNodes = errors.New("nodes that make no tree")

// ReadNodes reads n nodes, which AppendNodes wrote, of a tree over this many classes and features.
func ReadNodes(r *wire.Reader, n, classes, features int) ([]Node, error) {
	if n < 1 || n > len(r.Rest) || classes < 1 || classes > maxClasses {
		return nil, errNodes
	}
	nodes := make([]Node, n)
	next := 1 // first child of the next inner node
	for i := range nodes {
		err := nodes[i].read(r, classes, features, n-next)
		if err == nil && (r.Bad || !nodes[i].Leaf() && next <= i) {
			err = errNodes
		}
		if err != nil {
			return nil, err
		}
		for k := range nodes[i].Branches {
			nodes[i].Branches[k].Child = next
			next++
		}
	}
	if next != n {
		return nil, errNodes
	}
	return nodes, nil
}

// read reads a node with at most this many branches, without the ids of its children.
func (n *Node) read(r *wire.Reader, classes, features, branches int) error {
	below := func(limit int) int { return int(r.AtMost(uint64(limit))) }
	bits := r.Byte()
	n.Stopped = bits&codedStopped != 0
	if bits&codedInner == 0 {
		n.Rows, n.Objects, n.Weight = r.Count(), r.Count(), r.Count()
		both := make([]int64, 2*classes)
		n.ClassWeights = both[:classes:classes]
		n.RawClassWeights = both[classes:]
		for _, weights := range [][]int64{n.ClassWeights, n.RawClassWeights} {
			for range below(classes) {
				k := below(classes - 1)
				weights[k] = r.Count()
			}
		}
		return nil
	}
	if features == 0 {
		return errNodes
	}
	const mostCodes = 1 << 16
	feature := below(features - 1)
	kind := below(math.MaxUint8)
	n.Test = &Test{Test: split.Test{
		Feature: feature, Kind: split.Kind(kind), Code: below(mostCodes), Span: below(mostCodes),
	}}
	n.Branches = make([]Branch, below(min(mostCodes, branches)))
	if n.Test.Kind == split.In {
		n.Test.Set = split.CodeSet(r.Bytes())
		n.Test.Trust = r.Float()
		n.Test.Prior = r.Float()
	}
	s := &n.Test.Score
	n.Test.Cost, s.Balance, s.Efficiency = r.Float(), r.Float(), r.Float()
	s.Discrimination, s.Total = r.Float(), r.Float()
	if bits&codedBilled != 0 {
		billed := r.Float()
		n.Test.Billed = &billed
	}
	if bits&codedRunnerUp != 0 {
		n.Test.RunnerUp = new(RunnerUp)
		if err := json.Unmarshal(r.Bytes(), n.Test.RunnerUp); err != nil {
			return err
		}
	}
	for i := range n.Branches {
		outcome := below(mostCodes)
		bits := r.Byte()
		n.Branches[i] = Branch{Outcome: outcome, Missing: bits&codedMissing != 0, Other: bits&codedOther != 0}
	}
	if len(n.Branches) < 2 {
		return errNodes
	}
	return nil
}
