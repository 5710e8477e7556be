package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// look notes which of the given names, and of those of the kind's patterns, are taken.
func (f *Folder) look(ctx context.Context, names []string) error {
	files := slices.Concat(names, []string{ManifestName, SuccessName})
	folders := foldersOf(slices.Concat(files, f.kind.patterns))
	stats := make([]objectstore.Object, len(files)+len(folders))
	lists := make([][]objectstore.Object, len(f.kind.patterns))
	err := parallel.AtOnce(len(stats)+len(lists), func(i int) (err error) {
		switch at := i - len(stats); {
		case i < len(files):
			stats[i], err = f.store.Stat(ctx, f.File(files[i]))
		case at < 0:
			stats[i], err = f.store.Stat(ctx, f.File(folders[i-len(files)]))
			if errors.Is(err, objectstore.ErrFolder) {
				err = nil
			}
		default:
			lists[at], err = f.store.Below(ctx, f.File(path.Dir(f.kind.patterns[at])), 1)
			if f.kind.writesTell {
				err = nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	for i, name := range append(files, folders...) {
		if stats[i].URL != "" {
			f.held[name] = stats[i]
		}
	}
	for i, pattern := range f.kind.patterns {
		for _, o := range lists[i] {
			name := path.Join(path.Dir(pattern), path.Base(o.URL))
			if ok, _ := path.Match(pattern, name); ok { // the patterns are good ones
				f.held[name] = o
			}
		}
	}
	return err
}

// foldersOf lists the folders that names lie in, each once. Where a file has such a name,
// nothing can be written below it.
func foldersOf(names []string) []string {
	seen := make(map[string]bool)
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// readManifest finds out which files are an earlier run's.
func (f *Folder) readManifest(ctx context.Context) error {
	o, ok := f.held[ManifestName]
	if !ok {
		return nil
	}
	b, err := objectstore.ReadSeen(ctx, f.store, o, MaxModel)
	if err != nil {
		return usage.Errorf("--output: %v", err)
	}
	var head head
	if err := json.Unmarshal(b, &head); err != nil || head.Format != f.kind.format {
		return f.otherManifest(head.Format)
	}
	f.earlier, f.owned = true, make(map[string]bool)
	if head.Files == nil {
		if head.Files, err = f.kind.unlisted(ctx, f, b); err != nil {
			return OutputError(err)
		}
	}
	for _, name := range head.Files {
		if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || strings.Contains(name, `\`) {
			return usage.Errorf("--output %s: %s there lists the file %q, which no run writes: choose another folder", f.url, ManifestName, name)
		}
		f.owned[name] = true
	}
	return nil
}

// otherManifest refuses a manifest.json that is not of this kind.
func (f *Folder) otherManifest(format string) error {
	of := "is not Espalier's"
	for _, k := range []*Kind{OfTraining(), OfPredictions(), OfSynth()} {
		if k.format == format {
			of = fmt.Sprintf("is of %s: the folder has something else than %s", k.what, f.kind.what)
		}
	}
	return usage.Errorf("--output %s: %s there %s, and is not overwritten: choose another folder", f.url, ManifestName, of)
}

// refuseForeign refuses a folder in which other files than an earlier run's have names
// that this run would write.
func (f *Folder) refuseForeign() error {
	var foreign []string
	for name := range f.held {
		if !f.owns(name) {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	slices.Sort(foreign)
	more := ""
	if n := len(foreign) - 1; n > 0 {
		more = fmt.Sprintf(" (and %s%s)", strings.Join(foreign[1:min(4, len(foreign))], ", "), map[bool]string{true: ", ..."}[n > 3])
	}
	return usage.Errorf("--output %s: %s%s lies there, and no manifest.json of %s there lists it as written by Espalier: nothing is overwritten; choose another folder, or move it away",
		f.url, foreign[0], more, f.kind.what)
}

// owns reports whether a file is one that an earlier run has written.
func (f *Folder) owns(name string) bool {
	return f.owned[name] || f.earlier && (name == ManifestName || name == SuccessName)
}

// Reading is a file that a run reads, and the flag that names it.
type Reading struct{ Flag, URL string }

// Spare refuses to replace or remove what the run reads.
func (f *Folder) Spare(reads []Reading) error {
	if !f.earlier {
		return nil
	}
	flags := make(map[string]Reading, len(reads))
	for _, r := range reads {
		if id, err := f.store.Identity(r.URL); err == nil { // else it is no file, as in --priors CLASS=P
			flags[id] = r
		}
	}
	for _, name := range append(slices.Sorted(maps.Keys(f.owned)), ManifestName, SuccessName) {
		id, err := f.store.Identity(f.File(name))
		if err != nil {
			return OutputError(err)
		}
		if r, ok := flags[id]; ok {
			return usage.Errorf("--output %s: %s there is what --%s %s names, and would be replaced while it is read: choose another folder", f.url, name, r.Flag, r.URL)
		}
	}
	return nil
}
