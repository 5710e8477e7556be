package pipelines

import (
	"context"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// lockFolder takes the lock of a folder, and clears away what a dead run has left: of
// its jobs, on the same runner, and of the files that it was writing.
func lockFolder(ctx context.Context, f *source.Files, folder string, e engine.Engine, reporter engine.Reporter) (*runfolder.Lock, context.Context, error) {
	l, locked, dead, err := runfolder.Acquire(ctx, f.Store, folder, reporter.Warn)
	if err != nil || dead == nil {
		return l, locked, err
	}
	err = (&engine.Driver{Engine: e, RunID: dead.Run}).CancelLeftovers(ctx)
	for _, below := range append(runfolder.Folders(), "", checkpointFolder) {
		if sweepErr := f.Store.Sweep(ctx, objectstore.Join(folder, below)); err == nil && sweepErr != nil {
			err = usage.Errorf("--output: %v", sweepErr)
		}
	}
	if err != nil {
		l.Release(ctx)
		return nil, nil, err
	}
	return l, locked, nil
}
