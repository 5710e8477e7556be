package runfolder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// stagedFolder is the folder below a folder of rows that has the files of a run which replaces finished files. Each run
// has a folder there. With _SUCCESS it has all files of the run that do not have their names yet.
const stagedFolder = "_staged"

// runID matches the IDs of runs: rand.Text in small letters.
var runID = regexp.MustCompile(`^[a-z2-7]{26}$`)

// RowFile returns the URL at which a run writes a Parquet file of rows.
func (f *Folder) RowFile(name string) string {
	if f.staged != "" {
		return objectstore.Join(f.staged, name)
	}
	return f.File(name)
}

// Replaces reports whether the run replaces finished files, which stay until it is whole.
func (f *Folder) Replaces() bool { return f.staged != "" }

// unstage removes the staged files of a run. _SUCCESS goes first: from then on Settle does not take what is left for a whole
// run, whose missing rows have their names.
func (f *Folder) unstage(ctx context.Context) error {
	if err := f.store.Remove(ctx, objectstore.Join(f.staged, SuccessName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return OutputError(err)
	}
	if err := f.store.RemoveAll(ctx, f.staged); err != nil {
		return OutputError(err)
	}
	return OutputError(f.store.RemoveEmpty(objectstore.Join(f.url, stagedFolder)))
}

// stage writes the documents next to the staged rows, _SUCCESS last.
func (f *Folder) stage(ctx context.Context, files []File, rows []string) error {
	for _, name := range rows {
		if _, err := f.store.Stat(ctx, f.RowFile(name)); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := f.store.Put(ctx, objectstore.Join(f.staged, file.Name), file.Content, objectstore.WriteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// exchange lets the folder of all staged files take the place of the finished folder. done is false, and
// the finished folder has not changed, if that cannot be done in a single step.
func (f *Folder) exchange(ctx context.Context) (done bool, err error) {
	own := map[string]string{LockName: "", SuccessName: ""}
	for name := range f.listed {
		own[name] = ""
	}
	for name, o := range f.seen {
		own[name] = o.Generation
	}
	return f.store.Exchange(ctx, f.staged, f.url, objectstore.Exchange{Own: own, Kept: LockName})
}

// replaceStaged gives staged files their names, one by one. rows are the Parquet files, and left those that do not have
// their names yet. If it ends early, Settle goes on.
//
// If the earlier run has files of the same names, and one of rows, then the rows are replaced in a single step, the manifest
// comes last, and _SUCCESS stays. Otherwise files are replaced in the same order as in replace.
func (f *Folder) replaceStaged(ctx context.Context, files []File, rows, left []string) error {
	names := written(files, rows)
	inPlace := f.Finished() && !f.old && len(rows) == 1 && len(f.listed) == len(names)-2 // without manifest and _SUCCESS
	for name := range f.listed {
		inPlace = inPlace && names[name]
	}
	if inPlace {
		files = files[:len(files)-1]
	}
	all, err := f.writeAside(ctx, files)
	defer func() { abort(all) }()
	if err != nil {
		return OutputError(err)
	}
	const copied = 32 // files that stores copy before _SUCCESS is removed; each takes up to some megabytes of memory
	begun, later := left[:min(copied, len(left))], left[min(copied, len(left)):]
	moves, err := f.move(ctx, begun)
	all = append(all, moves...)
	if err != nil {
		return OutputError(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // an interrupt waits: a folder without _SUCCESS is of no use
	f.placing = true
	manifest, others, mark := f.parts(all[:len(files)])
	first := manifest
	if inPlace {
		first = nil
		mark = manifest
	} else if err := f.removeEarlier(ctx, names); err != nil {
		return err
	}
	if failed, err := commitStages(first); err != nil {
		return f.failure(failed, err)
	}
	if err := f.removeOld(ctx); err != nil {
		return err
	}
	if failed, err := commitStages(moves); err != nil {
		return f.failure(failed, err)
	}
	for batch := range slices.Chunk(later, copied) {
		moves, err = f.move(ctx, batch)
		all = append(all, moves...)
		if err != nil {
			return OutputError(err)
		}
		if failed, err := commitStages(moves); err != nil {
			return f.failure(failed, err)
		}
	}
	if failed, err := commitStages(others, mark); err != nil {
		return f.failure(failed, err)
	}
	return f.unstage(ctx) // what stays would take the place of a later run's files, see Settle
}

// move prepares staged files of rows to get their names. It returns the files that it has prepared, even after an error.
func (f *Folder) move(ctx context.Context, rows []string) ([]*pending, error) {
	all := make([]*pending, len(rows))
	err := parallel.AtOnce(len(rows), func(i int) error {
		w, err := f.store.Move(ctx, f.RowFile(rows[i]), f.File(rows[i]), f.condition(rows[i]))
		if err == nil {
			all[i] = &pending{Writer: w, name: rows[i]}
		}
		return err
	})
	return slices.DeleteFunc(all, func(p *pending) bool { return p == nil }), err
}

// Settle ends what killed runs have left in the folder: if all files of a run were staged, they take the place of the
// files of a run that began before; other staged files are removed. A run at work in the folder would fail, so that callers
// hold the lock. The error is a usage error.
func (f *Folder) Settle(ctx context.Context) error {
	if !f.earlier {
		return nil
	}
	folder := objectstore.Join(f.url, stagedFolder)
	files, err := f.store.Below(ctx, folder, -1)
	if err != nil {
		return OutputError(err)
	}
	runs := make(map[string]map[string]bool) // names of files by run
	for _, file := range files {
		_, below, _ := strings.Cut(file.URL, folder+"/")
		run, name, _ := strings.Cut(below, "/")
		if !runID.MatchString(run) {
			continue
		}
		if runs[run] == nil {
			runs[run] = make(map[string]bool)
		}
		runs[run][name] = true
	}
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		if err := f.settle(ctx, objectstore.Join(folder, run), runs[run]); err != nil {
			return err
		}
	}
	if len(runs) == 0 {
		return nil
	}
	now, err := Open(ctx, f.store, f.url, f.kind, true, f.further...)
	if err == nil {
		*f = *now
	}
	return err
}

// settle ends a run, given its staged folder and the names of the files there.
func (f *Folder) settle(ctx context.Context, staged string, there map[string]bool) error {
	of := &Folder{store: f.store, url: f.url, kind: f.kind, staged: staged}
	files, rows, err := of.readStaged(ctx, there)
	if err != nil {
		return OutputError(err)
	}
	if files == nil {
		return of.unstage(ctx)
	}
	now, err := Open(ctx, f.store, f.url, f.kind, true, rows...)
	if err != nil {
		return err
	}
	now.staged = staged
	left := slices.DeleteFunc(slices.Clone(rows), func(name string) bool { return !there[name] })
	lost := slices.ContainsFunc(rows, func(name string) bool { return !there[name] && !now.Has(name) })
	done, err := now.has(ctx, files[0])
	switch {
	case err != nil:
		return OutputError(err)
	case done || lost || !now.earlier || of.started.Before(now.started):
		return now.unstage(ctx)
	case len(left) == len(rows):
		if done, err := now.exchange(ctx); done || err != nil {
			return OutputError(err)
		}
	}
	return now.replaceStaged(ctx, files, rows, left)
}

// has reports whether the folder is finished and has a file with this content.
func (f *Folder) has(ctx context.Context, file File) (bool, error) {
	o, there := f.seen[file.Name]
	if !there || !f.Finished() {
		return false, nil
	}
	b, err := objectstore.ReadSeen(ctx, f.store, o, MaxModel)
	return bytes.Equal(b, file.Content), err
}

// readStaged returns the documents of a staged run, the manifest first and _SUCCESS last, and the names of its rows; none if
// they are not all there, as if the run was killed before or when it removed them, or if they cannot be its own.
func (f *Folder) readStaged(ctx context.Context, there map[string]bool) (files []File, rows []string, err error) {
	if !there[SuccessName] || !there[f.kind.manifest()] {
		return nil, nil, nil
	}
	read := func(name string) error {
		b, err := f.store.ReadAll(ctx, objectstore.Join(f.staged, name), MaxModel)
		files = append(files, File{Name: name, Content: b})
		return err
	}
	if err := read(f.kind.manifest()); err != nil {
		return nil, nil, err
	}
	var h head
	if err := json.Unmarshal(files[0].Content, &h); err != nil || h.Format != f.kind.terms().format {
		return nil, nil, nil //nolint:nilerr // see above
	}
	f.started = h.Started
	for _, name := range h.Files {
		_, outside := f.store.Within(f.url, name)
		switch document := f.kind.Reserves(name); {
		case outside != nil || name == f.kind.manifest() || name == SuccessName || name == LockName || document && !there[name]:
			return nil, nil, nil //nolint:nilerr // see above
		case !document:
			rows = append(rows, name)
		default:
			if err := read(name); err != nil {
				return nil, nil, err
			}
		}
	}
	slices.Sort(rows)
	return append(files, File{Name: SuccessName}), slices.Compact(rows), nil
}
