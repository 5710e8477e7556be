package jobs

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// A bundle whose tables take this much memory sends them before its end.
const (
	flushBytes = 1 << 30   // where they go through the shuffle
	spillBytes = 256 << 20 // where they go through files
)

// HeldBytes returns the memory of a bundle's tables at which the bundle sends them early.
// spill says that they go through files.
func HeldBytes(spill bool) int64 {
	if spill {
		return spillBytes
	}
	return flushBytes
}

// InlineBytes is the most that a bundle sends through the runner's shuffle if it may use
// files.
const InlineBytes = inlineBytes

// blockBytes is the approximate size of an object block.
const blockBytes = 4 << 20

// CoalesceConfig says how rows become objects.
type CoalesceConfig struct {
	Rows     []byte // RowSpec
	Features []byte // as encoded by dataset.EncodeFeatures
	Classes  []string
	Workers  int    // goroutines of a bundle; 1 on engines
	Pieces   int    // goroutines that share a row group's columns, for few row groups
	Shards   int    // number of shards of a part; objects go to shards by their hash
	Out      string // folder of statistics
	Spill    string // folder for objects between the halves of the job; empty: the shuffle has them
	Blocks   string // folder of blocks
	Run      RunName
}

// Coalesce turns rows into objects: it reads the row groups of tasks, a
// PCollection<[]byte> of Task, encodes their rows and merges rows of equal codes. It
// writes object blocks, and ObjectStats for each part and shard.
func Coalesce(s beam.Scope, tasks beam.PCollection, c CoalesceConfig) {
	s = s.Scope("transforms.Coalesce")
	merged := beam.GroupByKey(s, beam.ParDo(s, &coalesceFn{CoalesceConfig: c}, tasks))
	beam.ParDo0(s, &mergeObjectsFn{CoalesceConfig: c}, merged)
}

// coalesceFn encodes and merges the rows of a bundle.
type coalesceFn struct {
	CoalesceConfig

	coder   *coder
	pool    *pool
	tables  []*sharedTable // by part and shard
	scratch []coalesceScratch
}

// sharedTable is a table that the workers of a bundle share.
type sharedTable struct {
	mu sync.Mutex
	t  *dataset.Table
}

// coalesceScratch is the memory of one worker.
type coalesceScratch struct {
	coded

	hashes []uint64
	rows   []int32 // positions of the rows, sorted by table: see sortByTable
	ends   []int   // where the rows of each table end
}

// open decodes the specification of rows and the features.
func (c *CoalesceConfig) open() (RowSpec, []dataset.Feature, error) {
	var spec RowSpec
	if err := json.Unmarshal(c.Rows, &spec); err != nil {
		return spec, nil, err
	}
	features, err := dataset.DecodeFeatures(c.Features)
	return spec, features, err
}

func (f *coalesceFn) StartBundle(_ context.Context, _ func(int64, []byte)) error {
	spec, features, err := f.open()
	if err != nil {
		return err
	}
	f.coder = newCoder(spec, features, f.Classes, f.Pieces)
	f.pool = newPool(f.Workers, rowGroupsAhead)
	f.scratch = make([]coalesceScratch, max(1, f.Workers))
	f.tables = make([]*sharedTable, dataset.Parts*f.Shards)
	for i := range f.tables {
		f.tables[i] = &sharedTable{t: f.coder.newTable()}
	}
	return nil
}

func (f *coalesceFn) ProcessElement(ctx context.Context, task []byte, emit func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	g, err := openTask(ctx, &f.coder.spec, task)
	if err != nil {
		return Carry(err)
	}
	if err := f.pool.doWith(ctx, g, func(worker int) error { return f.add(ctx, g, &f.scratch[worker]) }); err != nil {
		return Carry(err)
	}
	report(ctx)
	if int64(f.held()) < HeldBytes(f.Spill != "") {
		return nil
	}
	return f.flush(ctx, emit, false)
}

func (f *coalesceFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return Carry(err)
	}
	return f.flush(ctx, emit, f.held() <= inlineBytes)
}

// add coalesces the rows of one row group.
func (f *coalesceFn) add(ctx context.Context, g *rowGroup, s *coalesceScratch) error {
	if err := f.coder.code(ctx, g, &s.coded); err != nil {
		return err
	}
	n, stride := g.Rows(), f.coder.layout.Stride
	s.hashes = Resized(s.hashes, n)
	for r := range n {
		s.hashes[r] = dataset.HashKey(s.keys[r*stride : (r+1)*stride])
	}
	f.insert(g, s)
	progressOf(ctx).Tasks.Add(1)
	progressOf(ctx).Rows.Add(int64(n))
	return nil
}

// insert adds the rows to the tables, one table after the other: so two workers seldom
// need the same table at the same time.
func (f *coalesceFn) insert(g *rowGroup, s *coalesceScratch) {
	f.sortByTable(g, s)
	all := dataset.Rows{Keys: s.keys, Hashes: s.hashes, Classes: s.classes, Weights: g.weights}
	from := 0
	for i, end := range s.ends {
		rows := s.rows[from:end]
		from = end
		if len(rows) == 0 {
			continue
		}
		shared := f.tables[i]
		shared.mu.Lock()
		shared.t.AddRows(&all, rows)
		shared.mu.Unlock()
	}
}

// sortByTable sorts the rows by the table of their part and shard (a counting sort).
func (f *coalesceFn) sortByTable(g *rowGroup, s *coalesceScratch) {
	s.ends = Resized(s.ends, len(f.tables))
	clear(s.ends)
	table := func(r int) int { return int(g.parts[r])*f.Shards + int(s.hashes[r]>>32%uint64(f.Shards)) }
	n := 0
	for r, part := range g.parts {
		if part != dataset.None {
			s.ends[table(r)]++
			n++
		}
	}
	at := 0
	for i, k := range s.ends {
		s.ends[i] = at
		at += k
	}
	s.rows = Resized(s.rows, n)
	for r, part := range g.parts {
		if part != dataset.None {
			i := table(r)
			s.rows[s.ends[i]] = int32(r)
			s.ends[i]++
		}
	}
}

// held returns the bytes of all tables.
func (f *coalesceFn) held() int {
	held := 0
	for _, shared := range f.tables {
		shared.mu.Lock()
		held += shared.t.Bytes()
		shared.mu.Unlock()
	}
	return held
}

// flush sends the tables and replaces them with empty ones. Workers may add rows
// meanwhile.
func (f *coalesceFn) flush(ctx context.Context, emit func(int64, []byte), inline bool) error {
	// Workers encode the tables. Only this goroutine may call emit.
	values := make([][][]byte, len(f.tables))
	p := newPool(f.Workers, 0)
	for i, shared := range f.tables {
		if err := p.do(ctx, func(int) error {
			shared.mu.Lock()
			t := shared.t
			shared.t = f.coder.newTable()
			shared.mu.Unlock()
			for _, b := range Blocks(t, f.coder.layout.Stride) {
				value, err := exchange{f.Spill}.send(ctx, b, inline)
				if err != nil {
					return err
				}
				values[i] = append(values[i], value)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if err := p.wait(); err != nil {
		return err
	}
	for i, list := range values {
		for _, value := range list {
			emit(int64(i), value)
		}
	}
	return nil
}

// Blocks encodes the objects of a table in blocks of about 4 MiB. stride is the number of
// bytes of an object's codes.
func Blocks(t *dataset.Table, stride int) [][]byte {
	var list [][]byte
	step := max(1, blockBytes/(stride+4))
	for from := 0; from < t.Len(); from += step {
		to := min(from+step, t.Len())
		list = append(list, t.AppendBlock(make([]byte, 0, (to-from)*(stride+4)+16), from, to))
	}
	return list
}

// Shards returns the number of shards for a number of rows with codes of stride bytes. A
// worker's memory can hold a shard several times, even if no two rows are equal.
func Shards(rows int64, stride int) int {
	const least, most, bytes = 64, 4096, 64 << 20
	return int(min(max(least, rows*int64(stride+8)/bytes), most))
}
