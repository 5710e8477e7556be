package induce_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// furtherUnits are the further currencies of pricedFurther.
var furtherUnits = []string{"minutes", "staff"}

// pricedFurther returns features of two groups that have prices in further currencies.
func pricedFurther(r *rand.Rand) []dataset.Feature {
	features := growtest.PricedFeatures()
	amounts := map[string]map[string]float64{"lab": {"minutes": 7, "staff": 0}, "form": {"minutes": 2.5, "staff": 1}}
	for i := range features {
		f := &features[i]
		f.ValueCosts = nil // values have no prices in further currencies
		f.FurtherCosts = map[string]float64{"minutes": float64(r.IntN(8)) / 2, "staff": float64(r.IntN(3))}
		f.GroupFurther = amounts[f.Group]
	}
	return features
}

// billedFurther sends each object down a tree, and returns the mean and the greatest cost in a further currency: a group is
// paid with the first test of a feature in it, and further tests of a feature are free or not.
func billedFurther(d *growtest.Data, m *tree.Tree, unit string, freely bool) (mean, most float64) {
	total := 0.0
	for i := range d.Objects.Len() {
		asked := map[int]bool{}
		setUp := map[string]bool{}
		cost := 0.0
		at := 0
		for !m.Nodes[at].Leaf() {
			n := &m.Nodes[at]
			f := &d.Features[n.Test.Feature]
			if !asked[n.Test.Feature] || !freely {
				cost += f.FurtherCosts[unit]
			}
			if f.Group != "" && !setUp[f.Group] {
				cost += f.GroupFurther[unit]
			}
			asked[n.Test.Feature] = true
			setUp[f.Group] = true
			outcome := n.Test.Outcome(d.Objects.Codes[n.Test.Feature].At(i), f.MissingCode())
			at = n.Branches[slices.IndexFunc(n.Branches, func(b tree.Branch) bool { return b.Outcome == outcome })].Child
		}
		mean += cost * float64(d.Objects.Weight[i])
		most = max(most, cost)
		total += float64(d.Objects.Weight[i])
	}
	return mean / total, most
}

// TestFurtherCosts: what rows pay in further currencies, by a walk of each object, is what the tree, its metrics, its
// prunings and its document say, and no path passes a limit. Trees without a limit cost more, as the limit closes features.
func TestFurtherCosts(t *testing.T) {
	closed := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(76, seed))
		d := growtest.New(r, pricedFurther(r), 2+r.IntN(3), 120, true)
		freely := seed%2 == 0
		if freely {
			d = d.Freely()
		}
		p := growtest.RandomParams(r, growtest.Algorithms()[r.IntN(9)], growtest.Families()[r.IntN(4)])
		p.PathCost = 0
		p.PathTests = 0
		free := d.Model(d.Grow(p, 1))
		p.PathFurther = dataset.Amounts{[]float64{0, 3, 8, 12}[r.IntN(4)], []float64{0, 1, 2, 3}[r.IntN(4)]}
		m := d.Model(d.Grow(p, 1))
		metrics := metric.OfLeaves(m, m.CountObjects(d.Objects), 1)
		decoded, err := tree.Decode(m.Encode())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, unit := range furtherUnits {
			mean, most := billedFurther(d, m, unit, freely)
			for of, is := range map[string]dataset.FurtherCost{
				"tree": m.Complexity.Further.Of(unit), "metrics": metrics.Further.Of(unit), "document": decoded.Complexity.Further.Of(unit),
			} {
				if !growtest.Near(is.ExpectedCost, mean) || !growtest.Near(is.MaxCost, most) {
					t.Errorf("seed %d: %s of the %s: %+v, want %v and %v", seed, unit, of, is, mean, most)
				}
			}
			limit := p.PathFurther[i]
			if limit > 0 && most > limit*(1+1e-12) {
				t.Errorf("seed %d: a path costs %v %s, the limit is %v", seed, most, unit, limit)
			}
			if limit > 0 && free.Complexity.Further.Of(unit).MaxCost > limit {
				closed++
			}
		}
		if p.PathFurther == (dataset.Amounts{}) && !slices.EqualFunc(free.Nodes, m.Nodes, func(a, b tree.Node) bool { return a.Rows == b.Rows }) {
			t.Errorf("seed %d: another tree without limits", seed)
		}
		s := prune.NewSequence(m, []prune.Currency{prune.Leaves, prune.Cost, prune.MaxCost}[r.IntN(3)], split.Entropy)
		for k := range s.Steps {
			pruned := s.Tree(k)
			for _, unit := range furtherUnits {
				is := s.Steps[k].Further.Of(unit)
				mean, most := billedFurther(d, pruned, unit, freely)
				if !growtest.Near(is.ExpectedCost, mean) || !growtest.Near(is.MaxCost, most) {
					t.Errorf("seed %d, step %d: %s %+v, want %v and %v", seed, k, unit, is, mean, most)
				}
			}
		}
	}
	if closed < 20 {
		t.Errorf("limits put %d trees to the test, want more", closed)
	}
}
