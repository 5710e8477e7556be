package train

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// run takes a training through its stages. Each stage makes a value from the value of the stage before it:
//
//	fitter     fitted   features, classes and row statistics, from the rows
//	coalescer  objects  rows with equal codes merged, in blocks
//	grower     grown    a tree for each member of the grid
//	scorer     scored   the trees with the numbers of rows at their leaves
//	choosing   chosen   one of the trees or of their prunings, with its documents
//	writer     Result   the chosen tree, its metrics and the files of the run folder
//
// A resumed run begins with the objects and trees of a checkpoint.
type run struct {
	stage

	journal  *journal
	deadline time.Time // time when the run should be over; zero: no deadline
}

// stage has what every stage needs: the plan of the run, the driver of its jobs, and the place where jobs
// exchange their data.
type stage struct {
	*plan

	driver *engine.Driver
	files  *source.Files
	place  place
}

// place has the folders of the data that a run's jobs exchange.
type place struct {
	scratch string // folder of the data that a job leaves for the next job
	blocks  string // folder of object blocks
	spills  bool   // whether jobs write data that are too large for a shuffle to files in blocks
}

// placeInMemory returns a place below a folder in the memory of this process.
func placeInMemory(folder string) place { return place{scratch: folder, blocks: folder + "/blocks"} }

// newFolder returns a scratch folder that no job has written to.
func (s *stage) newFolder(name string) string {
	return fmt.Sprintf("%s/%s-%d", s.place.scratch, name, len(s.driver.Timings))
}

// spill returns a new folder for data that are too large for a job's shuffle; empty: all data
// stay in memory.
func (s *stage) spill(name string) string {
	if !s.place.spills {
		return ""
	}
	return objectstore.Join(s.place.blocks, scratchFolder, name+"-"+rand.Text())
}

// removeAll removes folders. It ignores empty names.
func (s *stage) removeAll(ctx context.Context, folders ...string) error {
	for _, url := range folders {
		if url == "" {
			continue
		}
		if err := s.files.Store.RemoveAll(ctx, url); err != nil {
			return err
		}
	}
	return nil
}
