package tree_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// file is a tree.json read by another program.
type file struct {
	Features []struct {
		Name   string
		Values []string
	}
	Nodes []struct {
		Test     *struct{ Feature, Kind string }
		Branches []branch
	}
}

type branch struct {
	When           map[string]any
	Child          int
	Missing, Other bool
}

// holds reports whether a value meets a condition, as tree.schema.json defines it.
// listed are the feature's values.
func (b *branch) holds(value any, listed []string) bool {
	x, _ := value.(float64)
	s, _ := value.(string)
	for key, bound := range b.When {
		limit, _ := bound.(float64)
		switch key {
		case "ge":
			if x < limit {
				return false
			}
		case "lt":
			if x >= limit {
				return false
			}
		case "not_ge", "not_lt": // outside a bin
			ge, bounded := b.When["not_ge"].(float64)
			lt, limited := b.When["not_lt"].(float64)
			return bounded && x < ge || limited && x >= lt
		case "in":
			return slices.Contains(texts(bound), s)
		case "not_in":
			return !slices.Contains(texts(bound), s)
		case "other":
			return !slices.Contains(listed, s)
		case "not_other":
			return slices.Contains(listed, s)
		case "missing":
			return false
		}
	}
	return true
}

func texts(list any) []string {
	var out []string
	for _, x := range list.([]any) { //nolint:errcheck // a panic reports the fault of the file
		s, _ := x.(string)
		out = append(out, s)
	}
	return out
}

// leaf routes raw values by the file alone: nulls take the branch marked
// missing, unlisted values and values without a branch the one marked other.
func (f *file) leaf(values row) int {
	at := 0
	for f.Nodes[at].Test != nil {
		n := &f.Nodes[at]
		feature := 0
		for f.Features[feature].Name != n.Test.Feature {
			feature++
		}
		value, listed := values[feature], f.Features[feature].Values
		s, text := value.(string)
		unlisted := text && !slices.Contains(listed, s)
		next := slices.IndexFunc(n.Branches, func(b branch) bool {
			switch {
			case value == nil:
				return b.Missing
			case unlisted:
				return b.Other
			default:
				return b.holds(value, listed)
			}
		})
		if next < 0 {
			next = slices.IndexFunc(n.Branches, func(b branch) bool { return b.Other })
		}
		at = n.Branches[next].Child
	}
	return at
}

// TestRouter: rows reach the same leaf by their codes as by the conditions in tree.json,
// in the tree itself and in the decoded tree.
func TestRouter(t *testing.T) {
	for _, family := range families() {
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(7, seed))
			grown := randomTree(r, family, 150)
			b := grown.Encode()
			var f file
			if err := json.Unmarshal(b, &f); err != nil {
				t.Fatal(err)
			}
			decoded, err := tree.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			for range 200 {
				testRoutes(t, &f, randomRow(r, grown.Features), grown, decoded)
			}
		}
	}
}

func testRoutes(t *testing.T, f *file, values row, trees ...*tree.Tree) {
	t.Helper()
	want := f.leaf(values)
	for i, tr := range trees {
		o := dataset.NewObjects(dataset.NewLayout(tr.Features), 3, false, 1)
		codes := values.codes(tr.Features)
		o.Append(codes, []dataset.ClassWeight{{Class: 0, Weight: 1}}, 1)
		if got := tr.Router().Leaf(o, 0); got != want {
			t.Errorf("tree %d: %v with codes %v reaches leaf %d, want %d", i, values, codes, got, want)
		}
	}
}

// TestCountObjects: objects that pass a tree together are counted at the leaves that each of them reaches alone.
func TestCountObjects(t *testing.T) {
	for _, classes := range []int{3, 200} {
		r := rand.New(rand.NewPCG(21, uint64(classes)))
		for i, family := range []split.Family{split.Both, split.Multiways, split.Both, split.Thresholds, split.OneHot} {
			tr := randomTree(rand.New(rand.NewPCG(uint64(i/3), 1)), family, 300+i)
			tr.Label.Classes = make([]string, classes)
			o := dataset.NewObjects(dataset.NewLayout(tr.Features), classes, true, 0)
			for range 40000 {
				codes := make([]int, len(o.Codes))
				for f := range codes {
					codes[f] = r.IntN(tr.Features[f].Codes())
				}
				first := r.IntN(classes - 1)
				o.Append(codes, []dataset.ClassWeight{
					{Class: uint16(first), Weight: 1 + r.Int64N(9)}, {Class: uint16(classes - 1), Weight: 1 + r.Int64N(9)},
				}, r.Int64N(5))
			}
			want, router := tr.NewLeafCounts(), tr.Router()
			for i := range o.Len() {
				want.Count(router.Leaf(o, i), o, i)
			}
			if diff := cmp.Diff(want, tr.CountObjects(o)); diff != "" {
				t.Fatalf("%d classes, %v (-want +got):\n%s", classes, family, diff)
			}
		}
	}
}
