package protocol

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/transforms/elements"
)

// TestLease: workers see whether the driver runs, has ended or was killed; the driver sees the
// counts of the workers.
func TestLease(t *testing.T) {
	scratch := filepath.Join(t.TempDir(), "run [1]*") // a name, not a pattern
	store := objectstore.New()
	var progress elements.Progress
	l, err := Grant(t.Context(), store, scratch, &progress)
	if err != nil {
		t.Fatal(err)
	}
	elements.LocalProgress().Reset()
	t.Cleanup(elements.LocalProgress().Reset)
	elements.LocalProgress().Rows.Store(40)
	var workers []*holder
	for _, counts := range []string{countsPrefix + "a", countsPrefix + "b"} {
		w := &holder{store: store, folder: l.Folder, counts: counts, changed: time.Now()}
		if !w.look(t.Context()) {
			t.Error("a worker begins, and finds its job over")
		}
		w.publish(t.Context())
		workers = append(workers, w)
	}
	if err := l.gather(t.Context(), &progress); err != nil || progress.Rows.Load() != 80 {
		t.Errorf("%d rows are seen of 2 times 40: %v", progress.Rows.Load(), err)
	}

	workers[0].changed = time.Now().Add(-lasts)
	if workers[0].look(t.Context()) {
		t.Error("a worker goes on though its driver was killed")
	}
	if err := l.renew(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if !workers[0].look(t.Context()) {
		t.Error("a worker does not see that its driver is back")
	}

	l.Revoke(t.Context())
	if workers[1].look(t.Context()) {
		t.Error("a worker goes on though its job is over")
	}
	if list, err := store.List(t.Context(), objectstore.Join(literal.Replace(scratch), "*/*")); err == nil {
		t.Errorf("%v stays", list)
	}
}

// TestHold: a worker without a lease goes on; one whose job is over does not begin;
// one whose lease goes ends.
// Meanwhile the driver sees its counts.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it waits for seconds
		if err := Hold(t.Context(), func() { t.Error("a worker without a lease has ended") }); err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		beam.PipelineOptions.Set(LeaseOption, folder)
		t.Cleanup(func() { beam.PipelineOptions.Set(LeaseOption, "") })
		if err := Hold(t.Context(), func() { t.Error("the worker has begun") }); err == nil || !strings.Contains(err.Error(), "is over") {
			t.Errorf("without the file of its lease: %v", err)
		}
		progress := new(elements.Progress)
		l, err := Grant(t.Context(), objectstore.New(), folder, progress)
		if err != nil {
			t.Fatal(err)
		}
		beam.PipelineOptions.Set(LeaseOption, l.Folder)
		elements.LocalProgress().Rows.Store(40)
		t.Cleanup(elements.LocalProgress().Reset)
		ended := make(chan struct{})
		if err := Hold(t.Context(), func() { close(ended) }); err != nil {
			t.Fatal(err)
		}
		for start := time.Now(); progress.Rows.Load() != 40 && time.Since(start) < 20*time.Second; {
			time.Sleep(10 * time.Millisecond)
		}
		if got := progress.Rows.Load(); got != 40 {
			t.Errorf("the driver sees %d rows of 40", got)
		}
		l.Revoke(t.Context())
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Error("the worker goes on though its job is over")
		}
	})
}
