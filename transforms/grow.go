package transforms

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// GrowConfig is what the jobs that grow a tree share.
type GrowConfig struct {
	Params   induce.Params
	Classes  int
	Weighted bool
	Total    int64          // W
	Columns  []split.Column // per feature
	Widths   []int          // bytes of each feature's codes
	Tree     []byte         // the tree so far, as tree.json; empty: the root alone
	Nodes    []GrowNode     // the open nodes that this job is about
	Workers  int            // goroutines of a bundle; 1 on engines
	Out      string         // folder of results
}

// GrowNode is an open node of the tree so far.
type GrowNode struct {
	induce.LevelNode

	Depth int
}

func (c *GrowConfig) layout() dataset.Layout {
	l := dataset.Layout{Offsets: make([]int, len(c.Widths)), Widths: c.Widths}
	for i, w := range c.Widths {
		l.Offsets[i] = l.Stride
		l.Stride += w
	}
	return l
}

// load reads an object block.
func (c *GrowConfig) load(block []byte) (*dataset.Objects, error) {
	n, err := dataset.BlockLen(block)
	if err != nil {
		return nil, err
	}
	l := c.layout()
	o := dataset.NewObjects(l, c.Classes, c.Weighted, n)
	return o, o.AppendFrom(block, l)
}

// readBlock reads the block that a task names.
func readBlock(ctx context.Context, task []byte) (Task, []byte, error) {
	var t Task
	if err := json.Unmarshal(task, &t); err != nil {
		return t, nil, err
	}
	s, err := openStorage()
	if err != nil {
		return t, nil, err
	}
	b, err := s.Read(ctx, t.File)
	return t, b, err
}

// Grow gathers the objects of the open nodes from the blocks of tasks, a
// PCollection<[]byte> of Task, and grows each node's subtree in one worker. It
// writes one encoded induce.Node per open node, see ReadGrown.
func Grow(s beam.Scope, tasks beam.PCollection, c GrowConfig) {
	s = s.Scope("transforms.Grow")
	gathered := beam.GroupByKey(s, beam.ParDo(s, &gatherFn{GrowConfig: c}, tasks))
	beam.ParDo0(s, &growFn{GrowConfig: c}, gathered)
}

// gatherFn sends the objects of each open node to where it is grown.
type gatherFn struct {
	GrowConfig

	router *tree.Router
	at     map[int]int // position in Nodes by tree node
}

func (f *gatherFn) StartBundle(_ context.Context, _ func(int64, []byte)) error {
	if len(f.Tree) == 0 {
		return nil
	}
	t, err := tree.Decode(f.Tree)
	if err != nil {
		return err
	}
	f.router = t.Router()
	f.at = make(map[int]int, len(f.Nodes))
	for i, n := range f.Nodes {
		f.at[n.ID] = i
	}
	return nil
}

func (f *gatherFn) ProcessElement(ctx context.Context, task []byte, emit func(int64, []byte)) error {
	_, block, err := readBlock(ctx, task)
	if err != nil {
		return err
	}
	progress.Tasks.Add(1)
	if f.router == nil { // the root: all objects, as they are
		emit(0, block)
		return nil
	}
	o, err := f.load(block)
	if err != nil {
		return err
	}
	ids := make([][]int32, len(f.Nodes))
	for i := range o.Len() {
		if at, ok := f.at[f.router.Leaf(o, i)]; ok {
			ids[at] = append(ids[at], int32(i))
		}
	}
	for at, list := range ids {
		if len(list) > 0 {
			emit(int64(at), o.Select(list).AppendBlock(nil))
		}
	}
	return nil
}

// growFn grows the subtree of one open node.
type growFn struct {
	GrowConfig

	pool *pool
}

func (f *growFn) StartBundle(context.Context) error {
	f.pool = newPool(f.Workers, 0)
	return nil
}

func (f *growFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	list := collect(values)
	return f.pool.do(func(int) error { return f.grow(ctx, key, list) })
}

func (f *growFn) FinishBundle(context.Context) error { return f.pool.wait() }

func (f *growFn) grow(ctx context.Context, key int64, list [][]byte) error {
	n := 0
	for _, b := range list {
		k, err := dataset.BlockLen(b)
		if err != nil {
			return err
		}
		n += k
	}
	l := f.layout()
	o := dataset.NewObjects(l, f.Classes, f.Weighted, n)
	for _, b := range list {
		if err := o.AppendFrom(b, l); err != nil {
			return err
		}
	}
	root := induce.Grow(o, f.Columns, f.Params, f.Total, f.Nodes[key].Depth, induce.Options{
		Workers: f.Workers,
		Settled: func(weight int64) {
			progress.Nodes.Add(1)
			progress.Weight.Add(weight)
		},
	})
	s, err := openStorage()
	if err != nil {
		return err
	}
	return s.Write(ctx, grownURL(f.Out, int(key)), mustJSON(root))
}

func grownURL(out string, node int) string { return fmt.Sprintf("%s/grown-%06d", out, node) }

// ReadGrown returns the subtrees that Grow wrote, in the order of its open
// nodes.
func ReadGrown(ctx context.Context, out string, nodes int) ([]*induce.Node, error) {
	s, err := openStorage()
	if err != nil {
		return nil, err
	}
	grown := make([]*induce.Node, nodes)
	for i := range grown {
		b, err := s.Read(ctx, grownURL(out, i))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &grown[i]); err != nil {
			return nil, err
		}
	}
	return grown, nil
}
