package config

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/usage"
)

// HeldOut describes which rows a training holds out as test rows.
type HeldOut struct {
	Shares      dataset.Shares
	Seed        uint64
	Key         string // column whose hash decides; empty: the position of the row
	SplitColumn string // column that names the part; empty: Shares decide
}

// HeldOut returns which rows the training holds out.
func (c *Train) HeldOut() (*HeldOut, error) {
	training := *c
	training.Output = "any" // rows are held out wherever the run is
	if err := training.Validate(); err != nil {
		return nil, err
	}
	if c.SplitTime != "" {
		return nil, usage.Errorf("the training splits by --split_time %s, whose cuts depend on all of its rows: give other rows "+
			"to compare on", c.SplitTime)
	}
	return &HeldOut{Shares: c.Split, Seed: c.Seed, Key: c.Group, SplitColumn: c.SplitColumn}, nil
}
