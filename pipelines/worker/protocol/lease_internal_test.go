package engine

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestLease: workers see whether the driver runs, has ended or was killed; the driver sees the
// counts of the workers.
func TestLease(t *testing.T) {
	scratch := filepath.Join(t.TempDir(), "run [1]*") // a name, not a pattern
	var progress jobs.Progress
	l, err := grantLease(t.Context(), source.Process, scratch, &progress)
	if err != nil {
		t.Fatal(err)
	}
	jobs.LocalProgress().Reset()
	t.Cleanup(jobs.LocalProgress().Reset)
	jobs.LocalProgress().Rows.Store(40)
	var workers []*holder
	for _, counts := range []string{countsPrefix + "a", countsPrefix + "b"} {
		w := &holder{files: source.Process, folder: l.folder, counts: counts, changed: time.Now()}
		if !w.look(t.Context()) {
			t.Error("a worker begins, and finds its job over")
		}
		w.publish(t.Context())
		workers = append(workers, w)
	}
	if err := l.gather(t.Context(), &progress); err != nil || progress.Rows.Load() != 80 {
		t.Errorf("%d rows are seen of 2 times 40: %v", progress.Rows.Load(), err)
	}

	workers[0].changed = time.Now().Add(-leaseLasts)
	if workers[0].look(t.Context()) {
		t.Error("a worker goes on though its driver was killed")
	}
	if err := l.renew(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if !workers[0].look(t.Context()) {
		t.Error("a worker does not see that its driver is back")
	}

	l.revoke(t.Context())
	if workers[1].look(t.Context()) {
		t.Error("a worker goes on though its job is over")
	}
	if list, err := source.Process.Store.List(t.Context(), objectstore.Join(literal.Replace(scratch), "*/*")); err == nil {
		t.Errorf("%v stays", list)
	}
}
