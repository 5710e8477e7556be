package transformstest

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Runners returns the runners for tests of pipelines. They run in the test's process.
func Runners() []string { return []string{"direct", "prism"} }

// RunnersOfFailures returns the runners for tests of failing pipelines. It leaves prism
// out with -short, which CI sets for the race detector: when a job fails, the SDK's worker
// closes a channel while another of its goroutines still sends on it.
func RunnersOfFailures() []string {
	if testing.Short() {
		return []string{"direct"}
	}
	return Runners()
}

// Loopback directs later pipelines to the job service at an endpoint, which calls back into
// this process.
func Loopback(tb testing.TB, endpoint string) {
	tb.Helper()
	if !beam.Initialized() {
		beam.Init()
	}
	options := map[string]string{"endpoint": endpoint, "environment_type": "LOOPBACK", "parallelism": "2"}
	for name, value := range options {
		if err := flag.Set(name, value); err != nil {
			tb.Fatal(err)
		}
	}
}

// Streams runs a stream. The variable ESPALIER_STREAM_EVENTS sets
// the number of events in place of the configuration. A nil broker is a small one in memory.
func Streams(t *testing.T, c Config, newBroker func(tb testing.TB) Broker) {
	t.Helper()
	if s := os.Getenv("ESPALIER_STREAM_EVENTS"); s != "" {
		var err error
		if c.Events, err = strconv.Atoi(s); err != nil {
			t.Fatalf("ESPALIER_STREAM_EVENTS=%s: want a number", s)
		}
	}
	c.Deadline += time.Duration(c.Events) * time.Millisecond
	if newBroker != nil {
		c.Broker = newBroker(t)
	}
	t.Logf("%+v", *Run(t, c))
}
