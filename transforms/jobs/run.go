package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/elements"
)

// Run holds the storage and the progress that a run shares with the DoFns of its jobs. Two runs in
// a process share neither.
type Run struct {
	name     RunName
	storage  Storage
	progress *elements.Progress
	workers  workers // workers of the bundles in this process
}

// workers counts goroutines that are at work.
type workers struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when count falls to 0; nil if nobody waits
}

// begin counts a goroutine.
func (w *workers) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
}

// end stops counting a goroutine.
func (w *workers) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
	if w.count == 0 && w.none != nil {
		close(w.none)
		w.none = nil
	}
}

// wait waits until no goroutine is at work.
func (w *workers) wait() {
	w.mu.Lock()
	if w.count == 0 {
		w.mu.Unlock()
		return
	}
	if w.none == nil {
		w.none = make(chan struct{})
	}
	none := w.none
	w.mu.Unlock()
	<-none
}

// RunName is an exported field by which a DoFn finds its run, because runners decode DoFns again,
// in this process or in another. The zero value names a run for DoFns without a run, whose storage
// has the default settings.
type RunName struct {
	Process string       // name of the process that began the run
	Number  int          // number of the run within this process
	Files   *FilesConfig // settings of the storage, for other processes; nil: the default settings
}

// runs lists the runs of the DoFns in this process.
//
//nolint:gochecknoglobals // DoFns are made by the runner, which can hand them nothing but exported fields
var runs = registry{process: rand.Text(), list: make(map[string]*Run)}

type registry struct {
	process string // name of this process

	mu   sync.Mutex
	last int // number of the latest run
	list map[string]*Run
}

// NewRun begins a run in this process. Its DoFns use the given storage in this process,
// and open a storage with the same settings in other processes. Close ends the run.
func NewRun(s Storage, c FilesConfig) *Run {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	runs.last++
	r := &Run{
		name: RunName{Process: runs.process, Number: runs.last, Files: &c}, storage: s,
		progress: new(elements.Progress),
	}
	runs.list[r.name.key()] = r
	return r
}

// Close ends the run. Its DoFns fail if they are still at work.
func (r *Run) Close() {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	delete(runs.list, r.name.key())
}

// Wait waits until the goroutines of the run's bundles in this process have ended. A runner does
// not finish the bundles of a pipeline that fails or is interrupted, so their goroutines may still
// write files when the pipeline has ended.
func (r *Run) Wait() { r.workers.wait() }

// Name returns the name by which DoFns find the run.
func (r *Run) Name() RunName { return r.name }

// Progress returns the counts of the run's DoFns in this process.
func (r *Run) Progress() *elements.Progress { return r.progress }

type runKey struct{}

// Context returns a context of the run. With it the functions of this package read and write files
// in the run's storage.
func (r *Run) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

func (n RunName) key() string { return fmt.Sprintf("%s/%d", n.Process, n.Number) }

// Enter returns a context of the run.
func (n RunName) Enter(ctx context.Context) (context.Context, error) {
	r, err := n.find()
	if err != nil {
		return ctx, err
	}
	return r.Context(ctx), nil
}

// find returns the run. In a process that did not begin the run, the first call opens the
// storage.
func (n RunName) find() (*Run, error) {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	if r := runs.list[n.key()]; r != nil {
		return r, nil
	}
	if n.Process == runs.process {
		return nil, errors.New("jobs: the run of this job has ended")
	}
	c := DefaultFilesConfig()
	if n.Files != nil {
		c = *n.Files
	}
	r := &Run{name: n, progress: elements.LocalProgress(), storage: NewFiles(c)}
	runs.list[n.key()] = r
	return r, nil
}

// runOf returns the run of a context, or the run of the zero RunName if it has none.
func runOf(ctx context.Context) (*Run, error) {
	if r, ok := ctx.Value(runKey{}).(*Run); ok {
		return r, nil
	}
	return RunName{}.find()
}

// progressOf returns the progress of a context's run.
func progressOf(ctx context.Context) *elements.Progress {
	if r, err := runOf(ctx); err == nil {
		return r.progress
	}
	return elements.LocalProgress()
}

// Storage gives DoFns access to files.
type Storage interface {
	// RowGroup opens the row group of a task for reading the given columns. It may start to fetch
	// them, and may block until earlier row groups are closed.
	RowGroup(ctx context.Context, t Task, columns []string) (dataset.RowGroup, error)
	// Predictions starts the output file of a task. The file has the copied columns of the task's
	// input, then the columns of predictions.
	Predictions(ctx context.Context, t Task, copied []string, columns []PredictionColumn, metadata map[string]string) (Predictions, error)
	// Read returns the content of a scratch file.
	Read(ctx context.Context, url string) ([]byte, error)
	// Write writes a scratch file. The caller must not change b afterwards.
	Write(ctx context.Context, url string, b []byte) error
}

// OpenStorage returns the storage of a context's run.
func OpenStorage(ctx context.Context) (Storage, error) {
	r, err := runOf(ctx)
	if err != nil {
		return nil, err
	}
	return r.storage, nil
}

// read returns the content of a scratch file of a context's run.
func read(ctx context.Context, url string) ([]byte, error) {
	s, err := OpenStorage(ctx)
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, url)
}

// write writes a scratch file of a context's run. The caller must not change b afterwards.
func write(ctx context.Context, url string, b []byte) error {
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	return s.Write(ctx, url, b)
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// readersAhead is how many scratch files readEach reads at the same time, because a request to an
// object store takes long.
const readersAhead = 16

// readEach reads scratch files, several at a time, and calls f with the content of each. The
// content of a missing file is nil. f is called by one goroutine at a time, in any order.
func readEach(ctx context.Context, urls []string, f func(i int, b []byte) error) error {
	var mu sync.Mutex
	p := newPool(min(readersAhead, len(urls)), 0)
	for i, url := range urls {
		err := p.do(ctx, func(int) error {
			b, err := read(ctx, url)
			if err != nil && !isNotExist(err) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			return f(i, b)
		})
		if err != nil {
			break // wait returns the error
		}
	}
	return p.wait()
}
