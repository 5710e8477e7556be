package runfolder

import (
	"bytes"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/metric"
)

// Comparison is the result of comparing two trees, A and B, on the same rows. Differences are B's
// figures less A's.
type Comparison struct {
	Format  string       `json:"format" jsonschema:"enum=espalier/comparison"`
	Version int          `json:"version" jsonschema:"enum=1"`
	A       ComparedTree `json:"a"`
	B       ComparedTree `json:"b"`

	Label  string `json:"label,omitempty"`  // column of the true classes; absent without labels
	Weight string `json:"weight,omitempty"` // column of the rows' weights; absent: each row weighs 1
	Count  string `json:"count,omitempty"`  // column of how many rows each line is; absent: each is one
	// Key is the column of the keys of groups, which the intervals count; absent: rows are independent.
	Key string `json:"key,omitempty"`
	// CopiesBy are the features in which rows are equal that the intervals count as one; absent: none.
	CopiesBy []string `json:"copies_by,omitempty"`
	Note     string   `json:"note,omitempty"` // what could not be compared, and why
	// LostBits is how many of its lowest bits each probability of a leaf model has lost because
	// there were too many distinct pairs of predictions; absent if all figures are exact.
	LostBits int `json:"lost_bits,omitempty" jsonschema:"minimum=1,maximum=64"`

	Metrics *metric.Paired `json:"metrics"` // figures that need labels are absent without them
	// Flips are rows with another class by B than by A; counts of right and wrong are absent without labels.
	Flips     *comparison.Flips      `json:"flips"`
	Predicted []comparison.Predicted `json:"predicted"` // share of the rows for which each tree predicts a class
	Nodes     ComparedNodes          `json:"nodes"`
}

// ComparisonFormat identifies a comparison.
const ComparisonFormat = "espalier/comparison"

// ComparedTree is one of the trees.
type ComparedTree struct {
	Model  string            `json:"model"` // as given by the user
	Digest string            `json:"tree_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	Nodes  int               `json:"nodes" jsonschema:"minimum=1"`
	Depth  int               `json:"depth" jsonschema:"minimum=0"`
	Leaves []comparison.Leaf `json:"leaves" jsonschema:"minItems=1"` // with their rows
}

// ComparedNodes describes which nodes differ: see comparison.Matching.
type ComparedNodes struct {
	A           int             `json:"a" jsonschema:"minimum=1"`
	B           int             `json:"b" jsonschema:"minimum=1"`
	Unchanged   int             `json:"unchanged" jsonschema:"minimum=0"` // nodes of both trees with the same question or class
	Changed     int             `json:"changed" jsonschema:"minimum=0"`   // nodes of both trees that differ
	Removed     int             `json:"removed" jsonschema:"minimum=0"`   // nodes of A alone
	Added       int             `json:"added" jsonschema:"minimum=0"`     // nodes of B alone
	Estimates   OtherEstimates  `json:"other_estimates"`                  // unchanged leaves with other probabilities
	Differences []Place         `json:"differences"`                      // by descending weight
	Prices      []ComparedPrice `json:"prices"`                           // features of both trees whose tests have different prices
}

// OtherEstimates counts the unchanged leaves with other probabilities.
type OtherEstimates struct {
	Leaves int     `json:"leaves" jsonschema:"minimum=0"`
	Rows   int64   `json:"rows" jsonschema:"minimum=0"`
	Share  float64 `json:"share" jsonschema:"minimum=0,maximum=1"`
}

// ComparedPrice is a feature of both trees whose tests have different prices.
type ComparedPrice struct {
	Feature string  `json:"feature"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
}

// Place is a place where two trees differ, with the rows that it concerns: see
// comparison.Difference.
type Place struct {
	Kind   comparison.Kind `json:"kind" jsonschema:"enum=added,enum=removed,enum=moved_cut,enum=other_test,enum=other_class"`
	Path   []string        `json:"path"`                    // the conditions that lead to the place in A; in B, if A has no such node
	A      *PlaceNode      `json:"a" jsonschema:"nullable"` // nil if A has no such node
	B      *PlaceNode      `json:"b" jsonschema:"nullable"`
	Rows   int64           `json:"rows" jsonschema:"minimum=0"` // rows that reach the place in A, in B, or in both
	Weight int64           `json:"weight" jsonschema:"minimum=0"`
	Share  float64         `json:"share" jsonschema:"minimum=0,maximum=1"` // share of the weight of all rows
	// Other are the rows that reach a moved cut in both trees and take different branches there.
	Other *OtherRoute `json:"other_way,omitempty"`
}

// PlaceNode is a node of one of the trees.
type PlaceNode struct {
	Node     int    `json:"node" jsonschema:"minimum=0"` // id in tree.json
	Asks     string `json:"asks,omitempty"`
	Predicts string `json:"predicts,omitempty"`           // class predicted at a leaf
	Alone    int    `json:"alone" jsonschema:"minimum=0"` // number of nodes, from here down, that the other tree does not have
}

// OtherRoute counts the rows that reach a moved cut in both trees, and take different branches
// there.
type OtherRoute struct {
	Rows   int64   `json:"rows" jsonschema:"minimum=0"`
	Weight int64   `json:"weight" jsonschema:"minimum=0"`
	Share  float64 `json:"share" jsonschema:"minimum=0,maximum=1"`
}

// Encode returns the comparison in its written form.
func (c *Comparison) Encode() ([]byte, error) { return encodeJSON(c) }

// IsComparison reports whether the first bytes of a file show that it is a comparison.
func IsComparison(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{\n  \"format\": \""+ComparisonFormat+"\""))
}
