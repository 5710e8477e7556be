package pipelines

import (
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// rehearsalRows are the rows from which a run is foreseen.
const rehearsalRows = 1 << 18

// rehearsal is what a run on a sample has come to, beside the features, classes
// and objects of its training.
type rehearsal struct {
	share  float64 // of all rows
	trees  []*induce.Node
	tally  [dataset.Parts]tally
	bytes  [dataset.Parts]int64 // of blocks
	sent   int64                // bytes of the summaries
	memory int64                // peak of the process so far
	rare   float64              // validation rows of the rarest class
}

// rehearse trains a sample in this process and in memory, up to the grown trees. What
// is in its scratch folder stays, also after an error.
func (t *training) rehearse(ctx context.Context) error {
	if err := t.summarise(ctx); err != nil {
		return err
	}
	t.rehearsed.sent = t.driver.Figures.Exchanged
	if err := t.coalesce(ctx); err != nil {
		return err
	}
	if err := t.induce(ctx, nil); err != nil {
		return err
	}
	t.rehearsed.trees = t.roots
	for part := range dataset.Part(dataset.Parts) {
		if err := t.tallyObjects(ctx, part); err != nil {
			return err
		}
	}
	t.rehearsed.memory = peakMemory()
	return nil
}

// sample returns the training of row groups that have so many rows, or of all.
func (t *training) sample(rows int64) *training {
	in, share := t.input.Sample(rows)
	c, p, s := *t.config, *t.parsed, *t.schema
	c.MemoryObjects, c.Runner, c.LevelsPerJob, c.Deadline = -1, engine.DefaultRunner(), 1, 0
	p.grid = slices.Clone(t.grid)
	for i := range p.grid {
		p.grid[i].params.MinRows = int64(math.Ceil(float64(p.grid[i].params.MinRows) * share))
	}
	s.columns = slices.Clone(s.columns) // their roles are set anew
	scratch := "mem://espalier-" + uuid.NewString()
	return &training{
		config: &c, parsed: &p, grid: p.grid, schema: &s, input: in, costs: t.costs.OfFeatures(), perClass: t.perClass, files: t.files,
		driver: &engine.Driver{Engine: engine.Default(), Reporter: rehearsing{t.driver.Reporter}, Files: t.files}, scratch: scratch, blocks: scratch + "/blocks",
		rehearsed: &rehearsal{share: share},
	}
}

// tallyObjects counts the objects of a part by their rows.
func (t *training) tallyObjects(ctx context.Context, part dataset.Part) error {
	layout := dataset.NewLayout(t.features)
	for _, url := range t.objects[part].Blocks {
		b, err := t.files.Read(ctx, url)
		if err != nil {
			return err
		}
		o := dataset.NewObjects(dataset.Layout{}, len(t.classes), t.spec.Weighted(), 0)
		if err := o.AppendClassesFrom(b, layout); err != nil {
			return err
		}
		for i := range o.Len() {
			t.rehearsed.tally[part].add(o.RowsOf(i))
		}
		t.rehearsed.bytes[part] += int64(len(b))
	}
	return nil
}

// rehearsing shows the jobs of a rehearsal and keeps what it would say to itself:
// the run says it again.
type rehearsing struct{ engine.Reporter }

func (r rehearsing) Job(name string, total int64, unit string) {
	r.Reporter.Job("rehearse "+name, total, unit)
}
func (rehearsing) Warn(string) {}
func (rehearsing) Note(string) {}

var _ engine.Reporter = engine.Silent{}
