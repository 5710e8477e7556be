package retraining

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// retain removes runs beyond --keep_runs, the oldest first. The run that LATEST.json names now stays, and
// so does the run that was in use before it. Folders that the history does not name stay, too.
func (w *work) retain(ctx context.Context) error {
	if w.config.KeepRuns == 0 {
		return nil
	}
	history, err := readHistory(ctx, w.files.Store, w.config.Destination)
	if err != nil {
		return err
	}
	now, err := latest.Read(ctx, w.files.Store, w.config.Destination)
	if err != nil {
		return err
	}
	there, err := w.foldersOfRuns(ctx)
	if err != nil {
		return err
	}
	stay := w.staying(history, now)
	for _, a := range history {
		if !there[a.Run] || slices.Contains(stay, a.Run) {
			continue
		}
		delete(there, a.Run) // removed once
		if err := w.files.Store.RemoveAll(ctx, w.url(a.Run)); err != nil {
			return err
		}
		err := w.files.Store.Remove(ctx, w.rejects(a.Run))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// foldersOfRuns returns the runs with files. A run may lack some, if an attempt was killed while it removed
// the folder.
func (w *work) foldersOfRuns(ctx context.Context) (map[string]bool, error) {
	const depth = 8 // checkpoints have folders below theirs
	files, err := w.files.Store.Below(ctx, w.url(runsFolder), depth)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool)
	for _, file := range files {
		if _, name, found := strings.Cut(file.URL, w.url(runsFolder)+"/"); found {
			name, _, _ = strings.Cut(name, "/")
			there[objectstore.Join(runsFolder, name)] = true
		}
	}
	return there, nil
}

// staying lists the runs that stay: the one in use, the one before it, and the newest ones.
func (w *work) staying(history []*Attempt, now *latest.Pointer) []string {
	var stay []string
	if now != nil {
		stay = append(stay, now.Run)
	}
	for i := len(history) - 1; i >= 0; i-- { // the newest first
		a := history[i]
		if now != nil && a.Outcome == Promoted && a.Run == now.Run {
			stay = append(stay, a.Before)
		}
		if a.Run != "" && !slices.Contains(stay, a.Run) && len(stay) < w.config.KeepRuns {
			stay = append(stay, a.Run)
		}
	}
	return stay
}
