package jobs

import (
	"context"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Config holds the settings that the DoFns of every job need.
type Config struct {
	Workers int    // goroutines of a bundle; 1 on engines
	Out     string // folder of the results of the job
	Run     RunName

	// Handover takes results as Go values; nil: the job encodes them in files of Out. It only works
	// for jobs that run in this process and do not encode their DoFns.
	Handover *Handover `json:"-"`
}

// Within runs the work of a DoFn in a context of the run. It reports the progress, and prepares an
// error for the runner. It must be called by the DoFn's own goroutine.
func (c *Config) Within(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, err := c.Run.Enter(ctx)
	if err != nil {
		return err
	}
	defer report(ctx)
	return elements.Carry(do(ctx))
}

// config returns the fields that all jobs share.
func (c *Config) config() *Config { return c }

// begin does nothing: most jobs have nothing to prepare.
func (c *Config) begin(context.Context) error { return nil }

// ahead returns 0, because tasks that name blocks wait outside the pool, which bounds the blocks in
// memory.
func (c *Config) ahead() int { return 0 }

// firstHalf is the work of a job on the tasks of a bundle.
type firstHalf interface {
	config() *Config
	ahead() int                      // tasks of the pool that may wait for a worker
	begin(ctx context.Context) error // before the first task of a bundle
	// do does a task, or hands it to the workers of the pool.
	do(ctx context.Context, p *pool, t Task, emit func(int64, []byte)) error
	// end sends the results of the bundle, after the pool has finished all tasks.
	end(ctx context.Context, emit func(int64, []byte)) error
}

// taskFn is the DoFn of the first half of every job: it takes tasks, and sends values by key after
// a task or at the end of the bundle.
type taskFn[J firstHalf] struct {
	Job J

	pool *pool
}

func (f *taskFn[J]) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	c := f.Job.config()
	f.pool = newPool(c.Workers, f.Job.ahead())
	return c.Within(ctx, f.Job.begin)
}

func (f *taskFn[J]) ProcessElement(ctx context.Context, task []byte, emit func(int64, []byte)) error {
	return f.Job.config().Within(ctx, func(ctx context.Context) error {
		t, err := decodeTask(task)
		if err != nil {
			return err
		}
		return f.Job.do(ctx, f.pool, t, emit)
	})
}

func (f *taskFn[J]) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	return f.Job.config().Within(ctx, func(ctx context.Context) error {
		if err := reportUntil(ctx, f.pool.wait); err != nil {
			return err
		}
		return f.Job.end(ctx, emit)
	})
}

// secondHalf is the work of a job on the values of its first half.
type secondHalf interface {
	config() *Config
	begin(ctx context.Context) error // before the first key of a bundle
	// merge writes the combined values of a key. Workers of a pool call it.
	merge(ctx context.Context, key int64, list [][]byte) error
}

// mergeFn is the DoFn of the second half of a job.
type mergeFn[J secondHalf] struct {
	Job J

	pool *pool
}

func (f *mergeFn[J]) StartBundle(ctx context.Context) error {
	c := f.Job.config()
	f.pool = newPool(c.Workers, 0)
	return c.Within(ctx, f.Job.begin)
}

func (f *mergeFn[J]) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	list := elements.Collect(values)
	return f.Job.config().Within(ctx, func(ctx context.Context) error {
		return f.pool.do(ctx, func(int) error { return f.Job.merge(ctx, key, list) })
	})
}

func (f *mergeFn[J]) FinishBundle(ctx context.Context) error {
	return f.Job.config().Within(ctx, func(ctx context.Context) error { return reportUntil(ctx, f.pool.wait) })
}

// addJob adds both halves of a job to a pipeline.
func addJob(s beam.Scope, tasks beam.PCollection, first, second any) {
	beam.ParDo0(s, second, beam.GroupByKey(s, beam.ParDo(s, first, tasks)))
}
