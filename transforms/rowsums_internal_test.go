package transforms

import (
	"bytes"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tallies"
	"github.com/espalier-ml/espalier/transforms/elements"
)

// TestSumming: a bundle that has merged the summaries of its shards emits each column once, and a column has the same
// bytes in the end.
func TestSumming(t *testing.T) {
	_, s := beam.NewPipelineWithRoot()
	c := SingleTrainConfig("kind")
	c.Ignore = []string{"weight"}
	spec, err := newTrainSpec(beam.CreateList(s, []weighedRow{{Kind: "a"}}), &c, new(options))
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := tallies.NewEncoder(&spec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	const shards = 5
	var list [shards][]byte
	for shard := range shards {
		var tally dataset.Tally
		for i := range 100 {
			age := float64(i * (shard + 1) % 70)
			row := weighedRow{&age, []string{"red", "blue", "grey"}[(i+shard)%3], []string{"a", "b"}[i/50], 1}
			if i%9 == 0 {
				row.Age = nil
			}
			if _, _, err := encoder.Encode(row, 0); err != nil {
				t.Fatal(err)
			}
			tally.Add(encoder.Key)
		}
		list[shard] = tally.AppendBinary(nil)
	}
	// columns returns the number of values that a bundle emits, and the values of all bundles merged by key.
	columns := func(limit int) (emitted int, merged map[int64][]byte) {
		f := &summing{Spec: elements.MustJSON(spec), limit: limit}
		values := make(map[int64][][]byte)
		emit := func(key int64, b []byte) {
			emitted++
			values[key] = append(values[key], b)
		}
		f.StartBundle(emit)
		for _, tally := range list {
			if err := f.add(tally, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.FinishBundle(emit); err != nil {
			t.Fatal(err)
		}
		merged = make(map[int64][]byte)
		for key, b := range values {
			if merged[key], err = spec.mergeColumn(int(key), b); err != nil {
				t.Fatal(err)
			}
		}
		return emitted, merged
	}
	each, want := columns(0)
	once, got := columns(1)
	if len(want) != 4 || each != shards*len(want) || once != len(want) {
		t.Errorf("%d keys: %d values of %d shards, %d merged ones", len(want), each, shards, once)
	}
	for key, b := range want {
		if !bytes.Equal(got[key], b) {
			t.Errorf("the key %d has other bytes after the bundle has merged it", key)
		}
	}
}
