package runfolder

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// look finds out which of the given names, and which names of the kind's patterns, are taken.
func (f *Folder) look(ctx context.Context, names []string) error {
	patterns := f.kind.patterns()
	inFolders := slices.Clone(names)
	for _, d := range patterns {
		inFolders = append(inFolders, d.pattern)
	}
	files := append(slices.Clone(names), foldersOf(inFolders)...)
	stats := make([]objectstore.Object, len(files))
	lists := make([][]objectstore.Object, len(patterns))
	err := parallel.AtOnce(len(files)+len(patterns), func(i int) (err error) {
		if i < len(files) {
			stats[i], err = f.store.Stat(ctx, f.File(files[i]))
			if i >= len(names) && errors.Is(err, objectstore.ErrFolder) {
				return nil
			}
		} else {
			d := patterns[i-len(files)]
			lists[i-len(files)], err = f.store.Below(ctx, f.File(path.Dir(d.pattern)), 1)
			if d.hidden {
				return nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	for i, name := range files {
		if stats[i].URL != "" {
			f.seen[name] = stats[i]
		}
	}
	for i, d := range patterns {
		for _, o := range lists[i] {
			name := path.Join(path.Dir(d.pattern), path.Base(o.URL))
			if ok, _ := path.Match(d.pattern, name); ok { // the patterns are good ones
				f.seen[name] = o
			}
		}
	}
	return err
}

// foldersOf lists the folders of names, each once. A file with the name of a folder keeps a
// run from writing below it.
func foldersOf(names []string) []string {
	seen := make(map[string]bool)
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
