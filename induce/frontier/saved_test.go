package frontier_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/tree"
)

// savable returns two candidates. One has weights in units above the mean weight, the other billed costs, branches of missing values, and
// training rows that its leaves lack.
func savable() []frontier.Candidate {
	list := candidates()
	for i := range list {
		list[i].Tree.Algorithm.LeafEstimate = "raw"
		list[i].Tree.Estimate(tree.Raw, 1)
	}
	light := list[0].Tree // of rows that weigh half a unit on average
	light.Training.SetScale(0.5)
	light.Algorithm.LeafEstimate = "smoothed"
	light.Estimate(tree.Smoothed, light.Training.Scale())
	one := &list[1]
	billed := 0.25
	one.Tree.Nodes[2].Test.Billed, one.Tree.Nodes[2].Branches[1].Missing = &billed, true
	one.Tree.Nodes[0].Branches[0].Other = true
	one.Tree.Measure()
	one.Counts[dataset.Train] = one.Tree.NewLeafCounts()
	one.Counts[dataset.Train].Weights[3][1], one.Counts[dataset.Train].Rows[3] = 7, 7
	return list
}

// TestSaved: candidates are decoded as they were, and encoded to the same bytes again.
func TestSaved(t *testing.T) {
	list := savable()
	b := frontier.AppendCandidates(nil, list)
	label, features := list[0].Tree.Label, list[0].Tree.Features
	got, err := frontier.DecodeCandidates(b, label, features)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, got, cmpopts.EquateEmpty(), cmp.Transformer("weights", func(c *tree.LeafCounts) [][]int64 {
		return append(slices.Clone(c.Weights), c.Rows)
	})); diff != "" {
		t.Errorf("(-saved +decoded)\n%s", diff)
	}
	if again := frontier.AppendCandidates(nil, got); !bytes.Equal(again, b) {
		t.Error("decoded candidates are saved as other bytes")
	}
}

// TestSavedDamaged: bytes that are cut short or changed are refused or read as other candidates;
// nothing panics.
func TestSavedDamaged(t *testing.T) {
	list := savable()
	b := frontier.AppendCandidates(nil, list)
	label, features := list[0].Tree.Label, list[0].Tree.Features
	for n := range b {
		if _, err := frontier.DecodeCandidates(b[:n], label, features); err == nil {
			t.Errorf("%d of %d bytes were taken", n, len(b))
		}
		for _, bit := range []byte{1, 0x40, 0x80} {
			changed := slices.Clone(b)
			changed[n] ^= bit
			_, _ = frontier.DecodeCandidates(changed, label, features) // it must end without a panic
		}
	}
	if _, err := frontier.DecodeCandidates(b, label, nil); err == nil {
		t.Error("trees without features were taken")
	}
}
