package engine

import (
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// figures are the bytes that jobs have read, exchanged and written in this process, and the
// bytes of the largest histograms.
type figures struct{ Read, Exchanged, Written, Histogram int64 }

func (f *figures) add(p *jobs.Progress) {
	f.Read += p.Read.Load()
	f.Exchanged += p.Exchanged.Load()
	f.Written += p.Written.Load()
	f.Histogram = max(f.Histogram, p.Histogram.Load())
}
