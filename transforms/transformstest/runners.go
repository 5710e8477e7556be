package transformstest

import "testing"

// Runners lists the runners of this process that tests of pipelines run on.
func Runners() []string { return []string{"direct", "prism"} }

// RunnersOfFailures lists the runners for tests of pipelines that fail. With -short, which
// CI sets for the race detector, prism is left out: when a job fails, the SDK's worker closes
// a channel while another of its goroutines still sends on it.
func RunnersOfFailures() []string {
	if testing.Short() {
		return []string{"direct"}
	}
	return Runners()
}
