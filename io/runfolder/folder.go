package runfolder

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// SuccessName is an empty file that is written last: a folder without it is unfinished.
const SuccessName = "_SUCCESS"

// Folder is the output of a run. The files of the run are committed together. A run writes into an
// empty place, or replaces the files of an earlier run, which its manifest lists.
type Folder struct {
	store   *objectstore.Store
	url     string
	kind    Kind
	further []string                      // see Open
	seen    map[string]objectstore.Object // by name: existing files when the run began
	earlier bool                          // whether an earlier run of this kind has left its manifest
	old     bool                          // whether it was written by a version that called it manifest.json in every folder
	listed  map[string]bool               // files listed by the earlier run
	started time.Time                     // when the run of the manifest began
	claimed bool                          // whether this run has written its claim
	placing bool                          // whether Write has begun to give staged files their names
	staged  string                        // folder of the files of rows until the run is whole; empty: they have their names
}

// Open checks the names in a folder that a run would write, before any work is done. further lists
// names in addition to the names of the kind. Open returns an error if files of another origin have
// such names, or if an earlier run's result exists and replace is false. Errors are usage errors.
func Open(
	ctx context.Context, s *objectstore.Store, url string, kind Kind, replace bool, further ...string,
) (*Folder, error) {
	f := &Folder{store: s, url: url, kind: kind, further: further, seen: make(map[string]objectstore.Object)}
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
func (f *Folder) Finished() bool { return f.Has(SuccessName) }

// Has reports whether the folder had a file, with a name that a run may write, when the run began.
func (f *Folder) Has(name string) bool {
	_, ok := f.seen[name]
	return ok
}

// File returns the URL of a file of the folder.
func (f *Folder) File(name string) string { return objectstore.Join(f.url, name) }

// look determines which of the given names, and which names of the kind's patterns, are taken.
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
			if ok, _ := path.Match(d.pattern, name); ok { // the patterns are valid
				f.seen[name] = o
			}
		}
	}
	return err
}

// foldersOf lists the folders of names, each once. A file with the name of a folder prevents a run
// from writing below it.
func foldersOf(names []string) []string {
	seen := make(map[string]bool)
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
