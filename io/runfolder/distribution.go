package runfolder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
)

// Distribution is distribution.json: the training rows by bin of each feature. Drift is measured
// against it.
type Distribution struct {
	Format  string       `json:"format" jsonschema:"enum=espalier/distribution"`
	Version int          `json:"version" jsonschema:"enum=1"`
	Rows    int64        `json:"rows" jsonschema:"minimum=0"` // training rows
	Columns []ColumnRows `json:"columns"`                     // the features of schema.json, in its order
	// Leaves are the validation and test rows at each leaf; null: no rows were held out.
	Leaves *LeafRows `json:"leaves" jsonschema:"nullable"`
}

// LeafRows holds the validation and test rows at each leaf. Training rows are unsuitable: a tree
// fits its leaves to them, so other rows have different shares even without drift.
type LeafRows struct {
	// Digest is the digest of the tree.json with these leaves, in hex.
	Digest string  `json:"tree_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	Rows   []int64 `json:"rows" jsonschema:"minimum=0"` // by leaf, in the order of nodes
}

// ColumnRows holds the rows in each bin of a feature. The bins are the bins of schema.json: one
// more than cuts, or the values; then values of the tail (categorical features only); then missing
// values.
type ColumnRows struct {
	Column string `json:"column"`
	// Rows are rows by bin of schema.json: one bin more than cuts, or the values; then values of the tail (categorical
	// features only); then missing values.
	Rows []int64 `json:"rows" jsonschema:"minItems=2,minimum=0"`

	// DesignEffect is the variance of a share of the rows over its variance for independent rows, as rows have a key;
	// absent: there is no key, or the effect is unknown.
	DesignEffect float64 `json:"design_effect,omitempty" jsonschema:"minimum=1"`
	// Keys are the numbers of 60 buckets of keys that have such rows, by bin of a categorical feature; absent without
	// a design effect.
	Keys []int64 `json:"keys,omitempty" jsonschema:"minItems=2,minimum=0,maximum=60"`
}

// DistributionName is the file of the distribution.
const DistributionName = "distribution.json"

const distributionFormat = "espalier/distribution"

// NewDistribution returns the distribution of training rows. codes has the rows by feature and code.
func NewDistribution(rows int64, features []dataset.Feature, codes [][]int64) *Distribution {
	d := &Distribution{Format: distributionFormat, Version: 1, Rows: rows, Columns: make([]ColumnRows, len(features))}
	for i := range features {
		d.Columns[i] = ColumnRows{Column: features[i].Name, Rows: codes[i]}
	}
	return d
}

// SetLeaves sets the rows at the leaves of a tree, given the counts of each held-out part; nil for
// a part without rows.
func (d *Distribution) SetLeaves(t *tree.Tree, counts ...*tree.LeafCounts) {
	l := &LeafRows{Digest: tree.Digest(t.Encode())}
	held := int64(0)
	for i := range t.Nodes {
		if !t.Nodes[i].Leaf() {
			continue
		}
		rows := int64(0)
		for _, c := range counts {
			if c != nil {
				rows += c.Rows[i]
			}
		}
		l.Rows = append(l.Rows, rows)
		held += rows
	}
	if held > 0 {
		d.Leaves = l
	}
}

// LeavesOf returns the rows at the leaves of a tree; nil if unknown.
func (d *Distribution) LeavesOf(t *tree.Tree) ([]int64, error) {
	if d.Leaves == nil || d.Leaves.Digest != tree.Digest(t.Encode()) {
		return nil, nil
	}
	if n := len(d.Leaves.Rows); n != t.Complexity.Leaves {
		return nil, usage.Errorf("%s has %d leaves, %s has %d: one of the files is damaged", DistributionName, n, TreeName,
			t.Complexity.Leaves)
	}
	return d.Leaves.Rows, nil
}

// Of returns the rows of a column; no rows if the column is not a feature.
func (d *Distribution) Of(column string) *ColumnRows {
	at := slices.IndexFunc(d.Columns, func(c ColumnRows) bool { return c.Column == column })
	if at < 0 {
		return &ColumnRows{Column: column}
	}
	return &d.Columns[at]
}

// encode writes each column on a line.
func (d *Distribution) encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"format\": %q,\n  \"version\": %d,\n  \"rows\": %d,\n  \"columns\": [", d.Format, d.Version,
		d.Rows)
	for i := range d.Columns {
		separator := ","
		if i == 0 {
			separator = ""
		}
		line, err := json.Marshal(&d.Columns[i])
		if err != nil {
			panic(err) // a text and numbers
		}
		fmt.Fprintf(&b, "%s\n    %s", separator, line)
	}
	leaves, err := json.Marshal(d.Leaves)
	if err != nil {
		panic(err) // a text and numbers
	}
	fmt.Fprintf(&b, "\n  ],\n  \"leaves\": %s\n}\n", leaves)
	return []byte(b.String())
}

// maxRows is the greatest number of rows in a distribution, because its tests multiply numbers of
// rows.
const maxRows = 1 << 53

// check implements checker.
func (d *Distribution) check() error {
	if d.Rows > maxRows {
		return fmt.Errorf("%d rows, expected at most %d", d.Rows, int64(maxRows))
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		if sum, ok := sumRows(c.Rows); !ok || sum != d.Rows {
			return fmt.Errorf("the bins of %q do not have the %d training rows", c.Column, d.Rows)
		}
		if n := c.DesignEffect; n != 0 && n < 1 {
			return fmt.Errorf("the design effect of %q is %v, expected at least 1", c.Column, n)
		}
		if c.Keys != nil && len(c.Keys) != len(c.Rows) {
			return fmt.Errorf("%q has %d bins and %d numbers of buckets of keys", c.Column, len(c.Rows), len(c.Keys))
		}
	}
	if d.Leaves != nil {
		if _, ok := sumRows(d.Leaves.Rows); !ok {
			return fmt.Errorf("the leaves do not have 0 to %d rows", int64(maxRows))
		}
	}
	return nil
}

// sumRows adds numbers of rows. ok is false if any, or the sum, is below 0 or beyond maxRows.
func sumRows(counts []int64) (sum int64, ok bool) {
	for _, n := range counts {
		if n < 0 || n > maxRows-sum {
			return 0, false
		}
		sum += n
	}
	return sum, true
}
