// Package importance measures what each tested feature of a tree contributes, and what it costs.
//
// # By impurity
//
// Each test lowers the entropy of the classes among the training rows that reach it. The impurity
// of a feature is the sum over its tests, in bits per training row.
//
// # By permutation
//
// Permutation importance is the AUC that a tree loses if the values of a feature are permuted: each
// row takes the feature's value from each row in turn, and keeps its other values. The AUC is over
// all these pairs of rows. It is the exact average over all permutations, without their noise, and
// needs no random numbers. A tree with leaf models would need a prediction for each pair. It
// instead uses the average over Shifts permutations: the rows are in the order of the hashes of
// their codes, and each takes the value of the row a fixed number of places after it.
package importance

import (
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Shifts is the number of permutations for a tree with leaf models.
const Shifts = 2

// Feature is what a tested feature contributes and costs. All figures except AUCLost refer to the
// training rows.
type Feature struct {
	Name          string  `json:"feature"`
	RowsAsked     float64 `json:"rows_asked" jsonschema:"minimum=0"`     // share of the rows that meet a test of the feature
	ExpectedTests float64 `json:"expected_tests" jsonschema:"minimum=0"` // average number of tests of the feature
	ExpectedCost  float64 `json:"expected_cost" jsonschema:"minimum=0"`  // average billed cost of these tests
	Impurity      float64 `json:"impurity" jsonschema:"minimum=0"`       // decrease of the entropy by these tests, in bits per row
	// AUCLost is the AUC that the tree loses by permutation; nil without rows, or if their AUC is not defined.
	AUCLost *float64 `json:"auc_lost" jsonschema:"nullable"`
	// AUCLost / ExpectedCost; nil if the loss is nil or the cost is 0
	AUCPerCost *float64 `json:"auc_per_cost" jsonschema:"nullable"`
}

// Importance is the importance of all features that a tree tests, in their order.
type Importance struct {
	AUC      *float64 // AUC of the tree on the objects; nil if they do not define it
	Features []Feature
}

// Models scores a tree with leaf models on the objects given to Of.
type Models interface {
	// AUC returns the AUC on the objects; nil if they do not define it.
	AUC() *float64
	// Without returns, for each list of codes, the AUC if the feature has the codes in that list.
	// It may be called concurrently.
	Without(feature int, lists []dataset.Codes) []*float64
}

// NoAUC represents leaf models that cannot score objects.
type NoAUC struct{}

// AUC returns nil.
func (NoAUC) AUC() *float64 { return nil }

// Without returns nil for each list.
func (NoAUC) Without(_ int, lists []dataset.Codes) []*float64 { return make([]*float64, len(lists)) }

// Of returns the importance of the features. The tree and the objects must have the same features.
// models scores a tree with leaf models; nil for a tree without.
func Of(t *tree.Tree, o *dataset.Objects, models Models) *Importance {
	features, list := tested(t)
	m := &Importance{Features: list}
	if o.Len() == 0 {
		return m
	}
	var loss func(feature int) *float64
	if models != nil {
		m.AUC = models.AUC()
		loss = func(feature int) *float64 { return m.shifted(o, feature, models) }
	} else {
		s := newShuffle(t, o)
		m.AUC = s.area(s.base)
		loss = func(feature int) *float64 { return lost(m.AUC, s.area(s.without(feature))) }
	}
	if m.AUC == nil {
		return m
	}
	parallel.Each(len(m.Features), runtime.GOMAXPROCS(0), func(i int) {
		f := &m.Features[i]
		if f.AUCLost = loss(features[i]); f.AUCLost != nil && f.ExpectedCost > 0 {
			each := *f.AUCLost / f.ExpectedCost
			f.AUCPerCost = &each
		}
	})
	return m
}

func lost(whole, shuffled *float64) *float64 {
	if whole == nil || shuffled == nil {
		return nil
	}
	loss := *whole - *shuffled
	return &loss
}

// shifted returns the loss by permutations of the objects.
func (m *Importance) shifted(o *dataset.Objects, feature int, models Models) *float64 {
	var lists []dataset.Codes
	for k := 1; k <= Shifts; k++ {
		lists = append(lists, rotated(o.Codes[feature], k*o.Len()/(Shifts+1)))
	}
	sum := 0.0
	for _, area := range models.Without(feature, lists) {
		loss := lost(m.AUC, area)
		if loss == nil {
			return nil
		}
		sum += *loss
	}
	mean := sum / Shifts
	return &mean
}

// rotated returns the codes shifted by a number of places: object i gets the code of object i+by.
func rotated(c dataset.Codes, by int) dataset.Codes {
	return dataset.Codes{U8: rotate(c.U8, by), U16: rotate(c.U16, by)}
}

func rotate[T any](list []T, by int) []T {
	if list == nil {
		return nil
	}
	return slices.Concat(list[by:], list[:by])
}

// tested returns the indexes of the tested features, with the figures that only depend on the
// training rows.
func tested(t *tree.Tree) (features []int, list []Feature) {
	all := make([]Feature, len(t.Features))
	above := make([][]int32, len(t.Nodes)) // by node: the features tested above
	total := float64(t.Nodes[0].Weight)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			continue
		}
		f := n.Test.Feature
		share := float64(n.Weight) / total
		one := &all[f]
		if !t.Presence(n) {
			one.ExpectedTests += share
		}
		one.ExpectedCost += n.Spent(share)
		one.Impurity += float64(share * fall(t, n))
		below := above[i]
		if !slices.Contains(below, int32(f)) {
			one.RowsAsked += share
			below = append(slices.Clip(below), int32(f))
		}
		for _, b := range n.Branches {
			above[b.Child] = below
		}
	}
	for f := range all {
		if all[f].ExpectedTests > 0 {
			all[f].Name = t.Features[f].Name
			features = append(features, f)
			list = append(list, all[f])
		}
	}
	return features, list
}

// fall returns by how much a test lowers the entropy of the classes of its rows, in bits.
func fall(t *tree.Tree, n *tree.Node) float64 {
	whole, total := entropy(n.RawClassWeights)
	if total == 0 {
		return 0
	}
	after := 0.0
	for _, b := range n.Branches {
		part, weight := entropy(t.Nodes[b.Child].RawClassWeights)
		after += float64(part * float64(float64(weight)/float64(total)))
	}
	return max(0, whole-after)
}

func entropy(weights []int64) (bits float64, total int64) {
	total = portable.Sum(weights)
	for _, w := range weights {
		if w > 0 {
			p := float64(w) / float64(total)
			bits -= float64(p * portable.Log2(p))
		}
	}
	return bits, total
}

// shuffle counts objects at leaves if a feature takes the values of all rows.
type shuffle struct {
	tree    *tree.Tree
	router  *tree.Router
	objects *dataset.Objects
	base    *tree.LeafCounts
	at      [][]int32 // by leaf: its objects
	shift   int       // numbers of rows are divided by 2 to this power, so that products do not overflow
}

// mostPairs bounds the sums of products of weights and rows.
const mostPairs = 1 << 59

func newShuffle(t *tree.Tree, o *dataset.Objects) *shuffle {
	s := &shuffle{tree: t, router: t.Router(), objects: o, base: t.NewLeafCounts(), at: make([][]int32, len(t.Nodes))}
	weight := int64(1)
	rows := int64(1)
	for i := range o.Len() {
		leaf := s.router.Leaf(o, i)
		s.base.Count(leaf, o, i)
		s.at[leaf] = append(s.at[leaf], int32(i))
		for _, w := range o.Labels(i) {
			weight += w.Weight
		}
		rows += o.RowsOf(i)
	}
	for rows>>s.shift > mostPairs/weight {
		s.shift++
	}
	return s
}

// area returns the AUC of the counts.
func (s *shuffle) area(counts *tree.LeafCounts) *float64 {
	counts = s.tree.KnownCounts(counts)
	var leaves []metric.Leaf
	for i := range s.tree.Nodes {
		if n := &s.tree.Nodes[i]; n.Leaf() {
			leaves = append(leaves, metric.Leaf{Probabilities: n.Probabilities, Class: n.Class, Weights: counts.Weights[i]})
		}
	}
	return metric.MeanArea(leaves)
}

// code is a value of the shuffled feature, and how many rows have it.
type code struct {
	code int
	rows int64
}

// codes lists the values of a feature.
func (s *shuffle) codes(feature int) []code {
	f := &s.tree.Features[feature]
	rows := make([]int64, f.Codes())
	column := &s.objects.Codes[feature]
	for i := range s.objects.Len() {
		rows[column.At(i)] += s.objects.RowsOf(i)
	}
	var list []code
	for c, n := range rows {
		if n >>= s.shift; n > 0 {
			list = append(list, code{c, n})
		}
	}
	return list
}

// without counts the objects at the leaves if each takes the feature's value from each row in turn.
// It only counts weights.
func (s *shuffle) without(feature int) *tree.LeafCounts {
	t := s.tree
	counts := s.tree.NewLeafCounts()
	values := make([][]code, len(t.Nodes)) // by node: values that the tests of the feature above leave
	rows := make([]int64, len(t.Nodes))    // by node: rows with these values
	asked := make([]bool, len(t.Nodes))    // by node: whether a test above tests the feature
	values[0] = s.codes(feature)
	rows[0] = sum(values[0])
	for i := range t.Nodes {
		n := &t.Nodes[i]
		on := !n.Leaf() && n.Test.Feature == feature
		for _, v := range values[i] {
			if on {
				child := s.router.Child(i, v.code)
				values[child] = append(values[child], v)
			}
		}
		for _, b := range n.Branches {
			if asked[b.Child] = asked[i] || on; !on {
				values[b.Child] = values[i]
			}
			rows[b.Child] = sum(values[b.Child])
		}
	}
	var stack []int32
	for leaf, objects := range s.at {
		if asked[leaf] {
			for _, i := range objects {
				stack = s.spread(counts, int(i), feature, rows, stack)
			}
			continue
		}
		for k, w := range s.base.Weights[leaf] {
			counts.Weights[leaf][k] += w * rows[leaf]
		}
	}
	return counts
}

func sum(values []code) int64 {
	rows := int64(0)
	for _, v := range values {
		rows += v.rows
	}
	return rows
}

// spread counts an object at all leaves that it reaches with some value of the feature. It uses the
// memory of stack, and returns it.
func (s *shuffle) spread(counts *tree.LeafCounts, i, feature int, rows []int64, stack []int32) []int32 {
	stack = append(stack[:0], 0) // the root
	for len(stack) > 0 {
		at := int(stack[len(stack)-1])
		stack = stack[:len(stack)-1]
		n := &s.tree.Nodes[at]
		for !n.Leaf() && n.Test.Feature != feature {
			at = s.router.Child(at, s.objects.Codes[n.Test.Feature].At(i))
			n = &s.tree.Nodes[at]
		}
		if n.Leaf() {
			for _, w := range s.objects.Labels(i) {
				counts.Weights[at][w.Class] += w.Weight * rows[at]
			}
			continue
		}
		for _, b := range n.Branches {
			if rows[b.Child] > 0 {
				stack = append(stack, int32(b.Child))
			}
		}
	}
	return stack
}
