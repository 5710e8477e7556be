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

// mostEntries bounds the cache entries that a run makes, and so its jobs: of more
// files neighbours share an entry.
const mostEntries = 64

// fitForCache is fit for a run with cached objects. With cuts of an earlier run it reads no row, so
// that there are no statistics so far.
func (r *run) fitForCache(ctx context.Context) (*fitted, error) {
	rows, err := r.weighed(ctx)
	if err != nil {
		return nil, err
	}
	if r.cuts == nil {
		return r.fitRows(ctx, rows)
	}
	f := &fitted{spec: *rows, stats: new(jobs.RowStats)}
	if f.label, err = r.describeLabel(r.cuts.Classes); err != nil {
		return nil, err
	}
	return f, r.takeFeatures(f)
}

// cachedObjects makes objects as coalesce does, but only of the rows of files whose objects are
// not in the cache, and caches them.
func (r *run) cachedObjects(ctx context.Context) (*objects, error) {
	f, err := r.fitForCache(ctx)
	if err != nil {
		return nil, err
	}
	files, shards := filesOf(r.input), r.cacheShards(f)
	cache := objectcache.Open(r.files.Store, r.config.ObjectCache, f.spec.Countable(), f.features, f.label.Classes, shards)
	plan, err := cache.Plan(ctx, files)
	if err != nil {
		return nil, err
	}
	r.driver.Reporter.Note(fmt.Sprintf("objects of %d of %d files are cached: the rows of %d are read",
		len(files)-len(plan.Lacking), len(files), len(plan.Lacking)))
	lacking := plan.Lacking
	for n := min(len(lacking), mostEntries); n > 0; n-- {
		now := (len(lacking) + n - 1) / n
		e, err := r.cacheEntry(ctx, f, cache, r.input.Of(lacking[:now]))
		if err != nil {
			return nil, err
		}
		plan.Terms, lacking = append(plan.Terms, objectcache.Term{Entry: e}), lacking[now:]
	}
	r.files.Parquet.Forget()
	f.stats = plan.Rows()
	if err := r.checkRows(f.stats); err != nil {
		return nil, err
	}
	parts, err := r.merge(ctx, f, cache, plan, files)
	if err != nil {
		return nil, err
	}
	return r.objectsOf(f, parts)
}

// merge merges the objects of a plan. It caches them as a window, from which the next run takes
// the files that have left.
func (r *run) merge(
	ctx context.Context, f *fitted, cache *objectcache.Cache, plan *objectcache.Plan, files []objectcache.File,
) (*[dataset.Parts]jobs.ObjectStats, error) {
	config := r.coalesceConfig(f)
	config.Shards = r.cacheShards(f)
	if len(plan.Terms) > 1 {
		folder, release, err := cache.NewBlocks(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
		config.Cache = folder
	}
	parts, err := r.coalesceTasks(ctx, plan.Tasks(), "blocks", config)
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
		_ = r.files.Store.RemoveAll(context.WithoutCancel(ctx), config.Cache) // nobody knows them
	}
	return parts, err
}

// cacheShards returns the number of shards of cached objects. It changes seldom, since objects in other
// shards are of no use.
func (r *run) cacheShards(f *fitted) int {
	return 1 << bits.Len(uint(jobs.Shards(r.input.Rows, f.layout().Stride)-1))
}

// filesOf returns the files of an input as objectcache.Cache knows them.
func filesOf(in *source.Input) []objectcache.File {
	files := make([]objectcache.File, len(in.Files))
	for i, file := range in.Files {
		files[i] = objectcache.File{URL: file.URL, Size: file.Size, Generation: file.Generation}
	}
	return files
}

// cacheEntry makes objects of the rows of some files, and caches them.
func (r *run) cacheEntry(ctx context.Context, all *fitted, cache *objectcache.Cache, in *source.Input) (*objectcache.Entry, error) {
	e := &objectcache.Entry{Files: filesOf(in)}
	if len(in.Tasks) == 0 { // no rows
		return e, cache.Put(ctx, e)
	}
	own, narrow, f := *r, *r.plan, *all
	narrow.input, own.plan = in, &narrow
	rows := f.spec
	rows.Features = nil
	var err error
	if f.stats, _, err = own.summarise(ctx, &rows); err != nil {
		return nil, err
	}
	config := own.coalesceConfig(&f)
	var release func()
	if config.Blocks, release, err = cache.NewBlocks(ctx); err != nil {
		return nil, err
	}
	defer release()
	config.Shards = r.cacheShards(all)
	parts, err := own.coalesceTasks(ctx, in.Tasks, "row groups", config)
	if err == nil {
		e.Rows, e.Parts = *f.stats, *parts
		err = cache.Put(ctx, e)
	}
	if err != nil {
		_ = r.files.Store.RemoveAll(context.WithoutCancel(ctx), config.Blocks) // nobody knows them
		return nil, err
	}
	return e, nil
}
