package usage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
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

// TestMarkedOutput: what a worker cannot write survives as text within the error of a
// runner, with quotes and line ends.
func TestMarkedOutput(t *testing.T) {
	for _, text := range []string{"disk full", "a \"quoted\"\nname \\ and ü", "", "espalier-output-fault:again"} {
		runner := fmt.Errorf("bundle 7 failed: DoFn [UID:4] %q said %w\ncaused by 3 others", "x", usage.MarkOutput(errors.New(text)))
		got, ok := usage.MarkedOutput(errors.New(runner.Error()))
		if !ok || got.Error() != "--output: "+text {
			t.Errorf("%q became %v, %t", text, got, ok)
		}
	}
	if got, ok := usage.MarkedOutput(errors.New("no output in it")); ok {
		t.Errorf("%v of an error without a mark", got)
	}
	whole := usage.MarkOutput(errors.New("disk full")).Error()
	if got, ok := usage.MarkedOutput(errors.New(whole[:len(whole)-3])); ok {
		t.Errorf("%v of a mark whose text was cut", got)
	}
}

// TestNotMarked: faults of the input and the end of a run stay what they are.
func TestNotMarked(t *testing.T) {
	for _, err := range []error{
		nil, &dataset.DataError{File: "a.parquet", Problem: "damaged"}, context.Canceled,
		fmt.Errorf("late: %w", context.DeadlineExceeded),
	} {
		if got := usage.MarkOutput(err); got != err { //nolint:errorlint // the same value, not one that wraps it
			t.Errorf("%v became %v", err, got)
		}
	}
}
