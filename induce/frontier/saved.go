package frontier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/counting"
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
	w := wire.Writer(dst).Length(len(list))
	for i := range list {
		c := &list[i]
		t := c.Tree
		w = w.Bytes(mustJSON(&savedHead{c.Params, t.Algorithm, t.Training, len(t.Nodes)}))
		for k := range t.Nodes {
			w = appendNode(w, &t.Nodes[k])
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
			w = w.Bytes(counts)
		}
	}
	return w
}

// mustJSON encodes a value of numbers and texts, which cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func appendNode(w wire.Writer, n *tree.Node) wire.Writer {
	if n.Leaf() {
		w = w.Byte(0).Count(n.Rows).Count(n.Objects).Count(n.Weight)
		return appendWeights(appendWeights(w, n.ClassWeights), n.RawClassWeights)
	}
	t := n.Test
	bits := byte(savedInner)
	if t.Billed != nil {
		bits |= savedBilled
	}
	if t.RunnerUp != nil {
		bits |= savedRunnerUp
	}
	w = w.Byte(bits).Length(t.Feature).Length(int(t.Kind)).Length(t.Code).Length(t.Span).Length(len(n.Branches))
	s := &t.Score
	w = w.Float(t.Cost).Float(s.Balance).Float(s.Efficiency).Float(s.Discrimination).Float(s.Total)
	if t.Billed != nil {
		w = w.Float(*t.Billed)
	}
	if t.RunnerUp != nil {
		w = w.Bytes(mustJSON(t.RunnerUp))
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

// below reads a number in [0, limit).
func (r *savedReader) below(limit int) int { return int(r.AtMost(uint64(limit))) }

func (r *savedReader) candidate(c *Candidate) {
	var head savedHead
	if err := json.Unmarshal(r.Bytes(), &head); err != nil {
		r.fail(err.Error())
	}
	if _, err := tree.ParseEstimate(head.Algorithm.LeafEstimate.String()); err != nil || head.Nodes < 1 || head.Nodes > len(r.Rest) {
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
	t.SumUp()
	t.Estimate(t.Algorithm.LeafEstimate, t.Training.Scale())
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
	n := &t.Nodes[id]
	classes := len(t.Label.Classes)
	both := make([]int64, 2*classes)
	n.ClassWeights, n.RawClassWeights = both[:classes:classes], both[classes:]
	bits := r.Byte()
	if bits&savedInner == 0 {
		n.Rows, n.Objects, n.Weight = r.Count(), r.Count(), r.Count()
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
	n.Test.Cost, s.Balance, s.Efficiency = r.Float(), r.Float(), r.Float()
	s.Discrimination, s.Total = r.Float(), r.Float()
	if bits&savedBilled != 0 {
		billed := r.Float()
		n.Test.Billed = &billed
	}
	if bits&savedRunnerUp != 0 {
		n.Test.RunnerUp = r.runnerUp()
	}
	for i := range n.Branches {
		outcome := r.below(mostCodes)
		bits := r.Byte()
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
		weights[k] = r.Count()
	}
}
