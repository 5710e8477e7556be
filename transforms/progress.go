package transforms

import "sync/atomic"

// Progress counts what the DoFns of this process have done since Reset. It is
// for showing progress only: the local runners give their counters when a job
// has ended.
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
}

var progress Progress //nolint:gochecknoglobals // one per process, as the runners of a process run one job at a time

// LocalProgress returns the progress of this process's DoFns.
func LocalProgress() *Progress { return &progress }

// Reset sets all counts to zero.
func (p *Progress) Reset() {
	p.Tasks.Store(0)
	p.Rows.Store(0)
	p.Objects.Store(0)
	p.Nodes.Store(0)
	p.Weight.Store(0)
	p.Read.Store(0)
	p.Exchanged.Store(0)
	p.Written.Store(0)
	p.Histogram.Store(0)
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
