package train

import (
	"cmp"
	"context"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// opened has the input, the output folder and the checkpoint with which a run begins.
type opened struct {
	input      *source.Input
	output     *runfolder.Folder
	unfinished *checkpoint // checkpoint of an earlier run; may be nil
	lock       *runfolder.Lock
}

// open reads the footers of the input, locks and opens the output folder, and reads the
// checkpoint in that folder, if any. It does as much of this as possible at the same time, because
// object stores answer slowly. The context that it returns ends when the lock is lost.
func open(ctx context.Context, j *engine.Driver, c *config.Train) (*opened, context.Context, error) {
	type both struct {
		*opened

		locked context.Context
	}
	// Compute waits even if ctx has ended: the work itself watches ctx, and leaves no lock.
	waits := context.WithoutCancel(ctx)
	found, err := engine.Compute(waits, j, engine.Footers, 0, "files", func(s *parallel.Steps) (both, error) {
		o, locked, err := openAll(ctx, j, c, s)
		return both{o, locked}, err
	})
	if err == nil {
		j.WarnOfInput(found.input)
	}
	return found.opened, found.locked, err
}

func openAll(
	ctx context.Context, j *engine.Driver, c *config.Train, s *parallel.Steps,
) (o *opened, locked context.Context, err error) {
	f := j.Files
	o = new(opened)
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var inputErr, checkpointErr error
	var wg parallel.Group
	wg.Go(func() { o.input, inputErr = source.OpenInput(reading, f, c.Input, s) })
	if o.lock, locked, err = j.LockFolder(ctx, c.Output); err == nil {
		wg.Go(func() { o.unfinished, checkpointErr = readCheckpoint(reading, f, c) })
		o.output, err = runfolder.Open(reading, f.Store, c.Output, runfolder.Training, c.Overwrite || c.Resume)
	}
	if err != nil {
		cancel() // the other results are not needed
	}
	wg.Wait()
	if err = cmp.Or(err, inputErr, checkpointErr); err != nil && o.lock != nil {
		o.lock.Release(ctx)
	}
	return o, locked, err
}

// refused reports whether a run must not begin because the file in place of its checkpoint is not
// Espalier's. Runs that write no checkpoints ignore the file.
func (o *opened) refused(writes bool) bool {
	if o.unfinished == nil || o.unfinished.refused == nil {
		return false
	}
	if !writes {
		o.unfinished = nil
	}
	return writes
}

// finishedRun returns the result of a run that has nothing left to do.
func (o *opened) finishedRun(ctx context.Context, f *source.Files, c *config.Train) (*Result, error) {
	there, err := runfolder.Read(ctx, f.Store, c.Output, runfolder.Training,
		runfolder.TreeName, runfolder.MetricsName, runfolder.SchemaName, runfolder.FrontierName, runfolder.ImportanceName, runfolder.ReportName,
		runfolder.DistributionName, runfolder.ManifestName)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Tree: there.Tree, Metrics: there.Metrics, Frontier: there.Frontier, Importance: there.Importance,
		Schema: there.Schema, Manifest: there.Manifest, Files: runfolder.Training.Files(c.Output, there),
	}
	if o.unfinished == nil {
		return r, nil
	}
	return r, o.unfinished.remove(ctx, f.Store, c.Output) // the run ended before it could
}
