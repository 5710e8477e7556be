package frontier

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// errSaved is the error for bytes that were not written by AppendCandidates.
var errSaved = errors.New("not saved candidates")

// savedHead is the part of a saved candidate other than its nodes and counts.
type savedHead struct {
	Params    induce.Params  `json:"params"`
	Algorithm tree.Algorithm `json:"algorithm"`
	Training  tree.Training  `json:"training"`
	Nodes     int            `json:"nodes"`
}

// The bits of a saved node and of a saved branch.
const (
	savedInner    = 1
	savedBilled   = 2
	savedRunnerUp = 4

	savedMissing = 1
	savedOther   = 2
)

// AppendCandidates appends grown, unpruned candidates, with the rows at their leaves, in a binary
// form. Only leaves are saved with weights, because the weights of inner nodes are sums, and
// estimates follow from the weights. NewPool makes the same pool of the decoded candidates.
func AppendCandidates(dst []byte, list []Candidate) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		c := &list[i]
		t := c.Tree
		dst = appendBytes(dst, mustJSON(&savedHead{c.Params, t.Algorithm, t.Training, len(t.Nodes)}))
		for k := range t.Nodes {
			dst = appendNode(dst, &t.Nodes[k])
		}
		plain := NewCandidate(t, c.Params).Counts[dataset.Train].Encode()
		for part := range c.Counts {
			var counts []byte // empty without rows or, for training rows, if they equal the counts of the leaves
			if c.Counts[part] != nil {
				counts = c.Counts[part].Encode()
			}
			if dataset.Part(part) == dataset.Train && bytes.Equal(counts, plain) {
				counts = nil
			}
			dst = appendBytes(dst, counts)
		}
	}
	return dst
}

// mustJSON encodes a value of numbers and texts, which cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func appendFloat(dst []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}

func appendNode(dst []byte, n *tree.Node) []byte {
	if n.Leaf() {
		dst = append(dst, 0)
		for _, x := range []int64{n.Rows, n.Objects, n.Weight} {
			dst = binary.AppendUvarint(dst, uint64(x))
		}
		return appendWeights(appendWeights(dst, n.ClassWeights), n.RawClassWeights)
	}
	t, bits := n.Test, byte(savedInner)
	if t.Billed != nil {
		bits |= savedBilled
	}
	if t.RunnerUp != nil {
		bits |= savedRunnerUp
	}
	dst = append(dst, bits)
	for _, x := range []int{t.Feature, int(t.Kind), t.Code, t.Span, len(n.Branches)} {
		dst = binary.AppendUvarint(dst, uint64(x))
	}
	for _, x := range []float64{t.Cost, t.Score.Balance, t.Score.Efficiency, t.Score.Discrimination, t.Score.Total} {
		dst = appendFloat(dst, x)
	}
	if t.Billed != nil {
		dst = appendFloat(dst, *t.Billed)
	}
	if t.RunnerUp != nil {
		dst = appendBytes(dst, mustJSON(t.RunnerUp))
	}
	for i := range n.Branches { // children follow in the order of the branches
		b := &n.Branches[i]
		bits := byte(0)
		if b.Missing {
			bits |= savedMissing
		}
		if b.Other {
			bits |= savedOther
		}
		dst = append(binary.AppendUvarint(dst, uint64(b.Outcome)), bits)
	}
	return dst
}

// appendWeights appends the classes that have weight.
func appendWeights(dst []byte, weights []int64) []byte {
	n := 0
	for _, w := range weights {
		if w != 0 {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for k, w := range weights {
		if w != 0 {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(k)), uint64(w))
		}
	}
	return dst
}

// DecodeCandidates decodes bytes written by AppendCandidates. label and features are those with
// which the trees were grown.
func DecodeCandidates(b []byte, label tree.Label, features []dataset.Feature) ([]Candidate, error) {
	if err := label.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", errSaved, err)
	}
	r := &savedReader{Reader: wire.Reader{Rest: b}, label: &label, features: features}
	var list []Candidate
	for i := range r.below(len(b)) {
		list = append(list, Candidate{})
		r.candidate(&list[i])
		if err := r.fault(); err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
	}
	if len(r.Rest) > 0 {
		return nil, fmt.Errorf("%w: bytes left over", errSaved)
	}
	return list, r.fault()
}

// savedReader reads saved candidates.
type savedReader struct {
	wire.Reader

	label    *tree.Label
	features []dataset.Feature
	err      error
}

func (r *savedReader) fail(problem string) {
	if r.err == nil && !r.Bad {
		r.err = fmt.Errorf("%w: %s", errSaved, problem)
	}
	r.Fail()
}

// fault returns the first error.
func (r *savedReader) fault() error {
	if r.err == nil && r.Bad {
		return fmt.Errorf("%w: cut short, or a number that is too large", errSaved)
	}
	return r.err
}

// count reads a number of rows, or a weight.
func (r *savedReader) count() int64 { return int64(r.AtMost(math.MaxInt64)) }

// below reads a number in [0, limit).
func (r *savedReader) below(limit int) int { return int(r.AtMost(uint64(limit))) }

func (r *savedReader) candidate(c *Candidate) {
	var head savedHead
	if err := json.Unmarshal(r.Bytes(), &head); err != nil {
		r.fail(err.Error())
	}
	estimate, err := tree.ParseEstimate(head.Algorithm.LeafEstimate)
	if err != nil || head.Nodes < 1 || head.Nodes > len(r.Rest) {
		r.fail("a tree without nodes or without an estimate")
		return
	}
	t := &tree.Tree{
		Label: *r.label, Features: r.features, Algorithm: head.Algorithm, Training: head.Training,
		Nodes: make([]tree.Node, head.Nodes),
	}
	next := 1
	for i := range t.Nodes {
		if next = r.node(t, i, next); r.Bad {
			return
		}
	}
	if next != len(t.Nodes) {
		r.fail("nodes that belong to no tree")
		return
	}
	sumUp(t)
	t.Estimate(estimate, t.Training.Scale())
	t.Measure()
	*c = NewCandidate(t, head.Params)
	for part := range c.Counts {
		counts := r.Bytes()
		if len(counts) == 0 {
			continue
		}
		c.Counts[part] = t.NewLeafCounts()
		if err := c.Counts[part].Add(counts); err != nil {
			r.fail(err.Error())
		}
	}
}

// node reads a node. next is the id of its first child; node returns the next free id.
func (r *savedReader) node(t *tree.Tree, id, next int) int {
	n, classes := &t.Nodes[id], len(t.Label.Classes)
	both := make([]int64, 2*classes)
	n.ClassWeights, n.RawClassWeights = both[:classes:classes], both[classes:]
	bits := r.Byte()
	if bits&savedInner == 0 {
		n.Rows, n.Objects, n.Weight = r.count(), r.count(), r.count()
		r.weights(n.ClassWeights)
		r.weights(n.RawClassWeights)
		return next
	}
	const mostCodes = 1 << 16
	if len(r.features) == 0 {
		r.fail("a test without a feature")
		return next
	}
	feature, kind := r.below(len(r.features)-1), r.below(math.MaxUint8)
	n.Test = &tree.Test{Test: split.Test{
		Feature: feature, Kind: split.Kind(kind), Code: r.below(mostCodes), Span: r.below(mostCodes),
	}}
	n.Branches = make([]tree.Branch, r.below(min(mostCodes, len(t.Nodes)-next)))
	s := &n.Test.Score
	for _, x := range []*float64{&n.Test.Cost, &s.Balance, &s.Efficiency, &s.Discrimination, &s.Total} {
		*x = r.Float()
	}
	if bits&savedBilled != 0 {
		billed := r.Float()
		n.Test.Billed = &billed
	}
	if bits&savedRunnerUp != 0 {
		n.Test.RunnerUp = r.runnerUp()
	}
	for i := range n.Branches {
		outcome, bits := r.below(mostCodes), r.Byte()
		n.Branches[i] = tree.Branch{
			Outcome: outcome, Child: next + i, Missing: bits&savedMissing != 0, Other: bits&savedOther != 0,
		}
	}
	if len(n.Branches) < 2 || next <= id {
		r.fail("a test without outcomes")
	}
	return next + len(n.Branches)
}

func (r *savedReader) runnerUp() *tree.RunnerUp {
	second := &tree.RunnerUp{}
	if err := json.Unmarshal(r.Bytes(), second); err != nil {
		r.fail(err.Error())
	}
	return second
}

func (r *savedReader) weights(weights []int64) {
	for range r.below(len(weights)) {
		k := r.below(len(weights) - 1)
		weights[k] = r.count()
	}
}

// sumUp sets the counts of inner nodes to the sums over their children.
func sumUp(t *tree.Tree) {
	for i := len(t.Nodes) - 1; i >= 0; i-- { // children have greater ids
		n := &t.Nodes[i]
		for _, b := range n.Branches {
			child := &t.Nodes[b.Child]
			n.Rows, n.Objects, n.Weight = n.Rows+child.Rows, n.Objects+child.Objects, n.Weight+child.Weight
			for k := range n.ClassWeights {
				n.ClassWeights[k] += child.ClassWeights[k]
				n.RawClassWeights[k] += child.RawClassWeights[k]
			}
		}
	}
}
