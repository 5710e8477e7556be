package settings

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
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
	if s.Select != frontier.Paper && s.Select != frontier.First { // which leave growth to the paper's algorithm
		axes.MaxCost = s.MaxCost
		axes.MaxTests = s.MaxTests
	}
	if s.FreeRepeats {
		axes.Record.RepeatCost = tree.RepeatFree
	}
	return axes.Members()
}

// Deepened returns the members of a grid for a label of some classes: with the default thetas and many classes there is
// a deeper tree, see grid.Deepened.
func (s *Settings) Deepened(members []grid.Member, classes int) []grid.Member {
	if !frontier.ManyClasses(classes) || !slices.Equal(s.Theta, Default().Theta) {
		return members
	}
	return grid.Deepened(members)
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
