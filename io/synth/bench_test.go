package synth_test

import (
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/io/synth"
)

// BenchmarkGroup makes the rows of a group of twenty columns.
func BenchmarkGroup(b *testing.B) {
	const rows = 1 << 16
	for _, c := range []struct{ nulls, duplicates float64 }{{0, 0}, {0.05, 0}, {0, 0.5}, {0.05, 0.5}} {
		b.Run(fmt.Sprintf("nulls=%v/duplicates=%v", c.nulls, c.duplicates), func(b *testing.B) {
			config := synth.Default()
			config.Nulls, config.Duplicates = c.nulls, c.duplicates
			p, err := synth.New(config)
			if err != nil {
				b.Fatal(err)
			}
			g, first := p.NewGroup(), int64(0)
			for b.Loop() {
				g.Reset(first, rows)
				first += rows
				for i := range p.Columns {
					if p.Columns[i].Dictionary == nil {
						g.Numbers(i)
					} else {
						g.Levels(i)
					}
				}
				g.Labels()
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
