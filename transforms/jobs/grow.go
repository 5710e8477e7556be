package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/tree"
)

// SmallConfig describes how a job grows the small nodes of the trees, each in a single worker.
type SmallConfig struct {
	GrowConfig

	Together   int    // trees that a worker grows together from the root, if the root is small; 0: all
	Partitions int    // number of partitions of the small nodes
	Spill      string // folder for objects between the halves of the job; empty: they go through the shuffle
	Memory     int64  // bytes of objects and of their growth in a process; 0: unlimited
	Deadline   int64  // Unix time in ms at which open nodes become leaves; 0: never
}

// smallState describes the small nodes, and is stored in a file.
type smallState struct {
	Routes []bylevel.Route `json:"routes"`
	Nodes  []smallNode     `json:"nodes"`
}

// smallNode is a small node with the trees that a single worker grows below it.
type smallNode struct {
	At        int           `json:"at"` // index in the small nodes of the growth
	Trees     []int         `json:"trees"`
	Objects   int64         `json:"objects"`
	Path      []induce.Step `json:"path"`
	Partition int           `json:"partition"`
}

// rootIsSmall reports whether the root is small. Then all objects are needed, and blocks are used
// unchanged.
func (s *smallState) rootIsSmall() bool { return len(s.Routes) > 0 && s.Routes[0].At >= 0 }

// Grow gathers the objects of the small nodes by partition, and grows the subtrees of these nodes.
// tasks is a PCollection<[]byte> of Task, which name object blocks. Call WriteSmall before it, and
// ReadGrown to read the result.
func Grow(s beam.Scope, tasks beam.PCollection, c SmallConfig) {
	addJob(s.Scope("transforms.Grow"), tasks, &gatherFn{taskFn[*gatherer]{Job: &gatherer{SmallConfig: c}}},
		&growFn{mergeFn[*subtreeGrower]{Job: &subtreeGrower{SmallConfig: c}}})
}

type (
	gatherFn struct{ taskFn[*gatherer] }
	growFn   struct{ mergeFn[*subtreeGrower] }
)

// WriteSmall assigns the small nodes of a growth to partitions, and writes the state that Grow
// reads. A partition has at most this many objects, or a single node. It sets Partitions.
func WriteSmall(ctx context.Context, c *SmallConfig, g *bylevel.Growth, objects int64) error {
	return write(ctx, stateURL(c.Out, 0), elements.MustJSON(newSmallState(c, g, objects)))
}

// newSmallState assigns the small nodes to partitions, and sets how many there are.
func newSmallState(c *SmallConfig, g *bylevel.Growth, objects int64) *smallState {
	state := &smallState{Routes: g.Routes(g.Small)}
	held := int64(0)
	c.Partitions = 1
	for at, o := range g.Small {
		together := len(o.Members)
		if c.Together > 0 && o.Depth == 0 {
			together = min(together, c.Together)
		}
		for trees := range slices.Chunk(o.Trees(), together) {
			if held > 0 && (held+o.Count > objects || o.Depth == 0) {
				c.Partitions++
				held = 0
			}
			held += o.Count
			state.Nodes = append(state.Nodes, smallNode{at, trees, o.Count, o.Path.Steps(), c.Partitions - 1})
		}
	}
	return state
}

func readSmall(ctx context.Context, out string) (*smallState, error) {
	b, err := read(ctx, stateURL(out, 0))
	if err != nil {
		return nil, err
	}
	state := new(smallState)
	return state, json.Unmarshal(b, state)
}

// gatherer sends the objects of each small node to the node's partitions.
type gatherer struct {
	SmallConfig

	state  *smallState
	router *bylevel.Router
	nodes  [][]int // for each small node of the growth: its entries in the state

	mu      sync.Mutex
	packets [][]byte // packets of objects by partition
	held    int      // bytes of packets
}

func (f *gatherer) begin(ctx context.Context) error {
	var err error
	if f.state, err = readSmall(ctx, f.Out); err != nil {
		return err
	}
	f.router = bylevel.NewRouter(f.state.Routes, f.Columns)
	f.nodes = nil
	f.packets = make([][]byte, f.Partitions)
	f.held = 0
	for i, n := range f.state.Nodes {
		for n.At >= len(f.nodes) {
			f.nodes = append(f.nodes, nil)
		}
		f.nodes[n.At] = append(f.nodes[n.At], i)
	}
	return nil
}

func (f *gatherer) do(ctx context.Context, p *pool, t Task, emit func(int64, []byte)) error {
	if f.state.rootIsSmall() {
		for partition := range f.Partitions {
			emit(int64(partition), fileValue(t.File))
		}
		progressOf(ctx).Tasks.Add(1)
		return nil
	}
	if err := p.do(ctx, func(int) error { return f.gather(ctx, t) }); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Spill != "" && f.held > spillBytes {
		return f.flush(ctx, emit, false)
	}
	return nil
}

// gather adds the objects of a block to the packets of their nodes.
func (f *gatherer) gather(ctx context.Context, t Task) error {
	o, err := f.objects(ctx, t)
	if err != nil {
		return err
	}
	f.router.Route(o, func(at int, ids []int32) {
		packet := o.Select(ids).AppendBlock(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, node := range f.nodes[at] {
			to := &f.packets[f.state.Nodes[node].Partition]
			before := len(*to)
			*to = elements.AppendPacket(*to, node, packet)
			f.held += len(*to) - before
		}
	})
	progressOf(ctx).Tasks.Add(1)
	return nil
}

// flush sends the packets.
func (f *gatherer) flush(ctx context.Context, emit func(int64, []byte), inline bool) error {
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

func (f *gatherer) end(ctx context.Context, emit func(int64, []byte)) error {
	return f.flush(ctx, emit, f.held <= inlineBytes)
}

// subtreeGrower grows the subtrees of the small nodes of one partition.
type subtreeGrower struct {
	SmallConfig

	state *smallState
}

func (f *subtreeGrower) begin(ctx context.Context) (err error) {
	f.state, err = readSmall(ctx, f.Out)
	return err
}

// merge grows the subtrees of a partition and writes them.
func (f *subtreeGrower) merge(ctx context.Context, key int64, list [][]byte) error {
	objects := make([]*dataset.Objects, len(f.state.Nodes))
	for i, value := range list {
		if err := f.unpack(ctx, key, value, objects); err != nil {
			return err
		}
		list[i] = nil
	}
	var grown [][]tree.Node
	for i, n := range f.state.Nodes {
		if n.Partition != int(key) {
			continue
		}
		if objects[i] == nil {
			return elements.ErrValue
		}
		trees := make([]induce.Params, len(n.Trees))
		for at, number := range n.Trees {
			trees[at] = f.Trees[number]
		}
		place := induce.NewPlace(n.Path, f.Columns)
		grown = append(grown, inmemory.GrowBelow(objects[i], f.Columns, trees, f.Total, place, f.options(ctx))...)
		if ctx.Err() != nil { // the trees are not complete
			return context.Cause(ctx)
		}
		objects[i] = nil
	}
	if f.Handover != nil {
		f.Handover.grow(key, grown)
		return nil
	}
	return f.write(ctx, key, grown)
}

// write writes the subtrees of a partition.
func (f *subtreeGrower) write(ctx context.Context, key int64, grown [][]tree.Node) error {
	encoded := make([][]byte, len(grown)) // several at a time, because they are large
	p := newPool(f.Workers, 0)
	for i, n := range grown {
		_ = p.do(ctx, func(int) error { // it never fails
			encoded[i] = bylevel.EncodeTree(n)
			return nil
		})
	}
	if err := p.wait(); err != nil {
		return err
	}
	return write(ctx, grownURL(f.Out, int(key)), elements.MustJSON(encoded))
}

// unpack adds the objects of a value to the objects of their nodes.
func (f *subtreeGrower) unpack(ctx context.Context, key int64, value []byte, objects []*dataset.Objects) error {
	b, err := receive(ctx, value)
	if err != nil {
		return err
	}
	if f.state.rootIsSmall() { // the value is a block
		progressOf(ctx).Read.Add(int64(len(b)))
		for i, n := range f.state.Nodes {
			if n.Partition == int(key) {
				if err := f.append(objects, i, b); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for len(b) > 0 {
		var node int
		var block []byte
		if node, block, b, err = elements.NextPacket(b); err != nil {
			return err
		}
		if err := f.append(objects, node, block); err != nil {
			return err
		}
	}
	return nil
}

// append adds a block to the objects of a node.
func (f *subtreeGrower) append(objects []*dataset.Objects, node int, block []byte) error {
	l := f.layout()
	if node >= len(objects) {
		return elements.ErrValue
	}
	if objects[node] == nil {
		objects[node] = dataset.NewObjects(l, f.Classes, f.Weighted, int(f.state.Nodes[node].Objects))
	}
	return objects[node].AppendFrom(block, l)
}

// options returns the options for growing the trees in memory, including progress and deadline.
func (f *subtreeGrower) options(ctx context.Context) inmemory.Options {
	progress := progressOf(ctx)
	together := max(1, min(f.Workers, f.Partitions)) // partitions that grow at the same time
	o := inmemory.Options{
		Workers: max(1, f.Workers/together), Memory: f.Memory / int64(2*together),
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

// ReadGrown puts the subtrees that Grow has grown below the small nodes of the growth, which then
// has no small nodes left. objects is the same as for WriteSmall.
func ReadGrown(ctx context.Context, c *SmallConfig, g *bylevel.Growth, objects int64) error {
	state := newSmallState(c, g, objects)
	lists := make([][][]tree.Node, c.Partitions)
	if c.Handover != nil {
		for partition, grown := range c.Handover.grown {
			lists[partition] = grown
		}
	} else if err := readGrown(ctx, c, lists); err != nil {
		return err
	}
	for _, n := range state.Nodes {
		o := g.Small[n.At]
		list := lists[n.Partition]
		if len(list) < len(n.Trees) {
			return fmt.Errorf("subtrees of partition %d are missing", n.Partition)
		}
		for i, number := range n.Trees {
			at := slices.IndexFunc(o.Members, func(m grow.Member) bool { return m.Tree == number })
			g.Nodes.Graft(o.Members[at], list[i])
		}
		lists[n.Partition] = list[len(n.Trees):]
	}
	g.Small = nil
	return nil
}

// readGrown reads the subtrees of each partition.
func readGrown(ctx context.Context, c *SmallConfig, lists [][][]tree.Node) error {
	urls := make([]string, c.Partitions)
	for i := range urls {
		urls[i] = grownURL(c.Out, i)
	}
	p := newPool(runtime.GOMAXPROCS(0), 0)
	err := readEach(ctx, urls, func(i int, b []byte) error {
		if b == nil {
			return fmt.Errorf("the job has not written %s", urls[i])
		}
		var encoded [][]byte
		if err := json.Unmarshal(b, &encoded); err != nil {
			return err
		}
		lists[i] = make([][]tree.Node, len(encoded))
		for at, b := range encoded {
			err := p.do(ctx, func(int) (err error) {
				lists[i][at], err = bylevel.DecodeTree(b, c.Classes)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return cmp.Or(err, p.wait())
}

// PartitionObjects is the least number of objects for which small nodes get their own partitions.
// Every partition has a file, and many tiny files would be slow.
const PartitionObjects = 1 << 16
