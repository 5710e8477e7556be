package transformstest

import "testing"

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
