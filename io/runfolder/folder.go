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
	"github.com/espalier-ml/espalier/io/usage"
)

// SuccessName is an empty file. It is written last: a folder without it is not finished.
const SuccessName = "_SUCCESS"

// Folder is the output of a run. The files of the run are committed together. A run writes
// where nothing lies, and over the files of an earlier run: its manifest lists them.
type Folder struct {
	store   *objectstore.Store
	url     string
	kind    Kind
	seen    map[string]objectstore.Object // by name: the files there when the run began
	earlier bool                          // an earlier run of this kind has left its manifest
	old     bool                          // ... of a version that called it manifest.json in each folder
	listed  map[string]bool               // the files of the earlier run's list
	claimed bool                          // this run has written its claim
}

// Open looks at the names in a folder that a run would write, before any work is done.
// further lists names beside those of the kind. Files of others are refused. An earlier
// run's result is refused without replace. Errors are usage errors.
func Open(
	ctx context.Context, s *objectstore.Store, url string, kind Kind, replace bool, further ...string,
) (*Folder, error) {
	f := &Folder{store: s, url: url, kind: kind, seen: make(map[string]objectstore.Object)}
	names := append(kind.ownNames(), further...)
	if kind != Training {
		names = append(names, ManifestName)
	}
	if err := f.look(ctx, names); err != nil {
		return nil, OutputError(err)
	}
	if err := f.readManifest(ctx); err != nil {
		return nil, err
	}
	if err := f.refuseForeign(); err != nil {
		return nil, err
	}
	if _, killed := f.seen[replacementName]; killed && replace {
		if err := f.finishReplacement(ctx); err != nil {
			return nil, err
		}
		return Open(ctx, s, url, kind, replace, further...)
	}
	terms := kind.terms()
	switch {
	case !f.earlier || replace:
		return f, nil
	case f.Finished():
		return nil, usage.Errorf("--output %s has %s: choose another folder, or replace it with --overwrite",
			url, terms.finished)
	default:
		return nil, usage.Errorf("--output %s has %s: %s", url, terms.unfinished, terms.remedy)
	}
}

// OutputError returns an error of the output as a usage error.
func OutputError(err error) error {
	if err == nil || errors.As(err, new(*usage.Error)) {
		return err
	}
	return usage.Errorf("--output: %v", err)
}

// Finished reports whether the folder had _SUCCESS when the run began.
func (f *Folder) Finished() bool {
	_, ok := f.seen[SuccessName]
	return ok
}

// File returns the URL of a file of the folder.
func (f *Folder) File(name string) string { return objectstore.Join(f.url, name) }

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
