package textview_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestPathsOfEachKind: numbers have all digits, dates are dates, names are whole and quoted
// if ambiguous, and missing values are mentioned.
func TestPathsOfEachKind(t *testing.T) {
	fs := []dataset.Feature{
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.30000000000000004, 144342.5, 1e300}},
		{Name: "day", Kind: dataset.Numeric, Unit: dataset.Date, Cuts: []float64{20778}},
		{Name: "at", Kind: dataset.Numeric, Unit: dataset.Timestamp, Cuts: []float64{1795253400000001}},
		{
			Name: "a = b", Kind: dataset.Categorical,
			Values: []string{"clerk ", "this and that", strings.Repeat("long", 20), "19"},
		},
		{Name: "since", Kind: dataset.Categorical, Unit: dataset.Date, Values: []string{"20778"}},
	}
	one := func(feature int, kind split.Kind, code int) *tree.Tree {
		test := &tree.Test{Test: split.Test{Feature: feature, Kind: kind, Code: code}}
		missing := test.Outcome(fs[feature].MissingCode(), fs[feature].MissingCode())
		m := &tree.Tree{Features: fs, Nodes: []tree.Node{{Test: test}, {}, {}}}
		for i := range 2 {
			m.Nodes[0].Branches = append(m.Nodes[0].Branches,
				tree.Branch{Outcome: 1 - i, Child: 1 + i, Missing: missing == 1-i, Other: i == 1})
		}
		return m
	}
	for _, c := range []struct {
		tree *tree.Tree
		want []string
	}{
		{one(0, split.Threshold, 1), []string{"x >= 0.30000000000000004", "(x < 0.30000000000000004 or missing)"}},
		{one(0, split.Bin, 2), []string{"x in [144342.5, 1e+300)", "x not in [144342.5, 1e+300)"}},
		{one(0, split.Bin, 0), []string{"x < 0.30000000000000004", "(x >= 0.30000000000000004 or missing)"}},
		{one(0, split.Bin, 3), []string{"x >= 1e+300", "(x < 1e+300 or missing)"}},
		{one(0, split.Missing, 4), []string{"x is missing", "x is not missing"}},
		{one(1, split.Threshold, 1), []string{"day >= 2026-11-21", "(day < 2026-11-21 or missing)"}},
		{one(2, split.Threshold, 1), []string{
			"at >= 2026-11-21T09:30:00.000001",
			"(at < 2026-11-21T09:30:00.000001 or missing)",
		}},
		{one(3, split.Equals, 0), []string{`"a = b" = "clerk "`, `"a = b" != "clerk "`}},
		{one(3, split.Equals, 1), []string{`"a = b" = "this and that"`, `"a = b" != "this and that"`}},
		{one(3, split.Equals, 2), []string{`"a = b" = ` + fs[3].Values[2], `"a = b" != ` + fs[3].Values[2]}},
		{one(3, split.Other, 4), []string{`"a = b" is other`, `"a = b" is not other`}},
		{one(4, split.Equals, 0), []string{"since = 2026-11-21", "since != 2026-11-21"}},
	} {
		if got := textview.Paths(c.tree); !slices.Equal(got, c.want) {
			t.Errorf("paths %q, want %q", got, c.want)
		}
	}
	// The first test on x sends missing values elsewhere, so at the second there is a value.
	two := one(0, split.Threshold, 1)
	two.Nodes[1] = tree.Node{
		Test:     &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 2}},
		Branches: []tree.Branch{{Outcome: 1, Child: 3}, {Outcome: 0, Child: 4, Missing: true}},
	}
	two.Nodes = append(two.Nodes, tree.Node{}, tree.Node{})
	want := []string{
		"(x < 0.30000000000000004 or missing)", "x >= 0.30000000000000004 and x >= 144342.5",
		"x >= 0.30000000000000004 and x < 144342.5",
	}
	if got := textview.Paths(two); !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
}
