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

// Retain removes runs of a destination, the oldest first. It keeps the runs that staying lists, and folders that the
// history does not name. keep is the number of promoted runs that stay; 0: all runs do.
func Retain(ctx context.Context, s *objectstore.Store, destination string, keep int) error {
	if keep == 0 {
		return nil
	}
	history, _, err := readHistory(ctx, s, destination)
	if err != nil {
		return err
	}
	now, err := latest.Read(ctx, s, destination)
	if err != nil {
		return err
	}
	there, err := runsThere(ctx, s, destination)
	if err != nil {
		return err
	}
	stay := staying(history, now, keep)
	for _, a := range history {
		if !there[a.Run] || slices.Contains(stay, a.Run) {
			continue
		}
		delete(there, a.Run) // removed once
		if now, err = latest.Read(ctx, s, destination); err != nil {
			return err
		}
		if now != nil && now.Run == a.Run { // a person has put it in use meanwhile
			continue
		}
		if err := s.RemoveAll(ctx, objectstore.Join(destination, a.Run)); err != nil {
			return err
		}
		err := s.Remove(ctx, rejectsOf(destination, a.Run))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// runsThere returns the runs with files. A run may lack some files if an attempt was killed while it
// removed the folder.
func runsThere(ctx context.Context, s *objectstore.Store, destination string) (map[string]bool, error) {
	const depth = 8 // checkpoints have nested folders
	folder := objectstore.Join(destination, runsFolder)
	files, err := s.Below(ctx, folder, depth)
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

// staying lists the runs to keep: the run in use, the run before it, as many of the newest promoted runs as keep says, and
// the newest run of each other outcome.
func staying(history []*Attempt, now *latest.Pointer, keep int) []string {
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
		if len(promoted) < keep && !slices.Contains(promoted, a.Run) {
			promoted = append(promoted, a.Run)
		}
	}
	return append(stay, promoted...)
}
