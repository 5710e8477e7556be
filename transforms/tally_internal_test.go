package transforms

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/transforms/elements"
)

type longRow struct {
	Text  string `json:"text"`
	Class string `json:"class"`
}

// TestFullMessages: the tallies of a slot with the default shards fill the messages to the runner, because Flink stands still
// at the 101st message of a slot.
func TestFullMessages(t *testing.T) {
	const message = 4e6 // Beam's Go SDK sends a message before an element that would exceed it, and larger elements alone
	const rowBytes = 2000
	_, s := beam.NewPipelineWithRoot()
	c := SingleTrainConfig("class")
	spec, err := newTrainSpec(beam.CreateList(s, []longRow{{}}), &c, new(options))
	if err != nil {
		t.Fatal(err)
	}
	f := &tallyFn{Spec: elements.MustJSON(spec), Shards: c.Shards}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	messages := 0
	total := 0
	open := 0
	emit := func(_ beam.EventTime, _ int64, b []byte) {
		total += len(b)
		if open += len(b); open > message {
			messages++
			open = len(b)
		}
	}
	f.StartBundle(t.Context(), emit, nil)
	r := rand.New(rand.NewPCG(1, 1))
	text := bytes.Repeat([]byte{'x'}, rowBytes)
	for i := 0; total < 60e6; i++ {
		copy(text, fmt.Sprintf("%016x", r.Uint64()))
		if err := f.ProcessElement(t.Context(), 0, longRow{string(text), []string{"a", "b"}[i%2]}, emit, nil); err != nil {
			t.Fatal(err)
		}
	}
	f.FinishBundle(t.Context(), emit, nil)
	if full := float64(total) / float64(messages); full < 3.6e6 {
		t.Errorf("%d messages have %.0f bytes on average, want 3.6e6: elements of %d bytes do not fill them", messages, full, tallyBytes/c.Shards)
	}
}
