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

// retain removes runs beyond --keep_runs, the oldest first. It keeps the runs that staying lists, and
// folders that the history does not name.
func (w *work) retain(ctx context.Context) error {
	if w.config.KeepRuns == 0 {
		return nil
	}
	history, _, err := readHistory(ctx, w.files.Store, w.config.Destination)
	if err != nil {
		return err
	}
	now, err := latest.Read(ctx, w.files.Store, w.config.Destination)
	if err != nil {
		return err
	}
	there, err := w.runsThere(ctx)
	if err != nil {
		return err
	}
	stay := w.staying(history, now)
	for _, a := range history {
		if !there[a.Run] || slices.Contains(stay, a.Run) {
			continue
		}
		delete(there, a.Run) // removed once
		if now, err = latest.Read(ctx, w.files.Store, w.config.Destination); err != nil {
			return err
		}
		if now != nil && now.Run == a.Run { // a person has put it in use meanwhile
			continue
		}
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

// runsThere returns the runs with files. A run may lack some files if an attempt was killed while it
// removed the folder.
func (w *work) runsThere(ctx context.Context) (map[string]bool, error) {
	const depth = 8 // checkpoints have nested folders
	folder := w.url(runsFolder)
	files, err := w.files.Store.Below(ctx, folder, depth)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool)
	for _, file := range files {
		if _, name, found := strings.Cut(file.URL, strings.TrimRight(folder, "/")+"/"); found {
			name, _, _ = strings.Cut(name, "/")
			there[objectstore.Join(runsFolder, name)] = true
		}
	}
	return there, nil
}

// staying lists the runs to keep: the run in use, the run before it, the newest promoted runs, and the
// newest run of each other outcome.
func (w *work) staying(history []*Attempt, now *latest.Pointer) []string {
	var stay, promoted []string
	if now != nil {
		stay = append(stay, now.Run)
	}
	seen := make(map[string]bool) // outcomes
	for _, a := range slices.Backward(history) {
		if a.Outcome != Promoted {
			if a.Run != "" && !seen[a.Outcome] {
				stay = append(stay, a.Run)
				seen[a.Outcome] = true
			}
			continue
		}
		if now != nil && a.Run == now.Run {
			stay = append(stay, a.Before)
		}
		if len(promoted) < w.config.KeepRuns && !slices.Contains(promoted, a.Run) {
			promoted = append(promoted, a.Run)
		}
	}
	return append(stay, promoted...)
}
