package conformance

import (
	"flag"
	"testing"

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
