package pipelines

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// successFile comes last into a folder: one without it is not finished.
const successFile = "_SUCCESS"

// folder is the output of a run: files that are committed together.
type folder struct {
	store *objectstore.Store
	url   string
	names []string
	held  []string // generation of each file when the run began; empty: none
}

// document is a file of a folder.
type document struct {
	name    string
	content []byte
}

// openFolder looks at what an output folder holds of the files of the given
// names, before any work is done. One that is finished is refused, unless it is
// to be replaced.
func openFolder(ctx context.Context, s *objectstore.Store, url string, overwrite bool, names ...string) (*folder, error) {
	f := &folder{store: s, url: url, names: append(names, successFile)}
	f.held = make([]string, len(f.names))
	faults := make([]error, len(f.names))
	var wg parallel.Group
	for i, name := range f.names {
		wg.Go(func() {
			o, err := s.Stat(ctx, objectstore.Join(url, name))
			if !errors.Is(err, fs.ErrNotExist) {
				f.held[i], faults[i] = o.Generation, err
			}
		})
	}
	wg.Wait()
	if err := firstOf(faults); err != nil {
		return nil, usagef("--output: %v", err)
	}
	if f.finished() && !overwrite {
		return nil, usagef("--output %s has a finished run: choose another folder, or replace it with --overwrite", url)
	}
	return f, nil
}

// finished reports whether the folder had the mark of success.
func (f *folder) finished() bool { return f.held[len(f.held)-1] != "" }

// commit writes the documents and then the mark of success. Nothing is replaced before all of them
// are written; the mark of an earlier run goes first, so that a folder with the
// mark is always one run's. Each write is bound to what openFolder saw: of two
// runs into one folder the second to end fails.
func (f *folder) commit(ctx context.Context, documents []document) ([]string, error) {
	documents = append(documents[:len(documents):len(documents)], document{name: successFile})
	var urls []string
	writers := make([]objectstore.Writer, 0, len(documents))
	defer func() {
		for _, w := range writers {
			_ = w.Abort() // after Commit nothing is left to undo
		}
	}()
	for _, d := range documents {
		url := objectstore.Join(f.url, d.name)
		w, err := f.store.Create(ctx, url, f.bound(d.name))
		if err != nil {
			return nil, usagef("--output: %v", err)
		}
		writers = append(writers, w)
		if _, err := w.Write(d.content); err != nil {
			return nil, usagef("--output: %v", err)
		}
		urls = append(urls, url)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := f.unmark(ctx); err != nil {
		return nil, err
	}
	if err := f.clear(ctx, urls); err != nil {
		return nil, err
	}
	mark := len(writers) - 1
	faults := commitAll(writers[:mark])
	if firstOf(faults) == nil {
		faults = append(faults, writers[mark].Commit())
	}
	err := firstOf(faults)
	if err == nil {
		return urls, nil
	}
	for i, fault := range faults {
		if fault == nil {
			_ = f.store.Remove(context.WithoutCancel(ctx), urls[i]) // half a run must not stay
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, f.overtaken(documents[slices.Index(faults, err)].name)
	}
	return nil, usagef("--output: %v", err)
}

// commitAll commits at the same time: object stores take a while for each.
func commitAll(writers []objectstore.Writer) []error {
	faults := make([]error, len(writers))
	var wg parallel.Group
	for i, w := range writers {
		wg.Go(func() { faults[i] = w.Commit() })
	}
	wg.Wait()
	return faults
}

// unmark removes the mark of an earlier run, if there was one: what it stands for is
// about to change.
func (f *folder) unmark(ctx context.Context) error {
	if !f.finished() {
		return nil
	}
	url := objectstore.Join(f.url, successFile)
	o, err := f.store.Stat(ctx, url)
	if err == nil && o.Generation != f.held[len(f.held)-1] {
		return f.overtaken(successFile)
	}
	if err == nil {
		err = f.store.Remove(ctx, url)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("--output: %v", err)
	}
	f.held[len(f.held)-1] = ""
	return nil
}

func (f *folder) overtaken(name string) error {
	return usagef("--output %s: another run has written %s meanwhile: choose another folder", f.url, name)
}

// clear removes what an earlier run has left of files that this one does not
// write.
func (f *folder) clear(ctx context.Context, urls []string) error {
	var stale []string
	for i, name := range f.names[:len(f.names)-1] {
		if f.held[i] != "" {
			stale = append(stale, objectstore.Join(f.url, name))
		}
	}
	if len(stale) == 0 { // there was no run
		return nil
	}
	trees, err := f.store.List(ctx, objectstore.Join(f.url, frontierFolder, "*.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("--output: %v", err)
	}
	for _, o := range trees {
		stale = append(stale, o.URL)
	}
	for _, url := range stale {
		if slices.Contains(urls, url) {
			continue
		}
		if err := f.store.Remove(ctx, url); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return usagef("--output: %v", err)
		}
	}
	return nil
}

// bound binds the write of a file to what was there when the run began. The mark
// of an earlier run is gone by then. The trees of the frontier are of use only by
// frontier.json, which names them.
func (f *folder) bound(name string) objectstore.WriteOptions {
	i := slices.Index(f.names, name)
	switch {
	case i < 0:
		return objectstore.WriteOptions{}
	case f.held[i] == "" || name == successFile:
		return objectstore.WriteOptions{IfAbsent: true}
	default:
		return objectstore.WriteOptions{IfGeneration: f.held[i]}
	}
}
