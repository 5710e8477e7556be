package train_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/train"
	"github.com/espalier-ml/espalier/induce/tree"
)

// noisy returns rows whose class follows two of four numbers, with noise. A tree that is not limited grows large.
func noisy(n int) []map[string]any {
	r := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // data of a test
	rows := make([]map[string]any, n)
	for i := range rows {
		a, b := r.Float64(), r.Float64()
		class, part := "no", "train"
		if a+b+r.Float64() > 1.5 {
			class = "yes"
		}
		if i%4 == 0 {
			part = "test"
		}
		rows[i] = map[string]any{"a": a, "b": b, "c": r.Float64(), "d": r.Float64(), "part": part, "class": class}
	}
	return rows
}

// TestLimitsAreKept: a tree keeps each limit whatever rows judge trees, and where nothing is chosen, or the error
// of Train names the limit. Under most conditions a tree is beyond each limit that is not set.
func TestLimitsAreKept(t *testing.T) {
	rows := noisy(500)
	limits := map[string]struct {
		set  func(s *settings.Settings)
		kept func(t *tree.Tree) bool
	}{
		"MaxExpectedCost": {
			func(s *settings.Settings) { s.MaxExpectedCost = 1.5 },
			func(t *tree.Tree) bool { return t.Complexity.ExpectedCost <= 1.5 },
		},
		"MaxCost": {
			func(s *settings.Settings) { s.MaxCost = 2 },
			func(t *tree.Tree) bool { return t.Complexity.MaxCost <= 2 },
		},
		"MaxLeaves": {func(s *settings.Settings) { s.MaxLeaves = 3 }, func(t *tree.Tree) bool { return t.CountLeaves() <= 3 }},
		"MaxDepth":  {func(s *settings.Settings) { s.MaxDepth = 1 }, func(t *tree.Tree) bool { return t.Complexity.Depth <= 1 }},
		"MinRows": {func(s *settings.Settings) { s.MinRows = 200 }, func(t *tree.Tree) bool {
			for i := range t.Nodes {
				if !t.Nodes[i].Leaf() && t.Nodes[i].Rows < 200 {
					return false
				}
			}
			return true
		}},
	}
	alpha := 1e-5
	single := settings.Single()
	defaults := settings.Default()
	defaults.Algorithm, defaults.Lambda = []split.Algorithm{split.EC45}, []float64{10} // fewer trees
	all := dataset.Shares{100, 0, 0}
	conditions := map[string]func() settings.Settings{
		"validation rows": func() settings.Settings { return defaults },
		"no validation rows": func() settings.Settings {
			s := defaults
			s.Split = all
			return s
		},
		"neither validation rows nor folds": func() settings.Settings {
			s := defaults
			s.Split, s.Folds.Auto, s.Folds.Number = all, false, 0
			return s
		},
		"five folds": func() settings.Settings {
			s := defaults
			s.Split, s.Folds.Auto, s.Folds.Number = all, false, 5
			return s
		},
		"a column of train and test": func() settings.Settings {
			s := defaults
			s.SplitColumn, s.Split = "part", dataset.Shares{}
			return s
		},
		"a single tree": func() settings.Settings { return single },
		"a single tree of the rule best": func() settings.Settings {
			s := single
			s.Select, s.Prune = frontier.Best, nil
			return s
		},
		"a fixed alpha": func() settings.Settings {
			s := defaults
			s.Alpha, s.Prune, s.Theta = &alpha, s.Prune[:1], s.Theta[:1]
			return s
		},
		"the rule first": func() settings.Settings {
			s := defaults
			s.Select = frontier.First
			return s
		},
		"paper": settings.Paper,
		"free repeats": func() settings.Settings {
			s := defaults
			s.FreeRepeats = true
			return s
		},
	}
	beyond := make(map[string]int)
	for name, condition := range conditions {
		s := condition()
		s.Label, s.Certificate = "class", false
		if s.SplitColumn == "" {
			s.Ignore = []string{"part"}
		}
		free, _, err := train.Train(t.Context(), rows, s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for limit, l := range limits {
			if !l.kept(free) {
				beyond[limit]++
			}
			limited := s
			l.set(&limited)
			got, _, err := train.Train(t.Context(), rows, limited)
			switch {
			case err != nil && !strings.Contains(err.Error(), limit) && !strings.Contains(err.Error(), frontier.ErrLimits.Error()):
				t.Errorf("%s: the error %q does not name %s", name, err, limit)
			case err == nil && !l.kept(got):
				t.Errorf("%s: a tree of %d leaves and the complexity %+v exceeds %s", name, got.CountLeaves(), got.Complexity, limit)
			}
		}
	}
	for limit := range limits {
		if beyond[limit] < len(conditions)/2 {
			t.Errorf("%d trees of %d are beyond %s without it: the rows do not test it", beyond[limit], len(conditions), limit)
		}
	}
}
