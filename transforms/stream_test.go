package transforms_test

import (
	"testing"
	"time"

	"github.com/espalier-ml/espalier/transforms/transformstest"
)

// TestStream sends streams of events through Score and WindowedTree on prism.
func TestStream(t *testing.T) {
	c := transformstest.Config{Runner: "prism", Events: 6000, Windows: 5, Deadline: time.Minute}
	transformstest.Streams(t, c, nil)
}
