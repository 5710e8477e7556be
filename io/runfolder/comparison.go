package runfolder

import (
	"bytes"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/metric"
)

// Comparison is what compare finds of two trees, A and B, on the same rows. Differences are B's
// figures less A's.
type Comparison struct {
	Format  string       `json:"format"`
	Version int          `json:"version"`
	A       ComparedTree `json:"a"`
	B       ComparedTree `json:"b"`

	Label  string `json:"label,omitempty"`  // column of the true classes; absent: there are none
	Weight string `json:"weight,omitempty"` // column of the rows' weights; absent: each row weighs 1
	Note   string `json:"note,omitempty"`   // what could not be compared, and why
	// LostBits is the number of lowest bits that each probability of a leaf model has lost, as there
	// were too many distinct pairs of predictions; absent: none, all figures are exact.
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
	Model  string            `json:"model"` // as it was named
	Digest string            `json:"tree_sha256"`
	Nodes  int               `json:"nodes"`
	Depth  int               `json:"depth"`
	Leaves []comparison.Leaf `json:"leaves"` // with their rows
}

// ComparedNodes says which nodes differ, see comparison.Matching.
type ComparedNodes struct {
	A           int             `json:"a"`
	B           int             `json:"b"`
	Unchanged   int             `json:"unchanged"`
	Changed     int             `json:"changed"`
	Removed     int             `json:"removed"`
	Added       int             `json:"added"`
	Estimates   OtherEstimates  `json:"other_estimates"`
	Differences []Place         `json:"differences"`
	Prices      []ComparedPrice `json:"prices"` // features whose tests have another price
}

// OtherEstimates counts the unchanged leaves with other probabilities.
type OtherEstimates struct {
	Leaves int     `json:"leaves"`
	Rows   int64   `json:"rows"`
	Share  float64 `json:"share"`
}

// ComparedPrice is a feature of both trees whose test has another price.
type ComparedPrice struct {
	Feature string  `json:"feature"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
}

// Place is a place where two trees differ, with the rows that it concerns: see
// comparison.Difference.
type Place struct {
	Kind comparison.Kind `json:"kind"`
	// Path has what leads to the place in A; in B, where A has no such node.
	Path   []string    `json:"path"`
	A      *PlaceNode  `json:"a"` // nil: A has no such node
	B      *PlaceNode  `json:"b"`
	Rows   int64       `json:"rows"` // that come here by A, by B, or by both
	Weight int64       `json:"weight"`
	Share  float64     `json:"share"` // of the weight of all rows
	Other  *OtherRoute `json:"other_way,omitempty"`
}

// PlaceNode is a node of one of the trees.
type PlaceNode struct {
	Node     int    `json:"node"`
	Asks     string `json:"asks,omitempty"`
	Predicts string `json:"predicts,omitempty"` // of a leaf
	Alone    int    `json:"alone"`              // number of nodes, from here down, that the other tree does not have
}

// OtherRoute is the rows that come to a moved cut by both trees, and take other branches there.
type OtherRoute struct {
	Rows   int64   `json:"rows"`
	Weight int64   `json:"weight"`
	Share  float64 `json:"share"`
}

// Encode returns the comparison as it is written.
func (c *Comparison) Encode() ([]byte, error) { return encodeJSON(c) }

// IsComparison reports by the first bytes of a file whether it is a comparison.
func IsComparison(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{\n  \"format\": \""+ComparisonFormat+"\""))
}
