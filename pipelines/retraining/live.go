package retraining

import (
	"context"
	"errors"
	"path"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// ErrNoRun is the error if no attempt of a destination has made a run.
var ErrNoRun = errors.New("no attempt has made the run")

// Record records the live figures of a tree in the history of the destination whose attempt has made its
// run.
func Record(ctx context.Context, s *objectstore.Store, destination string, l *runfolder.Live, t *runfolder.LiveTree) error {
	if destination == "" {
		return ErrNoRun
	}
	history, err := readHistory(ctx, s, destination)
	if err != nil {
		return err
	}
	for _, a := range history {
		if a.Run != "" && path.Base(a.Run) == t.Run && (a.Digest == "" || a.Digest == t.Digest) {
			return runfolder.RecordLive(ctx, s, destination, l, t)
		}
	}
	return ErrNoRun
}
