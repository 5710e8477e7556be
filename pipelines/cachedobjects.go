package pipelines

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/objectcache"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// cachedCoalescer makes objects of the rows of files whose objects are not in the cache, and takes the
// objects of all other files from the cache.
type cachedCoalescer struct {
	stage

	fitter    fitter
	coalescer coalescer
}

// mostEntries limits the number of cache entries that a run makes, and so its jobs. If there are
// more files, neighbouring files share an entry.
const mostEntries = 64

// fit is fitter.fit for a run with cached objects. With the cuts of an earlier run it reads no rows, so
// the result has no statistics yet.
func (w *cachedCoalescer) fit(ctx context.Context) (*fitted, error) {
	rows, err := w.fitter.weighed(ctx)
	if err != nil {
		return nil, err
	}
	if w.cuts == nil {
		return w.fitter.fitRows(ctx, rows)
	}
	f := &fitted{spec: *rows, stats: new(jobs.RowStats)}
	if f.label, err = w.fitter.describeLabel(w.cuts.Classes); err != nil {
		return nil, err
	}
	return f, w.fitter.takeFeatures(f)
}

// objects makes the objects, and caches the new ones.
func (w *cachedCoalescer) objects(ctx context.Context) (*objects, error) {
	f, err := w.fit(ctx)
	if err != nil {
		return nil, err
	}
	files, shards := filesOf(w.input), w.shards(f)
	cache := objectcache.Open(w.files.Store, w.config.ObjectCache, f.spec.Countable(), f.features, f.label.Classes, shards)
	plan, err := cache.Plan(ctx, files)
	if err != nil {
		return nil, err
	}
	w.driver.Reporter.Note(fmt.Sprintf("objects of %d of %d files are cached: the rows of %d are read",
		len(files)-len(plan.Lacking), len(files), len(plan.Lacking)))
	lacking := plan.Lacking
	for n := min(len(lacking), mostEntries); n > 0; n-- {
		now := (len(lacking) + n - 1) / n
		e, err := w.entry(ctx, f, cache, w.input.Of(lacking[:now]))
		if err != nil {
			return nil, err
		}
		plan.Terms, lacking = append(plan.Terms, objectcache.Term{Entry: e}), lacking[now:]
	}
	w.files.Parquet.Forget()
	f.stats = plan.Rows()
	if err := w.checkRows(f.stats); err != nil {
		return nil, err
	}
	parts, err := w.merge(ctx, f, cache, plan, files)
	if err != nil {
		return nil, err
	}
	return w.coalescer.objectsOf(f, parts)
}

// merge merges the objects of a plan. It caches the result as a window, from which the next run
// subtracts the objects of files that are no longer in its input.
func (w *cachedCoalescer) merge(
	ctx context.Context, f *fitted, cache *objectcache.Cache, plan *objectcache.Plan, files []objectcache.File,
) (*[dataset.Parts]jobs.ObjectStats, error) {
	config := w.coalescer.coalesceConfig(f)
	config.Shards = w.shards(f)
	if len(plan.Terms) > 1 {
		folder, release, err := cache.NewBlocks(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
		config.Cache = folder
	}
	parts, err := w.coalescer.coalesceTasks(ctx, plan.Tasks(), "blocks", config)
	if err == nil && config.Cache != "" {
		window := &objectcache.Entry{Files: files, Window: true, Rows: *f.stats, Parts: *parts}
		for part := range window.Parts {
			stats := &window.Parts[part]
			stats.Blocks, stats.Cached = stats.Cached, nil
			parts[part].Cached = nil
		}
		err = cache.Put(ctx, window)
	}
	if err != nil && config.Cache != "" {
		_ = w.files.Store.RemoveAll(context.WithoutCancel(ctx), config.Cache) // no entry has them
	}
	return parts, err
}

// shards returns the number of shards of cached objects. It seldom changes, since objects in a
// different number of shards cannot be used.
func (w *cachedCoalescer) shards(f *fitted) int {
	return 1 << bits.Len(uint(jobs.Shards(w.input.Rows, f.layout().Stride)-1))
}

// filesOf returns the files of an input in the form of objectcache.Cache.
func filesOf(in *source.Input) []objectcache.File {
	files := make([]objectcache.File, len(in.Files))
	for i, file := range in.Files {
		files[i] = objectcache.File{URL: file.URL, Size: file.Size, Generation: file.Generation}
	}
	return files
}

// entry makes objects of the rows of some files, and caches them.
func (w *cachedCoalescer) entry(ctx context.Context, all *fitted, cache *objectcache.Cache, in *source.Input) (*objectcache.Entry, error) {
	e := &objectcache.Entry{Files: filesOf(in)}
	if len(in.Tasks) == 0 { // no rows
		return e, cache.Put(ctx, e)
	}
	own, narrow, f := w.stage, *w.plan, *all
	narrow.input = in
	own.plan = &narrow
	some := coalescer{own}
	rows := f.spec
	rows.Features = nil
	var err error
	if f.stats, _, err = (&fitter{own}).summarise(ctx, &rows); err != nil {
		return nil, err
	}
	config := some.coalesceConfig(&f)
	var release func()
	if config.Blocks, release, err = cache.NewBlocks(ctx); err != nil {
		return nil, err
	}
	defer release()
	config.Shards = w.shards(all)
	parts, err := some.coalesceTasks(ctx, in.Tasks, "row groups", config)
	if err == nil {
		e.Rows, e.Parts = *f.stats, *parts
		err = cache.Put(ctx, e)
	}
	if err != nil {
		_ = w.files.Store.RemoveAll(context.WithoutCancel(ctx), config.Blocks) // no entry has them
		return nil, err
	}
	return e, nil
}
