package elements

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Progress counts the work of DoFns. It serves to show progress only.
type Progress struct {
	Tasks     atomic.Int64 // row groups or blocks read
	Rows      atomic.Int64 // rows read
	Objects   atomic.Int64 // objects counted or evaluated
	Nodes     atomic.Int64 // leaves that are final
	Weight    atomic.Int64 // training weight in these leaves
	Read      atomic.Int64 // bytes of blocks read
	Exchanged atomic.Int64 // bytes between the halves of the job
	Written   atomic.Int64 // bytes of blocks, and of files between the halves of the job
	Histogram atomic.Int64 // bytes of the histograms of the largest pass

	reported struct { // the part that Beam's counters have already
		sync.Mutex

		counts [quantities]int64
	}
}

// names returns the names of the counters, in the order of Progress.fields.
func names() [quantities]string {
	return [quantities]string{
		"tasks", "rows", "objects", "nodes", "weight", "read_bytes", "exchanged_bytes",
		"written_bytes",
	}
}

// quantities is the number of counts with a counter: all but Histogram.
const quantities = 8

//nolint:gochecknoglobals // shared by the DoFns whose run began in another process, or that have no run
var progress Progress

// LocalProgress returns the counts of DoFns whose run began in another process, and of
// DoFns without a run.
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

// Get returns the counts by the names of the counters.
func (p *Progress) Get() map[string]int64 {
	values := make(map[string]int64, quantities)
	for i, f := range p.fields() {
		values[names()[i]] = f.Load()
	}
	return values
}

// Set raises counts to the values of counters, given by name. A count never goes back,
// because an engine that repeats a bundle counts its work from 0 again.
func (p *Progress) Set(values map[string]int64) {
	fields := p.fields()
	for i, name := range names() {
		f := fields[i]
		f.Store(max(f.Load(), values[name]))
	}
}

// Report adds the counts since the last report to Beam's counters, in the name of the
// calling DoFn. A DoFn calls it from its own goroutine, at the end of ProcessElement and
// of FinishBundle: the goroutines of a bundle must not touch Beam's counters. Bundles run
// at the same time, and the first one to call reports the counts of all.
func (p *Progress) Report(ctx context.Context) {
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
