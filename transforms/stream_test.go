package transforms_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// TestStream sends a stream of events through Score and WindowedTree on prism.
func TestStream(t *testing.T) {
	conformance.Stream(t, conformance.Config{Runner: "prism", Events: 6000, Windows: 5, Deadline: time.Minute})
}

// TestLatest scores events by the latest trees, in batches and in streams.
func TestLatest(t *testing.T) {
	for _, runner := range conformance.Runners() {
		for _, keyed := range []bool{false, true} {
			c := conformance.LatestConfig{Runner: runner, Keyed: keyed, First: keyed}
			t.Run(fmt.Sprintf("%s/keyed %v", runner, keyed), func(t *testing.T) { conformance.Latest(t, c) })
		}
	}
	for _, keyed := range []bool{false, true} {
		c := conformance.LatestConfig{Runner: "prism", Stream: true, Keyed: keyed, First: keyed}
		t.Run(fmt.Sprintf("stream/keyed %v", keyed), func(t *testing.T) { conformance.Latest(t, c) })
	}
}
