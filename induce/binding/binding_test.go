package binding_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/binding"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestLocalTimes: for a feature of local timestamps a time.Time is what the clock of its place shows.
func TestLocalTimes(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 30, 0, 0, time.FixedZone("", 3600))
	for zone, want := range map[dataset.Zone]string{
		dataset.NoZone: "2026-11-21T09:30:00", dataset.UTC: "2026-11-21T09:30:00", dataset.Local: "2026-11-21T10:30:00",
	} {
		m := &tree.Tree{
			Label:    tree.Label{Classes: []string{"a", "b"}},
			Features: []dataset.Feature{{Name: "at", Kind: dataset.Numeric, Unit: dataset.Timestamp, Zone: zone, Cuts: []float64{0}}},
			Nodes: []tree.Node{
				{
					Probabilities: []float64{.5, .5}, Test: &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}},
					Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Child: 2, Missing: true}},
				},
				{Probabilities: []float64{1, 0}},
				{Probabilities: []float64{0, 1}},
			},
		}
		schema, err := rowtype.SchemaOf(reflect.TypeFor[map[string]any]())
		if err != nil {
			t.Fatal(err)
		}
		b, err := binding.New(m, schema)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := b.Read(map[string]any{"at": at}, nil)
		if err != nil || dataset.Timestamp.Spell(cells[0].Number) != want {
			t.Errorf("zone %s: %v, %+v, want %s", zone, err, cells, want)
		}
		in := b.Scorer.Features()[0]
		v, err := in.Value(at)
		if other := tree.Number(cells[0].Number); err != nil || v != other {
			t.Errorf("zone %s: Input.Value gives %v, %v, want %v", zone, v, err, other)
		}
	}
}
