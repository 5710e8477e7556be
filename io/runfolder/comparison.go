package runfolder

import (
	"bytes"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/metric"
)

// Comparison is the result of comparing two trees, A and B, on the same rows. Differences are B's
// figures less A's.
type Comparison struct {
	Format  string       `json:"format"`
	Version int          `json:"version"`
	A       ComparedTree `json:"a"`
	B       ComparedTree `json:"b"`

	Label  string `json:"label,omitempty"`  // column of the true classes; absent without labels
	Weight string `json:"weight,omitempty"` // column of the rows' weights; absent: each row weighs 1
	Key    string `json:"key,omitempty"`    // column: rows with the same value are a group; absent: rows are independent
	Note   string `json:"note,omitempty"`   // what could not be compared, and why
	// LostBits is how many of its lowest bits each probability of a leaf model has lost because
	// there were too many distinct pairs of predictions; absent if all figures are exact.
	LostBits int `json:"lost_bits,omitempty"`

	Metrics   *metric.Paired         `json:"metrics"`
	Flips     *comparison.Flips      `json:"flips"`
	Predicted []comparison.Predicted `json:"predicted"` // shares of the rows
	Nodes     ComparedNodes          `json:"nodes"`
}

// ComparisonFormat identifies a comparison.
const ComparisonFormat = "espalier/comparison"

// ComparedTree is one of the trees.
type ComparedTree struct {
	Model  string            `json:"model"` // as given by the user
	Digest string            `json:"tree_sha256"`
	Nodes  int               `json:"nodes"`
	Depth  int               `json:"depth"`
	Leaves []comparison.Leaf `json:"leaves"` // with their rows
}

// ComparedNodes describes which nodes differ: see comparison.Matching.
type ComparedNodes struct {
	A           int             `json:"a"`
	B           int             `json:"b"`
	Unchanged   int             `json:"unchanged"`
	Changed     int             `json:"changed"`
	Removed     int             `json:"removed"`
	Added       int             `json:"added"`
	Estimates   OtherEstimates  `json:"other_estimates"`
	Differences []Place         `json:"differences"`
	Prices      []ComparedPrice `json:"prices"` // features whose tests have different prices
}

// OtherEstimates counts the unchanged leaves with other probabilities.
type OtherEstimates struct {
	Leaves int     `json:"leaves"`
	Rows   int64   `json:"rows"`
	Share  float64 `json:"share"`
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
	Kind comparison.Kind `json:"kind"`
	// Path lists the conditions that lead to the place in A; in B, if A has no such node.
	Path   []string    `json:"path"`
	A      *PlaceNode  `json:"a"` // nil if A has no such node
	B      *PlaceNode  `json:"b"`
	Rows   int64       `json:"rows"` // rows that reach the place in A, in B, or in both
	Weight int64       `json:"weight"`
	Share  float64     `json:"share"` // share of the weight of all rows
	Other  *OtherRoute `json:"other_way,omitempty"`
}

// PlaceNode is a node of one of the trees.
type PlaceNode struct {
	Node     int    `json:"node"`
	Asks     string `json:"asks,omitempty"`
	Predicts string `json:"predicts,omitempty"` // class predicted at a leaf
	Alone    int    `json:"alone"`              // number of nodes, from here down, that the other tree does not have
}

// OtherRoute counts the rows that reach a moved cut in both trees, and take different branches
// there.
type OtherRoute struct {
	Rows   int64   `json:"rows"`
	Weight int64   `json:"weight"`
	Share  float64 `json:"share"`
}

// Encode returns the comparison in its written form.
func (c *Comparison) Encode() ([]byte, error) { return encodeJSON(c) }

// IsComparison reports whether the first bytes of a file show that it is a comparison.
func IsComparison(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{\n  \"format\": \""+ComparisonFormat+"\""))
}
