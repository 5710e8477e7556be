package transforms

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// TestTry: Try returns errors of construction, of this package and of Beam alike; it does not catch faults of a program.
func TestTry(t *testing.T) {
	_, s := beam.NewPipelineWithRoot()
	none := beam.Create(s, 1.0)
	if _, err := Try(func() Trained { return Train(s, none, SingleTrainConfig("class")) }); err == nil ||
		!strings.HasPrefix(err.Error(), "transforms.Train: ") {
		t.Errorf("rows that are numbers: %v", err)
	}
	if _, err := Try(func() beam.PCollection { return beam.ParDo(s, func(string) int { return 1 }, none) }); err == nil {
		t.Error("a function of texts for numbers: no error")
	}
	if n, err := Try(func() int { return 7 }); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for name, fault := range map[string]func() int{
		"an index": func() int { return []int{}[len(none.String())] },
		"a text":   func() int { panic("no error") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the panic of %s is returned", name)
				}
			}()
			if _, err := Try(fault); !errors.Is(err, nil) {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
}

// TestTimeOfLetter: the clock of the direct runner is not the time of a row; other times are kept.
func TestTimeOfLetter(t *testing.T) {
	now := mtime.Now()
	direct := t.Context()
	worker := grpcx.WriteWorkerID(direct, "1")
	for _, c := range []struct {
		ctx  context.Context
		at   beam.EventTime
		want int64
	}{
		{direct, now, 0},
		{worker, now, int64(now)},
		{direct, 1_000, 1_000},
		{direct, now + 1_000_000, int64(now) + 1_000_000}, // a day before, and one to come
		{direct, mtime.MinTimestamp, 0},
		{worker, mtime.MinTimestamp, 0},
		{worker, mtime.MaxTimestamp, 0},
	} {
		if got := millis(c.ctx, c.at); got != c.want {
			t.Errorf("in a worker %v, the time %d: %d, want %d", inWorker(c.ctx), c.at, got, c.want)
		}
	}
}
