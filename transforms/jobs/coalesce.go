package jobs

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// flushBytes is the memory of all tables of a bundle beyond which they are sent
// on before the bundle ends; spillBytes where they go by way of files.
const (
	flushBytes = 1 << 30
	spillBytes = 256 << 20
)

// HeldBytes returns the memory of coalescing tables from which on they are sent
// on before the end of a bundle.
func HeldBytes(spill bool) int64 {
	if spill {
		return spillBytes
	}
	return flushBytes
}

// InlineBytes is what a bundle of a job that may spill sends without files.
const InlineBytes = inlineBytes

// blockBytes is the size at which objects are cut into blocks.
const blockBytes = 4 << 20

// CoalesceConfig says how rows become objects.
type CoalesceConfig struct {
	Rows     []byte // RowSpec
	Features []byte // as encoded by dataset.EncodeFeatures
	Classes  []string
	Workers  int    // goroutines of a bundle; 1 on engines
	Pieces   int    // goroutines that share a row group's columns, for few row groups
	Shards   int    // that the objects of a part are dealt to by their hash
	Out      string // folder of statistics
	Spill    string // folder for objects on their way; empty: they go inline
	Blocks   string // folder of blocks
	Run      RunName
}

// Coalesce reads the row groups of tasks, a PCollection<[]byte> of Task, codes
// their rows and merges rows with equal codes. It writes object blocks and, per
// part and shard, ObjectStats.
func Coalesce(s beam.Scope, tasks beam.PCollection, c CoalesceConfig) {
	s = s.Scope("transforms.Coalesce")
	merged := beam.GroupByKey(s, beam.ParDo(s, &coalesceFn{CoalesceConfig: c}, tasks))
	beam.ParDo0(s, &mergeObjectsFn{CoalesceConfig: c}, merged)
}

type coalesceFn struct {
	CoalesceConfig

	coder   *coder
	pool    *pool
	tables  []*sharedTable // by part and shard
	scratch []coalesceScratch
}

type sharedTable struct {
	mu sync.Mutex
	t  *dataset.Table
}

// coalesceScratch is one worker's memory.
type coalesceScratch struct {
	coded

	hashes []uint64
	rows   []int32 // by table, see deal
	ends   []int
}

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

// insert adds the rows to the tables, one table after the other, so that two
// workers seldom want the same one.
func (f *coalesceFn) insert(g *rowGroup, s *coalesceScratch) {
	f.deal(g, s)
	stride := f.coder.layout.Stride
	from := 0
	for i, end := range s.ends {
		rows := s.rows[from:end]
		from = end
		if len(rows) == 0 {
			continue
		}
		shared := f.tables[i]
		shared.mu.Lock()
		for _, r := range rows {
			shared.t.Add(s.keys[int(r)*stride:int(r+1)*stride], s.hashes[r], s.classes[r], g.weight(int(r)), 1)
		}
		shared.mu.Unlock()
	}
}

// deal sorts the rows by the table that they belong to.
func (f *coalesceFn) deal(g *rowGroup, s *coalesceScratch) {
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

// held returns the memory of all tables.
func (f *coalesceFn) held() int {
	held := 0
	for _, shared := range f.tables {
		shared.mu.Lock()
		held += shared.t.Bytes()
		shared.mu.Unlock()
	}
	return held
}

// flush sends the tables on. Row groups may be coalesced meanwhile.
func (f *coalesceFn) flush(ctx context.Context, emit func(int64, []byte), inline bool) error {
	// Encoded by the workers, emitted here: emitters belong to this goroutine.
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

// Blocks encodes a table's objects in blocks of about blockBytes.
func Blocks(t *dataset.Table, stride int) [][]byte {
	var list [][]byte
	step := max(1, blockBytes/(stride+4))
	for from := 0; from < t.Len(); from += step {
		to := min(from+step, t.Len())
		list = append(list, t.AppendBlock(make([]byte, 0, (to-from)*(stride+4)+16), from, to))
	}
	return list
}

// Shards returns the number of shards of objects, of so many bytes each, that rows make at
// most: enough for a worker's memory to hold a shard several times.
func Shards(rows int64, stride int) int {
	const least, most, bytes = 64, 4096, 64 << 20
	return int(min(max(least, rows*int64(stride+8)/bytes), most))
}
