package protocol

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/transforms/elements"
)

// LeaseOption is the pipeline option that names the folder of the lease.
const LeaseOption = "espalier_lease"

const (
	fileName     = "lease"
	countsPrefix = "counts-"
	lasts        = 5 * time.Minute // since the last change seen by a worker
	maxBytes     = 1 << 12
)

// pace returns the time between two looks at a lease. It grows with the time since the job began,
// from 1 s to 5 s, because each look costs a request to an object store.
func pace(begun time.Time) time.Duration {
	return min(time.Second+time.Since(begun)/20, 5*time.Second)
}

// Lease is the driver's side of a lease.
//
// The workers of a job hold a lease: a file that the driver rewrites periodically while the job
// runs. Workers end when the file is gone, or when it has not changed for some minutes, which means
// that the driver was killed. Each worker writes a file of its counts next to the lease. An
// engine's own cancelling and counters do not replace the lease: some engines report a job as
// cancelled while its tasks continue, and return counters only after the job has ended.
type Lease struct {
	Folder string // folder of the lease's files

	store *objectstore.Store
	done  chan struct{}
	wg    sync.WaitGroup
}

// Grant writes a lease below a folder that all workers can reach, and renews it until it is revoked. Meanwhile it sets
// progress to the sums of the workers' counts.
func Grant(ctx context.Context, s *objectstore.Store, scratch string, progress *elements.Progress) (*Lease, error) {
	l := &Lease{Folder: objectstore.Join(scratch, "job-"+rand.Text()), store: s, done: make(chan struct{})}
	if err := l.renew(ctx, 0); err != nil {
		return nil, err
	}
	l.wg.Go(func() { l.keep(ctx, progress) })
	return l, nil
}

func (l *Lease) renew(ctx context.Context, n int) error {
	return write(ctx, l.store, objectstore.Join(l.Folder, fileName), []byte(strconv.Itoa(n)))
}

// write writes a file, whole or not at all.
func write(ctx context.Context, s *objectstore.Store, url string, b []byte) error {
	return s.Put(ctx, url, b, objectstore.WriteOptions{Volatile: true})
}

func (l *Lease) keep(ctx context.Context, progress *elements.Progress) {
	begun := time.Now()
	for n := 1; ; n++ {
		select {
		case <-l.done:
			return
		case <-time.After(pace(begun)):
		}
		err := l.renew(ctx, n)
		if err == nil {
			err = l.gather(ctx, progress)
		}
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "the lease of the workers was not renewed", "error", err) // the last lease is still valid
		}
	}
}

// literal escapes a name for use in a pattern.
var literal = strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]") //nolint:gochecknoglobals // a constant

// gather sets progress to the sums of the workers' counts.
func (l *Lease) gather(ctx context.Context, progress *elements.Progress) error {
	list, err := l.store.List(ctx, objectstore.Join(literal.Replace(l.Folder), countsPrefix+"*"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no worker has counted anything
	}
	if err != nil {
		return err
	}
	sums := make(map[string]int64)
	for _, o := range list {
		var counts map[string]int64
		b, err := l.store.ReadAll(ctx, o.URL, maxBytes)
		if err == nil {
			err = json.Unmarshal(b, &counts)
		}
		if err != nil {
			return err
		}
		for name, n := range counts {
			sums[name] += n
		}
	}
	progress.Set(sums)
	return nil
}

// Revoke removes the lease, so that workers which still run end.
func (l *Lease) Revoke(ctx context.Context) {
	close(l.done)
	l.wg.Wait()
	if err := l.store.RemoveAll(context.WithoutCancel(ctx), l.Folder); err != nil {
		slog.WarnContext(ctx, "the lease of the workers was not removed: they end when it has run out", "error", err)
	}
}

// Hold lets a worker process watch its lease, if it has one. It calls over when the driver has
// ended the job, was killed or was interrupted. It returns immediately, with an error if the job
// has already ended.
func Hold(ctx context.Context, over func()) error {
	folder := beam.PipelineOptions.Get(LeaseOption)
	if folder == "" {
		return nil
	}
	store := objectstore.Open(objectstore.Patience{})
	h := &holder{store: store, folder: folder, counts: countsPrefix + rand.Text(), changed: time.Now()}
	if !h.look(ctx) {
		return errors.New("the job of this worker is over")
	}
	begun := h.changed
	go func() {
		for ctx.Err() == nil && h.look(ctx) { // the SDK would sleep forever after its connection has ended
			h.publish(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(pace(begun)):
			}
		}
		over()
	}()
	return nil
}

// holder is a worker's side of a lease.
type holder struct {
	store   *objectstore.Store
	folder  string
	counts  string    // name of the file with this worker's counts
	lease   []byte    // as last read
	changed time.Time // when the lease was last seen to change
	told    []byte    // counts as last written
}

// look reads the lease and reports whether it is still valid.
func (h *holder) look(ctx context.Context) bool {
	b, err := h.store.ReadAll(ctx, objectstore.Join(h.folder, fileName), maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil && !bytes.Equal(b, h.lease) {
		h.lease, h.changed = b, time.Now()
	}
	return time.Since(h.changed) < lasts
}

// publish writes this worker's counts, if they have changed.
func (h *holder) publish(ctx context.Context) {
	b, err := json.Marshal(elements.LocalProgress().Get())
	if err != nil || bytes.Equal(b, h.told) {
		return
	}
	if err := write(ctx, h.store, objectstore.Join(h.folder, h.counts), b); err != nil {
		slog.WarnContext(ctx, "the progress of this worker is not shown", "error", err)
		return
	}
	h.told = b
}
