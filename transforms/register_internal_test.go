package transforms

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

// TestRowCalls: Beam finds the calls without reflection for the DoFns that see each row.
func TestRowCalls(t *testing.T) {
	for _, fn := range []any{&scoreFn{}, &tallyFn{}, &packFn{}, &inWindowFn{}, &packWindowsFn{}} {
		f, err := graph.NewDoFn(fn)
		if err != nil {
			t.Fatal(err)
		}
		switch call := f.ProcessElementFn().Fn.(type) {
		case reflectx.Func3x1, reflectx.Func4x1, reflectx.Func5x1:
		default:
			t.Errorf("%T is called by a %T", fn, call)
		}
	}
}
