package runfolder

import (
	"bytes"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/report"
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
	Nodes     report.ComparedNodes   `json:"nodes"`
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

// Encode returns the comparison as it is written.
func (c *Comparison) Encode() ([]byte, error) { return encodeJSON(c) }

// IsComparison reports by the first bytes of a file whether it is a comparison.
func IsComparison(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{\n  \"format\": \""+ComparisonFormat+"\""))
}
