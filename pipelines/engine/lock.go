package engine

import (
	"context"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// CheckpointFolder is the folder below a run folder that has the run's state until it has
// finished.
const CheckpointFolder = "checkpoints"

// LockFolder takes the lock of a run folder. If a dead run held the lock, LockFolder cancels the
// jobs of that run on the engine, and removes the temporary files of that run. The context
// that it returns ends when the lock is lost.
func (j *Driver) LockFolder(ctx context.Context, folder string) (*runfolder.Lock, context.Context, error) {
	l, locked, dead, err := runfolder.Acquire(ctx, j.Files.Store, folder, j.Reporter.Warn)
	if err != nil || dead == nil {
		return l, locked, err
	}
	former := &Driver{Engine: j.Engine, Config: j.Config, RunID: dead.Run}
	err = former.CancelLeftovers(ctx)
	for _, below := range append(runfolder.Folders(), "", CheckpointFolder) {
		if sweepErr := j.Files.Store.Sweep(ctx, objectstore.Join(folder, below)); err == nil && sweepErr != nil {
			err = usage.Errorf("--output: %v", sweepErr)
		}
	}
	if err != nil {
		l.Release(ctx)
		return nil, nil, err
	}
	return l, locked, nil
}
