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
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// SuccessName comes last into a folder: one without it is not finished.
const SuccessName = "_SUCCESS"

// Kind says what a verb writes into a folder.
type Kind struct {
	format   string   // of its manifest.json
	what     string   // the whole, for people: "a run"
	done     string   // "a finished run"
	begun    string   // "an unfinished run"
	again    string   // how that is gone on with or replaced
	files    []string // that it may write, beside manifest.json and the mark of success
	patterns []string // of further files, whose number is not known beforehand

	// writesTell says that files of the patterns are only in the way if they have the very
	// names of those written, as the writes find out: a folder that cannot be listed will do.
	writesTell bool

	// unlisted returns the files of an earlier version's run, whose manifest.json lists
	// none.
	unlisted func(ctx context.Context, f *Folder, manifest []byte) ([]string, error)
}

// Folder is the output of a run: files that are committed together. A run writes where
// nothing lies, or over files that the manifest.json of an earlier run in the
// folder lists.
type Folder struct {
	store   *objectstore.Store
	url     string
	kind    *Kind
	held    map[string]objectstore.Object // what lay there when the run began, by name
	earlier bool                          // there is a manifest.json of this kind
	begun   bool                          // claim has written it
	owned   map[string]bool               // files that it lists
}

// Document is a file of a folder.
type Document struct {
	Name    string
	Content []byte
}

// head is what every manifest.json says of the files beside it.
type head struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Espalier string    `json:"espalier,omitempty"` // version of the program
	Started  time.Time `json:"started,omitzero"`
	Files    []string  `json:"files"` // written by the run, beside manifest.json and _SUCCESS
}

// Open looks at what an output folder holds under the names that a run would
// write, before any work is done. Files of others are refused, and so is an
// earlier run's result unless it is to be replaced. names are those of files
// beside the kind's own.
func Open(ctx context.Context, s *objectstore.Store, url string, kind *Kind, replace bool, names ...string) (*Folder, error) {
	f := &Folder{store: s, url: url, kind: kind, held: make(map[string]objectstore.Object)}
	if err := f.look(ctx, slices.Concat(kind.files, names)); err != nil {
		return nil, OutputError(err)
	}
	if err := f.readManifest(ctx); err != nil {
		return nil, err
	}
	if err := f.refuseForeign(); err != nil {
		return nil, err
	}
	switch {
	case !f.earlier || replace:
		return f, nil
	case f.Finished():
		return nil, usage.Errorf("--output %s has %s: choose another folder, or replace it with --overwrite", url, kind.done)
	default:
		return nil, usage.Errorf("--output %s has %s: %s", url, kind.begun, kind.again)
	}
}

// OutputError makes a usage error of a fault of the output, unless it is one already.
func OutputError(err error) error {
	if err == nil || errors.As(err, new(*usage.Error)) {
		return err
	}
	return usage.Errorf("--output: %v", err)
}

// Finished reports whether the folder had the mark of success.
func (f *Folder) Finished() bool {
	_, ok := f.held[SuccessName]
	return ok
}

// Holds reports whether a file lay there when the run began.
func (f *Folder) Holds(name string) bool {
	_, ok := f.held[name]
	return ok
}

// File returns the URL of a file of the folder.
func (f *Folder) File(name string) string { return objectstore.Join(f.url, name) }

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

// Claim writes a manifest.json that lists the files of the run that begins, so that what it
// leaves behind if it is killed is known to be Espalier's. Nothing of an earlier
// run is there any more.
func (f *Folder) Claim(ctx context.Context, started time.Time, files []string) error {
	b, err := json.MarshalIndent(head{Format: f.kind.format, Version: 1, Espalier: Version(), Started: started.UTC(), Files: files}, "", "  ")
	if err != nil {
		return err
	}
	generation, err := objectstore.WriteSeen(ctx, f.store, f.File(ManifestName), append(b, '\n'), f.bound(ManifestName))
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(ManifestName)
	}
	if err != nil {
		return usage.Errorf("--output: %v", err)
	}
	f.begun, f.earlier, f.owned = true, false, nil
	f.held = map[string]objectstore.Object{ManifestName: {URL: f.File(ManifestName), Generation: generation}}
	return nil
}

// Claimed reports whether the claim is still this run's: else another one has taken the
// folder over.
func (f *Folder) Claimed(ctx context.Context) bool {
	stat, err := f.store.Stat(ctx, f.File(ManifestName))
	return err == nil && stat.Generation == f.held[ManifestName].Generation
}

// Disclaim removes the claim of a run that has come to nothing.
func (f *Folder) Disclaim(ctx context.Context) error {
	return f.store.RemoveSeen(ctx, f.held[ManifestName])
}

// pending is a file that is written and not yet visible.
type pending struct {
	objectstore.Writer

	name, url string
	committed bool
}

// Commit writes the documents, among them manifest.json, and then the mark of success.
// Nothing is replaced before all of them are written. The mark of an earlier run
// goes first, and manifest.json comes first, so that a folder with the mark is
// always one run's and each file in it is listed at any time. Each write is
// bound to what openFolder saw: of two runs into one folder the second to end fails.
func (f *Folder) Commit(ctx context.Context, documents []Document) ([]string, error) {
	var urls []string
	var all []*pending
	defer func() {
		for _, p := range all {
			_ = p.Abort() // after Commit nothing is left to undo
		}
	}()
	written := make(map[string]bool)
	for _, d := range append(documents[:len(documents):len(documents)], Document{Name: SuccessName}) {
		p := &pending{name: d.Name, url: f.File(d.Name)}
		var err error
		if p.Writer, err = f.store.Create(ctx, p.url, f.bound(d.Name)); err != nil {
			return nil, usage.Errorf("--output: %v", err)
		}
		all, urls, written[d.Name] = append(all, p), append(urls, p.url), true
		if _, err := p.Write(d.Content); err != nil {
			return nil, usage.Errorf("--output: %v", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := f.Vacate(ctx, written); err != nil {
		return nil, err
	}
	failed, err := publish(all)
	if err == nil {
		return urls, nil
	}
	f.undo(context.WithoutCancel(ctx), all)
	if errors.Is(err, fs.ErrExist) {
		return nil, f.overtaken(failed)
	}
	return nil, usage.Errorf("--output: %v", err)
}

// publish commits the manifest, then all others at the same time, and then the last one.
// It returns the name of the first that failed.
func publish(all []*pending) (failed string, err error) {
	mark := all[len(all)-1]
	var manifest, others []*pending
	for _, p := range all[:len(all)-1] {
		if p.name == ManifestName {
			manifest = append(manifest, p)
		} else {
			others = append(others, p)
		}
	}
	for _, stage := range [][]*pending{manifest, others, {mark}} {
		faults := make([]error, len(stage))
		_ = parallel.AtOnce(len(stage), func(i int) error { // the errors are looked at
			faults[i] = stage[i].Commit()
			stage[i].committed = faults[i] == nil
			return nil
		})
		for i, err := range faults {
			if err != nil {
				return stage[i].name, err
			}
		}
	}
	return "", nil
}

// undo removes what was committed of half a run. The manifest stays if files of an
// earlier run do, which only it lists, and in place of a claim.
func (f *Folder) undo(ctx context.Context, all []*pending) {
	left := f.begun || slices.ContainsFunc(all, func(p *pending) bool {
		_, held := f.held[p.name]
		return !p.committed && held
	})
	for _, p := range all {
		switch {
		case !p.committed:
		case left && p.name == ManifestName:
			if o, err := f.store.Stat(ctx, p.url); err == nil {
				f.held[ManifestName] = o
			}
		default:
			_ = f.store.Remove(ctx, p.url) // the first error says more
		}
	}
}

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

func (f *Folder) overtaken(name string) error {
	return usage.Errorf("--output %s: another run has written %s meanwhile, or another program: choose another folder", f.url, name)
}

// bound binds the write of a file to what was there when the run began. The mark
// of an earlier run is gone by then.
func (f *Folder) bound(name string) objectstore.WriteOptions {
	if o, ok := f.held[name]; ok && name != SuccessName {
		return objectstore.WriteOptions{IfGeneration: o.Generation}
	}
	return objectstore.WriteOptions{IfAbsent: true}
}
