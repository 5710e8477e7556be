package runfolder

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

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
