package train_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// sharedBucket is a bucket with a folder of rows for each of several runs. The first
// bytes of the first read of each folder come late, so that runs of a short storage
// timeout ask for them again and others do not.
type sharedBucket struct {
	*objectstoretest.Faults

	local string // file of the same rows
}

func newSharedBucket(t *testing.T, folders int, late time.Duration) *sharedBucket {
	t.Helper()
	b := &sharedBucket{Faults: objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))}
	objectstoretest.UseGCS(t, b.URL)
	store := objectstore.New()
	store.Register("gs", gcsstore.New(httpstore.Options{}))
	data := newRows(400)
	b.local = data.write(t, ascending(400), 1, parquetio.WriteOptions{RowsPerGroup: 100})
	names, err := filepath.Glob(b.local)
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	rows, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range folders {
		w, err := store.Create(t.Context(), b.input(i), objectstore.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	b.Clear()
	for i := range folders {
		b.Inject(objectstoretest.Fault{
			Kinds: []objectstoretest.Kind{objectstoretest.Read}, Times: 1, Effect: objectstoretest.Latency(late),
			Match: func(r *http.Request) bool { return strings.Contains(r.URL.Path, fmt.Sprintf("in-%d", i)) },
		})
	}
	return b
}

func (b *sharedBucket) input(i int) string { return fmt.Sprintf("gs://bucket/in-%d/rows.parquet", i) }

// reads returns the ranges of a folder that were asked for, and how many of them twice.
func (b *sharedBucket) reads(i int) (all, again int) {
	seen := make(map[string]bool)
	for _, r := range b.Requests(objectstoretest.Read) {
		if !strings.Contains(r.Path, fmt.Sprintf("in-%d", i)) {
			continue
		}
		all++
		if seen[r.Range] {
			again++
		}
		seen[r.Range] = true
	}
	return all, again
}

// TestRunsSideBySide: runs of one process have storage settings and progress of
// their own, and make what they make alone.
func TestRunsSideBySide(t *testing.T) {
	longtest.Skip(t)
	const trainings, folders = 4, 6 // the last two folders are predicted and evaluated
	b := newSharedBucket(t, folders, 600*time.Millisecond)
	timeout := func(i int) float64 { return []float64{0.2, 30}[i%2] }

	alone := oneTree()
	alone.Input, alone.Label, alone.Ignore, alone.Split = []string{b.local}, "class", []string{"id", "weight"}, dataset.Shares{100, 0, 0}
	want := mustTrain(t, alone).Tree.Encode()
	model := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(model, want, 0o600); err != nil {
		t.Fatal(err)
	}

	trees := make([][]byte, trainings)
	faults := make([]error, trainings+2)
	var wg sync.WaitGroup
	for i := range trainings {
		c := alone
		c.Input, c.Output, c.StorageTimeout, c.ReadAhead = []string{b.input(i)}, filepath.Join(t.TempDir(), "run"), timeout(i), int64(i)<<20
		wg.Go(func() {
			r, err := train.Train(t.Context(), c, nil)
			if faults[i] = err; err == nil {
				trees[i] = r.Tree.Encode()
			}
		})
	}
	p := config.DefaultPredict()
	p.Model, p.Input, p.Output, p.StorageTimeout = model, []string{b.input(trainings)}, filepath.Join(t.TempDir(), "scored"), timeout(trainings)
	wg.Go(func() { _, faults[trainings] = pipelines.Predict(t.Context(), p, nil) })
	e := config.Evaluate{Model: model, Input: []string{b.input(trainings + 1)}, StorageConfig: config.DefaultStorageConfig()}
	wg.Go(func() { _, _, faults[trainings+1] = pipelines.Evaluate(t.Context(), e, nil) })
	wg.Wait()
	if err := errors.Join(faults...); err != nil {
		t.Fatal(err)
	}
	for i := range trainings {
		if !bytes.Equal(trees[i], want) {
			t.Errorf("run %d has another tree than alone", i)
		}
	}
	for i := range folders {
		if all, again := b.reads(i); all == 0 || again > 0 != (timeout(i) < 1) {
			t.Errorf("run %d, storage timeout %v s: %d of %d reads were repeated", i, timeout(i), again, all)
		}
	}
}

// TestPrismNeedsInit: without the SDK's beam.Init prism would panic.
func TestPrismNeedsInit(t *testing.T) {
	if os.Getenv(bareProcess) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPrismNeedsInit$", "-test.v")
		c.Env = append(os.Environ(), bareProcess+"=1")
		if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Fatalf("%v:\n%s", err, out)
		}
		return
	}
	c := fruitConfig(t)
	c.Runner = "prism"
	var refused *usage.Error
	if _, err := train.Train(t.Context(), c, nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "beam.Init") {
		t.Errorf("train: %v", err)
	}
}
