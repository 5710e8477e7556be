package pipelines

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

// induce grows the tree: levels of jobs while nodes exceed the memory budget,
// then one job for all that do not. It goes on from a checkpoint, or from the
// root if there is none.
func (t *training) induce(ctx context.Context, c *checkpoint) (*induce.Node, error) {
	root, large, small, err := t.start(ctx, c)
	if err != nil {
		return nil, err
	}
	config := t.growConfig()
	levels := config.Levels()
	for len(large) > 0 {
		var next []*induce.Open
		for from := 0; from < len(large); {
			to := t.groupEnd(large, from, levels)
			children, err := t.level(ctx, root, large[from:to], config, levels, fmt.Sprintf("level %d", large[0].Depth))
			if err != nil {
				return nil, err
			}
			next = append(next, children...)
			from = to
		}
		var fitting []*induce.Open
		large, fitting = t.deal(next)
		small = append(small, fitting...)
		if err := t.save(ctx, root, large, small); err != nil {
			return nil, err
		}
	}
	if len(small) == 0 {
		return root, nil
	}
	if err := t.grow(ctx, root, small, config); err != nil {
		return nil, err
	}
	return root, t.save(ctx, root, nil, nil)
}

// start returns the tree so far and its open nodes, those that exceed the
// memory budget apart.
func (t *training) start(ctx context.Context, c *checkpoint) (root *induce.Node, large, small []*induce.Open, err error) {
	if c == nil {
		train := &t.objects[dataset.Train]
		open := induce.NewOpen(train.ClassObjects, train.ClassWeight, 0)
		large, small = t.deal([]*induce.Open{open})
		return open.Node, large, small, t.save(ctx, open.Node, large, small)
	}
	root, large, small = c.open()
	large, small = t.deal(append(large, small...)) // by the budget of this run
	return root, large, small, nil
}

// deal tells open nodes that exceed the memory budget from those that do not.
func (t *training) deal(open []*induce.Open) (large, small []*induce.Open) {
	for _, o := range open {
		if t.fits(o) {
			small = append(small, o)
		} else {
			large = append(large, o)
		}
	}
	return large, small
}

func (t *training) fits(o *induce.Open) bool {
	return t.config.MemoryObjects < 0 || o.Node.Objects <= t.config.MemoryObjects
}

// groupEnd returns where the group of open nodes ends whose histograms fit one
// job.
func (t *training) groupEnd(open []*induce.Open, from int, levels *induce.Levels) int {
	held := int64(0)
	for to := from; to < len(open); to++ {
		if levels.WantsSplit(open[to]) {
			held += int64(levels.Bytes())
		}
		if held > t.config.HistogramMemory && to > from {
			return to
		}
	}
	return len(open)
}

// partial returns the tree so far, encoded, and the number of each of its nodes.
func (t *training) partial(root *induce.Node) ([]byte, map[*induce.Node]int) {
	partial, nodes := induce.Model(root, t.features)
	partial.Label = tree.Label{Column: t.config.Label, Classes: t.classes}
	partial.Estimate(tree.Majority, 1)
	numbers := make(map[*induce.Node]int, len(nodes))
	for i, n := range nodes {
		numbers[n] = i
	}
	return partial.Encode(), numbers
}

// level runs one level for some open nodes and returns their children.
func (t *training) level(ctx context.Context, root *induce.Node, open []*induce.Open, config transforms.GrowConfig, levels *induce.Levels, name string) ([]*induce.Open, error) {
	var numbers map[*induce.Node]int
	config.Tree, numbers = t.partial(root)
	config.Nodes = growNodes(open, numbers, levels)
	config.Out = t.newFolder("level")
	tasks := t.blockTasks(dataset.Train)
	what := job{name, int64(len(tasks)), fmt.Sprintf("blocks, %d open nodes", len(open)), tasksDone}
	err := t.jobs.run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
		transforms.Level(s, tasks, config)
	})
	if err != nil {
		return nil, err
	}
	counts, err := transforms.ReadLevel(ctx, &config, levels)
	if err != nil {
		return nil, err
	}
	var children []*induce.Open
	for i, o := range open {
		children = append(children, levels.Expand(o, &counts[i])...)
	}
	return children, t.files.store.RemoveAll(ctx, config.Out)
}

func growNodes(open []*induce.Open, numbers map[*induce.Node]int, levels *induce.Levels) []transforms.GrowNode {
	nodes := make([]transforms.GrowNode, len(open))
	for i, o := range open {
		nodes[i] = transforms.GrowNode{
			LevelNode: induce.LevelNode{ID: numbers[o.Node], Weight: o.Node.Weight, Split: levels.WantsSplit(o)},
			Depth:     o.Depth,
		}
	}
	return nodes
}

// grow gathers the objects of small open nodes and grows each in one worker.
func (t *training) grow(ctx context.Context, root *induce.Node, open []*induce.Open, config transforms.GrowConfig) error {
	if open[0].Node != root {
		var numbers map[*induce.Node]int
		config.Tree, numbers = t.partial(root)
		config.Nodes = growNodes(open, numbers, config.Levels())
	} else {
		config.Nodes = make([]transforms.GrowNode, 1)
	}
	config.Out = t.newFolder("grow")
	weight := int64(0)
	for _, o := range open {
		weight += o.Node.Weight
	}
	what := job{"induce", weight, "weight settled", func(p *transforms.Progress) (int64, string) {
		return p.Weight.Load(), fmt.Sprintf("%d leaves", p.Nodes.Load())
	}}
	err := t.jobs.run(ctx, what, t.blockTasks(dataset.Train), func(s beam.Scope, tasks beam.PCollection) {
		transforms.Grow(s, tasks, config)
	})
	if err != nil {
		return err
	}
	grown, err := transforms.ReadGrown(ctx, config.Out, len(open))
	if err != nil {
		return err
	}
	for i, o := range open {
		*o.Node = *grown[i]
	}
	return nil
}

// newFolder returns a scratch folder that no job has written to.
func (t *training) newFolder(name string) string {
	return fmt.Sprintf("%s/%s-%d", t.scratch, name, len(t.jobs.timings))
}
