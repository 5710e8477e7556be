package tallies

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/settings"
)

// TestGroupsOfFolds: objects keep the groups of their rows as far as folds are grown. Without validation rows folds choose,
// however many objects there are.
func TestGroupsOfFolds(t *testing.T) {
	for _, c := range []struct {
		split dataset.Shares
		want  int64
	}{{dataset.Shares{70, 10, 20}, crossvalidate.MostAuto}, {dataset.Shares{80, 0, 20}, math.MaxInt64}, {dataset.Shares{100, 0, 0}, math.MaxInt64}} {
		s := Spec{Settings: settings.Default()}
		s.Settings.Group, s.Settings.Split = "id", c.split
		if got := s.groups(); got != c.want {
			t.Errorf("%v: groups for up to %d objects, want %d", c.split, got, c.want)
		}
	}
}
