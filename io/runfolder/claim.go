package runfolder

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// Begin makes room for the Parquet files of a run, whose names are rows, and for its documents. Finished files of an
// earlier run stay until Write: RowFile returns names below a folder of their own then. Otherwise Begin removes what an
// unfinished run has left, and claims the names: it writes a manifest with a list of the files to come, so that files
// left by a killed run are known to be Espalier's. optional names the optional documents to come. run is the ID of the
// run.
func (f *Folder) Begin(ctx context.Context, run string, started time.Time, rows []string, optional ...string) error {
	if f.earlier && f.Finished() {
		f.staged = objectstore.Join(f.url, stagedFolder, run)
		return nil
	}
	if err := f.removeEarlier(ctx, nil); err != nil {
		return err
	}
	return f.claim(ctx, started, rows, optional)
}

// claim writes the claim of a run.
func (f *Folder) claim(ctx context.Context, started time.Time, rows, optional []string) error {
	b, err := encodeJSON(&head{
		Format: f.kind.terms().format, Version: 1, Espalier: Version(), Started: started.UTC(),
		Files: f.kind.expected(rows, optional),
	})
	if err != nil {
		return err
	}
	name := f.kind.manifest()
	generation, err := objectstore.WriteSeen(ctx, f.store, f.File(name), b, f.condition(name))
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(name)
	}
	if err != nil {
		return OutputError(err)
	}
	if err := f.removeOld(ctx); err != nil {
		return err
	}
	f.claimed = true
	f.earlier = false
	f.old = false
	f.listed = nil
	f.seen = map[string]objectstore.Object{name: {URL: f.File(name), Generation: generation}}
	return nil
}

// expected lists the files of a run at its beginning.
func (k Kind) expected(rows, optional []string) []string {
	var names []string
	for _, d := range k.Documents() {
		switch {
		case d.many != nil:
			names = append(names, d.many(&Run{Rows: rows})...)
		case d.Name != k.manifest() && (!d.optional || slices.Contains(optional, d.Name)):
			names = append(names, d.Name)
		}
	}
	return names
}

// HoldsClaim reports whether the folder still has this run's claim. Without the claim,
// another run has taken the folder over.
func (f *Folder) HoldsClaim(ctx context.Context) bool {
	stat, err := f.store.Stat(ctx, f.File(f.kind.manifest()))
	return err == nil && stat.Generation == f.seen[f.kind.manifest()].Generation
}

// Undo removes files that a failed run has written, and the run's claim. Staged files stay if Write has begun to give them
// their names: they are the only whole files then.
func (f *Folder) Undo(ctx context.Context, written []string) {
	if f.Replaces() {
		if !f.placing {
			_ = f.unstage(ctx) // the run's own error is more informative
		}
		return
	}
	if !f.HoldsClaim(ctx) { // another run has taken the folder over
		return
	}
	for _, url := range written {
		_ = f.store.Remove(ctx, url) // the run's own error is more informative
	}
	_ = f.RemoveClaim(ctx)
}

// RemoveClaim removes the claim of a failed run.
func (f *Folder) RemoveClaim(ctx context.Context) error {
	return f.store.RemoveSeen(ctx, f.seen[f.kind.manifest()])
}

// removeEarlier removes the files of an earlier run, except files that this run has written again.
// _SUCCESS goes first: from then on the folder is unfinished.
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
	slices.Reverse(folders) // nested folders first
	for _, name := range folders {
		if err := f.store.RemoveEmpty(f.File(name)); err != nil {
			return OutputError(err)
		}
	}
	return nil
}

// removeOld removes the manifest of an earlier run if it has the name that older versions gave it. It lists the files until
// the new manifest has its name.
func (f *Folder) removeOld(ctx context.Context) error {
	if !f.earlier || !f.old {
		return nil
	}
	err := f.remove(ctx, ManifestName)
	delete(f.seen, ManifestName)
	return err
}

// remove removes a file of an earlier run.
func (f *Folder) remove(ctx context.Context, name string) error {
	o, ok := f.seen[name]
	var err error
	if !ok && f.listed[name] { // Open has not looked at it, because this run does not write it
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
