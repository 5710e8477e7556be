package runfolder

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Vacate removes the mark of an earlier run, as what it stands for is about to change, and
// then the files that it has left and that this one does not write.
func (f *Folder) Vacate(ctx context.Context, written map[string]bool) error {
	if !f.earlier {
		return nil
	}
	stale := slices.DeleteFunc(slices.Sorted(maps.Keys(f.owned)), func(name string) bool { return written[name] })
	if err := f.remove(ctx, SuccessName); err != nil {
		return err
	}
	if err := parallel.AtOnce(len(stale), func(i int) error { return f.remove(ctx, stale[i]) }); err != nil {
		return err
	}
	for _, name := range append(stale, SuccessName) {
		delete(f.held, name)
	}
	folders := foldersOf(stale)
	slices.Reverse(folders) // those below first
	for _, name := range folders {
		if err := f.store.RemoveEmpty(f.File(name)); err != nil {
			return usage.Errorf("--output: %v", err)
		}
	}
	return nil
}

// remove removes a file of an earlier run.
func (f *Folder) remove(ctx context.Context, name string) error {
	o, ok := f.held[name]
	var err error
	if !ok && f.owned[name] { // it was not looked at, as this run does not write it
		o, err = f.store.Stat(ctx, f.File(name))
	}
	if err == nil && o.URL != "" {
		err = f.store.RemoveSeen(ctx, o)
	}
	switch {
	case errors.Is(err, objectstore.ErrChanged):
		return f.overtaken(name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usage.Errorf("--output: %v", err)
	default:
		return nil
	}
}
