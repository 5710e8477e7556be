package settings

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Members returns the trees to grow, without their bins: see BinsFor. priced means that tests have
// prices in addition to the prices in s.
func (s *Settings) Members(priced bool) []grid.Member {
	axes := grid.Axes{
		Classes: s.Classes, Algorithms: s.Algorithm, Lambdas: s.Lambda, Thetas: s.Theta, Families: s.Tests,
		MaxDepth: s.MaxDepth, MinRows: s.MinRows, Priced: priced || s.Named() || s.FreeRepeats,
		Record: tree.Algorithm{
			Binning: s.Binning.String(), LeafEstimate: s.LeafEstimate, Prune: "none", Seed: s.Seed,
			CostUnit: s.CostUnit, First: s.First, Monotone: s.Monotone,
		},
	}
	if len(s.Lambda) == 0 {
		axes.Lambdas = grid.AutoLambdas()
	}
	if s.FreeRepeats {
		axes.Record.RepeatCost = tree.RepeatFree
	}
	return axes.Members()
}

// CheckMembers returns an error if there are too few or too many trees.
func CheckMembers(members []grid.Member, why string, name Namer) error {
	if n := len(members); n == 0 || n > grid.Most {
		return fmt.Errorf("%s, %s, %s and %s make %d trees%s: want 1 to %d", name("algorithm"), name("lambda"),
			name("theta"), name("tests"), n, why, grid.Most)
	}
	return nil
}

// BinsFor returns how many bins to use, given how many rows and classes there are.
func (s *Settings) BinsFor(rows int64, classes int) int {
	if s.Bins == 0 {
		return grid.AutoBins(rows, classes)
	}
	return s.Bins
}

// TestOrder returns the order of the features, which decides ties between their tests: see dataset.TestOrder. By the
// rule of the paper it is the order of the columns.
func (s *Settings) TestOrder(columns []dataset.FeatureColumn, contents []uint64) []int {
	if s.Classes == split.OfObjects {
		order := make([]int, len(columns))
		for i := range order {
			order[i] = i
		}
		return order
	}
	return dataset.TestOrder(columns, contents)
}

// SplitColumns returns the features in the form that the scan for tests takes.
func (s *Settings) SplitColumns(features []dataset.Feature) []split.Column {
	columns := s.priced(features)
	for i := range columns {
		columns[i].First = slices.Index(s.First, features[i].Name) + 1
		columns[i].Monotone = s.Monotone[features[i].Name]
	}
	return columns
}
