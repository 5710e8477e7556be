package train_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/train"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
)

// names are other names of the classes and the categories, and a letter before the names of the features.
type names struct {
	classes, categories string // by number: a letter
	prefixes            string // by feature
}

// named returns rows whose class, one of three, follows two numbers and a category, with noise.
func named(n names) []map[string]any {
	r := rand.New(rand.NewPCG(58, 3)) //nolint:gosec // data of a test
	rows := make([]map[string]any, 600)
	for i := range rows {
		category := r.IntN(len(n.categories))
		a := math.Round(10*r.NormFloat64()) / 10
		b := r.NormFloat64()
		score := a + 0.5*b + 0.8*float64(category%3) + 0.8*r.NormFloat64()
		class := 0
		for _, bound := range []float64{0.3, 1.6} {
			if score > bound {
				class++
			}
		}
		rows[i] = map[string]any{
			n.prefixes[0:1] + "a": a, n.prefixes[1:2] + "b": b, n.prefixes[2:3] + "c": n.categories[category : category+1],
			"class": n.classes[class : class+1],
		}
	}
	return rows
}

// outline returns a tree without its names: the rows, the feature and the class of each node, and its branches in the
// order of their texts, as the names of categories decide which of them is called yes.
func outline(t *tree.Tree, n names) string {
	var of func(i int) string
	of = func(i int) string {
		node := &t.Nodes[i]
		text := fmt.Sprintf("%d:%d", node.Rows, strings.Index(n.classes, t.Label.Classes[node.Class]))
		if node.Leaf() {
			return text
		}
		var branches []string
		for _, b := range node.Branches {
			branches = append(branches, of(b.Child))
		}
		slices.Sort(branches)
		return text + t.Features[node.Test.Feature].Name[1:] + "(" + strings.Join(branches, " ") + ")"
	}
	return of(0)
}

// TestNames: the tree is the same, but for names, whatever the order of the names of classes, of categories and of
// features: with folds, with validation rows, and if all rows train.
func TestNames(t *testing.T) {
	longtest.Skip(t)
	for split, shares := range map[string]dataset.Shares{"folds": {80, 0, 20}, "validation": {60, 20, 20}, "all rows": {100, 0, 0}} {
		s := settings.Default()
		s.Label, s.Certificate, s.Split = "class", false, shares
		s.MinRows = 80 // tests of smaller nodes often have equal scores, so that names decide
		want := ""
		for _, n := range []names{
			{"xyz", "pqrstu", "abc"},
			{"zyx", "pqrstu", "abc"},
			{"yzx", "pqrstu", "abc"},
			{"xyz", "utsrqp", "abc"},
			{"xyz", "spurtq", "abc"},
			{"xyz", "pqrstu", "cba"},
			{"zxy", "tupqsr", "bca"},
		} {
			got, _, err := train.Train(t.Context(), named(n), s)
			if err != nil {
				t.Fatalf("%s, %+v: %v", split, n, err)
			}
			text := outline(got, n)
			if want == "" {
				want = text
				if got.CountLeaves() < 4 {
					t.Errorf("%s: a tree of %d leaves does not test the names", split, got.CountLeaves())
				}
			}
			if text != want {
				t.Errorf("%s, %+v:\n%s\nwant\n%s", split, n, text, want)
			}
		}
	}
}
