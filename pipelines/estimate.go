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

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms"
)

// Estimate is what a run takes: as foreseen by a rehearsal on a sample of its
// rows, or as measured. Bytes of engines are those of one bundle a worker: they
// may cut more.
type Estimate struct {
	Rows           int64 `json:"rows"`
	Objects        int64 `json:"objects"`         // of all parts
	TrainObjects   int64 `json:"objects_train"`   //
	RowPasses      int64 `json:"row_passes"`      // over the input
	ObjectPasses   int64 `json:"object_passes"`   // over the training objects: those of levels, and one for the small nodes
	ColumnBytes    int64 `json:"column_bytes"`    // read from Parquet by all passes
	BlockBytes     int64 `json:"block_bytes"`     // read from object blocks by all passes
	ShuffleBytes   int64 `json:"shuffle_bytes"`   // between the halves of jobs: summaries, objects, counts
	HistogramBytes int64 `json:"histogram_bytes"` // of the largest pass of a level; 0: none
	DiskBytes      int64 `json:"disk_bytes"`      // of object blocks and spilled objects below the run folder
	DriverMemory   int64 `json:"driver_memory"`   // peak
	WorkerMemory   int64 `json:"worker_memory"`   // peak of one; on the local runners it is the driver
}

// String returns the estimate in one line.
func (e *Estimate) String() string {
	return fmt.Sprintf("expecting %s rows, %s objects; passes: %d over rows, %d over objects; to read %s, to shuffle %s, on disk %s; memory %s, of a worker %s",
		humanize.Comma(e.Rows), humanize.Comma(e.Objects), e.RowPasses, e.ObjectPasses, size(e.ColumnBytes+e.BlockBytes), size(e.ShuffleBytes), size(e.DiskBytes),
		size(e.DriverMemory), size(e.WorkerMemory))
}

func size(n int64) string { return humanize.Bytes(uint64(max(0, n))) }

// inMemory reports whether a run keeps all objects in this process, where a run
// is over before much could be foreseen of it.
func (c *TrainConfig) inMemory() bool { return c.MemoryObjects < 0 && isLocal(c.Runner) }

// dryRun says what a run would take.
func dryRun(ctx context.Context, c *TrainConfig, p *parsed, reporter Reporter) (*Result, error) {
	if c.Runner == dataflowRunner {
		if err := checkDataflow(ctx, c); err != nil {
			return nil, err
		}
	}
	process.configure(c.StorageConfig)
	defer process.parquet.Forget()
	in, err := openInput(ctx, process, c.Input)
	if err != nil {
		return nil, err
	}
	s, err := resolve(in, c, p)
	if err != nil {
		return nil, err
	}
	prices, err := readCosts(ctx, process, c.Costs, in.names())
	if err != nil {
		return nil, err
	}
	t := &training{
		config: c, costs: prices, parsed: p, input: in, schema: s, files: process,
		jobs: &jobs{runner: c.Runner, reporter: reporter}, rehearsalRows: rehearsalRows,
	}
	e, r, err := t.foresee(ctx)
	if err != nil || c.Runner != dataflowRunner {
		return &Result{Estimate: e}, err
	}
	names, err := r.of(t).translate(ctx)
	return &Result{Estimate: e, Translated: names}, err
}

// of returns a rehearsal in the place of the run that it was for: with its input,
// engine and folders.
func (t *training) of(run *training) *training {
	r := *t
	r.input, r.config, r.jobs, r.checkpoints = run.input, run.config, run.jobs, true
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
		t.jobs.reporter.Note(fmt.Sprintf("what the run takes cannot be foreseen from a sample: %v", err))
		return nil
	}
	t.estimate = e
	t.jobs.reporter.Note(e.String())
	return nil
}

// foresee rehearses the run and estimates what it takes.
func (t *training) foresee(ctx context.Context) (*Estimate, *training, error) {
	r, err := t.rehearse(ctx)
	if err != nil {
		return nil, nil, err
	}
	o := newOutlook(t, r)
	e := &Estimate{
		Rows: t.input.rows, Objects: int64(o.all()), TrainObjects: int64(o.objects[dataset.Train]),
		RowPasses: 2, ObjectPasses: int64(o.growth.Passes), ColumnBytes: t.columnBytes(&r.spec), HistogramBytes: o.growth.Histogram,
	}
	if len(o.growth.Small) > 0 {
		e.ObjectPasses++
	}
	e.BlockBytes = int64(float64(e.ObjectPasses)*o.bytes(dataset.Train) + o.bytes(dataset.Validation) + o.bytes(dataset.Test))
	e.ShuffleBytes = int64(o.summaries() + o.coalesced() + float64(o.workers)*o.growth.Pieces + o.gathered())
	if !t.config.inMemory() {
		_, memory := o.flushes()
		e.DiskBytes = int64(o.allBytes() + spilled(o.coalesced(), memory) + spilled(o.gathered(), o.gathered()/float64(o.workers)))
	}
	e.DriverMemory, e.WorkerMemory = o.memory()
	return e, r, nil
}

// columnBytes returns what the two passes over the rows read: the second one
// leaves constant columns out.
func (t *training) columnBytes(second *transforms.RowSpec) int64 {
	n := int64(0)
	for _, f := range t.input.files {
		n += f.ColumnBytes(t.schema.rows.Columns()) + f.ColumnBytes(second.Columns())
	}
	return n
}

// spilled returns what of a job's shuffle goes by way of files: all of it, unless
// the memory of a bundle is small.
func spilled(sent, memory float64) float64 {
	if memory <= transforms.InlineBytes {
		return 0
	}
	return sent
}

// outlook is a rehearsal carried forward to all rows.
type outlook struct {
	t, r    *training // the run, and its rehearsal
	workers int       // processes
	layout  dataset.Layout
	found   discovery // of the part with the most rows
	objects [dataset.Parts]float64
	levels  *induce.Levels
	growth  *induce.Forecast
}

func newOutlook(t, r *training) *outlook {
	o := &outlook{t: t, r: r, workers: t.processes(), layout: dataset.NewLayout(r.features)}
	for part := range r.rehearsed.tally {
		if d := r.rehearsed.tally[part].discovery(); d.rows > o.found.rows {
			o.found = d
		}
	}
	for part := range dataset.Part(dataset.Parts) {
		o.objects[part] = o.objectsOf(part, 1)
	}
	keep := t.config.HistogramMemory
	if t.config.LevelsPerJob > 1 {
		keep = 0 // see advance
	}
	o.levels = induce.NewLevels(r.growConfig().Setting)
	scale := induce.Scale{Objects: o.objects[dataset.Train] / float64(r.rehearsed.tally[dataset.Train].objects), Weight: 1 / r.rehearsed.share}
	budget := t.config.MemoryObjects
	o.growth = o.levels.Forecast(r.rehearsed.tree, scale, budget, t.config.HistogramMemory, keep)
	return o
}

// objectsOf returns the objects of a part among a share of all rows. The parts
// are drawn from the same rows: what the largest one has shown of them goes for
// all.
func (o *outlook) objectsOf(part dataset.Part, share float64) float64 {
	sample := &o.r.rehearsed.tally[part]
	times := share / o.r.rehearsed.share
	if times == 1 {
		return float64(sample.objects)
	}
	objects := o.found.at(float64(sample.rows) * times)
	if times > 1 {
		return max(objects, float64(sample.objects))
	}
	return min(objects, float64(sample.objects))
}

// processes returns the number of workers that do a job's first half.
func (t *training) processes() int {
	if isLocal(t.config.Runner) {
		return 1
	}
	return max(1, *jobopts.Parallelism)
}

// bytes returns those of a part's blocks.
func (o *outlook) bytes(part dataset.Part) float64 { return o.objects[part] * o.objectBytes(part) }

// objectBytes returns those of an object in a block.
func (o *outlook) objectBytes(part dataset.Part) float64 {
	objects := o.r.rehearsed.tally[part].objects
	return float64(o.r.rehearsed.bytes[part]) / float64(max(1, objects))
}

func (o *outlook) all() float64 {
	n := 0.0
	for _, objects := range o.objects {
		n += objects
	}
	return n
}

func (o *outlook) allBytes() float64 {
	n := 0.0
	for part := range dataset.Part(dataset.Parts) {
		n += o.bytes(part)
	}
	return n
}

// summaries returns the bytes of all columns' summaries, which rows beyond the
// sample hardly make longer: most distinct values are kept up to a limit.
func (o *outlook) summaries() float64 { return float64(o.workers) * float64(o.r.rehearsed.sent) }

// held returns the bytes in blocks of the objects, and their memory in coalescing
// tables after a share of the rows.
func (o *outlook) held(share float64) (encoded, memory float64) {
	for part := range dataset.Part(dataset.Parts) {
		objects := o.objectsOf(part, share)
		encoded += objects * o.objectBytes(part)
		memory += objects * o.tableBytes()
	}
	return encoded, memory
}

// tableBytes is the memory of an object in a dataset.Table: key, class and weight
// with the room that slices grow by, and its share of the slots.
func (o *outlook) tableBytes() float64 {
	n := float64(o.layout.Stride) + 10
	if o.t.schema.rows.Weight != "" {
		n += 8
	}
	return 1.15*n + 16
}

// flushes returns how often tables are sent on by all workers together, and the
// memory that they have by then.
func (o *outlook) flushes() (times, memory float64) {
	limit := float64(transforms.HeldBytes(!o.t.config.inMemory()))
	share := 1 / float64(o.workers)
	if _, memory = o.held(share); memory <= limit {
		return 1 / share, memory
	}
	low, high := 0.0, share
	for range 50 {
		share = (low + high) / 2
		if _, memory = o.held(share); memory < limit {
			low = share
		} else {
			high = share
		}
	}
	return 1 / share, memory
}

// coalesced returns the bytes of objects that go to where they are merged: an
// object once for each table that it was in.
func (o *outlook) coalesced() float64 {
	times, _ := o.flushes()
	encoded, _ := o.held(1 / times)
	return times * encoded
}

// small returns the objects of all small nodes.
func (o *outlook) small() float64 {
	n := 0.0
	for _, objects := range o.growth.Small {
		n += objects
	}
	return n
}

// packetBytes are those of a packet and its block without objects, about.
const packetBytes = 8

// gathered returns the bytes of objects that go to where small nodes are grown.
// If the root is one, the blocks stay where they are.
func (o *outlook) gathered() float64 {
	if o.growth.Passes == 0 {
		return 0
	}
	small := o.small()
	blocks := float64(shards(o.t.input.rows, o.layout.Stride))
	return small*o.objectBytes(dataset.Train) + packetBytes*min(small, blocks*float64(len(o.growth.Small)))
}

// What the heap comes to, by measurement on 1e6 and 1e7 rows of 20 columns: the
// collector lets it grow to four times of what lives, and on average it is at
// three times when most lives; what was never allocated cannot lie there.
const (
	processBytes   = 70 << 20 // without any data
	heapTimes      = 3
	valueGarbage   = 4       // bytes of garbage a value that is read
	rowBytes       = 40      // of a row that is coded, beside its key
	summaryTimes   = 3       // memory of a summary by its encoded bytes
	countTimes     = 3       // counts of a pass: while they are made, added up and inferred
	grownBytes     = 48      // of an object that is grown, beside its codes
	workspaceTimes = 16      // histograms that are kept while a node is grown
	prismTimes     = 8       // copies that prism makes of what is shuffled
	keptBytes      = 1 << 28 // of histograms that are kept while nodes are grown
)

// memory returns the peak of the driver and of a worker.
func (o *outlook) memory() (driver, worker int64) {
	levels := countTimes*float64(o.growth.Histogram) + 2*o.kept() // those of the parents, too
	garbage := o.garbage()
	peak := func(live float64) int64 {
		return processBytes + int64(min(heapTimes*live, live+garbage))
	}
	living := max(o.summarising(), o.coalescing(), o.growing())
	if isLocal(o.t.config.Runner) {
		driver = peak(max(living, levels))
		if !o.t.config.inMemory() { // the process has rehearsed, too
			driver = max(driver, o.r.rehearsed.memory)
		}
		return driver, driver
	}
	return max(peak(levels), o.r.rehearsed.memory), peak(max(living, 2*float64(o.growth.Histogram)))
}

// garbage returns what a process leaves to the collector.
func (o *outlook) garbage() float64 {
	columns := float64(len(o.t.schema.rows.Columns()))
	counts := countTimes * float64(o.growth.Histogram) * float64(o.growth.Passes)
	return counts + (2*valueGarbage*columns*float64(o.t.input.rows)+2*o.all()*o.tableBytes())/float64(o.workers)
}

// kept returns the bytes of the histograms that are kept for the next level.
func (o *outlook) kept() float64 {
	if o.t.config.LevelsPerJob > 1 {
		return 0
	}
	return float64(min(o.t.config.HistogramMemory, o.growth.Histogram))
}

// decoding returns the memory of row groups that are coded at the same time.
func (o *outlook) decoding() float64 {
	largest := int64(0)
	for _, rows := range o.t.input.taskRows() {
		largest = max(largest, rows)
	}
	return float64(o.t.jobs.workers()) * float64(largest) * (rowBytes + float64(o.layout.Stride))
}

func (o *outlook) summarising() float64 {
	return o.decoding() + summaryTimes*float64(o.t.jobs.workers())*float64(o.r.rehearsed.sent)
}

func (o *outlook) coalescing() float64 {
	times, memory := o.flushes()
	encoded, _ := o.held(1 / times)
	if o.t.config.inMemory() {
		encoded *= times // all blocks stay
	}
	if o.t.config.Runner == "prism" && o.t.config.inMemory() {
		encoded *= prismTimes
	}
	return o.decoding() + memory + encoded
}

// growing returns the memory of the objects of small nodes: those on their way,
// and those of the partitions that are grown at the same time.
func (o *outlook) growing() float64 {
	small, largest := o.small(), 0.0
	for _, objects := range o.growth.Small {
		largest = max(largest, objects)
	}
	partition := min(small, max(largest, partitionObjects, float64(o.t.config.MemoryObjects)))
	grown := min(small, float64(o.t.jobs.workers())*partition)
	live := grown*(grownBytes+float64(o.layout.Stride)) + min(keptBytes, float64(workspaceTimes*o.levels.Bytes()))
	if o.t.config.inMemory() {
		return live + o.allBytes()
	}
	return live + min(o.gathered()/float64(o.workers), float64(transforms.HeldBytes(true)))
}

// measured returns what the run has taken; nil on engines, of which this process
// does not see the counts.
func (t *training) measured() *Estimate {
	if !isLocal(t.config.Runner) {
		return nil
	}
	f := &t.jobs.figures
	e := &Estimate{
		Rows: t.rowStats.Rows, TrainObjects: t.objects[dataset.Train].Objects, ObjectPasses: t.objectPasses,
		BlockBytes: f.read, ShuffleBytes: f.exchanged, HistogramBytes: f.histogram,
	}
	for _, job := range t.jobs.timings {
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
		e.DiskBytes = f.written
	}
	e.DriverMemory = peakMemory()
	e.WorkerMemory = e.DriverMemory
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
