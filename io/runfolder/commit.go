package runfolder

import (
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

// commit writes the files of a run and then _SUCCESS, all or none. It replaces nothing before it
// has written all files aside. The _SUCCESS of an earlier run is removed first, and the manifest
// comes next: a folder with _SUCCESS always belongs to a single run, and each file in the folder is
// listed at any time. Each write is conditional on the file that Open saw: if two runs write into
// the same folder, the second to end fails.
//
// rows are the Parquet files. If they were staged, the folder of the staged files takes the place of the folder in a
// single step, where the store can do that; otherwise they get their names after the manifest.
func (f *Folder) commit(ctx context.Context, files []File, rows []string) error {
	var all []*pending
	defer func() {
		for _, p := range all {
			_ = p.Abort() // after Commit nothing is left to undo
		}
	}()
	files = append(slices.Clone(files), File{Name: SuccessName})
	written := make(map[string]bool)
	for _, file := range files {
		written[file.Name] = true
	}
	for _, name := range rows {
		written[name] = true
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if done, err := f.exchange(ctx, files, rows); done || err != nil {
		return OutputError(err)
	}
	all, err := f.writeAside(ctx, files)
	if err != nil {
		return OutputError(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.removeEarlier(ctx, written); err != nil {
		return err
	}
	failed, err := f.publish(ctx, all, rows)
	if err == nil {
		return nil
	}
	f.undo(context.WithoutCancel(ctx), all)
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(failed)
	}
	return OutputError(err)
}

// exchange completes the folder of staged files, and lets it take the place of the finished folder. done is false, and
// the finished folder has not changed, if that cannot be done in a single step.
func (f *Folder) exchange(ctx context.Context, files []File, rows []string) (done bool, err error) {
	if f.staged == "" {
		return false, nil
	}
	own := map[string]string{LockName: "", SuccessName: ""}
	for name := range f.listed {
		own[name] = ""
	}
	for name, o := range f.seen {
		own[name] = o.Generation
	}
	return f.store.Exchange(ctx, f.staged, f.url, objectstore.Exchange{Own: own, Kept: LockName, Fill: func() error {
		for _, name := range rows {
			if _, err := f.store.Stat(ctx, f.RowFile(name)); err != nil {
				return err
			}
		}
		for _, file := range files { // _SUCCESS is the last one
			content := file.Content
			if file.append != nil {
				content = file.append(nil)
			}
			if err := f.store.Put(ctx, objectstore.Join(f.staged, file.Name), content, objectstore.WriteOptions{}); err != nil {
				return err
			}
		}
		return nil
	}})
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
	return slices.DeleteFunc(all, func(p *pending) bool { return p == nil }), parallel.First(faults)
}

// publish gives files their names: the manifest first, then staged rows, then all other files at the same time,
// then the last file. It returns the name of the first file that failed.
func (f *Folder) publish(ctx context.Context, all []*pending, rows []string) (failed string, err error) {
	mark := all[len(all)-1]
	var manifest, others []*pending
	for _, p := range all[:len(all)-1] {
		if p.name == f.kind.manifest() {
			manifest = append(manifest, p)
		} else {
			others = append(others, p)
		}
	}
	for i, stage := range [][]*pending{manifest, others, {mark}} {
		if i == 1 && f.staged != "" {
			f.placing = true
			if failed, err = f.place(context.WithoutCancel(ctx), rows); err != nil { // the earlier files are gone: an interrupt waits
				return failed, err
			}
		}
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

// Placing reports whether Write has begun to give staged files their names. They are the only whole files then.
func (f *Folder) Placing() bool { return f.placing }

// place gives staged files of rows their names. It returns the name of the first file that failed.
func (f *Folder) place(ctx context.Context, rows []string) (failed string, err error) {
	faults := make([]error, len(rows))
	_ = parallel.AtOnce(len(rows), func(i int) error { // the errors are checked below
		faults[i] = f.store.Move(ctx, f.RowFile(rows[i]), f.File(rows[i]), f.condition(rows[i]))
		return nil
	})
	for i, err := range faults {
		if err != nil {
			return rows[i], err
		}
	}
	_ = f.Unstage(ctx) // its folders, which hold no rows any more
	return "", nil
}

// undo removes the files of an incomplete run. The manifest stays in three cases: if it replaces a
// claim, if files of an earlier run stay that no other manifest lists, and if rows were staged: some may have their names.
func (f *Folder) undo(ctx context.Context, all []*pending) {
	stays := f.claimed || f.staged != "" || slices.ContainsFunc(all, func(p *pending) bool {
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
