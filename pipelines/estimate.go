package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// inMemory reports whether a run keeps all objects in this process, where a run
// is over before much could be foreseen of it.
func (c *TrainConfig) inMemory() bool { return c.MemoryObjects < 0 && engine.IsLocal(c.Runner) }

// dryRun says what a run would take.
func dryRun(ctx context.Context, c *TrainConfig, p *parsed, reporter engine.Reporter) (*Result, error) {
	e, err := engine.Named(c.Runner)
	if err != nil {
		return nil, err
	}
	j := &engine.Driver{Engine: e, Reporter: reporter, Config: c.EngineConfig}
	if err := j.CheckTranslation(ctx, append([]string{c.Output}, c.Input...)...); err != nil {
		return nil, err
	}
	f := source.Begin(c.StorageConfig)
	defer f.End()
	ctx = f.Run.Context(ctx)
	j.Files = f
	in, err := readInput(ctx, j, c.Input)
	if err != nil {
		return nil, err
	}
	t, err := newTraining(ctx, j, c, p, in)
	if err != nil {
		return nil, err
	}
	t.restrict()
	estimate, r, err := t.foresee(ctx)
	if err != nil || !j.Translates() {
		return &Result{Estimate: estimate}, err
	}
	names, err := r.of(t).translate(ctx)
	return &Result{Estimate: estimate, Translated: names}, err
}

// of returns a rehearsal in the place of the run that it was for: with its input,
// engine and folders.
func (t *training) of(run *training) *training {
	r := *t
	r.input, r.config, r.driver, r.checkpoints = run.input, run.config, run.driver, true
	r.scratch, r.blocks = r.checkpointURL(scratchFolder, "dry-run"), r.checkpointURL("dry-run")
	return &r
}

// foretell makes the estimate of a run that is about to begin and says so. A
// sample from which nothing can be foreseen does not keep the run from trying:
// what is wrong with the data, the run says.
func (t *training) foretell(ctx context.Context) error {
	if t.config.inMemory() {
		return nil
	}
	e, _, err := t.foresee(ctx)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		t.driver.Reporter.Note(fmt.Sprintf("what the run takes cannot be foreseen from a sample: %v", err))
		return nil
	}
	t.estimate = e
	t.driver.Reporter.Note(e.String())
	return nil
}

// foresee rehearses the run and estimates what it takes.
func (t *training) foresee(ctx context.Context) (*runfolder.Estimate, *training, error) {
	r := t.sample(t.rehearsalRows)
	defer t.files.Store.RemoveAll(context.WithoutCancel(ctx), r.scratch) //nolint:errcheck // scratch in memory
	if err := r.rehearse(ctx); err != nil {
		return nil, nil, err
	}
	o := newOutlook(t, r)
	if err := r.rehearseChoice(ctx); err != nil {
		return nil, nil, err
	}
	e := &runfolder.Estimate{
		Rows: t.input.Rows, Objects: int64(o.all()), TrainObjects: int64(o.objects[dataset.Train]),
		RowPasses: 2, ObjectPasses: int64(o.growth.Passes), ColumnBytes: t.columnBytes(&r.spec), HistogramBytes: o.growth.Histogram,
	}
	e.ObjectPasses += int64(o.gathers)
	e.BlockBytes = int64(float64(float64(e.ObjectPasses)*o.bytes(dataset.Train)) + o.bytes(dataset.Validation) + o.bytes(dataset.Test))
	e.ShuffleBytes = int64(o.summaries() + o.coalesced() + float64(float64(o.workers)*o.growth.Pieces) + o.gathered())
	if !t.config.inMemory() {
		_, memory := o.flushes()
		e.DiskBytes = int64(o.allBytes() + spilled(o.coalesced(), memory) + spilled(o.gathered(), o.gathered()/float64(o.workers))/float64(max(1, o.gathers)))
	}
	e.DriverMemory, e.WorkerMemory = o.memory()
	e.Seconds = o.durations()
	return e, r, nil
}

// columnBytes returns what the two passes over the rows read: the second one
// leaves constant columns out.
func (t *training) columnBytes(second *jobs.RowSpec) int64 {
	n := int64(0)
	for _, f := range t.input.Files {
		n += f.ColumnBytes(t.schema.rows.Columns()) + f.ColumnBytes(second.Columns())
	}
	return n
}

// measured returns what the run has taken; nil on engines, of which this process
// does not see the counts.
func (t *training) measured() *runfolder.Estimate {
	if !t.driver.Local() {
		return nil
	}
	f := &t.driver.Figures
	e := &runfolder.Estimate{
		Rows: t.rowStats.Rows, TrainObjects: t.objects[dataset.Train].Objects, ObjectPasses: t.objectPasses,
		BlockBytes: f.Read, ShuffleBytes: f.Exchanged, HistogramBytes: f.Histogram,
	}
	for _, job := range t.driver.Timings {
		if job.Job == "summarise" || job.Job == "coalesce" {
			e.RowPasses++
		}
	}
	if e.RowPasses > 0 { // else the run was resumed
		e.ColumnBytes = t.columnBytes(&t.spec)
	}
	for part := range t.objects {
		e.Objects += t.objects[part].Objects
	}
	if t.checkpoints {
		e.DiskBytes = f.Written
	}
	e.DriverMemory = peakMemory()
	e.WorkerMemory = e.DriverMemory
	e.Seconds = durationsOf(t.driver.Timings)
	return e
}

// peakMemory returns the most memory that this process has had, as Linux tells
// it; elsewhere what the Go runtime has taken of the system.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		if kilobytes, err := peakOf(status); err == nil {
			return kilobytes << 10
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(min(m.Sys, math.MaxInt64))
}

var errNoPeak = errors.New("no VmHWM")

// peakOf returns the peak of resident memory in kilobytes of a status file.
func peakOf(status []byte) (int64, error) {
	for line := range bytes.Lines(status) {
		if text, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			return strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(text), []byte(" kB"))), 10, 64)
		}
	}
	return 0, errNoPeak
}
