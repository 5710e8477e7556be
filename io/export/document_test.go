package export_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
)

// bushy returns a tree of two features with the given number of levels. All leaves are on the last
// level.
func bushy(levels int) *tree.Tree {
	inner := 1<<levels - 1
	t := &tree.Tree{Label: tree.Label{Column: "y", Classes: []string{"a", "b"}}}
	for _, name := range []string{"x", "z"} {
		cuts := make([]float64, 1<<levels)
		for i := range cuts {
			cuts[i] = float64(i) / 10
		}
		t.Features = append(t.Features, dataset.Feature{Name: name, Kind: dataset.Numeric, Cuts: cuts, Cost: 1})
	}
	for id := range inner {
		level := 0
		for id+1 >= 2<<level {
			level++
		}
		// Each level of a feature halves the cuts that are left.
		times := level / 2
		half := len(t.Features[0].Cuts) >> (times + 1)
		path, code := id+1-1<<level, 0
		for above := range level {
			if above%2 == level%2 && path>>(level-1-above)&1 == 0 { // the first branch: at or above the cut
				code += len(t.Features[0].Cuts) >> (above/2 + 1)
			}
		}
		t.Nodes = append(t.Nodes, tree.Node{
			Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{1, 1}, RawClassWeights: []int64{1, 1},
			Probabilities: []float64{0.5, 0.5},
			Test:          &tree.Test{Test: split.Test{Feature: level % 2, Kind: split.Threshold, Code: code + half}, Cost: 1},
			Branches:      []tree.Branch{{Outcome: 1, Child: 2*id + 1}, {Outcome: 0, Child: 2*id + 2, Missing: true}},
		})
	}
	for i := range inner + 1 {
		t.Nodes = append(t.Nodes, leafOf(i, inner))
	}
	return t
}

// TestLarge: no target finds a tree of many leaves too much, more than 5,000 of them with -tags long.
func TestLarge(t *testing.T) {
	t.Parallel()
	levels := 6
	if longtest.Enabled() {
		levels = 13
	}
	m := bushy(levels)
	rows := randomRows(rand.New(rand.NewPCG(21, 1)), m, 2000)
	for _, format := range withoutDialects() {
		if slow(format) {
			continue
		}
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			verifyRows(t, m, format, rows)
		})
	}
}

// TestPathOfDocuments: what reads documents gives the text of the path, and the comparison sees it.
func TestPathOfDocuments(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/boosted.json")
	cases, err := export.Cases(m, export.GoldenRows(m))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"pmml", "onnx", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			o := export.Options{Format: format, With: export.With{Path: true}}
			if !export.Runs(o) {
				t.Skipf("waits for what runs %s: Python 3, onnxruntime or ESPALIER_PMML", format)
			}
			target, err := export.NewTarget(t.Context(), m, o)
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			differences, err := target.Compare(t.Context(), cases, 5)
			if err != nil || len(differences) > 0 {
				t.Errorf("%v, %v", err, differences)
			}
			var plain, with bytes.Buffer
			if err := errors.Join(export.Write(&plain, m, export.Options{Format: format}), export.Write(&with, m, o)); err != nil {
				t.Fatal(err)
			}
			if with.Len() <= plain.Len() {
				t.Error("the file has no more with paths than without")
			}
		})
	}
}
