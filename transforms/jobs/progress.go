package jobs

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// Progress counts what DoFns have done. It is for showing progress only.
type Progress struct {
	Tasks     atomic.Int64 // row groups or blocks read
	Rows      atomic.Int64
	Objects   atomic.Int64
	Nodes     atomic.Int64 // leaves settled
	Weight    atomic.Int64 // training weight in settled leaves
	Read      atomic.Int64 // bytes of blocks
	Exchanged atomic.Int64 // bytes between the halves of the job
	Written   atomic.Int64 // bytes of blocks, and of files between the halves of the job
	Histogram atomic.Int64 // bytes of the counts of the largest pass

	reported struct { // what Beam's counters have of it
		sync.Mutex

		counts [quantities]int64
	}
}

// CounterNamespace is the namespace of the Beam counters of a Progress.
const CounterNamespace = "espalier"

// names returns the names of the counters, in the order of fields.
func names() [quantities]string {
	return [quantities]string{
		"tasks", "rows", "objects", "nodes", "weight", "read_bytes", "exchanged_bytes",
		"written_bytes",
	}
}

// quantities is the number of fields of Progress.
const quantities = 8

//nolint:gochecknoglobals // of all DoFns in this process whose run has begun in another one, or that have none
var progress Progress

// LocalProgress counts the work of the DoFns of a worker process, and of DoFns without a
// run.
func LocalProgress() *Progress { return &progress }

// fields returns the counts in the order of names.
func (p *Progress) fields() [quantities]*atomic.Int64 {
	return [quantities]*atomic.Int64{&p.Tasks, &p.Rows, &p.Objects, &p.Nodes, &p.Weight, &p.Read, &p.Exchanged, &p.Written}
}

// Reset sets all counts to zero.
func (p *Progress) Reset() {
	p.reported.Lock()
	defer p.reported.Unlock()
	for _, f := range p.fields() {
		f.Store(0)
	}
	p.Histogram.Store(0)
	p.reported.counts = [quantities]int64{}
}

// Get returns the counts by the names of their counters.
func (p *Progress) Get() map[string]int64 {
	values := make(map[string]int64, quantities)
	for i, f := range p.fields() {
		values[names()[i]] = f.Load()
	}
	return values
}

// Set sets the counts to the values of counters by their names; those that are
// not named stay. A count never goes back: engines that try a bundle again
// begin to count anew.
func (p *Progress) Set(values map[string]int64) {
	fields := p.fields()
	for i, name := range names() {
		f := fields[i]
		f.Store(max(f.Load(), values[name]))
	}
}

// report moves what the run has counted here since the last call into Beam's
// counters of the calling DoFn. The goroutines of a bundle may not touch these,
// and bundles run at the same time: so each part is claimed once, by whichever
// DoFn comes first. A DoFn calls it from its own goroutine, in the end of
// ProcessElement and of FinishBundle.
func report(ctx context.Context) {
	p := progressOf(ctx)
	p.reported.Lock()
	defer p.reported.Unlock()
	for i, f := range p.fields() {
		if n := f.Load(); n != p.reported.counts[i] {
			counter := beam.NewCounter(CounterNamespace, names()[i])
			counter.Inc(ctx, n-p.reported.counts[i])
			p.reported.counts[i] = n
		}
	}
}

// reportEvery is the time between two reports of a bundle that waits for its
// goroutines.
const reportEvery = time.Second

// reportUntil waits for what the goroutines of a bundle do, and reports on it
// meanwhile and in the end.
func reportUntil(ctx context.Context, wait func() error) error {
	done := make(chan error, 1)
	go func() { done <- parallel.Guard(wait) }()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			report(ctx)
			return err
		case <-tick.C:
			report(ctx)
		}
	}
}

// atLeast raises a count to a value.
func atLeast(count *atomic.Int64, value int64) {
	for {
		old := count.Load()
		if old >= value || count.CompareAndSwap(old, value) {
			return
		}
	}
}
