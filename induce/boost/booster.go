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

// Tree is a regression tree of at most MaxLeaves leaves, which is one more than splits. Its root is the
// first split. Children come after their parents.
type Tree []Split

// Split parts rows by a feature.
type Split struct {
	Feature int // index of the feature
	// Code is that of the test. A numeric feature: rows of this bin and of higher ones go to
	// Yes, so values of at least Cuts[Code-1]. A categorical feature: rows of this value do.
	Code    int
	Missing bool // rows without a value go to Yes, else to No
	Yes, No Side
}

// Side is one side of a split: a leaf with the numbers that it adds to the scores, or another
// split of the tree.
type Side struct {
	Values []float64 // by score; nil: the side is a split
	Split  int       // position in the tree
}

// yes reports on which side of the split a row of the given code of its feature is.
func (s *Split) yes(f *dataset.Feature, code int) bool {
	switch {
	case code == f.MissingCode():
		return s.Missing
	case f.Kind == dataset.Numeric:
		return code >= s.Code
	default:
		return code == s.Code
	}
}

// AddTo adds the values of a row to its scores. code returns the row's code of a feature.
func (b *Booster) AddTo(scores []float64, features []dataset.Feature, code func(feature int) int) {
	for _, t := range b.Trees {
		for at := 0; ; {
			s := &t[at]
			side := &s.No
			if s.yes(&features[s.Feature], code(s.Feature)) {
				side = &s.Yes
			}
			if side.Values != nil {
				for k, v := range side.Values {
					scores[k] += v
				}
				break
			}
			at = side.Split
		}
	}
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

// Renumbered returns the booster with other numbers of its features.
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
