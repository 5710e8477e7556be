package pipelines

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// run is what all stages of a training work with. Each stage is a value, made from the stage
// before it:
//
//	fitted   features, classes and row statistics, from the rows
//	objects  rows of equal codes put together, in blocks
//	grown    a tree for each member of the grid
//	scored   the trees with the numbers of rows at their leaves
//	chosen   one of them, or one of their prunings, with its documents
//	Result   the chosen tree, its metrics and the files of the run folder
//
// A resumed run begins with the objects and trees of a checkpoint. A rehearsal makes the same
// stages from a sample of the rows.
type run struct {
	*plan

	driver   *engine.Driver
	files    *source.Files
	place    place
	journal  *journal
	deadline time.Time // when the run should be over; zero: there is no deadline
}

// place is where a run keeps what its jobs exchange.
type place struct {
	scratch string // folder of what a job leaves for the next job
	blocks  string // folder of object blocks
	spills  bool   // jobs write what is too large for a shuffle to files in blocks
}

// placeInMemory returns a place below a folder in the memory of this process.
func placeInMemory(folder string) place { return place{scratch: folder, blocks: folder + "/blocks"} }

// changed returns the run with another plan: change alters a copy of the plan and of its settings.
func (r *run) changed(change func(p *plan)) *run {
	own, p, settings := *r, *r.plan, *r.parsed
	p.parsed = &settings
	change(&p)
	own.plan = &p
	return &own
}

// narrowed returns the run without the trees that cannot be chosen: see plan.narrowed.
func (r *run) narrowed(validates bool) *run {
	narrow := *r
	narrow.plan = r.plan.narrowed(validates, host{r.driver})
	return &narrow
}

// newFolder returns a scratch folder that no job has written to.
func (r *run) newFolder(name string) string {
	return fmt.Sprintf("%s/%s-%d", r.place.scratch, name, len(r.driver.Timings))
}

// spill returns a new folder for data that are too large for a job's shuffle; empty: all data
// stay in memory.
func (r *run) spill(name string) string {
	if !r.place.spills {
		return ""
	}
	return objectstore.Join(r.place.blocks, scratchFolder, name+"-"+rand.Text())
}

// removeAll removes folders. An empty name stands for none.
func (r *run) removeAll(ctx context.Context, folders ...string) error {
	for _, url := range folders {
		if url == "" {
			continue
		}
		if err := r.files.Store.RemoveAll(ctx, url); err != nil {
			return err
		}
	}
	return nil
}

// pieces returns the number of pieces to cut each row group into, so that all workers have
// work.
func pieces(workers, rowGroups int) int { return (workers + rowGroups - 1) / max(1, rowGroups) }
