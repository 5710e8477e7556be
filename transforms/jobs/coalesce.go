package jobs

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// A bundle sends its tables before its end if they take this much memory.
const (
	flushBytes = 1 << 30   // if they go through the shuffle
	spillBytes = 256 << 20 // if they go through files
)

// heldBytes returns the memory of a bundle's tables at which the bundle sends them early. spill
// means that they go through files.
func heldBytes(spill bool) int64 {
	if spill {
		return spillBytes
	}
	return flushBytes
}

// CoalesceConfig describes how rows become objects.
type CoalesceConfig struct {
	Config

	Rows     []byte // RowSpec
	Features []byte // as encoded by dataset.EncodeFeatures
	Classes  []string
	Pieces   int    // goroutines that share the columns of a row group, if there are few row groups
	Shards   int    // number of shards of a part; objects go to shards by their hash
	Spill    string // folder for objects between the halves of the job; empty: they go through the shuffle
	Blocks   string // folder of blocks
	Memory   int64  // bytes of tables at which a bundle sends them early; 0: heldBytes
}

// Coalesce turns rows into objects: it reads the row groups of tasks, a PCollection<[]byte> of
// Task, encodes their rows and merges rows with equal codes. It writes object blocks, and
// ObjectStats for each part and shard.
func Coalesce(s beam.Scope, tasks beam.PCollection, c CoalesceConfig) {
	addJob(s.Scope("transforms.Coalesce"), tasks, &coalesceFn{taskFn[*coalescer]{Job: &coalescer{CoalesceConfig: c}}},
		&mergeObjectsFn{mergeFn[*objectMerger]{Job: &objectMerger{CoalesceConfig: c}}})
}

type (
	coalesceFn     struct{ taskFn[*coalescer] }
	mergeObjectsFn struct{ mergeFn[*objectMerger] }
)

// coalescer encodes and merges the rows of a bundle.
type coalescer struct {
	CoalesceConfig

	coder   *coder
	tables  []*sharedTable // by part and shard
	waiting atomic.Int64   // rows in the queue of the pool
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

func (f *coalescer) ahead() int { return rowGroupsAhead }

func (f *coalescer) begin(ctx context.Context) error {
	spec, features, err := f.open()
	if err == nil {
		err = spec.readKeys(ctx)
	}
	if err != nil {
		return err
	}
	f.coder = newCoder(spec, features, f.Classes, f.Pieces)
	f.scratch = make([]coalesceScratch, max(1, f.Workers))
	f.tables = make([]*sharedTable, dataset.Parts*f.Shards)
	for i := range f.tables {
		f.tables[i] = &sharedTable{t: f.coder.newTable(f.partOf(i))}
	}
	return nil
}

func (f *coalescer) do(ctx context.Context, p *pool, t Task, emit func(int64, []byte)) error {
	g, err := openRowGroup(ctx, &f.coder.spec, t)
	if err != nil {
		return err
	}
	pieces := g.pieces()
	all := newShared(g, len(pieces))
	for _, piece := range pieces { // all of them even after an error, as each closes the row group
		f.waiting.Add(int64(piece.rows))
		err = p.doWith(ctx, all, func(worker int) error {
			defer f.waiting.Add(-int64(piece.rows))
			return f.add(ctx, piece, &f.scratch[worker])
		})
		if err == nil {
			err = f.bound(ctx, p, emit)
		}
	}
	return err
}

// bound sends the tables if they, together with the rows in the queue, may exceed the memory. It
// waits for these rows first, because they may turn out to be objects that the tables already have.
func (f *coalescer) bound(ctx context.Context, p *pool, emit func(int64, []byte)) error {
	most := f.tableBytes()
	each := tableBytesOf(f.coder.layout.Stride + f.coder.spec.moreBytes())
	if f.held()+f.waiting.Load()*each < most {
		return nil
	}
	if err := p.wait(); err != nil {
		return err
	}
	if f.held()+int64(f.Workers)*pieceRows*each < most {
		return nil
	}
	return f.flush(ctx, emit, false)
}

func (f *coalescer) end(ctx context.Context, emit func(int64, []byte)) error {
	return f.flush(ctx, emit, f.held() <= inlineBytes)
}

// add coalesces the rows of one row group.
func (f *coalescer) add(ctx context.Context, g *rowGroup, s *coalesceScratch) error {
	if err := f.coder.code(ctx, g, &s.coded); err != nil {
		return err
	}
	n := g.Rows()
	stride := f.coder.layout.Stride
	s.hashes = Resized(s.hashes, n)
	for r := range n {
		s.hashes[r] = dataset.HashKey(s.keys[r*stride : (r+1)*stride])
	}
	f.insert(g, s)
	g.count(ctx)
	return nil
}

// insert adds the rows to the tables, one table after another, so that two workers seldom need the
// same table at the same time.
func (f *coalescer) insert(g *rowGroup, s *coalesceScratch) {
	f.sortByTable(g, s)
	all := dataset.Rows{Keys: s.keys, Hashes: s.hashes, Classes: s.classes, Weights: g.weights, Counts: g.counts, Shares: g.shares, Buckets: g.buckets}
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
func (f *coalescer) sortByTable(g *rowGroup, s *coalesceScratch) {
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

// partOf returns the part of a table.
func (c *CoalesceConfig) partOf(table int) dataset.Part { return dataset.Part(table / c.Shards) }

// held returns the bytes of all tables.
func (f *coalescer) held() int64 {
	held := int64(0)
	for _, shared := range f.tables {
		shared.mu.Lock()
		held += int64(shared.t.Bytes())
		shared.mu.Unlock()
	}
	return held
}

// flush sends the tables and replaces them by empty tables. Workers may add rows meanwhile.
func (f *coalescer) flush(ctx context.Context, emit func(int64, []byte), inline bool) error {
	// Workers encode the tables. Only this goroutine may call emit.
	values := make([][][]byte, len(f.tables))
	p := newPool(f.Workers, 0)
	for i, shared := range f.tables {
		if err := p.do(ctx, func(int) error {
			shared.mu.Lock()
			t := shared.t
			shared.t = f.coder.newTable(f.partOf(i))
			shared.mu.Unlock()
			for _, b := range elements.Blocks(t, f.coder.layout.Stride+f.coder.spec.moreBytes()) {
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

// tableBytes returns the memory of a bundle's tables at which the bundle sends them.
func (c *CoalesceConfig) tableBytes() int64 {
	if c.Memory > 0 {
		return c.Memory / 2 // the other half is for the rows being read, and for blocks in transit
	}
	return heldBytes(c.Spill != "")
}

// tableBytesOf returns the most bytes that a table takes for an object with codes of stride bytes:
// codes, class, weight, and up to 1/0.375 slots of 8 bytes.
func tableBytesOf(stride int) int64 { return int64(stride) + 2 + 8 + 22 }

// Shards returns how many shards to use for this many rows with codes of stride bytes. A shard fits
// into the memory of a worker several times, even if no two rows are equal.
func Shards(rows int64, stride int) int {
	const least, most, bytes = 64, 4096, 64 << 20
	return int(min(max(least, rows*int64(stride+8)/bytes), most))
}
