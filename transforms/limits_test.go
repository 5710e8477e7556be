package transforms_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest"
)

// TestWindowLimits: each tree of a window keeps each limit, with and without rows to choose by, or the limit is refused.
// Without limits a tree is beyond each of them.
func TestWindowLimits(t *testing.T) {
	longtest.Skip(t)
	grown := func(c transforms.TrainConfig) ([]*tree.Tree, error) {
		var trees []*tree.Tree
		err := runPipeline(t, "direct", func(s beam.Scope) {
			rows := beam.ParDo(s, &stampVisitFn{}, beam.CreateList(s, visits(480)))
			w := transforms.WindowConfig{TrainConfig: c, Windows: window.NewFixedWindows(12 * time.Minute)}
			sunk.trees = transformstest.Collect[transforms.WindowTree](s, transforms.WindowedTree(s, rows, w).Trees)
		})
		if err != nil {
			return nil, err
		}
		for _, w := range sunk.trees.All() {
			one, err := tree.Decode(w.JSON)
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, one)
		}
		return trees, nil
	}
	limits := map[string]struct {
		set  func(c *transforms.TrainConfig)
		kept func(c *tree.Complexity) bool
	}{
		"MaxExpectedCost": {
			func(c *transforms.TrainConfig) { c.MaxExpectedCost = 1.2 },
			func(c *tree.Complexity) bool { return c.ExpectedCost <= 1.2 },
		},
		"MaxCost": {
			func(c *transforms.TrainConfig) { c.MaxCost = 1 },
			func(c *tree.Complexity) bool { return c.MaxCost <= 1 },
		},
		"MaxLeaves": {
			func(c *transforms.TrainConfig) { c.MaxLeaves = 2 },
			func(c *tree.Complexity) bool { return c.Leaves <= 2 },
		},
	}
	chosen := transforms.DefaultTrainConfig("Class", "id")
	chosen.Features, chosen.Select = visitConfig().Features, frontier.Highest
	unjudged := chosen
	unjudged.Split, unjudged.Folds.Auto, unjudged.Folds.Number = dataset.Shares{100, 0, 0}, false, 0
	folds := chosen
	folds.Split = unjudged.Split
	for name, c := range map[string]transforms.TrainConfig{
		"a single tree": visitConfig(), "validation rows": chosen, "no validation rows": folds, "neither rows nor folds": unjudged,
	} {
		free, err := grown(c)
		if err != nil || len(free) != 2 {
			t.Fatalf("%s: %d trees, %v", name, len(free), err)
		}
		for limit, l := range limits {
			limited := c
			l.set(&limited)
			trees, err := refused(grown, limited)
			if err != "" && !strings.Contains(err, limit) && !strings.Contains(err, frontier.ErrLimits.Error()) {
				t.Errorf("%s: the error %q does not name %s", name, err, limit)
			}
			for _, one := range trees {
				if !l.kept(&one.Complexity) {
					t.Errorf("%s: a tree of the complexity %+v exceeds %s", name, one.Complexity, limit)
				}
			}
			if l.kept(&free[0].Complexity) {
				t.Errorf("%s: the tree without limits keeps %s: the rows do not test it", name, limit)
			}
		}
	}
}

// refused grows trees, and returns the text of the error or of the panic that refuses the settings.
func refused(grown func(transforms.TrainConfig) ([]*tree.Tree, error), c transforms.TrainConfig) (trees []*tree.Tree, text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	trees, err := grown(c)
	if err != nil {
		text = err.Error()
	}
	return trees, text
}
