package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/google/uuid"
)

// Run is what a run shares with the DoFns of its jobs: the storage that they read
// and write, and the progress that they count. Runs of one process share neither.
type Run struct {
	name     RunName
	storage  Storage // nil: there is none
	progress *Progress
}

// RunName is the exported field by which a DoFn finds its run: runners make DoFns
// anew, in this process or in another one. The zero value names the run of all
// DoFns that belong to none: its storage is the one of the default settings.
type RunName struct {
	Process  string // the process that began the run
	Number   int    // of the run among those of its process
	Settings []byte // of the storage, for other processes: see SetStorage
}

// runs lists the runs that DoFns of this process may belong to.
//
//nolint:gochecknoglobals // DoFns are made by the runner, which can hand them nothing but exported fields
var runs = registry{process: uuid.NewString(), list: make(map[string]*Run)}

type registry struct {
	process string // a name of this process

	mu   sync.Mutex
	last int // number of the run that began last
	list map[string]*Run
	open func(settings []byte) (Storage, error) // nil: this program has no storage
}

// SetStorage sets how this program opens the storage of DoFns from the settings of
// their run; nil stands for the default settings. Package pipelines calls it from
// init, so that workers, which run the same program, can open it too.
func SetStorage(open func(settings []byte) (Storage, error)) {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	runs.open = open
	// they were opened otherwise
	maps.DeleteFunc(runs.list, func(_ string, r *Run) bool { return r.name.Process != runs.process })
}

// NewRun begins a run in this process. Its DoFns use the storage here; in other
// processes they use one of the same settings. Close ends the run.
func NewRun(s Storage, settings []byte) *Run {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	runs.last++
	r := &Run{
		name: RunName{Process: runs.process, Number: runs.last, Settings: settings}, storage: s,
		progress: new(Progress),
	}
	runs.list[r.name.key()] = r
	return r
}

// Close ends the run: DoFns that are still at work for it fail.
func (r *Run) Close() {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	delete(runs.list, r.name.key())
}

// Name returns the name by which the DoFns of the run's jobs find it.
func (r *Run) Name() RunName { return r.name }

// Progress returns what the run's DoFns in this process have done since Reset.
func (r *Run) Progress() *Progress { return r.progress }

type runKey struct{}

// Context returns a context in which the functions of this package that read and
// write files of jobs use the storage of the run.
func (r *Run) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

func (n RunName) key() string { return fmt.Sprintf("%s/%d", n.Process, n.Number) }

// enter returns a context of the run that a DoFn belongs to.
func (n RunName) enter(ctx context.Context) (context.Context, error) {
	r, err := n.find()
	if err != nil {
		return ctx, err
	}
	return r.Context(ctx), nil
}

// find returns the run. The first DoFn of another process's run opens its storage.
func (n RunName) find() (*Run, error) {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	if r := runs.list[n.key()]; r != nil {
		return r, nil
	}
	if n.Process == runs.process {
		return nil, errors.New("transforms: the run of this job has ended")
	}
	r := &Run{name: n, progress: &progress}
	if runs.open != nil {
		var err error
		if r.storage, err = runs.open(n.Settings); err != nil {
			return nil, err
		}
	}
	runs.list[n.key()] = r
	return r, nil
}

// runOf returns the run of a context, that of DoFns without a run if it has none.
func runOf(ctx context.Context) (*Run, error) {
	if r, ok := ctx.Value(runKey{}).(*Run); ok {
		return r, nil
	}
	return RunName{}.find()
}

// progressOf returns where the DoFns of a context's run count what they do.
func progressOf(ctx context.Context) *Progress {
	if r, err := runOf(ctx); err == nil {
		return r.progress
	}
	return &progress
}

// OpenStorage returns the storage of the run that a context belongs to.
func OpenStorage(ctx context.Context) (Storage, error) {
	r, err := runOf(ctx)
	if err == nil && r.storage == nil {
		err = errors.New("transforms: no storage set")
	}
	if err != nil {
		return nil, err
	}
	return r.storage, nil
}
