package pipelines

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// run is what all stages of a training work with. The stages are values, each made of the
// one before it:
//
//	fitted   features, classes and row statistics, from the rows
//	objects  rows of equal codes put together, in blocks
//	grown    a tree for each member of the grid
//	scored   the trees with the rows that reach their leaves
//	chosen   one of them, or one of their prunings, with its documents
//	Result   what was written
//
// A resumed run begins with objects and trees that a checkpoint holds; a rehearsal makes
// the same stages of a sample of the rows.
type run struct {
	*plan

	driver   *engine.Driver
	files    *source.Files
	place    place
	journal  *journal
	deadline time.Time // at which the run should be over; zero: at no time
}

// place is where a run keeps what its jobs exchange.
type place struct {
	scratch string // folder of what one job leaves to the next one
	blocks  string // folder of object blocks
	spills  bool   // jobs exchange by files there what is too much for a shuffle
}

// narrowed returns the run without the trees that nothing chooses: see plan.narrowed.
func (r *run) narrowed(validates bool) *run {
	narrow := *r
	narrow.plan = r.plan.narrowed(validates, r.driver.Reporter.Note)
	return &narrow
}

// newFolder returns a scratch folder that no job has written to.
func (r *run) newFolder(name string) string {
	return fmt.Sprintf("%s/%s-%d", r.place.scratch, name, len(r.driver.Timings))
}

// spill returns a new folder for what is too much for a job's shuffle; empty if all is to
// stay in memory.
func (r *run) spill(name string) string {
	if !r.place.spills {
		return ""
	}
	return objectstore.Join(r.place.blocks, scratchFolder, name+"-"+uuid.NewString())
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

// pieces returns into how many pieces row groups are cut so that all workers have work.
func pieces(workers, rowGroups int) int { return (workers + rowGroups - 1) / max(1, rowGroups) }
