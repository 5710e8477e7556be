package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/memory"
)

// SmallConfig says how one job grows the small nodes of a tree, each in one worker. If
// the root itself is small, the job grows several trees from it.
type SmallConfig struct {
	GrowConfig

	Trees      []induce.Params // parameters of each tree, in place of GrowConfig.Params
	Together   int             // trees that one worker grows at the same time; 0: all
	Nodes      int             // number of small nodes
	Partitions int             // number of partitions of the small nodes
	Spill      string          // folder for objects between the halves of the job; empty: the shuffle has them
	Deadline   int64           // Unix time in ms at which open nodes become leaves; 0: none
}

// smallState is the tree with its small nodes, in a file.
type smallState struct {
	Growth    *levels.Growth `json:"growth"`
	Partition []int          `json:"partition"` // partition of each small node
}

// Grow gathers the objects of the small nodes by partition, and grows the subtrees of
// these nodes. tasks is a PCollection<[]byte> of Task, which names object blocks.
// WriteSmall must come before, and ReadGrown reads the result.
func Grow(s beam.Scope, tasks beam.PCollection, c SmallConfig) {
	s = s.Scope("transforms.Grow")
	gathered := beam.GroupByKey(s, beam.ParDo(s, &gatherFn{SmallConfig: c}, tasks))
	beam.ParDo0(s, &growFn{SmallConfig: c}, gathered)
}

// WriteSmall assigns the small nodes of a growth to partitions, and writes the state that
// Grow reads. A partition has at most the given number of objects, or a single node. It
// sets Nodes, Partitions and Together.
func WriteSmall(ctx context.Context, c *SmallConfig, g *levels.Growth, objects int64) error {
	state := smallState{Growth: g, Partition: make([]int, len(g.Small))}
	held := int64(0)
	c.Nodes, c.Partitions = len(g.Small), 1
	if c.Together == 0 {
		c.Together = len(c.Trees)
	}
	for i, o := range g.Small {
		if held > 0 && held+o.Node.Objects > objects {
			c.Partitions, held = c.Partitions+1, 0
		}
		held += o.Node.Objects
		state.Partition[i] = c.Partitions - 1
	}
	if g.Root.Test == nil { // all trees start from the same objects
		c.Partitions = (len(c.Trees) + c.Together - 1) / c.Together
	}
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	return s.Write(ctx, stateURL(c.Out, 0), MustJSON(state))
}

func readSmall(ctx context.Context, out string) (*smallState, error) {
	s, err := OpenStorage(ctx)
	if err != nil {
		return nil, err
	}
	b, err := s.Read(ctx, stateURL(out, 0))
	if err != nil {
		return nil, err
	}
	state := new(smallState)
	return state, json.Unmarshal(b, state)
}

// gatherFn sends the objects of each small node to the node's partition.
type gatherFn struct {
	SmallConfig

	state   *smallState
	router  *levels.Router
	at      map[int]int // position among the small nodes by number of the node in the tree
	packets [][]byte    // packets of objects by partition
	held    int         // bytes of packets
}

// open reads the state. The first task calls it: only then the state is written.
func (f *gatherFn) open(ctx context.Context) error {
	var err error
	if f.state, err = readSmall(ctx, f.Out); err != nil {
		return err
	}
	f.router = levels.NewRouter(f.state.Growth.Root, f.Columns)
	f.at, f.packets, f.held = f.state.Growth.Numbered(), make([][]byte, f.Partitions), 0
	return nil
}

func (f *gatherFn) ProcessElement(ctx context.Context, task []byte, emit func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	if f.state == nil {
		if err := f.open(ctx); err != nil {
			return err
		}
	}
	progressOf(ctx).Tasks.Add(1)
	defer report(ctx)
	if f.router.Len() == 1 { // the root is small: all objects, in the blocks as they are
		t, err := decodeTask(task)
		if err != nil {
			return err
		}
		for partition := range f.Partitions {
			emit(int64(partition), fileValue(t.File))
		}
		return nil
	}
	_, block, err := readBlock(ctx, task)
	if err != nil {
		return err
	}
	o, err := f.load(block)
	if err != nil {
		return err
	}
	f.gather(o)
	if f.Spill != "" && f.held > spillBytes {
		return f.flush(ctx, emit, false)
	}
	return nil
}

// gather adds the objects of a block to the packets of their nodes.
func (f *gatherFn) gather(o *dataset.Objects) {
	ids := make([][]int32, f.Nodes)
	for i := range o.Len() {
		if at, ok := f.at[f.router.Leaf(o, i)]; ok {
			ids[at] = append(ids[at], int32(i))
		}
	}
	for at, list := range ids {
		if len(list) == 0 {
			continue
		}
		to := &f.packets[f.state.Partition[at]]
		before := len(*to)
		*to = AppendPacket(*to, at, o.Select(list).AppendBlock(nil))
		f.held += len(*to) - before
	}
}

// flush sends the packets.
func (f *gatherFn) flush(ctx context.Context, emit func(int64, []byte), inline bool) error {
	f.held = 0
	for partition, packets := range f.packets {
		if len(packets) == 0 {
			continue
		}
		f.packets[partition] = nil
		value, err := exchange{f.Spill}.send(ctx, packets, inline)
		if err != nil {
			return err
		}
		emit(int64(partition), value)
	}
	return nil
}

func (f *gatherFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	if f.state == nil {
		return nil
	}
	f.state = nil
	return f.flush(ctx, emit, f.held <= inlineBytes)
}

// growFn grows the subtrees of the small nodes of one partition.
type growFn struct {
	SmallConfig

	state *smallState
	pool  *pool
}

func (f *growFn) StartBundle(context.Context) error {
	f.pool = newPool(f.Workers, 0)
	return nil
}

func (f *growFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	if f.state == nil {
		var err error
		if f.state, err = readSmall(ctx, f.Out); err != nil {
			return err
		}
	}
	list := Collect(values)
	defer report(ctx)
	return f.pool.do(ctx, func(int) error { return f.grow(ctx, key, list) })
}

func (f *growFn) FinishBundle(ctx context.Context) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	return reportUntil(ctx, f.pool.wait)
}

// grow grows the subtrees of a partition and writes them.
func (f *growFn) grow(ctx context.Context, key int64, list [][]byte) error {
	objects := make(map[int]*dataset.Objects)
	for _, value := range list {
		if err := f.unpack(ctx, value, objects); err != nil {
			return err
		}
	}
	var grown []*induce.Node
	for at, o := range f.state.Growth.Small {
		trees := f.Trees
		if f.state.Growth.Root.Test == nil {
			trees = trees[int(key)*f.Together : min(len(trees), (int(key)+1)*f.Together)]
		} else if f.state.Partition[at] != int(key) {
			continue
		}
		grown = append(grown, memory.GrowBelow(objects[at], f.Columns, trees, f.Total, o.Place(), f.options(ctx))...)
		if ctx.Err() != nil { // the trees are not complete
			return context.Cause(ctx)
		}
		objects[at] = nil
	}
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	encoded := make([]json.RawMessage, len(grown)) // several at a time, as they are large
	p := newPool(f.Workers, 0)
	for i, n := range grown {
		_ = p.do(ctx, func(int) error { // it does not fail
			encoded[i] = MustJSON(n)
			return nil
		})
	}
	if err := p.wait(); err != nil {
		return err
	}
	return s.Write(ctx, grownURL(f.Out, int(key)), MustJSON(encoded))
}

// unpack adds the objects of a value to the objects of their small nodes.
func (f *growFn) unpack(ctx context.Context, value []byte, objects map[int]*dataset.Objects) error {
	b, err := receive(ctx, value)
	if err != nil {
		return err
	}
	if len(f.state.Growth.Root.Children) == 0 { // the root is small: the value is a block
		progressOf(ctx).Read.Add(int64(len(b)))
		return f.append(objects, 0, b)
	}
	for len(b) > 0 {
		var at int
		var block []byte
		if at, block, b, err = NextPacket(b); err != nil {
			return err
		}
		if err := f.append(objects, at, block); err != nil {
			return err
		}
	}
	return nil
}

// append adds a block to the objects of the small node at a position.
func (f *growFn) append(objects map[int]*dataset.Objects, at int, block []byte) error {
	l := f.layout()
	if at >= len(f.state.Growth.Small) {
		return ErrValue
	}
	if objects[at] == nil {
		objects[at] = dataset.NewObjects(l, f.Classes, f.Weighted, int(f.state.Growth.Small[at].Node.Objects))
	}
	return objects[at].AppendFrom(block, l)
}

// options returns how the trees are grown in memory: with progress, and with an end.
func (f *growFn) options(ctx context.Context) memory.Options {
	progress := progressOf(ctx)
	o := memory.Options{
		Workers: f.Workers,
		Settled: func(weight int64) {
			progress.Nodes.Add(1)
			progress.Weight.Add(weight)
		},
	}
	o.Stop = func() bool { return ctx.Err() != nil }
	if f.Deadline > 0 {
		deadline := time.UnixMilli(f.Deadline)
		o.Stop = func() bool { return ctx.Err() != nil || time.Now().After(deadline) }
	}
	return o
}

func grownURL(out string, partition int) string { return fmt.Sprintf("%s/grown-%06d", out, partition) }

// ReadGrown returns the subtrees that Grow wrote, in the order of the small nodes. If the
// root is small, it returns the trees in the order of SmallConfig.Trees.
func ReadGrown(ctx context.Context, c *SmallConfig) ([]*induce.Node, error) {
	urls := make([]string, c.Partitions)
	for i := range urls {
		urls[i] = grownURL(c.Out, i)
	}
	lists := make([][]json.RawMessage, len(urls))
	err := readEach(ctx, urls, func(i int, b []byte) error {
		if b == nil {
			return fmt.Errorf("the job has not written %s", urls[i])
		}
		return json.Unmarshal(b, &lists[i])
	})
	if err != nil {
		return nil, err
	}
	encoded := slices.Concat(lists...)
	if want := c.Nodes * len(c.Trees); len(encoded) != want {
		return nil, fmt.Errorf("%d subtrees were grown instead of %d", len(encoded), want)
	}
	grown := make([]*induce.Node, len(encoded))
	p := newPool(runtime.GOMAXPROCS(0), 0)
	for i, b := range encoded {
		if err := p.do(ctx, func(int) error { return json.Unmarshal(b, &grown[i]) }); err != nil {
			break // wait returns the error
		}
	}
	return grown, p.wait()
}

// PartitionObjects is the least number of objects for which small nodes get partitions of
// their own. Every partition has a file, and many tiny files would be slow.
const PartitionObjects = 1 << 16
