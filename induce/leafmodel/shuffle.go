package leafmodel

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Shuffling scores a tree with leaf models on objects, and again with other values of one feature.
// It then sends down the tree only the objects whose path asks for the feature: all other objects
// reach the same leaf, and its model does not use the feature.
type Shuffling struct {
	base   *evaluation
	all    *counts
	leaves [][]int32 // by node: objects of the leaf
	asking [][]int   // by node: features that the path asks for, ascending

	semaphore chan struct{} // bounds the concurrent calls of Without, whose counts take memory
}

// NewShuffling returns the scores of a tree on objects. models are its models by node, from Fit or
// Boost.
func NewShuffling(
	objects *dataset.Objects, features []dataset.Feature, t *tree.Tree, models []*Model,
) *Shuffling {
	s := &Shuffling{
		base:   newEvaluation(objects, features, []*tree.Tree{t}, [][]*Model{models}),
		leaves: make([][]int32, len(t.Nodes)), asking: make([][]int, len(t.Nodes)),
	}
	s.base.kept = s.leaves
	s.all = s.base.newCounts()
	s.semaphore = make(chan struct{}, max(1, countBytes/(2*8*len(s.all.weights))))
	roots, ids := s.base.roots()
	s.base.run(0, roots, ids)
	s.all.addAll(&s.base.tallies[0])
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			continue
		}
		asking := s.asking[i]
		if at, found := slices.BinarySearch(asking, n.Test.Feature); !found {
			asking = slices.Insert(slices.Clone(asking), at, n.Test.Feature)
		}
		for _, b := range n.Branches {
			s.asking[b.Child] = asking
		}
	}
	return s
}

// AUC returns the area on the objects, as in Score.
func (s *Shuffling) AUC() *float64 { return s.base.score(0, nil).AUC }

// Without returns, for each list of codes, the area if the feature has the values in that list. It
// may be called concurrently.
func (s *Shuffling) Without(feature int, lists []dataset.Codes) []*float64 {
	s.semaphore <- struct{}{}
	defer func() { <-s.semaphore }()
	b := s.base
	// rest counts the objects whose path does not ask for the feature.
	rest := &counts{slices.Clone(s.all.weights), slices.Clone(s.all.set)}
	var ids []int32
	for leaf := range s.leaves {
		if _, found := slices.BinarySearch(s.asking[leaf], feature); !found {
			continue
		}
		ids = append(ids, s.leaves[leaf]...)
		rest.add(b.tallies[0].entries[leaf], -1)
	}
	shuffled := *b.objects
	shuffled.Codes = slices.Clone(shuffled.Codes)
	own := newEvaluation(&shuffled, b.features, b.trees, b.models)
	areas := make([]*float64, len(lists))
	for i, codes := range lists {
		shuffled.Codes[feature] = codes
		own.weight = 0
		clear(own.tallies[0].entries)
		own.run(1, members{{}}, ids)
		areas[i] = own.score(0, rest).AUC
	}
	return areas
}
