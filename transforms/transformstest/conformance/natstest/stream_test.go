package natstest_test

import (
	"os"
	"testing"
	"time"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// TestMain runs the tests on prism.
func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// TestStream sends a stream of events through Score and WindowedTree: on prism, or on the
// Flink at the endpoint that ESPALIER_NATS_FLINK names.
func TestStream(t *testing.T) {
	c := conformance.Config{Runner: "prism", Events: 6000, Windows: 5, Deadline: time.Minute}
	if endpoint := os.Getenv("ESPALIER_NATS_FLINK"); endpoint != "" {
		conformance.Loopback(t, endpoint)
		c = conformance.Config{Runner: "flink", Events: 20_000, Windows: 10, Deadline: 2 * time.Minute}
	}
	c.Broker = start(t)
	conformance.Stream(t, c)
}
