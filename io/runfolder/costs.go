package runfolder

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
)

// Costs is _costs.csv: the costs of the features of a synthetic data set, in the form that
// train --costs reads.
type Costs struct{ Features []FeatureCost }

// FeatureCost is the cost of testing a feature.
type FeatureCost struct {
	Feature string // without commas, quotes and newlines, as synth names features
	Cost    float64
}

const costsHeader = "feature,cost\n"

func (c *Costs) encode() []byte {
	b := []byte(costsHeader)
	for _, f := range c.Features {
		b = append(append(b, f.Feature...), ',')
		b = append(strconv.AppendFloat(b, f.Cost, 'f', -1, 64), '\n')
	}
	return b
}

func decodeCosts(b []byte) (*Costs, error) {
	rest, ok := bytes.CutPrefix(b, []byte(costsHeader))
	if !ok {
		return nil, fmt.Errorf("it does not begin with %q", costsHeader)
	}
	lines, err := csv.NewReader(bytes.NewReader(rest)).ReadAll()
	if err != nil {
		return nil, err
	}
	c := new(Costs)
	for _, line := range lines {
		cost, err := strconv.ParseFloat(line[len(line)-1], 64)
		if err != nil || len(line) != 2 {
			return nil, fmt.Errorf("%q is not a feature and its cost", line)
		}
		c.Features = append(c.Features, FeatureCost{Feature: line[0], Cost: cost})
	}
	return c, nil
}
