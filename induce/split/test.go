package split

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Test is a question on one feature. Two-outcome tests number their outcomes 0
// (no) and 1 (yes); the outcomes of a multiway test are the feature's codes.
type Test struct {
	Feature int
	Kind    Kind
	Code    int // least code of outcome 1 (threshold, bin), or its only code; 0 for multiway
	// Span is the number of further codes of outcome 1 of a bin, in trees of earlier versions.
	Span int     `json:",omitempty"`
	Set  CodeSet `json:",omitempty"` // the codes of outcome 1 of a test for a set; empty for all other tests

	// Trust is the part of the difference between the outcomes of a test for a set that new rows will have, from 0 to 1.
	// What is left is chance: the values were put together by their shares in the training rows. 0: unknown, nothing is chance.
	Trust float64 `json:",omitempty"`
	Prior float64 `json:",omitempty"` // see Column.Prior; 0 unless the test is for a set
}

// Outcome returns the outcome of an object, given the object's code of the test's
// feature and the feature's code of missing.
func (t *Test) Outcome(code, missing int) int {
	switch t.Kind {
	case Multiway:
		return code
	case Threshold:
		if code >= t.Code && code != missing {
			return 1
		}
	case In:
		if t.Set.Has(code) {
			return 1
		}
	default:
		if t.Code <= code && code <= t.Code+t.Span {
			return 1
		}
	}
	return 0
}

// Yes returns the codes of outcome 1 of a two-outcome test that is not for a set: from low to low+span.
func (t *Test) Yes(missing int) (low, span uint32) {
	if t.Kind == Threshold {
		return uint32(t.Code), uint32(missing - 1 - t.Code)
	}
	return uint32(t.Code), uint32(t.Span)
}

// Partition sorts objects by their outcomes, given the codes of the test's feature: the parts of into that it
// returns have the objects of ids with each outcome, in the order of ids. outcomes has the codes of a multiway
// test, ascending; objects with other codes are in no part. ids and into are as for dataset.Codes.Partition.
func (t *Test) Partition(codes *dataset.Codes, missing int, outcomes, ids, into []int32) [][]int32 {
	if t.Kind == In {
		return codes.Deal(ids, into, 2, func(code int) int { return t.Outcome(code, missing) })
	}
	if t.Kind != Multiway {
		low, span := t.Yes(missing)
		no := codes.Partition(ids, into, low, span)
		return [][]int32{into[:no:no], into[no:]}
	}
	return codes.Deal(ids, into, len(outcomes)+1, func(code int) int {
		at, found := slices.BinarySearch(outcomes, int32(code))
		if !found {
			return len(outcomes)
		}
		return at
	})[:len(outcomes)]
}

// Parts are the three parts of a score and the score itself.
type Parts struct {
	Balance        float64 `json:"balance"`
	Efficiency     float64 `json:"efficiency"`
	Discrimination float64 `json:"discrimination"`
	Total          float64 `json:"total"`
}

// Candidate is a test with its cost and score in some node.
type Candidate struct {
	Test

	// Cost divides the score and breaks ties. It is the price paid at the node; for a
	// free test see Column.At.
	Cost  float64
	Own   float64 // price of the test itself, wherever its node is
	Score float64
}

// Billed returns the price paid for the test at its node. Only free tests count less than their own price.
func (t *Candidate) Billed() float64 {
	if t.Cost < t.Own {
		return 0
	}
	return t.Cost
}
