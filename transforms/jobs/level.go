package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
)

// GrowConfig holds the settings of all jobs that grow trees.
type GrowConfig struct {
	Config
	bylevel.Setting

	Weighted bool  // whether rows have weights other than 1
	Widths   []int // bytes of the codes of each feature

	// Cache keeps blocks from one job to the next; nil: every job reads its blocks.
	Cache *BlockCache `json:"-"`
}

// LevelConfig describes how a job grows trees by levels.
type LevelConfig struct {
	GrowConfig

	Levels int   // levels that the job grows, at least 1
	Budget int64 // a node with at most this many objects is small: it is grown in memory
	Memory int64 // greatest size in bytes of the histograms of a pass
	Level  int   // level of a DoFn within the job; Level sets it
}

// LevelState is the pass that counts a level. It is stored in a file, because later levels are not
// known when the graph of the job is built, and so that the graph stays small for large trees.
type LevelState struct {
	Growth *bylevel.Growth `json:"growth,omitempty"` // at the beginning of the level; nil if the job grows a single level
	Pass   *bylevel.Pass   `json:"pass,omitempty"`   // nil if the job ended before the level
}

// Level counts the objects of tasks, a PCollection<[]byte> of Task, for the pass written by
// WriteLevel. The job then expands the tree itself and continues with the next level. It ends after
// LevelConfig.Levels levels, or before a level that needs more than one pass. ReadLevel reads the
// result.
func Level(s beam.Scope, tasks beam.PCollection, c LevelConfig) {
	s = s.Scope("transforms.Level")
	for c.Level = range max(1, c.Levels) {
		first := &levelFn{taskFn[*levelCounter]{Job: &levelCounter{LevelConfig: c}}}
		counted := beam.GroupByKey(s, beam.ParDo(s, first, tasks))
		merged := beam.ParDo(s, &mergeLevelFn{LevelConfig: c}, counted)
		if c.Level+1 < c.Levels {
			next := beam.ParDo(s, &advanceFn{LevelConfig: c}, beam.GroupByKey(s, merged))
			tasks = beam.DropKey(s, beam.Reshuffle(s, next))
		}
	}
}

// layout returns the layout of the codes in blocks.
func (c *GrowConfig) layout() dataset.Layout {
	l := dataset.Layout{Offsets: make([]int, len(c.Widths)), Widths: c.Widths}
	for i, w := range c.Widths {
		l.Offsets[i] = l.Stride
		l.Stride += w
	}
	return l
}

// load decodes an object block.
func (c *GrowConfig) load(block []byte) (*dataset.Objects, error) {
	n, err := dataset.BlockLen(block)
	if err != nil {
		return nil, err
	}
	l := c.layout()
	o := dataset.NewObjects(l, c.Classes, c.Weighted, n)
	return o, o.AppendFrom(block, l)
}

// readBlock reads the block of a task.
func readBlock(ctx context.Context, t Task) ([]byte, error) {
	b, err := read(ctx, t.File)
	progressOf(ctx).Read.Add(int64(len(b)))
	return b, err
}

func stateURL(out string, level int) string { return fmt.Sprintf("%s/state-%d", out, level) }
func tasksURL(out string) string            { return out + "/tasks" }
func pieceURL(out string, level int, k int64) string {
	return fmt.Sprintf("%s/piece-%d-%x", out, level, k)
}

type levelFn struct{ taskFn[*levelCounter] }

// levelCounter counts objects into the histograms of a pass.
type levelCounter struct {
	LevelConfig

	counter *bylevel.PassCounter // nil before the first task, because the state is not written earlier
}

// open reads the state, and begins to count.
func (f *levelCounter) open(ctx context.Context) error {
	state, err := readState(ctx, f.Out, f.Level)
	if err != nil {
		return err
	}
	grower := bylevel.NewGrower(f.Setting)
	f.counter = grower.Counter(state.Pass)
	atLeast(&progressOf(ctx).Histogram, grower.PassBytes(state.Pass))
	return nil
}

func (f *levelCounter) do(ctx context.Context, p *pool, t Task, _ func(int64, []byte)) error {
	if f.counter == nil {
		if err := f.open(ctx); err != nil {
			return err
		}
	}
	return p.do(ctx, func(int) error { return f.count(ctx, t) })
}

// count counts the objects of one block.
func (f *levelCounter) count(ctx context.Context, t Task) error {
	o, err := f.objects(ctx, t)
	if err != nil {
		return err
	}
	f.counter.Add(o)
	progressOf(ctx).Tasks.Add(1)
	progressOf(ctx).Objects.Add(int64(o.Len()))
	return nil
}

//nolint:unparam // a firstHalf, whose type arguments the linter does not follow
func (f *levelCounter) end(ctx context.Context, emit func(int64, []byte)) error {
	counter := f.counter
	if counter == nil {
		return nil
	}
	f.counter = nil
	if f.Handover != nil {
		f.Handover.count(counter)
		return nil
	}
	counter.Pieces(func(key int64, b []byte) {
		progressOf(ctx).Exchanged.Add(int64(len(b)))
		emit(key, b)
	})
	return nil
}

// mergeLevelFn adds up the pieces of a key and writes the sum. It emits an empty element, so that
// advanceFn waits for all sums.
type mergeLevelFn struct {
	LevelConfig

	grower *bylevel.Grower
}

func (f *mergeLevelFn) StartBundle(_ context.Context, _ func(int64, []byte)) error {
	f.grower = bylevel.NewGrower(f.Setting)
	return nil
}

func (f *mergeLevelFn) ProcessElement(
	ctx context.Context, key int64, values func(*[]byte) bool, emit func(int64, []byte),
) error {
	return f.Within(ctx, func(ctx context.Context) error {
		b, err := f.grower.MergePieces(key, elements.Collect(values))
		if err != nil {
			return err
		}
		if err := write(ctx, pieceURL(f.Out, f.Level, key), b); err != nil {
			return err
		}
		emit(0, nil)
		return nil
	})
}

// advanceFn expands the tree by the counted level. It emits the tasks again if the job also counts
// the next level.
type advanceFn struct{ LevelConfig }

func (f *advanceFn) ProcessElement(ctx context.Context, _ int64, _ func(*[]byte) bool, emit func(int64, []byte)) error {
	return f.Within(ctx, func(ctx context.Context) error { return f.advance(ctx, emit) })
}

func (f *advanceFn) advance(ctx context.Context, emit func(int64, []byte)) error {
	state, err := readState(ctx, f.Out, f.Level)
	if err != nil {
		return err
	}
	grower := bylevel.NewGrower(f.Setting)
	passes := grower.Passes(state.Growth, f.Memory) // the single pass that was counted
	children, err := grower.Expand(state.Growth, passes, 0, f.Workers, func(p *bylevel.Pass) (*bylevel.Counts, error) {
		return ReadCounts(ctx, &f.LevelConfig, grower, p, f.Level)
	})
	if err != nil {
		return err
	}
	state.Growth.Next(children, f.Budget)
	state.Pass = nil
	if passes := grower.Passes(state.Growth, f.Memory); len(passes) == 1 {
		state.Pass = &passes[0]
	}
	if err := write(ctx, stateURL(f.Out, f.Level+1), elements.MustJSON(state)); err != nil || state.Pass == nil {
		return err
	}
	b, err := read(ctx, tasksURL(f.Out))
	if err != nil {
		return err
	}
	var tasks [][]byte
	if err := json.Unmarshal(b, &tasks); err != nil {
		return err
	}
	for i, task := range tasks {
		emit(int64(i), task)
	}
	return nil
}

// readState reads the state of a level.
func readState(ctx context.Context, out string, level int) (*LevelState, error) {
	b, err := read(ctx, stateURL(out, level))
	if err != nil {
		return nil, err
	}
	state := new(LevelState)
	return state, json.Unmarshal(b, state)
}

// WriteLevel writes the files that Level reads: the state and, if the job grows several levels, the
// tasks.
func WriteLevel(ctx context.Context, c *LevelConfig, state *LevelState, tasks []Task) error {
	if c.Levels > 1 {
		encoded := make([][]byte, len(tasks))
		for i, t := range tasks {
			encoded[i] = t.Encode()
		}
		if err := write(ctx, tasksURL(c.Out), elements.MustJSON(encoded)); err != nil {
			return err
		}
	}
	return write(ctx, stateURL(c.Out, 0), elements.MustJSON(state))
}

// ReadLevel returns the last state of a job of Level, and its level within the job. If the state
// has a pass, the pass was counted: see ReadCounts.
func ReadLevel(ctx context.Context, c *LevelConfig) (*LevelState, int, error) {
	for level := c.Levels - 1; ; level-- {
		state, err := readState(ctx, c.Out, level)
		if level > 0 && isNotExist(err) {
			continue
		}
		return state, level, err
	}
}

// ReadCounts returns the counts of a pass at a level of a job.
func ReadCounts(
	ctx context.Context, c *LevelConfig, grower *bylevel.Grower, p *bylevel.Pass, level int,
) (*bylevel.Counts, error) {
	if c.Handover != nil {
		return grower.Total(p, c.Handover.counters), nil
	}
	out := c.Out
	keys := grower.PieceKeys(p)
	urls := make([]string, len(keys))
	for i, key := range keys {
		urls[i] = pieceURL(out, level, key)
	}
	counts := grower.NewCounts(p)
	err := readEach(ctx, urls, func(i int, b []byte) error {
		if b == nil {
			return fmt.Errorf("the job has not written %s", urls[i])
		}
		return grower.AddPiece(counts, keys[i], b)
	})
	return counts, err
}
