package runfolder

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// pending is a file that is written aside.
type pending struct {
	objectstore.Writer

	name      string
	committed bool // whether the file has its name
}

// commit writes the files of a run and then _SUCCESS, all or none. rows are the Parquet files, which are there already. If
// they were staged, the documents are staged too, and then they take the place of the earlier files.
func (f *Folder) commit(ctx context.Context, files []File, rows []string) error {
	files = append(slices.Clone(files), File{Name: SuccessName})
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.staged == "" {
		return f.replace(ctx, files, rows)
	}
	if err := f.stage(ctx, files, rows); err != nil {
		return OutputError(err)
	}
	if done, err := f.exchange(ctx); done || err != nil {
		return OutputError(err)
	}
	return f.replaceStaged(ctx, files, rows, rows)
}

// replace writes files, which end with _SUCCESS, next to rows. It replaces nothing before it
// has written all files aside. The _SUCCESS of an earlier run is removed first, and the manifest
// comes next: a folder with _SUCCESS always belongs to a single run, and each file in the folder is
// listed at any time. Each write is conditional on the file that Open saw: if two runs write into
// the same folder, the second to end fails.
func (f *Folder) replace(ctx context.Context, files []File, rows []string) error {
	all, err := f.writeAside(ctx, files)
	defer abort(all)
	if err != nil {
		return OutputError(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.removeEarlier(ctx, written(files, rows)); err != nil {
		return err
	}
	manifest, others, mark := f.parts(all)
	failed, err := commitStages(manifest)
	if err == nil {
		if err := f.removeOld(ctx); err != nil {
			return err
		}
		failed, err = commitStages(others, mark)
	}
	if err == nil {
		return nil
	}
	f.undo(context.WithoutCancel(ctx), all)
	return f.failure(failed, err)
}

// abort drops files that were written aside and do not have their names.
func abort(all []*pending) {
	for _, p := range all {
		_ = p.Abort() // after Commit nothing is left to undo
	}
}

// written returns the names of files and rows.
func written(files []File, rows []string) map[string]bool {
	names := make(map[string]bool)
	for _, file := range files {
		names[file.Name] = true
	}
	for _, name := range rows {
		names[name] = true
	}
	return names
}

// failure returns the error of a file that was not written.
func (f *Folder) failure(name string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(name)
	}
	return OutputError(err)
}

// writeAside writes files aside, several at a time. It returns the files that it has created, even
// after an error.
func (f *Folder) writeAside(ctx context.Context, files []File) ([]*pending, error) {
	all := make([]*pending, len(files))
	faults := make([]error, len(files))
	var next atomic.Int64
	var failed atomic.Bool
	parallel.Run(min(len(files), runtime.GOMAXPROCS(0)), func() {
		var buffer []byte // reused for one file after another
		for i := int(next.Add(1) - 1); i < len(files) && !failed.Load(); i = int(next.Add(1) - 1) {
			file := &files[i]
			var w objectstore.Writer
			url, err := f.store.Within(f.url, file.Name) // documents of a run have named some of the files
			if err == nil {
				w, err = f.store.Create(ctx, url, f.condition(file.Name))
			}
			if err == nil {
				all[i] = &pending{Writer: w, name: file.Name}
				content := file.Content
				if file.append != nil {
					buffer = file.append(buffer[:0])
					content = buffer
				}
				_, err = w.Write(content)
			}
			if faults[i] = err; err != nil {
				failed.Store(true)
			}
		}
	})
	return slices.DeleteFunc(all, func(p *pending) bool { return p == nil }), cmp.Or(faults...)
}

// parts divides files into the manifest, _SUCCESS and all other documents.
func (f *Folder) parts(all []*pending) (manifest, others, mark []*pending) {
	for _, p := range all {
		switch p.name {
		case f.kind.manifest():
			manifest = append(manifest, p)
		case SuccessName:
			mark = append(mark, p)
		default:
			others = append(others, p)
		}
	}
	return manifest, others, mark
}

// commitStages gives files their names: the files of a stage at the same time, one stage after the other. It returns the
// name of the first file that failed.
func commitStages(stages ...[]*pending) (failed string, err error) {
	for _, stage := range stages {
		faults := make([]error, len(stage))
		_ = parallel.AtOnce(len(stage), func(i int) error { // the errors are checked below
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

// undo removes the files of an incomplete run. The manifest stays in two cases: if it replaces a
// claim, and if files of an earlier run stay that no other manifest lists.
func (f *Folder) undo(ctx context.Context, all []*pending) {
	stays := f.claimed || slices.ContainsFunc(all, func(p *pending) bool {
		_, seen := f.seen[p.name]
		return !p.committed && seen
	})
	for _, p := range all {
		switch {
		case !p.committed:
		case stays && p.name == f.kind.manifest():
			if o, err := f.store.Stat(ctx, f.File(p.name)); err == nil {
				f.seen[p.name] = o
			}
		default:
			_ = f.store.Remove(ctx, f.File(p.name)) // the first error is more informative
		}
	}
}

// overtaken returns an error if a file has changed since the run began.
func (f *Folder) overtaken(name string) error {
	return usage.Errorf("--output %s: another run has written %s meanwhile, or another program: choose another folder",
		f.url, name)
}

// condition returns the condition of writing a file: that the folder has the same file as when the
// run began, or none. An earlier run's _SUCCESS is already removed.
func (f *Folder) condition(name string) objectstore.WriteOptions {
	if o, ok := f.seen[name]; ok && name != SuccessName {
		return objectstore.WriteOptions{IfGeneration: o.Generation}
	}
	return objectstore.WriteOptions{IfAbsent: true}
}
