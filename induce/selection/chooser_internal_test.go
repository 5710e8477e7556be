package selection

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// noted is a Host that keeps notes.
type noted struct{ notes []string }

func (n *noted) Note(text string) { n.notes = append(n.notes, text) }
func (n *noted) Warn(text string) { n.notes = append(n.notes, text) }

func (n *noted) Setting(name string) string { return "--" + name }

func (n *noted) Phase(_ context.Context, _ string, _ int64, _ string, work func(*parallel.Steps) error) error {
	return work(new(parallel.Steps))
}

// TestFoldsAreTold: a run that cross-validates by itself says why it does not.
func TestFoldsAreTold(t *testing.T) {
	const most, enough, folds = crossvalidate.MostAuto, crossvalidate.EnoughRows, crossvalidate.AutoFolds
	for _, one := range []struct {
		objects, rare int64
		folds         int
		note          string
	}{
		{most, enough - 1, folds, ""},
		{most + 1, enough - 1, 0, "50001 training objects are more than 50000, though the validation rows have only 199 of the rarest class: --folds 5"},
		{crossvalidate.FewObjects, enough, folds, ""},
		{crossvalidate.FewObjects + 1, enough, 0, "have 200 of the rarest class, and 200 are enough"},
	} {
		w := new(noted)
		c := Chooser{
			Host: w, Settings: &Settings{Folds: crossvalidate.Setting{Auto: true}}, Classes: 2,
			Training: Training{Objects: one.objects},
		}
		validation := &tree.LeafCounts{Weights: [][]int64{{1000 - one.rare, one.rare}}, Rows: []int64{1000}}
		if got := c.foldsWanted(validation); got != one.folds {
			t.Errorf("%d objects, %d rare rows: %d folds, want %d", one.objects, one.rare, got, one.folds)
		}
		if notes := strings.Join(w.notes, "\n"); (one.note == "") != (notes == "") || !strings.Contains(notes, one.note) {
			t.Errorf("%d objects, %d rare rows: noted %q, want %q", one.objects, one.rare, notes, one.note)
		}
	}
}

// TestToTeach: few objects teach the whole grid, many one tree for each criterion, price and limit. Without leaf
// models none is taught.
func TestToTeach(t *testing.T) {
	axes := grid.Axes{
		Algorithms: []split.Algorithm{split.EC45, split.C45}, Lambdas: []float64{10, 3}, Thetas: []float64{0.005, 0.0005},
		Families: []split.Family{split.Thresholds, split.Both}, Priced: true,
	}
	for _, members := range [][]grid.Member{axes.Members(), grid.WithPricing(axes.Members(), frontier.Best, true, true)} {
		c := Chooser{
			Settings: &Settings{
				Settings: frontier.Settings{Query: frontier.Query{Rule: frontier.Best}}, LeafModel: Auto, Teacher: Teacher{Kind: distill.Auto},
			},
			Features: make([]dataset.Feature, 2), Training: Training{Objects: fewObjects}, Classes: 2,
		}
		if got := c.toTeach(members, false); len(got) != len(members) {
			t.Errorf("%d of %d members are taught with few objects", len(got), len(members))
		}
		kinds := make(map[induce.Params]bool)
		var want []grid.Member
		for _, m := range members {
			kind := m.Params
			kind.Theta, kind.Family = 0, split.Thresholds
			if !kinds[kind] {
				kinds[kind] = true
				want = append(want, m)
			}
		}
		c.Training.Objects++
		got := c.toTeach(members, false)
		if diff := cmp.Diff(want, got); diff != "" || len(got) == len(members) {
			t.Errorf("%d of %d members are taught with many objects (-want +got):\n%s", len(got), len(members), diff)
		}
		c.Settings.LeafModel = None
		if got := c.toTeach(members, false); len(got) > 0 {
			t.Errorf("%d members are taught without leaf models", len(got))
		}
	}
}
