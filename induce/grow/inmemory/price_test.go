package inmemory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestGrowPriced compares trees with the trees of the naive grower if the costs of tests depend on
// the path.
func TestGrowPriced(t *testing.T) {
	free := 0
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.Families() {
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(uint64(a)<<8|uint64(family), seed))
				features := growtest.SomeFeatures()
				if seed%3 > 0 {
					features = growtest.PricedFeatures()
				}
				d := growtest.New(r, features, 2+r.IntN(3), 2+r.IntN(80), r.IntN(2) == 0)
				if seed%3 != 1 {
					d = d.Freely()
				}
				p := growtest.RandomParams(r, a, family)
				got := d.Grow(p, 1)
				if growtest.Compare(t, got, growNaively(d, p), "root"); t.Failed() {
					t.Fatalf("%s, tests %s, seed %d: %+v", a, family, seed, p)
				}
				for _, n := range d.Model(got).Nodes {
					if n.Test != nil && n.Test.Paid() == 0 {
						free++
					}
				}
			}
		}
	}
	if free == 0 {
		t.Error("no test was free")
	}
}

// TestDearGroups: of two groups of features that tell the same, at a price of
// 1,000 each, a tree opens one on each path and stays in it, while without the
// price it mixes them.
func TestDearGroups(t *testing.T) {
	mixed := func(price float64) (paths, most int) {
		r := rand.New(rand.NewPCG(1, 9))
		var features []dataset.Feature
		for f := range 8 {
			feature := growtest.Numeric(fmt.Sprintf("n%d", f), 4, 1)
			feature.Group, feature.GroupCost = []string{"a", "b"}[f%2], price
			features = append(features, feature)
		}
		d := growtest.New(r, features, 2, 1, false)
		for range 400 {
			codes := make([]int, 8)
			for f := 0; f < 8; f += 2 {
				codes[f] = r.IntN(4)
				codes[f+1] = codes[f]
				if r.IntN(8) == 0 {
					codes[f+1] = r.IntN(4) // the twins differ at times: either group alone tells nearly all
				}
			}
			class := uint16((codes[0] + codes[2] + codes[4] + codes[6]) / 2 % 2)
			d.Objects.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
			d.Total++
		}
		m := d.Model(d.Grow(induce.Params{Algorithm: split.EC45, Family: split.Thresholds, Lambda: 1, Theta: 0.02}, 1))
		groups := make([]map[string]bool, len(m.Nodes))
		groups[0] = map[string]bool{}
		for i := range m.Nodes {
			n := &m.Nodes[i]
			if n.Leaf() {
				paths++
				most = max(most, len(groups[i]))
				continue
			}
			for _, b := range n.Branches {
				groups[b.Child] = map[string]bool{features[n.Test.Feature].Group: true}
				for g := range groups[i] {
					groups[b.Child][g] = true
				}
			}
		}
		return paths, most
	}
	if paths, most := mixed(0); most != 2 || paths < 10 {
		t.Errorf("groups that cost nothing: %d paths through up to %d of them, want both", paths, most)
	}
	if paths, most := mixed(1000); most != 1 || paths < 10 {
		t.Errorf("dear groups: %d paths through up to %d of them, want 1", paths, most)
	}
}

// TestSetUpsByHand: eight objects, one a code of x, of which y is the upper half. y
// parts the classes but is of a group that costs 9, shared by two features. Scores by
// cc45: y gains 1 bit and x at most .55 (3 of 8 apart) for a price of 1. In full y's
// is 1/10; shared 1/5.5; free 1/1. The usual price is (1 + 5.5 + 5.5) / 3 = 4: with
// shifted prices y's is 1/(1 + 10/4), with free set-ups 1/(1 + 1/4).
func TestSetUpsByHand(t *testing.T) {
	x, y, z := growtest.Numeric("x", 8, 1), growtest.Numeric("y", 2, 1), growtest.Numeric("z", 2, 1)
	y.Group, y.GroupCost, z.Group, z.GroupCost = "lab", 9, "lab", 9
	features := []dataset.Feature{x, y, z}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 8)
	for i, class := range []uint16{0, 1, 0, 1, 0, 1, 0, 1} {
		o.Append([]int{i, int(class), 0}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	const gain = 0.137925 // gain of the best threshold on x, 1 against 7 objects: 1 - 7/8 H(3/7)
	for way, want := range map[split.Pricing]struct {
		feature      int
		score, price float64
	}{
		{}: {0, gain, 1}, {SetUps: split.SharedSetUps}: {1, 1 / 5.5, 10}, {SetUps: split.FreeSetUps}: {1, 1, 10},
		{Prices: split.ShiftedPrices}:                           {1, 1 / 3.5, 10},
		{Prices: split.ShiftedPrices, SetUps: split.FreeSetUps}: {1, 1 / 1.25, 10},
		{Prices: split.RootPrices, SetUps: split.SharedSetUps}:  {1, 1 / math.Sqrt(5.5/4), 10},
		{Prices: split.FlooredPrices, SetUps: split.FreeSetUps}: {1, 1, 10},
	} {
		params := induce.Params{Algorithm: split.CC45, Family: split.Thresholds, Pricing: way}
		grown := tree.New(features, inmemory.Grow(o, split.Columns(features), params, 8, inmemory.Options{}))
		grown.Bill()
		got, score := grown.Nodes[0].Test, grown.Nodes[0].Test.Score.Total
		if got.Feature != want.feature || math.Abs(score-want.score) > 1e-5 || got.Paid() != want.price {
			t.Errorf("%+v: feature %d, score %v, billed %v, want %+v", way, got.Feature, score, got.Paid(), want)
		}
	}
}
