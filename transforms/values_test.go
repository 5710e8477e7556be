package transforms_test

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/rowtype/rowtypetest"
	"github.com/espalier-ml/espalier/transforms"
)

// caseFn emits the row of a case.
type caseFn struct{ JSON []byte }

func (f *caseFn) ProcessElement(_ []byte, emit func(anyRow)) error {
	row, err := gorows.DecodeJSON(f.JSON)
	emit(row)
	return err
}

// classFn keeps the classes of predictions.
type classFn struct{}

func (*classFn) ProcessElement(_ anyRow, p transforms.Prediction) {
	sunk.rows = append(sunk.rows, p.Class)
}

// faultFn keeps the parts of dead letters.
type faultFn struct{}

func (*faultFn) ProcessElement(d transforms.DeadLetter) {
	sunk.faults = append(sunk.faults, dataset.DataError{Column: d.Column, Value: d.Value, Problem: d.Reason, Hint: d.Hint})
}

// TestValues: pipelines read each value of JSON rows as documented. Dead letters have the parts of
// the errors.
func TestValues(t *testing.T) {
	m := transforms.Model{Tree: rowtypetest.Tree(t)}
	rowtypetest.Run(t, func(t *testing.T, c *rowtypetest.Case) (string, error) {
		t.Helper()
		sunk.faults = nil
		if err := runPipeline(t, "direct", func(s beam.Scope) {
			scored := transforms.Score(s, beam.ParDo(s, &caseFn{c.Row()}, beam.Impulse(s)), m, transforms.DeadLetters{})
			beam.ParDo0(s, &classFn{}, scored.Predictions)
			beam.ParDo0(s, &faultFn{}, scored.DeadLetters)
		}); err != nil || len(sunk.rows)+len(sunk.faults) != 1 {
			t.Fatalf("error %v, classes %q, dead letters %v, want a single row", err, sunk.rows, sunk.faults)
		}
		if len(sunk.faults) > 0 {
			return "", &sunk.faults[0]
		}
		return sunk.rows[0], nil
	})
}
