package transforms

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
)

type weighedRow struct {
	Age    *float64 `json:"age"`
	Color  string   `json:"color"`
	Kind   string   `json:"kind"`
	Weight float64  `json:"weight"`
}

// TestEvaluateFlushes: a row that comes after its bundle has grown too large for the memory is counted, even if it
// is the last one of the bundle.
func TestEvaluateFlushes(t *testing.T) {
	_, s := beam.NewPipelineWithRoot()
	row := weighedRow{Color: "red", Kind: "a", Weight: 2}
	config := EvaluateConfig{Label: "kind", Weight: "weight"}
	counting, err := newCounting(beam.CreateList(s, []weighedRow{row}), &Model{JSON: benchmarkTree()}, &config)
	if err != nil {
		t.Fatal(err)
	}
	f := &countFn{*counting}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	rows := func(tally []byte) (n int) {
		r, err := dataset.ReadTally(tally)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			n++
		}
		return n
	}
	counted := 0
	emit := func(_ int64, tally []byte) { counted += rows(tally) }
	refuse := func(d DeadLetter) { t.Errorf("a row is refused: %+v", d) }
	if err := f.ProcessElement(t.Context(), 0, row, emit, refuse); err != nil {
		t.Fatal(err)
	}
	key := make([]byte, 1<<20)
	others := 0
	for ; f.tally.Bytes() <= tallyBytes; others++ {
		binary.BigEndian.PutUint64(key, uint64(others))
		f.tally.Add(key)
	}
	if err := f.ProcessElement(t.Context(), 0, row, emit, refuse); err != nil {
		t.Fatal(err)
	}
	f.FinishBundle(context.Background(), emit, refuse)
	if counted != others+2 {
		t.Errorf("%d rows are counted, want %d", counted, others+2)
	}
}
