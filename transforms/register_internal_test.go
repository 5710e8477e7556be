package transforms

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

// TestRowCalls: Beam finds the calls without reflection for the DoFns that see each row.
func TestRowCalls(t *testing.T) {
	score, err := graph.NewDoFn(&scoreFn{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := score.ProcessElementFn().Fn.(reflectx.Func5x1); !ok {
		t.Errorf("scoreFn is called by a %T", score.ProcessElementFn().Fn)
	}
	tally, err := graph.NewDoFn(&tallyFn{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tally.ProcessElementFn().Fn.(reflectx.Func5x1); !ok {
		t.Errorf("tallyFn is called by a %T", tally.ProcessElementFn().Fn)
	}
	pack, err := graph.NewDoFn(&packFn{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := pack.ProcessElementFn().Fn.(reflectx.Func3x1); !ok {
		t.Errorf("packFn is called by a %T", pack.ProcessElementFn().Fn)
	}
}
