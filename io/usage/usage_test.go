package usage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/usage"
)

func TestErrorf(t *testing.T) {
	err := fmt.Errorf("train: %w", usage.Errorf("--bins %d: want at least %d", 1, 2))
	var e *usage.Error
	if !errors.As(err, &e) || e.Error() != "--bins 1: want at least 2" || e.Setting != "bins" || e.Problem != " 1: want at least 2" {
		t.Errorf("%v, want a usage error in it", err)
	}
}

// TestRenamed: an error under another setting, also if its values read like a setting.
func TestRenamed(t *testing.T) {
	err := usage.Errorf("--output %s: taken", "m--output")
	if got := usage.Renamed(err, "output", "destination"); got.Error() != "--destination m--output: taken" {
		t.Error(got)
	}
	if got := usage.Renamed(err, "input", "destination"); got != err { //nolint:errorlint // the same value
		t.Error(got)
	}
	if got := usage.Renamed(usage.Errorf("%s", "--output: x"), "output", "destination"); got.Error() != "--output: x" {
		t.Error(got)
	}
}

// TestAll: several faults become one error on one line.
func TestAll(t *testing.T) {
	err := usage.All([]error{usage.Errorf("--bins 1"), errors.Join(errors.New("--theta 2"), errors.New("--input"))})
	if !errors.As(err, new(*usage.Error)) || err.Error() != "--bins 1; --theta 2; --input" {
		t.Errorf("%v, want all faults on one line", err)
	}
}

// TestMarked: a fault for a person survives as text within the error of a runner, with its setting, quotes and line ends.
func TestMarked(t *testing.T) {
	full := usage.OfOutput(errors.New("disk full"))
	clock := httpstore.Failed(&httpstore.StatusError{Code: 403})
	for _, e := range []error{
		full, clock, fmt.Errorf("read x: %w", clock), usage.Errorf("a \"quoted\"\nname \\ and ü"), usage.Errorf("espalier-usage-fault:again"),
	} {
		runner := fmt.Errorf("bundle 7 failed: DoFn [UID:4] %q said %w\ncaused by 3 others", "x", usage.Mark(usage.Mark(e)))
		got, ok := usage.Marked(errors.New(runner.Error()))
		if !ok || got.Error() != e.Error() || usage.NatureOf(got) != usage.Usage {
			t.Errorf("%q became %v, %t", e, got, ok)
		}
	}
	if got, _ := usage.Marked(usage.Mark(full)); got.Setting != "output" {
		t.Errorf("the setting is %q, want output", got.Setting)
	}
	if got, ok := usage.Marked(errors.New("no mark in it")); ok {
		t.Errorf("%v of an error without a mark", got)
	}
	whole := usage.Mark(full).Error()
	if got, ok := usage.Marked(errors.New(whole[:len(whole)-3])); ok {
		t.Errorf("%v of a mark whose text was cut", got)
	}
	for _, err := range []error{errors.New("a bug"), usage.Later("another run is at work")} {
		if got := usage.Mark(err); got != err { //nolint:errorlint // the same value, not one that wraps it
			t.Errorf("%v became %v", err, got)
		}
	}
}

// TestNotOfOutput: faults of the input and the end of a run stay what they are.
func TestNotOfOutput(t *testing.T) {
	for _, err := range []error{
		nil, &dataset.DataError{File: "a.parquet", Problem: "damaged"}, context.Canceled,
		fmt.Errorf("late: %w", context.DeadlineExceeded),
	} {
		if got := usage.OfOutput(err); got != err { //nolint:errorlint // the same value, not one that wraps it
			t.Errorf("%v became %v", err, got)
		}
	}
}
