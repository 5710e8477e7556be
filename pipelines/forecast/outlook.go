package forecast

import (
	"cmp"
	"runtime"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// spilled returns how many bytes of a job's shuffle go through files: all bytes, or none if a
// bundle takes little memory.
func spilled(sent, memory float64) float64 {
	if memory <= jobs.InlineBytes {
		return 0
	}
	return sent
}

// Run is the predicted run.
type Run struct {
	Rows         int64
	LargestPiece int64 // greatest number of rows that a worker reads at a time
	Columns      int   // number of columns that are read
	Weighted     bool  // whether rows or classes have weights
	Soft         bool  // whether training objects are soft, see dataset.Objects

	Local    bool // whether the jobs run in this process
	HandsOn  bool // whether they hand over counts as Go values instead of sending them
	InMemory bool // whether all objects stay in this process
	Copies   int  // copies of shuffled objects that the runner keeps in this process
	Workers  Workers

	Memory    Memory
	Levels    int  // number of levels grown by a job
	Certified bool // whether the tree gets a certificate
}

// Workers are the processes and goroutines that work on a job.
type Workers struct {
	Processes int // processes that do the first half of a job
	Each      int // goroutines of a process
}

// Memory is the memory that a run may use.
type Memory struct {
	Process   int64 // bytes of a process
	Histogram int64 // bytes of the histograms of a job
	Tables    int64 // bytes of coalescing tables at which a process sends them on; 0: jobs.HeldBytes
	Objects   int64 // greatest number of objects of a node that is grown in a single worker; -1: unlimited
}

// Sample holds the results of a rehearsal on a sample of the rows.
type Sample struct {
	Share   float64 // share of all rows
	Setting levels.Setting
	Layout  dataset.Layout
	Trees   []*induce.Node // trees of the grid

	Tally   [dataset.Parts]Tally
	Bytes   [dataset.Parts]int64 // bytes of object blocks
	Sent    int64                // bytes of the summaries
	Memory  int64                // peak of the process so far
	Half    float64              // seconds for growing from half of the training objects; 0 if not measured
	Timings []runfolder.Timing   // timings of the jobs and phases
}

// Outlook is a sample carried forward to all rows.
type Outlook struct {
	run     *Run
	sample  *Sample
	found   discovery // discovery of the part with the most rows
	objects [dataset.Parts]float64
	grower  *levels.Grower
	growth  *levels.Forecast
	budget  int64 // greatest number of objects of a node that is grown in memory; -1: unlimited
	gathers int   // number of jobs that gather the objects of small nodes
	folds   int   // folds of the cross-validation
}

// New carries a sample forward to all rows of a run.
func New(r *Run, s *Sample) *Outlook {
	o := &Outlook{run: r, sample: s}
	for part := range s.Tally {
		if d := s.Tally[part].discovery(); d.rows > o.found.rows {
			o.found = d
		}
	}
	for part := range dataset.Part(dataset.Parts) {
		o.objects[part] = o.objectsOf(part, 1)
	}
	keep := r.Memory.Histogram
	if r.Levels > 1 { // workers that grow several levels keep no histograms for the next job
		keep = 0
	}
	o.grower = levels.NewGrower(s.Setting)
	scale := levels.Scale{
		Objects: o.objects[dataset.Train] / float64(s.Tally[dataset.Train].objects), Weight: 1 / s.Share,
	}
	o.budget = o.memoryObjects()
	o.growth = o.grower.Forecast(s.Trees, scale, o.budget, r.Memory.Histogram, keep)
	if len(o.growth.Small) > 0 {
		o.gathers = 1
	}
	return o
}

// TrainObjects returns how many training objects the rows make.
func (o *Outlook) TrainObjects() float64 { return o.objects[dataset.Train] }

// Estimate returns the predicted resources of the run with this many folds of cross-validation,
// except the bytes of columns that it reads.
func (o *Outlook) Estimate(folds int) *runfolder.Estimate {
	o.folds = folds
	e := &runfolder.Estimate{
		Rows: o.run.Rows, Objects: int64(o.all()), TrainObjects: int64(o.objects[dataset.Train]),
		RowPasses: 2, ObjectPasses: int64(o.growth.Passes), HistogramBytes: o.growth.Histogram,
	}
	e.ObjectPasses += int64(o.gathers)
	train := float64(float64(e.ObjectPasses) * o.bytes(dataset.Train))
	e.BlockBytes = int64(train + o.bytes(dataset.Validation) + o.bytes(dataset.Test))
	pieces := float64(o.processes() * o.growth.Pieces)
	if o.run.HandsOn && o.run.Levels <= 1 {
		pieces = 0
	}
	e.ShuffleBytes = int64(o.summaries() + o.coalesced() + pieces + o.gathered())
	if !o.run.InMemory {
		_, memory := o.flushes()
		gathered := spilled(o.gathered(), o.gathered()/o.processes())
		e.DiskBytes = int64(o.allBytes() + spilled(o.coalesced(), memory) + gathered)
	}
	e.DriverMemory, e.WorkerMemory = o.memory()
	e.Seconds = o.durations()
	return e
}

func (o *Outlook) processes() float64 { return float64(o.run.Workers.Processes) }

// objectsOf returns how many objects of a part a share of all rows makes. All parts are samples of
// the same rows, so the discovery of the largest part is used for all.
func (o *Outlook) objectsOf(part dataset.Part, share float64) float64 {
	sample := &o.sample.Tally[part]
	times := share / o.sample.Share
	if times == 1 {
		return float64(sample.objects)
	}
	objects := o.found.at(float64(sample.rows) * times)
	if times > 1 {
		return max(objects, float64(sample.objects))
	}
	return min(objects, float64(sample.objects))
}

// bytes returns the bytes of a part's blocks.
func (o *Outlook) bytes(part dataset.Part) float64 {
	return float64(o.objects[part] * o.objectBytes(part))
}

// objectBytes returns the average bytes of an object in a block.
func (o *Outlook) objectBytes(part dataset.Part) float64 {
	objects := o.sample.Tally[part].objects
	return float64(o.sample.Bytes[part]) / float64(max(1, objects))
}

func (o *Outlook) all() float64 {
	n := 0.0
	for _, objects := range o.objects {
		n += objects
	}
	return n
}

func (o *Outlook) allBytes() float64 {
	n := 0.0
	for part := range dataset.Part(dataset.Parts) {
		n += o.bytes(part)
	}
	return n
}

// summaries returns the bytes of the summaries of all columns. Rows beyond the sample hardly make
// them longer, because distinct values are only kept up to a limit.
func (o *Outlook) summaries() float64 {
	return float64(o.processes() * float64(o.sample.Sent))
}

// held returns the bytes of the objects in blocks, and their memory in coalescing tables, after a
// share of the rows.
func (o *Outlook) held(share float64) (encoded, memory float64) {
	for part := range dataset.Part(dataset.Parts) {
		objects := o.objectsOf(part, share)
		encoded += float64(objects * o.objectBytes(part))
		memory += float64(objects * o.tableBytes())
	}
	return encoded, memory
}

// tableBytes is the memory of an object in a dataset.Table: key, class and weight, with the spare
// room of growing slices, and its share of the slots.
func (o *Outlook) tableBytes() float64 {
	n := float64(o.sample.Layout.Stride) + 10
	if o.run.Weighted {
		n += 8
	}
	if o.run.Soft {
		n += float64(8 * (1 + o.sample.Setting.Classes))
	}
	return float64(1.15*n) + 16
}

// flushes returns how often tables are sent on, by all workers together, and how much memory
// they then take.
func (o *Outlook) flushes() (times, memory float64) {
	limit := float64(cmp.Or(o.run.Memory.Tables, jobs.HeldBytes(!o.run.InMemory)))
	share := 1 / o.processes()
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

// coalesced returns the bytes of objects sent to where they are merged: an object counts once for
// each table that contained it.
func (o *Outlook) coalesced() float64 {
	times, _ := o.flushes()
	encoded, _ := o.held(1 / times)
	return float64(times * encoded)
}

// small returns the objects of all small nodes.
func (o *Outlook) small() float64 {
	n := 0.0
	for _, objects := range o.growth.Small {
		n += objects
	}
	return n
}

// packetBytes is the approximate size of a packet and its block without objects.
const packetBytes = 8

// gathered returns the bytes of objects sent to where small nodes are grown. If the root is a small
// node, the blocks are not sent.
func (o *Outlook) gathered() float64 {
	if o.growth.Passes == 0 {
		return 0
	}
	small := o.small()
	blocks := float64(jobs.Shards(o.run.Rows, o.sample.Layout.Stride))
	packets := min(small, blocks*float64(len(o.growth.Small)))
	return float64(small*o.objectBytes(dataset.Train)) + float64(packetBytes*packets)
}

const (
	processBytes = 70 << 20 // without any data
	valueGarbage = 4        // bytes of garbage per value read
	rowBytes     = 40       // bytes of a coded row in addition to its key
	summaryTimes = 3        // ratio of the memory of a summary to its encoded bytes
	countTimes   = 3        // copies of the counts of a pass in memory: being made, added up and inferred
	leastSlack   = 128 << 20
)

// peak returns the memory of a process in which at most live bytes are alive. The collector lets
// the heap grow by three times the live bytes, but beyond 128 MiB by at most half of them, and
// never by more than was allocated. --memory bounds everything.
func (o *Outlook) peak(live float64) int64 {
	slack := min(float64(3*live), max(leastSlack, live/2), o.garbage())
	return min(processBytes+int64(live+slack), max(processBytes, o.run.Memory.Process))
}

// memory returns the peaks of the driver and of a worker.
func (o *Outlook) memory() (driver, worker int64) {
	counting := float64(countTimes*float64(o.growth.Histogram)) + float64(2*o.kept()) // including the histograms of the parents
	living := max(o.summarising(), o.coalescing(), o.growing(), o.folding())
	if o.run.Local {
		driver = max(o.peak(max(living, counting)), o.sample.Memory) // the peak of the rehearsal
		return driver, driver
	}
	return max(o.peak(max(counting, o.folding())), o.sample.Memory), o.peak(max(living, 2*float64(o.growth.Histogram)))
}

// room returns the memory of a process and the form of the objects.
func (o *Outlook) room() *memlimit.Room {
	r := &memlimit.Room{
		Memory: o.run.Memory.Process, Stride: o.sample.Layout.Stride, Columns: o.sample.Setting.Columns,
		Classes: o.sample.Setting.Classes, Soft: o.run.Soft, Trees: len(o.sample.Trees), Workers: o.run.Workers.Each,
	}
	if o.run.InMemory {
		r.Memory -= int64(o.allBytes())
	}
	return r
}

// memoryObjects returns the greatest number of objects of a node that is grown in memory; -1:
// unlimited.
func (o *Outlook) memoryObjects() int64 {
	if o.run.Memory.Objects >= 0 || o.run.Memory.Process == 0 {
		return o.run.Memory.Objects
	}
	return o.room().Objects(int64(o.objects[dataset.Train]))
}

// folding returns the memory of the objects while the trees of the folds grow. As many folds grow
// at a time as there are processors.
func (o *Outlook) folding() float64 {
	if o.folds == 0 {
		return 0
	}
	one := o.room()
	one.Workers = 1
	together := min(o.folds, runtime.GOMAXPROCS(0))
	return o.bytes(dataset.Train) + float64(float64(together)*float64(one.OfObjects(int64(o.objects[dataset.Train]))))
}

// garbage returns how many bytes a process leaves to the collector.
func (o *Outlook) garbage() float64 {
	columns := float64(o.run.Columns)
	counts := float64(countTimes * float64(o.growth.Histogram) * float64(o.growth.Passes))
	read, held := float64(2*valueGarbage*columns*float64(o.run.Rows)), float64(2*o.all()*o.tableBytes())
	return counts + (read+held)/o.processes()
}

// kept returns the bytes of the histograms that are kept for the next level.
func (o *Outlook) kept() float64 {
	if o.run.Levels > 1 {
		return 0
	}
	return float64(min(o.run.Memory.Histogram, o.growth.Histogram))
}

// decoding returns the memory of row groups that are coded at the same time.
func (o *Outlook) decoding() float64 {
	return float64(float64(o.run.Workers.Each) * float64(o.run.LargestPiece) * (rowBytes + float64(o.sample.Layout.Stride)))
}

func (o *Outlook) summarising() float64 {
	return o.decoding() + float64(summaryTimes*float64(o.run.Workers.Each)*float64(o.sample.Sent))
}

func (o *Outlook) coalescing() float64 {
	times, memory := o.flushes()
	encoded, _ := o.held(1 / times)
	if o.run.InMemory {
		encoded = float64(encoded * times) // all blocks stay
		encoded = float64(encoded * float64(o.run.Copies))
	}
	return o.decoding() + memory + encoded
}

// growing returns the memory of the objects of small nodes: objects being sent to a worker, and the
// partitions that grow at the same time.
func (o *Outlook) growing() float64 {
	room, small, largest := o.room(), o.small(), 0.0
	if o.growth.Passes == 0 {
		live := float64(room.OfObjects(int64(small)))
		if o.run.InMemory {
			live += o.allBytes()
		}
		return live
	}
	for _, objects := range o.growth.Small {
		largest = max(largest, objects)
	}
	partition := min(small, max(largest, jobs.PartitionObjects, float64(o.budget)))
	each := float64(max(1, room.Workers))
	room.Workers = 1
	live := float64(float64(room.OfObjects(int64(partition))) * min(each, small/max(1, partition)))
	return live + min(o.gathered()/o.processes(), float64(jobs.HeldBytes(true)))
}
