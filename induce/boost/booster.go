package boost

import (
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Booster adds to the scores of rows: the sum of small regression trees over few features.
type Booster struct {
	Trees []Tree
}

// Tree is a regression tree with at most MaxLeaves leaves, which is one more than its splits. Its
// root is the first split. Children come after their parents.
type Tree []Split

// Split divides rows by a feature.
type Split struct {
	Feature int // index of the feature
	// Code is the code of a numeric feature's test: rows in this bin and in higher bins go to Yes, so values of at least
	// Cuts[Code-1].
	Code int
	// Codes has the codes of a categorical feature whose rows go to Yes, ascending.
	Codes   []uint16
	Missing bool // whether rows without a value go to Yes
	Yes, No Side
}

// Side is one side of a split: a leaf with the values that it adds to the scores, or another split
// of the tree.
type Side struct {
	Values []float64 // by score; nil if the side is a split
	Split  int       // position in the tree
}

// yes reports whether rows with this code of the feature are on the Yes side.
func (s *Split) yes(f *dataset.Feature, code int) bool {
	switch {
	case code == f.MissingCode():
		return s.Missing
	case f.Kind == dataset.Numeric:
		return code >= s.Code
	default:
		return s.Has(code)
	}
}

// Has reports whether rows with a code of a categorical feature go to Yes.
func (s *Split) Has(code int) bool {
	_, found := slices.BinarySearch(s.Codes, uint16(code))
	return found
}

// Values returns the values of a categorical feature whose rows go to Yes, in the order of their codes.
func (s *Split) Values(f *dataset.Feature) []string {
	in := make([]string, len(s.Codes))
	for i, code := range s.Codes {
		in[i] = f.Values[code]
	}
	return in
}

// Features returns the features of all splits, ascending.
func (b *Booster) Features() []int {
	seen := make(map[int]bool)
	for _, t := range b.Trees {
		for i := range t {
			seen[t[i].Feature] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Renumbered returns the booster with renumbered features.
func (b *Booster) Renumbered(number func(feature int) int) *Booster {
	c := &Booster{Trees: make([]Tree, len(b.Trees))}
	for i, t := range b.Trees {
		c.Trees[i] = slices.Clone(t)
		for k := range t {
			c.Trees[i][k].Feature = number(t[k].Feature)
		}
	}
	return c
}
