package transforms

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/tree"
)

// partBytes bounds what leaves a worker under one key.
const partBytes = 4 << 20

// Level counts the objects of tasks, a PCollection<[]byte> of Task, into the
// histograms of the open nodes. It writes one file per part of the level, see
// ReadLevel.
func Level(s beam.Scope, tasks beam.PCollection, c GrowConfig) {
	s = s.Scope("transforms.Level")
	merged := beam.GroupByKey(s, beam.ParDo(s, &levelFn{GrowConfig: c}, tasks))
	beam.ParDo0(s, &mergeLevelFn{GrowConfig: c}, merged)
}

// Levels returns what the driver and the workers of a level share.
func (c *GrowConfig) Levels() *induce.Levels {
	return induce.NewLevels(c.Columns, c.Params, c.Classes, c.Total)
}

type levelFn struct {
	GrowConfig

	level *induce.Level
}

func (f *levelFn) StartBundle(_ context.Context, _ func(int64, []byte)) error {
	t, err := tree.Decode(f.Tree)
	if err != nil {
		return err
	}
	nodes := make([]induce.LevelNode, len(f.Nodes))
	for i := range nodes {
		nodes[i] = f.Nodes[i].LevelNode
	}
	f.level = f.Levels().Level(t, nodes)
	return nil
}

func (f *levelFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	_, block, err := readBlock(ctx, task)
	if err != nil {
		return err
	}
	o, err := f.load(block)
	if err != nil {
		return err
	}
	f.level.Add(o, f.Workers)
	progress.Tasks.Add(1)
	return nil
}

func (f *levelFn) FinishBundle(_ context.Context, emit func(int64, []byte)) error {
	f.level.Parts(partBytes, emit)
	return nil
}

type mergeLevelFn struct {
	GrowConfig

	levels *induce.Levels
}

func (f *mergeLevelFn) StartBundle(context.Context) error {
	f.levels = f.Levels()
	return nil
}

func (f *mergeLevelFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	b, err := f.levels.MergeParts(key, collect(values))
	if err != nil {
		return err
	}
	s, err := openStorage()
	if err != nil {
		return err
	}
	return s.Write(ctx, partURL(f.Out, key), b)
}

func partURL(out string, key int64) string { return fmt.Sprintf("%s/part-%x", out, key) }

// ReadLevel returns the counts of the open nodes that Level wrote.
func ReadLevel(ctx context.Context, c *GrowConfig, levels *induce.Levels) ([]induce.Counts, error) {
	s, err := openStorage()
	if err != nil {
		return nil, err
	}
	counts := levels.NewCounts(len(c.Nodes))
	for i, n := range c.Nodes {
		for _, key := range levels.PartKeys(i, n.Split, partBytes) {
			b, err := s.Read(ctx, partURL(c.Out, key))
			if err != nil {
				return nil, errors.Join(fmt.Errorf("counts of open node %d", i), err)
			}
			if err := levels.AddPart(counts, key, b); err != nil {
				return nil, err
			}
		}
	}
	return counts, nil
}
