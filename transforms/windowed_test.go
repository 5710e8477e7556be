package transforms_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

// TestGuards: a window of 120 rows of two classes has a tree unless it needs more rows or classes. Given classes are
// the classes of the tree; without rows of two further classes, it is the same tree otherwise.
func TestGuards(t *testing.T) {
	list := visits(120)
	for name, c := range map[string]struct {
		rows    int64
		classes int
		given   []string
		trees   int
	}{
		"no guards":    {trees: 1},
		"enough":       {rows: 120, classes: 2, trees: 1},
		"few rows":     {rows: 121},
		"few classes":  {classes: 3},
		"given":        {classes: 2, given: []string{"well", "ill", "a", "z"}, trees: 1},
		"few of given": {classes: 3, given: []string{"well", "ill", "a", "z"}},
	} {
		config := transforms.WindowConfig{
			TrainConfig: visitConfig(), Windows: window.NewGlobalWindows(), MinRows: c.rows, MinClasses: c.classes, Classes: c.given,
		}
		var refused int64
		p, s := beam.NewPipelineWithRoot()
		sunk.trees = nil
		beam.ParDo0(s, &sinkTreeFn{}, transforms.WindowedTree(s, beam.CreateList(s, list), config).Trees)
		result, err := beam.Run(t.Context(), "prism", p)
		if err != nil {
			t.Fatal(err)
		}
		for _, counter := range result.Metrics().AllMetrics().Counters() {
			if counter.Name() == "trees_refused" {
				refused += counter.Result()
			}
		}
		if len(sunk.trees) != c.trees || refused != int64(1-c.trees) {
			t.Errorf("%s: %d trees, %d refused, want %d trees", name, len(sunk.trees), refused, c.trees)
			continue
		}
		if c.trees == 0 {
			continue
		}
		got, err := tree.Decode(sunk.trees[0].JSON)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"ill", "well"}
		if c.given != nil {
			want = []string{"a", "ill", "well", "z"}
			for i := range got.Nodes {
				if p := got.Nodes[i].Probabilities; got.Nodes[i].Leaf() && (p[0] != 0 || p[3] != 0) {
					t.Errorf("%s: a leaf has the probabilities %v: want 0 for classes without rows", name, p)
				}
			}
		}
		if !slices.Equal(got.Label.Classes, want) || got.CountLeaves() < 3 {
			t.Errorf("%s: a tree of %d leaves with the classes %q, want %q", name, got.CountLeaves(), got.Label.Classes, want)
		}
	}
}

// TestOtherClass: with Classes, a row of another class is a dead letter.
func TestOtherClass(t *testing.T) {
	err := runPipeline(t, "direct", func(s beam.Scope) {
		trained := transforms.WindowedTree(s, beam.CreateList(s, visits(120)), transforms.WindowConfig{
			TrainConfig: visitConfig(), Windows: window.NewGlobalWindows(), Classes: []string{"ill", "sick"},
		}, transforms.DeadLetters{})
		beam.ParDo0(s, &sinkTreeFn{}, trained.Trees)
		beam.ParDo0(s, &sinkLetterFn{}, trained.DeadLetters)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sunk.trees) != 1 || sunk.trees[0].Rows+int64(len(sunk.rows)) != 120 || len(sunk.rows) < 20 {
		t.Fatalf("%d trees, %d dead letters", len(sunk.trees), len(sunk.rows))
	}
	for _, reason := range sunk.rows {
		if !strings.Contains(reason, "not one of the classes") {
			t.Errorf("a dead letter says %q", reason)
		}
	}
}

func init() { beam.RegisterDoFn(reflect.TypeFor[stampVisitFn]()) }

// stampVisitFn gives visits times: 20 a minute.
type stampVisitFn struct{}

func (*stampVisitFn) ProcessElement(v visit) (beam.EventTime, visit) {
	return beam.EventTime(v.ID * 3000), v
}
