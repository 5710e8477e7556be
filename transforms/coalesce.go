package transforms

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// shards is the number of shards that the objects of a part are dealt to by
// their hash.
const shards = 64

// flushBytes is the memory of all tables of a bundle beyond which the fullest
// of them are sent on before the bundle ends.
const flushBytes = 1 << 30

// blockBytes is the size at which objects are cut into blocks.
const blockBytes = 4 << 20

// CoalesceConfig says how rows become objects.
type CoalesceConfig struct {
	Rows     []byte // RowSpec
	Features []byte // as encoded by dataset.EncodeFeatures
	Classes  []string
	Workers  int    // goroutines of a bundle; 1 on engines
	Out      string // folder of blocks and statistics
}

// ObjectStats describes the objects of one shard of one part.
type ObjectStats struct {
	Part         dataset.Part `json:"part"`
	Blocks       []string     `json:"blocks"`
	Rows         int64        `json:"rows"`
	Objects      int64        `json:"objects"`
	Weight       int64        `json:"weight"`
	ClassObjects []int64      `json:"class_objects"` // by majority class
	ClassWeight  []int64      `json:"class_weight"`  // by majority class
	Relabelled   int64        `json:"relabelled"`    // weight of rows whose class is not their object's
	Missing      []int64      `json:"missing,omitempty"`
	Other        []int64      `json:"other,omitempty"`
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

	spec     RowSpec
	features []dataset.Feature
	encoders []*dataset.Encoder
	layout   dataset.Layout
	classes  map[string]uint16
	pool     *pool
	tables   []*sharedTable // by part and shard
	scratch  []coalesceScratch
}

type sharedTable struct {
	mu sync.Mutex
	t  *dataset.Table
}

// coalesceScratch is one worker's memory.
type coalesceScratch struct {
	vector dataset.Vector
	codes  []uint16
	keys   []byte
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
	var err error
	if f.spec, f.features, err = f.open(); err != nil {
		return err
	}
	f.layout = dataset.NewLayout(f.features)
	f.encoders = make([]*dataset.Encoder, len(f.features))
	for i := range f.features {
		f.encoders[i] = dataset.NewEncoder(&f.features[i])
	}
	f.classes = classNumbers(f.Classes)
	f.pool = newPool(f.Workers)
	f.scratch = make([]coalesceScratch, f.pool.workers())
	f.tables = make([]*sharedTable, dataset.Parts*shards)
	for i := range f.tables {
		f.tables[i] = &sharedTable{t: dataset.NewTable(f.layout, f.spec.Weight != "")}
	}
	return nil
}

func classNumbers(classes []string) map[string]uint16 {
	numbers := make(map[string]uint16, len(classes))
	for i, c := range classes {
		numbers[c] = uint16(i)
	}
	return numbers
}

func (f *coalesceFn) ProcessElement(ctx context.Context, task []byte, emit func(int64, []byte)) error {
	var t Task
	if err := json.Unmarshal(task, &t); err != nil {
		return err
	}
	err := f.pool.do(func(worker int) error { return f.add(ctx, t, &f.scratch[worker]) })
	if err != nil {
		return carry(err)
	}
	return f.flush(emit, flushBytes)
}

func (f *coalesceFn) FinishBundle(_ context.Context, emit func(int64, []byte)) error {
	if err := f.pool.wait(); err != nil {
		return carry(err)
	}
	return f.flush(emit, 0)
}

// add coalesces the rows of one row group.
func (f *coalesceFn) add(ctx context.Context, task Task, s *coalesceScratch) error {
	g, err := openRowGroup(ctx, &f.spec, task)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // nothing was written
	classes, err := g.classNumbers(f.classes)
	if err != nil {
		return err
	}
	n, stride := g.Rows(), f.layout.Stride
	s.keys = grown(s.keys, n*stride)
	for i := range f.features {
		if err := g.feature(i, &s.vector); err != nil {
			return err
		}
		s.codes = f.encoders[i].Encode(&s.vector, s.keys, f.layout.Offsets[i], stride, s.codes)
	}
	s.hashes = grown(s.hashes, n)
	for r := range n {
		s.hashes[r] = dataset.HashKey(s.keys[r*stride : (r+1)*stride])
	}
	f.insert(g, classes, s)
	progress.Tasks.Add(1)
	progress.Rows.Add(int64(n))
	return nil
}

func grown[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

// insert adds the rows to the tables, one table after the other, so that two
// workers seldom want the same one.
func (f *coalesceFn) insert(g *rowGroup, classes []uint16, s *coalesceScratch) {
	f.deal(g, s)
	stride := f.layout.Stride
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
			weight := int64(1)
			if g.weights != nil {
				weight = g.weights[r]
			}
			shared.t.Add(s.keys[int(r)*stride:int(r+1)*stride], s.hashes[r], classes[r], weight, 1)
		}
		shared.mu.Unlock()
	}
}

// deal sorts the rows by the table that they belong to.
func (f *coalesceFn) deal(g *rowGroup, s *coalesceScratch) {
	s.ends = grown(s.ends, len(f.tables))
	clear(s.ends)
	table := func(r int) int { return int(g.parts[r])*shards + int(s.hashes[r]>>32%shards) }
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
	s.rows = grown(s.rows, n)
	for r, part := range g.parts {
		if part != dataset.None {
			i := table(r)
			s.rows[s.ends[i]] = int32(r)
			s.ends[i]++
		}
	}
}

// classNumbers returns the class of each row that has a part.
func (g *rowGroup) classNumbers(numbers map[string]uint16) ([]uint16, error) {
	classes := make([]uint16, g.Rows())
	v := &g.label
	known := make([]int, 0) // by dictionary position: class, or -1
	if v.Index != nil {
		n := len(v.Texts)
		if v.Type == dataset.Number {
			n = len(v.Numbers)
		}
		known = make([]int, n)
		for i := range known {
			one := dataset.Vector{Type: v.Type, Index: []int32{int32(i)}, Numbers: v.Numbers, Texts: v.Texts}
			known[i] = classOf(&one, 0, numbers)
		}
	}
	for r, part := range g.parts {
		if part == dataset.None {
			continue
		}
		var k int
		if v.Index != nil {
			k = known[v.Index[r]]
		} else {
			k = classOf(v, r, numbers)
		}
		if k < 0 {
			return nil, g.errorAt(g.spec.Label, v.Spell(r), "not one of the tree's classes", "train anew, or leave such rows out of the input")
		}
		classes[r] = uint16(k)
	}
	return classes, nil
}

func classOf(v *dataset.Vector, r int, numbers map[string]uint16) int {
	if k, ok := numbers[v.Spell(r)]; ok {
		return int(k)
	}
	return -1
}

// flush sends the tables on when they hold more than limit bytes. The pool must
// be idle for limit 0; otherwise tasks may go on meanwhile.
func (f *coalesceFn) flush(emit func(int64, []byte), limit int) error {
	if limit > 0 {
		held := 0
		for _, shared := range f.tables {
			shared.mu.Lock()
			held += shared.t.Bytes()
			shared.mu.Unlock()
		}
		if held < limit {
			return nil
		}
	}
	// Encoded by the workers, emitted here: emitters belong to this goroutine.
	encoded := make([][][]byte, len(f.tables))
	p := newPool(f.Workers)
	for i, shared := range f.tables {
		if err := p.do(func(int) error {
			shared.mu.Lock()
			defer shared.mu.Unlock()
			encoded[i] = blocks(shared.t, f.layout.Stride)
			shared.t = dataset.NewTable(f.layout, f.spec.Weight != "")
			return nil
		}); err != nil {
			return err
		}
	}
	if err := p.wait(); err != nil {
		return err
	}
	for i, list := range encoded {
		for _, b := range list {
			emit(int64(i), b)
		}
	}
	return nil
}

// blocks encodes a table's objects in blocks of about blockBytes.
func blocks(t *dataset.Table, stride int) [][]byte {
	var list [][]byte
	step := max(1, blockBytes/(stride+4))
	for from := 0; from < t.Len(); from += step {
		to := min(from+step, t.Len())
		list = append(list, t.AppendBlock(make([]byte, 0, (to-from)*(stride+4)+16), from, to))
	}
	return list
}

// mergeObjectsFn merges the blocks of one part and shard.
type mergeObjectsFn struct {
	CoalesceConfig

	spec     RowSpec
	features []dataset.Feature
	layout   dataset.Layout
	pool     *pool
}

func (f *mergeObjectsFn) StartBundle(context.Context) error {
	var err error
	if f.spec, f.features, err = f.open(); err != nil {
		return err
	}
	f.layout = dataset.NewLayout(f.features)
	f.pool = newPool(f.Workers)
	return nil
}

func (f *mergeObjectsFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	list := collect(values)
	return carry(f.pool.do(func(int) error { return f.merge(ctx, key, list) }))
}

func (f *mergeObjectsFn) FinishBundle(context.Context) error { return carry(f.pool.wait()) }

func collect(values func(*[]byte) bool) [][]byte {
	var list [][]byte
	var b []byte
	for values(&b) {
		list = append(list, b)
		b = nil
	}
	return list
}

func (f *mergeObjectsFn) merge(ctx context.Context, key int64, list [][]byte) error {
	s, err := openStorage()
	if err != nil {
		return err
	}
	weighted := f.spec.Weight != ""
	if len(list) > 1 {
		t := dataset.NewTable(f.layout, weighted)
		for _, b := range list {
			if err := t.AddBlock(b, len(f.Classes)); err != nil {
				return err
			}
		}
		list = blocks(t, f.layout.Stride)
	}
	stats := f.newStats(key, weighted)
	for i, b := range list {
		if err := f.addStats(stats, b, weighted); err != nil {
			return err
		}
		url := fmt.Sprintf("%s/objects-%s-%02d-%d", f.Out, stats.Part, key%shards, i)
		if err := s.Write(ctx, url, b); err != nil {
			return err
		}
		stats.Blocks = append(stats.Blocks, url)
	}
	return s.Write(ctx, statsURL(f.Out, stats.Part, int(key%shards)), mustJSON(stats))
}

func statsURL(out string, part dataset.Part, shard int) string {
	return fmt.Sprintf("%s/stats-%s-%02d", out, part, shard)
}

func (f *mergeObjectsFn) newStats(key int64, weighted bool) *ObjectStats {
	stats := &ObjectStats{
		Part:         dataset.Part(key / shards),
		ClassObjects: make([]int64, len(f.Classes)), ClassWeight: make([]int64, len(f.Classes)),
	}
	if weighted && stats.Part == dataset.Train {
		stats.Missing, stats.Other = make([]int64, len(f.features)), make([]int64, len(f.features))
	}
	return stats
}

func (f *mergeObjectsFn) addStats(stats *ObjectStats, block []byte, weighted bool) error {
	n, err := dataset.BlockLen(block)
	if err != nil {
		return err
	}
	var o *dataset.Objects
	if stats.Missing == nil {
		o = dataset.NewObjects(dataset.Layout{}, len(f.Classes), weighted, n)
		err = o.AppendClassesFrom(block, f.layout)
	} else {
		o = dataset.NewObjects(f.layout, len(f.Classes), weighted, n)
		err = o.AppendFrom(block, f.layout)
	}
	if err != nil {
		return err
	}
	stats.Objects += int64(n)
	for i := range n {
		k, weight := o.Class[i], o.Weight[i]
		stats.Rows += o.RowsOf(i)
		stats.Weight += weight
		stats.ClassObjects[k]++
		stats.ClassWeight[k] += weight
		stats.Relabelled += weight
		for _, cw := range o.Raw(i) {
			if cw.Class == k {
				stats.Relabelled -= cw.Weight
			}
		}
	}
	for i := range stats.Missing {
		feature := &f.features[i]
		for j := range n {
			switch o.Codes[i].At(j) {
			case feature.MissingCode():
				stats.Missing[i] += o.RowsOf(j)
			case feature.OtherCode():
				stats.Other[i] += o.RowsOf(j)
			}
		}
	}
	return nil
}

// ReadObjectStats returns the statistics that Coalesce wrote: those of all
// shards of each part, added up.
func ReadObjectStats(ctx context.Context, out string) (*[dataset.Parts]ObjectStats, error) {
	s, err := openStorage()
	if err != nil {
		return nil, err
	}
	var all [dataset.Parts]ObjectStats
	for part := range dataset.Part(dataset.Parts) {
		sum := &all[part]
		sum.Part = part
		for shard := range shards {
			b, err := s.Read(ctx, statsURL(out, part, shard))
			if isNotExist(err) {
				continue // no row has come to this shard
			}
			if err != nil {
				return nil, err
			}
			var one ObjectStats
			if err := json.Unmarshal(b, &one); err != nil {
				return nil, err
			}
			sum.add(&one)
		}
	}
	return &all, nil
}

func (s *ObjectStats) add(o *ObjectStats) {
	s.Blocks = append(s.Blocks, o.Blocks...)
	s.Rows += o.Rows
	s.Objects += o.Objects
	s.Weight += o.Weight
	s.Relabelled += o.Relabelled
	s.ClassObjects = addTo(s.ClassObjects, o.ClassObjects)
	s.ClassWeight = addTo(s.ClassWeight, o.ClassWeight)
	s.Missing = addTo(s.Missing, o.Missing)
	s.Other = addTo(s.Other, o.Other)
}

func addTo(a, b []int64) []int64 {
	if a == nil {
		a = make([]int64, len(b))
	}
	for i, x := range b {
		a[i] += x
	}
	return a
}
