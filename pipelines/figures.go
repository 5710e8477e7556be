package pipelines

import (
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// figures are the counts of what jobs have done in this process.
type figures struct{ read, exchanged, written, histogram int64 }

func (f *figures) add(p *jobs.Progress) {
	f.read += p.Read.Load()
	f.exchanged += p.Exchanged.Load()
	f.written += p.Written.Load()
	f.histogram = max(f.histogram, p.Histogram.Load())
}
