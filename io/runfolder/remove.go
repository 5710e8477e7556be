package runfolder

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// RemoveEarlier removes the files of an earlier run.
func (f *Folder) RemoveEarlier(ctx context.Context) error { return f.removeEarlier(ctx, nil) }

// removeEarlier removes the files of an earlier run. Files that this run has written anew
// stay. _SUCCESS goes first: from then on the folder is not finished.
func (f *Folder) removeEarlier(ctx context.Context, written map[string]bool) error {
	if !f.earlier {
		return nil
	}
	stale := slices.DeleteFunc(slices.Sorted(maps.Keys(f.listed)), func(name string) bool {
		return written[name]
	})
	if err := f.remove(ctx, SuccessName); err != nil {
		return err
	}
	if err := parallel.AtOnce(len(stale), func(i int) error { return f.remove(ctx, stale[i]) }); err != nil {
		return err
	}
	for _, name := range append(stale, SuccessName) {
		delete(f.seen, name)
	}
	folders := foldersOf(stale)
	slices.Reverse(folders) // folders below others first
	for _, name := range folders {
		if err := f.store.RemoveEmpty(f.File(name)); err != nil {
			return OutputError(err)
		}
	}
	return nil
}

// remove removes a file of an earlier run.
func (f *Folder) remove(ctx context.Context, name string) error {
	o, ok := f.seen[name]
	var err error
	if !ok && f.listed[name] { // Open has not looked at it, as this run does not write it
		o, err = f.store.Stat(ctx, f.File(name))
	}
	if err == nil && o.URL != "" {
		err = f.store.RemoveSeen(ctx, o)
	}
	switch {
	case errors.Is(err, objectstore.ErrChanged):
		return f.overtaken(name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return OutputError(err)
	default:
		return nil
	}
}
