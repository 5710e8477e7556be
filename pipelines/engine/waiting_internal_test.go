package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestWaitingRunEnds: a run that waits for another run's pipeline ends with its context, while that
// pipeline is still there, and the next run is admitted.
func TestWaitingRunEnds(t *testing.T) {
	leave, err := admit(t.Context(), new(Config))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	j := &Driver{Engine: Default(), Reporter: Silent{}, Files: source.Process}
	one := func(ctx context.Context) error {
		return j.Run(ctx, Job{"one", 1, "tasks", TasksDone}, []jobs.Task{{File: "a"}}, func(beam.Scope, beam.PCollection) {})
	}
	if err := one(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	leave()
	if err := one(t.Context()); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// watched is a Reporter that keeps jobs with their steps, and notes.
type watched struct{ jobs, notes []string }

func (w *watched) Job(name string, total int64, unit string) {
	w.jobs = append(w.jobs, fmt.Sprintf("%s: %d %s", name, total, unit))
}

func (w *watched) Step(done int64, _ string) { w.jobs = append(w.jobs, strconv.FormatInt(done, 10)) }

func (w *watched) Warn(string) {}

func (w *watched) Note(text string) { w.notes = append(w.notes, text) }

// TestPhase: a phase of some length is shown with its progress. A phase ends with its context
// even if its work does not. A panic of the work reaches the caller.
func TestPhase(t *testing.T) {
	w := new(watched)
	j := &Driver{Engine: Default(), Reporter: w}
	err := j.Phase(t.Context(), "quick", 3, "trees", func(*parallel.Steps) error { return nil })
	if err != nil || len(w.jobs) > 0 {
		t.Errorf("a quick phase: %v, %v", w.jobs, err)
	}
	err = j.Phase(t.Context(), "slow", 2, "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(t.Context(), 2, &s.Done, func(int) { time.Sleep(3 * ReportEvery) })
	})
	if n := len(w.jobs); err != nil || n < 3 || w.jobs[0] != "slow: 2 trees" || w.jobs[n-1] != "2" {
		t.Errorf("a slow phase: %v, %v", w.jobs, err)
	}
	if len(j.Timings) != 2 || j.Timings[1].Job != "slow" || j.Timings[1].Seconds < 0.3 {
		t.Errorf("timings %v", j.Timings)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	deaf := make(chan struct{})
	defer close(deaf)
	err = j.Phase(ctx, "deaf", 1, "trees", func(*parallel.Steps) error { <-deaf; return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a phase that does not hear the end of its context: %v", err)
	}
	var calls atomic.Int64
	if err := parallel.EachUntil(ctx, 10, new(atomic.Int64), func(int) { calls.Add(1) }); !errors.Is(err, context.DeadlineExceeded) || calls.Load() > 0 {
		t.Errorf("%d calls after the end of the context: %v", calls.Load(), err)
	}

	if n, err := Compute(t.Context(), j, "seven", 1, "trees", func(*parallel.Steps) (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("computed %d, %v, want 7", n, err)
	}
	n, err := Compute(ctx, j, "deaf", 1, "trees", func(*parallel.Steps) (int, error) { return 7, nil })
	if n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("computed %d, %v after the end of the context", n, err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	n, err = Compute(soon, j, "deaf", 1, "trees", func(*parallel.Steps) (int, error) { <-deaf; return 7, nil })
	if n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("computed %d, %v by abandoned work", n, err)
	}

	defer func() {
		if r := recover(); r != "of a kernel" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = j.Phase(t.Context(), "broken", 1, "trees", func(s *parallel.Steps) error { // it panics
		return parallel.EachUntil(t.Context(), 1, &s.Done, func(int) { panic("of a kernel") })
	})
}
