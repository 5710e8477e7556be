package runfolder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Distribution is distribution.json: the training rows by bin of each feature. Drift is measured
// against it.
type Distribution struct {
	Format  string       `json:"format"`
	Version int          `json:"version"`
	Rows    int64        `json:"rows"`    // of training
	Columns []ColumnRows `json:"columns"` // the features of schema.json, in its order
}

// ColumnRows has the rows of each bin of a feature. The bins are those of schema.json: one more than
// cuts, or the values; then values of the tail (categorical features alone); then missing values.
type ColumnRows struct {
	Column string  `json:"column"`
	Rows   []int64 `json:"rows"`
}

// DistributionName is the file of the distribution.
const DistributionName = "distribution.json"

const distributionFormat = "espalier/distribution"

// NewDistribution returns the distribution of training rows. codes has the rows by feature and code.
func NewDistribution(rows int64, features []dataset.Feature, codes [][]int64) *Distribution {
	d := &Distribution{Format: distributionFormat, Version: 1, Rows: rows, Columns: make([]ColumnRows, len(features))}
	for i := range features {
		d.Columns[i] = ColumnRows{features[i].Name, codes[i]}
	}
	return d
}

// Of returns the rows of a column by bin; nil: it is none of the features.
func (d *Distribution) Of(column string) []int64 {
	at := slices.IndexFunc(d.Columns, func(c ColumnRows) bool { return c.Column == column })
	if at < 0 {
		return nil
	}
	return d.Columns[at].Rows
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
	b.WriteString("\n  ]\n}\n")
	return []byte(b.String())
}

func decodeDistribution(b []byte) (*Distribution, error) {
	d := new(Distribution)
	err := json.Unmarshal(b, d)
	if err == nil && (d.Format != distributionFormat || d.Version != 1) {
		err = fmt.Errorf("format %q version %d: want %q version 1", d.Format, d.Version, distributionFormat)
	}
	return d, err
}
