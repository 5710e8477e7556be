package boost

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Evaluator is a booster in the form that scores objects by their codes: the splits and the values of all trees, each
// in one list.
type Evaluator struct {
	Booster *Booster

	width  int
	roots  []int32 // by tree: its first split
	splits []codeSplit
	values []float64 // by leaf and score
}

// codeSplit is a split with what its test needs of the feature.
type codeSplit struct {
	feature       int32
	yes, no       int32 // the next split; negative: the complement of the position of a leaf in values
	code, missing uint16
	codes         []uint16 // see Split.Codes
	numeric       bool
	missingYes    bool
}

// Evaluator returns the evaluator for objects with the given features. width is the number of scores.
func (b *Booster) Evaluator(features []dataset.Feature, width int) *Evaluator {
	e := &Evaluator{Booster: b, width: width}
	for _, t := range b.Trees {
		root := int32(len(e.splits))
		e.roots = append(e.roots, root)
		side := func(s *Side) int32 {
			if s.Values == nil {
				return root + int32(s.Split)
			}
			e.values = append(e.values, s.Values...)
			return ^int32(len(e.values) - width)
		}
		for i := range t {
			s := &t[i]
			feature := &features[s.Feature]
			e.splits = append(e.splits, codeSplit{
				feature: int32(s.Feature), yes: side(&s.Yes), no: side(&s.No), code: uint16(s.Code), codes: s.Codes,
				missing: uint16(feature.MissingCode()), numeric: feature.Kind == dataset.Numeric, missingYes: s.Missing,
			})
		}
	}
	return e
}

// First returns the evaluator of the first n trees, which shares their splits.
func (e *Evaluator) First(n int) *Evaluator {
	first := *e
	first.Booster = &Booster{Trees: e.Booster.Trees[:n:n]}
	first.roots = e.roots[:n]
	return &first
}

// AddTo adds the booster's values for object i to its scores, given the codes of all features. It is a hot loop.
func (e *Evaluator) AddTo(scores []float64, codes []dataset.Codes, i int) {
	for _, at := range e.roots {
		for at >= 0 {
			s := &e.splits[at]
			var code uint16
			if c := &codes[s.feature]; c.U8 != nil {
				code = uint16(c.U8[i])
			} else {
				code = c.U16[i]
			}
			var yes bool
			switch {
			case code == s.missing:
				yes = s.missingYes
			case s.numeric:
				yes = code >= s.code
			default:
				_, yes = slices.BinarySearch(s.codes, code)
			}
			if at = s.no; yes {
				at = s.yes
			}
		}
		for k, v := range e.values[^at:][:e.width] {
			scores[k] += v
		}
	}
}
