package pipelines

import (
	"runtime"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/pipelines/tables"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// spilled returns what of a job's shuffle goes by way of files: all of it, unless
// the memory of a bundle is small.
func spilled(sent, memory float64) float64 {
	if memory <= jobs.InlineBytes {
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
	grower  *levels.Grower
	growth  levels.Forecast // of all trees
	gathers int             // jobs that gather the objects of small nodes
}

func newOutlook(t, r *training) *outlook {
	o := &outlook{t: t, r: r, workers: t.driver.Processes(), layout: dataset.NewLayout(r.features)}
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
	o.grower = levels.NewGrower(r.growConfig().Setting)
	scale := levels.Scale{Objects: o.objects[dataset.Train] / float64(r.rehearsed.tally[dataset.Train].objects), Weight: 1 / r.rehearsed.share}
	budget := t.config.MemoryObjects
	for i, root := range r.rehearsed.trees {
		setting := o.grower.Setting
		setting.Params = r.grid[i].params
		o.add(levels.NewGrower(setting).Forecast(root, scale, budget, t.config.HistogramMemory, keep))
	}
	return o
}

// add takes in another tree. Those that are small from the root on share a job.
func (o *outlook) add(f *levels.Forecast) {
	o.growth.Histogram = max(o.growth.Histogram, f.Histogram)
	o.growth.Passes += f.Passes
	o.growth.Pieces += f.Pieces
	if len(f.Small) > 0 && (f.Passes > 0 || o.gathers == 0) {
		o.gathers++
		o.growth.Small = append(o.growth.Small, f.Small...)
	}
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

// bytes returns those of a part's blocks.
func (o *outlook) bytes(part dataset.Part) float64 {
	return float64(o.objects[part] * o.objectBytes(part))
}

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
func (o *outlook) summaries() float64 {
	return float64(float64(o.workers) * float64(o.r.rehearsed.sent))
}

// held returns the bytes in blocks of the objects, and their memory in coalescing
// tables after a share of the rows.
func (o *outlook) held(share float64) (encoded, memory float64) {
	for part := range dataset.Part(dataset.Parts) {
		objects := o.objectsOf(part, share)
		encoded += float64(objects * o.objectBytes(part))
		memory += float64(objects * o.tableBytes())
	}
	return encoded, memory
}

// tableBytes is the memory of an object in a dataset.Table: key, class and weight
// with the room that slices grow by, and its share of the slots.
func (o *outlook) tableBytes() float64 {
	n := float64(o.layout.Stride) + 10
	if o.t.schema.rows.Weight != "" || tables.WeighsClasses(o.t.config.ClassWeights) {
		n += 8
	}
	return float64(1.15*n) + 16
}

// flushes returns how often tables are sent on by all workers together, and the
// memory that they have by then.
func (o *outlook) flushes() (times, memory float64) {
	limit := float64(jobs.HeldBytes(!o.t.config.inMemory()))
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
	return float64(times * encoded)
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
	blocks := float64(shards(o.t.input.Rows, o.layout.Stride))
	return float64(small*o.objectBytes(dataset.Train)) + float64(packetBytes*min(small, blocks*float64(len(o.growth.Small))))
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
	keptBytes      = 1 << 28 // of histograms that are kept while nodes are grown
)

// memory returns the peak of the driver and of a worker.
func (o *outlook) memory() (driver, worker int64) {
	counting := float64(countTimes*float64(o.growth.Histogram)) + float64(2*o.kept()) // those of the parents, too
	garbage := o.garbage()
	peak := func(live float64) int64 {
		return processBytes + int64(min(float64(heapTimes*live), live+garbage))
	}
	living := max(o.summarising(), o.coalescing(), o.growing())
	if o.t.driver.Local() {
		driver = peak(max(living, counting))
		if o.t.config.inMemory() {
			driver = max(driver, o.rehearsedPeak())
		}
		if !o.t.config.inMemory() { // the process has rehearsed, too
			driver = max(driver, o.r.rehearsed.memory)
		}
		return driver, driver
	}
	return max(peak(counting), o.r.rehearsed.memory), peak(max(living, 2*float64(o.growth.Histogram)))
}

// rehearsedPeak carries the memory that the rehearsal has taken forward: its objects
// and open nodes become more. Folds are grown beside all objects, as many at a time
// as there are processors.
func (o *outlook) rehearsedPeak() int64 {
	grown := float64(max(0, o.r.rehearsed.memory-processBytes)) * max(1, o.scale())
	if folds := o.folds(); folds > 0 {
		together := min(folds, runtime.GOMAXPROCS(0))
		grown *= 1 + float64(together*(folds-1))/float64(folds)
	}
	return processBytes + int64(grown)
}

// garbage returns what a process leaves to the collector.
func (o *outlook) garbage() float64 {
	columns := float64(len(o.t.schema.rows.Columns()))
	counts := float64(countTimes * float64(o.growth.Histogram) * float64(o.growth.Passes))
	read, held := float64(2*valueGarbage*columns*float64(o.t.input.Rows)), float64(2*o.all()*o.tableBytes())
	return counts + (read+held)/float64(o.workers)
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
	for _, rows := range o.t.input.TaskRows() {
		largest = max(largest, rows)
	}
	return float64(float64(o.t.driver.Workers()) * float64(largest) * (rowBytes + float64(o.layout.Stride)))
}

func (o *outlook) summarising() float64 {
	return o.decoding() + float64(summaryTimes*float64(o.t.driver.Workers())*float64(o.r.rehearsed.sent))
}

func (o *outlook) coalescing() float64 {
	times, memory := o.flushes()
	encoded, _ := o.held(1 / times)
	if o.t.config.inMemory() {
		encoded = float64(encoded * times) // all blocks stay
		encoded = float64(encoded * float64(o.t.driver.ShuffleCopies()))
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
	grown := min(small, float64(o.t.driver.Workers())*partition)
	live := float64(grown*(grownBytes+float64(o.layout.Stride))) + min(keptBytes, float64(workspaceTimes*o.grower.Bytes()))
	if o.t.config.inMemory() {
		return live + o.allBytes()
	}
	return live + min(o.gathered()/float64(o.workers), float64(jobs.HeldBytes(true)))
}
