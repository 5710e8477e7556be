package config

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/io/usage"
)

// SettleBins records the number of input rows, on which the number of bins depends if it is auto,
// and sets the bins of each tree of the grid; they may depend on the number of classes: see
// BinsFor.
func (p *Parsed) SettleBins(rows int64) {
	p.rows = rows
	grid.Settle(p.Grid, p.BinsFor(1), 1)
}

// SettleTests leaves out tests for sets of values if no feature has several such sets: see grid.SettleTests.
func (p *Parsed) SettleTests(features []dataset.Feature) { p.Grid = grid.SettleTests(p.Grid, features) }

// BinsFor returns the number of bins for a label with this many classes.
func (p *Parsed) BinsFor(classes int) int {
	if p.Bins == 0 {
		return p.AutoBins(classes)
	}
	return p.Bins
}

// AutoBins returns what BinsFor returns if the number of bins is auto.
func (p *Parsed) AutoBins(classes int) int { return grid.AutoBins(p.rows, classes) }

// GridFor returns the members of the grid, with their bins for a label with this many classes, and with the weight of an
// average training row.
func (p *Parsed) GridFor(classes int, rowWeight float64) []grid.Member {
	members := slices.Clone(p.Grid)
	grid.Settle(members, p.BinsFor(classes), rowWeight)
	return members
}

// SettlePricing replaces the grid by the grid for tests with different prices, if prices differ or
// repeats are free: see grid.WithPricing. features are the names of the features.
func (p *Parsed) SettlePricing(prices *settings.Prices, features []string) error {
	if err := p.choice.CheckUnits(prices.FurtherUnits(), prices.CostUnit, settings.FlagName); err != nil {
		return usage.Errorf("%v", err)
	}
	p.Grid = prices.WithPricing(p.Grid, &p.Selection.Query, features)
	if err := settings.CheckMembers(p.Grid, ", as costs count in several ways", settings.FlagName); err != nil {
		return usage.Errorf("%v", err)
	}
	return nil
}
