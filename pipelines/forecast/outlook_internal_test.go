package forecast

import (
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// aSample is a tenth of 1000 rows: 50 training objects of 2 rows each, so that more rows
// make no new object, with 12 bytes each in a block, on one feature of 5 codes.
func aSample() *Sample {
	s := &Sample{
		Share: 0.1, Layout: dataset.Layout{Offsets: []int{0}, Widths: []int{1}, Stride: 1}, Sent: 40, Memory: 80 << 20,
		Setting: levels.Setting{
			Trees:   []induce.Params{{Algorithm: split.EC45, Family: split.Both, Lambda: 1}},
			Columns: []split.Column{{Codes: 5, Numeric: true, Cost: 1}}, Classes: 2, Total: 100, Heaviest: 2,
		},
		Trees: []*induce.Node{{
			Objects: 50, Rows: 100, Weight: 100, Class: []int64{70, 30}, Raw: []int64{70, 30}, Test: new(split.Candidate),
			Children: []*induce.Node{
				{Objects: 30, Rows: 60, Weight: 60, Class: []int64{60, 0}, Raw: []int64{60, 0}},
				{Objects: 20, Rows: 40, Weight: 40, Class: []int64{10, 30}, Raw: []int64{10, 30}},
			},
		}},
		Timings: []runfolder.Timing{
			{Job: Footers, Seconds: 1},
			{Job: "summarise", Seconds: 2},
			{Job: "coalesce", Seconds: 3},
			{Job: "induce", Seconds: 4},
			{Job: "trees", Seconds: 1},
			{Job: Write, Seconds: 1},
		},
	}
	for range 50 {
		s.Tally[dataset.Train].Add(2)
	}
	s.Bytes[dataset.Train] = 600
	return s
}

// aRun reads 1000 rows of 3 columns in row groups of at most 500, in this process.
func aRun() *Run {
	return &Run{
		Rows: 1000, LargestPiece: 500, Columns: 3, Local: true, InMemory: true, Copies: 2,
		Workers: Workers{Processes: 1, Each: 2}, Memory: Memory{Process: 1 << 40, Histogram: 1 << 20, Objects: -1}, Levels: 1,
	}
}

// processors sets how many processors there are until the test ends.
func processors(t *testing.T, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestEstimateInMemory: by hand. The one job of all trees reads 600 bytes of blocks. 40
// bytes of summaries and 600 of objects are shuffled. Of the 80 MiB that the rehearsal has
// come to, 10 are data, as many as the run will have.
func TestEstimateInMemory(t *testing.T) {
	o := New(aRun(), aSample())
	if got := o.TrainObjects(); got != 50 {
		t.Errorf("%v training objects, want 50", got)
	}
	want := &runfolder.Estimate{
		Rows: 1000, Objects: 50, TrainObjects: 50, RowPasses: 2, ObjectPasses: 1, BlockBytes: 600, ShuffleBytes: 640,
		DriverMemory: 80 << 20, WorkerMemory: 80 << 20,
		Seconds: runfolder.Durations{Rows: 60, Growth: 4, Choice: 2}, // rows: 6 s a tenth
	}
	got := o.Estimate(0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("estimate (-want +got):\n%s", diff)
	}

	// By hand: pieces that are coded, 2 x 500 x (40 + 1) bytes; 50 objects of 1.15 x 11 + 16
	// bytes in the table; two copies of 600 bytes of blocks. Garbage: 2 x 4 x 3 x 1000 bytes of
	// values, and twice the table.
	s := aSample()
	s.Memory = 0
	living := 2*500*41 + 50*28.65 + 2*600
	garbage := 24_000 + 2*50*28.65
	if got, want := New(aRun(), s).Estimate(0).DriverMemory, 70<<20+int64(living+garbage); got != want {
		t.Errorf("memory without a rehearsal: %d bytes, want %d", got, want)
	}
	r := aRun()
	r.Memory.Process = 1 << 20
	if got := New(r, s).Estimate(0).DriverMemory; got != 70<<20 {
		t.Errorf("with --memory 1MiB: %d bytes, want those of the program alone", got)
	}
}

// TestEstimateOfFolds: by hand. Each of 5 folds grows and prunes 4/5 of the rows, 6 s for
// all rows. Two processors take 3 rounds of 2. Where folds are many objects, their memory
// counts: that of 2 or of 5 folds at a time.
func TestEstimateOfFolds(t *testing.T) {
	for _, c := range []struct {
		processors int
		seconds    float64
		together   int // folds
	}{
		{2, 6 * 4 * 6. / 5, 2},
		{5, 6 * 4, 5},
		{8, 6 * 4, 5}, // a fold is grown by several
	} {
		processors(t, c.processors)
		r := aRun()
		r.Certified = true
		got := New(r, aSample()).Estimate(5)
		if near := c.seconds; math.Abs(got.Seconds.Folds-near) > 1e-9 {
			t.Errorf("%d processors: %v s of folds, want %v", c.processors, got.Seconds.Folds, near)
		}
		// By hand: 3/4 of a step for each of 6 trees, 50 objects and 1 feature, 4 for each of 1000
		// rows, and 1e7; 5e8 a second on each processor.
		steps := 6*50*1*3/4 + 4*1000 + 1e7
		if want := float64(steps) / 5e8 / float64(c.processors); math.Abs(got.Seconds.Certificate-want) > 1e-9 {
			t.Errorf("the certificate takes %v s, want %v", got.Seconds.Certificate, want)
		}
		o := New(r, aSample())
		o.folds = 5
		one := o.room()
		one.Workers = 1
		if want := 600 + float64(c.together)*float64(one.OfObjects(50)); math.Abs(o.folding()-want) > 1e-6 {
			t.Errorf("%d processors: folds take %v bytes, want %v", c.processors, o.folding(), want)
		}
	}
}

// TestEstimateByLevels: the forecast of package levels for a tree, and the objects of small
// nodes: by hand, 50 objects of 12 bytes in 50 packets of 8.
func TestEstimateByLevels(t *testing.T) {
	s := aSample()
	const budget, memory = 45, 1 << 20
	tree := levels.NewGrower(s.Setting).Forecast(s.Trees, levels.Scale{Objects: 1, Weight: 10}, budget, memory, memory)
	if tree.Passes != 1 || tree.Histogram == 0 || len(tree.Small) != 2 {
		t.Fatalf("package levels foresees %+v, want one pass and two small nodes", tree)
	}
	for _, local := range []bool{true, false} {
		r := aRun()
		r.Local, r.InMemory, r.Memory, r.Workers = local, false, Memory{Process: 1 << 40, Histogram: memory, Objects: budget}, Workers{Processes: 3, Each: 2}
		got := New(r, s).Estimate(5)
		want := &runfolder.Estimate{
			Rows: 1000, Objects: 50, TrainObjects: 50, RowPasses: 2, ObjectPasses: 2, BlockBytes: 2 * 600,
			HistogramBytes: tree.Histogram, DiskBytes: 600, DriverMemory: 80 << 20, WorkerMemory: got.WorkerMemory,
		}
		// Each of 3 workers has all objects in its table, and sends them on.
		want.ShuffleBytes = int64(3*40 + 3*600 + 3*tree.Pieces + 50*12 + 50*8)
		if local { // a pass over objects takes 5 % of what reading takes; 4 s of growth
			want.Seconds = runfolder.Durations{Rows: 60, Growth: 4 + 60*.05, Choice: 2, Folds: got.Seconds.Folds}
			want.WorkerMemory = 80 << 20
		} else if got.WorkerMemory <= processBytes || got.WorkerMemory > processBytes+1<<20 {
			t.Errorf("a worker takes %d bytes, want little above %d", got.WorkerMemory, processBytes)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("local %t (-want +got):\n%s", local, diff)
		}
	}
}

// TestEstimateOfSeveralTrees: trees share their jobs, and nodes of the same tests share their
// counts: two like trees take no more passes and no more counts than one.
func TestEstimateOfSeveralTrees(t *testing.T) {
	s := aSample()
	s.Setting.Trees, s.Trees = append(s.Setting.Trees, s.Setting.Trees[0]), append(s.Trees, s.Trees[0])
	if got := New(aRun(), s).Estimate(0).ObjectPasses; got != 1 {
		t.Errorf("%d passes of two trees in memory, want 1", got)
	}
	r := aRun()
	r.InMemory, r.Levels, r.Memory.Objects = false, 2, 25
	one, two := New(r, aSample()).Estimate(0), New(r, s).Estimate(0)
	if two.ObjectPasses != one.ObjectPasses || two.HistogramBytes != one.HistogramBytes {
		t.Errorf("two trees: %+v, one: %+v", two, one)
	}
}

// TestEstimateBeyondMemory: by hand. Each of 1e9 rows is an object of its own, so that
// objects are sent once however often tables are full, and all of them spill to disk.
func TestEstimateBeyondMemory(t *testing.T) {
	s := aSample()
	s.Tally[dataset.Train] = Tally{rows: 1e8, objects: 1e8, single: 1e8, halfSingle: 5e7}
	s.Bytes[dataset.Train] = 12e8
	s.Trees[0].Objects, s.Trees[0].Children[0].Objects, s.Trees[0].Children[1].Objects = 1e8, 6e7, 4e7
	r := aRun()
	r.Rows, r.InMemory, r.Weighted, r.Memory.Objects = 1e9, false, true, 5e8
	o := New(r, s)
	const all = 12e9
	if got := o.coalesced(); math.Abs(got-all) > 1e-6*all {
		t.Errorf("%v bytes of objects are sent, want %v", got, float64(all))
	}
	times, memory := o.flushes()
	table := 1e9 * (1.15*(1+10+8) + 16) // with 8 bytes of weight
	if limit := float64(jobs.HeldBytes(true)); math.Abs(memory-limit) > 1 || math.Abs(times-table/limit) > 1e-6*times {
		t.Errorf("tables are sent %v times at %v bytes, want %v times at %v", times, memory, table/limit, limit)
	}
	e := o.Estimate(0)
	if want := all + all + o.gathered(); math.Abs(float64(e.DiskBytes)-want) > 1e-6*want {
		t.Errorf("%d bytes on disk, want the objects, what coalescing spills and what is gathered: %v", e.DiskBytes, want)
	}
	// Two workers have 1e9 objects of at least 16 + 1 bytes together.
	if least := int64(1e9 * 17); e.DriverMemory < least {
		t.Errorf("%d bytes of memory, want at least %d", e.DriverMemory, least)
	}
}

// TestObjectsOf: parts are drawn from the same rows. By hand: all rows of the sample are distinct,
// and so are the rows of a part.
func TestObjectsOf(t *testing.T) {
	s := aSample()
	s.Tally[dataset.Train] = Tally{rows: 100, objects: 100, single: 100, halfSingle: 50}
	s.Tally[dataset.Test] = Tally{rows: 20, objects: 20, single: 20, halfSingle: 10}
	s.Trees[0].Objects = 100
	o := New(aRun(), s)
	for _, c := range []struct{ share, train, test float64 }{{1, 1000, 200}, {0.1, 100, 20}, {0.05, 50, 10}, {0.01, 10, 2}} {
		if train, test := o.objectsOf(dataset.Train, c.share), o.objectsOf(dataset.Test, c.share); math.Abs(train-c.train) > 1e-9 ||
			math.Abs(test-c.test) > 1e-9 {
			t.Errorf("share %v: %v training and %v test objects, want %v and %v", c.share, train, test, c.train, c.test)
		}
	}
	if got := o.Estimate(0); got.Objects != 1200 || got.TrainObjects != 1000 {
		t.Errorf("%d objects, of them %d to train, want 1200 and 1000", got.Objects, got.TrainObjects)
	}
}

// TestDurationsOf: by hand, what each job and phase belongs to.
func TestDurationsOf(t *testing.T) {
	timings := []runfolder.Timing{
		{Job: Footers, Seconds: 1},
		{Job: "summarise", Seconds: 2},
		{Job: "bins", Seconds: 4},
		{Job: "coalesce", Seconds: 8},
		{Job: "folds", Seconds: 16},
		{Job: "certificate", Seconds: 32},
		{Job: "trees", Seconds: 64},
		{Job: "evaluate", Seconds: 128},
		{Job: "prune", Seconds: 256},
		{Job: "frontier", Seconds: 512},
		{Job: Write, Seconds: 1024},
		{Job: "induce", Seconds: 2048},
		{Job: "level 3", Seconds: 4096},
		{Job: "collect", Seconds: 8192},
	}
	want := runfolder.Durations{Rows: 15, Folds: 16, Certificate: 32, Choice: 1984, Growth: 14336}
	if got := DurationsOf(timings); got != want || got.Total() != 1<<14-1 {
		t.Errorf("%+v, want %+v", got, want)
	}
}
