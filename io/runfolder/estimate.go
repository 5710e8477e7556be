package runfolder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// Estimate describes how much work, memory and time a run takes: a forecast from a sample of the
// rows, or the measured values. Shuffled bytes on an engine are counted for one bundle per worker;
// an engine may cut more bundles.
type Estimate struct {
	Rows           int64 `json:"rows"`
	Objects        int64 `json:"objects"`         // in all parts
	TrainObjects   int64 `json:"objects_train"`   // in the training part
	RowPasses      int64 `json:"row_passes"`      // passes over the input
	ObjectPasses   int64 `json:"object_passes"`   // passes over the training objects
	ColumnBytes    int64 `json:"column_bytes"`    // read from Parquet by all passes over rows
	BlockBytes     int64 `json:"block_bytes"`     // read from object blocks by all passes over objects
	ShuffleBytes   int64 `json:"shuffle_bytes"`   // between the halves of jobs: summaries, objects, counts
	HistogramBytes int64 `json:"histogram_bytes"` // counts of the largest pass over objects by levels; 0 without such a pass
	DiskBytes      int64 `json:"disk_bytes"`      // object blocks and spilled objects below the run folder
	DriverMemory   int64 `json:"driver_memory"`   // peak
	WorkerMemory   int64 `json:"worker_memory"`   // peak of a worker; on local runners the driver's

	Seconds Durations `json:"seconds"`
}

// String returns the estimate in one line.
func (e *Estimate) String() string {
	took := ""
	if e.Seconds.Total() > 0 {
		took = "; time " + e.Seconds.String()
	}
	return fmt.Sprintf("expecting %s rows, %s objects; passes: %d over rows, %d over objects; "+
		"to read %s, to shuffle %s, on disk %s; memory %s, of a worker %s%s",
		humanize.Comma(e.Rows), humanize.Comma(e.Objects), e.RowPasses, e.ObjectPasses,
		size(e.ColumnBytes+e.BlockBytes), size(e.ShuffleBytes), size(e.DiskBytes),
		size(e.DriverMemory), size(e.WorkerMemory), took)
}

func size(n int64) string { return humanize.Bytes(uint64(max(0, n))) }

// Durations are the seconds of a run by its stages. In a forecast, 0 means that this process cannot
// predict the speed of a stage, such as work on an engine.
type Durations struct {
	Rows        float64 `json:"rows"`        // to read footers and rows, twice, and to make bins and objects of them
	Growth      float64 `json:"growth"`      // to grow the trees of the grid
	Choice      float64 `json:"choice"`      // to score, prune and compare the trees, and to write the chosen tree
	Folds       float64 `json:"folds"`       // to grow and prune the trees of the folds
	Certificate float64 `json:"certificate"` // to bound the cost of other trees
}

// Total returns all seconds.
func (d *Durations) Total() float64 { return d.Rows + d.Growth + d.Choice + d.Folds + d.Certificate }

// String returns the total and the largest parts.
func (d *Durations) String() string {
	parts := []Timing{
		{"rows", d.Rows}, {"growth", d.Growth}, {"choice", d.Choice}, {"folds", d.Folds}, {"certificate", d.Certificate},
	}
	slices.SortStableFunc(parts, func(a, b Timing) int { return int(2 * (b.Seconds - a.Seconds)) })
	var texts []string
	for _, p := range parts {
		if p.Seconds > 0 {
			texts = append(texts, p.Job+" "+Seconds(p.Seconds))
		}
	}
	return fmt.Sprintf("%s s (%s)", Seconds(d.Total()), strings.Join(texts, ", "))
}

// Seconds formats seconds with two digits, or without decimals if x is at least 10.
func Seconds(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
