package frontier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
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

// AppendCandidates appends grown, unpruned candidates, with the rows at their leaves, in a binary
// form. If a candidate has no counts of training rows, its leaves give them. Only leaves are saved with weights, because the
// weights of inner nodes are sums, and estimates follow from the weights. NewPool makes the same pool of the decoded candidates.
func AppendCandidates(dst []byte, list []Candidate) []byte {
	w := wire.Writer(dst).Length(len(list))
	for i := range list {
		c := &list[i]
		t := c.Tree
		w = w.Bytes(wire.JSON(&savedHead{c.Params, t.Algorithm, t.Training, len(t.Nodes)}))
		w = tree.AppendNodes(w, t.Nodes)
		var plain []byte
		if c.Counts[dataset.Train] != nil {
			plain = t.TrainingCounts().Encode()
		}
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

// DecodeCandidates decodes bytes written by AppendCandidates. label and features are those with
// which the trees were grown.
func DecodeCandidates(b []byte, label tree.Label, features []dataset.Feature) ([]Candidate, error) {
	if err := label.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", errSaved, err)
	}
	r := &wire.Reader{Rest: b}
	var list []Candidate
	for i := range r.AtMost(uint64(len(b))) {
		c, err := readCandidate(r, &label, features)
		if r.Bad {
			err = errors.New("cut short, or a number that is too large")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: tree %d: %w", errSaved, i, err)
		}
		list = append(list, c)
	}
	if r.Bad || len(r.Rest) > 0 {
		return nil, fmt.Errorf("%w: bytes left over", errSaved)
	}
	return list, nil
}

// readCandidate reads a candidate. It may be wrong if r is bad then.
func readCandidate(r *wire.Reader, label *tree.Label, features []dataset.Feature) (c Candidate, err error) {
	var head savedHead
	if err = json.Unmarshal(r.Bytes(), &head); err == nil {
		_, err = tree.ParseEstimate(head.Algorithm.LeafEstimate.String())
	}
	if err != nil {
		return c, err
	}
	t := &tree.Tree{Label: *label, Features: features, Algorithm: head.Algorithm, Training: head.Training}
	if t.Nodes, err = tree.ReadNodes(r, head.Nodes, len(label.Classes), len(features)); err != nil {
		return c, err
	}
	tree.SumUp(t.Nodes)
	t.Estimate(t.Algorithm.LeafEstimate, t.Training.Scale())
	t.Measure()
	c = NewCandidate(t, head.Params)
	for part := range c.Counts {
		if counts := r.Bytes(); len(counts) > 0 {
			c.Counts[part] = t.NewLeafCounts()
			if err = c.Counts[part].Add(counts); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}
