package pipelines

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/transforms"
)

// TestWaitingRunEnds: a run that waits for another one's pipeline ends with its
// context, and leaves the next one to run.
func TestWaitingRunEnds(t *testing.T) {
	if err := admit(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	j := &jobs{runner: "direct", reporter: noReporter{}, files: process}
	one := func(ctx context.Context) error {
		return j.run(ctx, job{"one", 1, "tasks", tasksDone}, []transforms.Task{{File: "a"}}, func(beam.Scope, beam.PCollection) {})
	}
	if err := one(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("the waiting run ended after %v", took)
	}
	leave()
	if err := one(t.Context()); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
