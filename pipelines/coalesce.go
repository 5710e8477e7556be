package pipelines

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/objectcache"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// objects are the objects of each part of the split: an object stands for all rows with the
// same codes.
type objects struct {
	*fitted

	parts *[dataset.Parts]jobs.ObjectStats
}

// train returns the statistics of the training objects.
func (o *objects) train() *jobs.ObjectStats { return &o.parts[dataset.Train] }

// validates reports whether there are validation rows.
func (o *objects) validates() bool { return o.parts[dataset.Validation].Rows > 0 }

// soft reports whether the training objects are soft, see dataset.Objects.
func (o *objects) soft() bool { return o.spec.Soft.Scale > 0 }

// blockBytes returns the bytes of an object of a part in a block, about.
func (o *objects) blockBytes(part dataset.Part) int64 {
	const each = 4 // bytes of a class and its soft weight
	bytes := int64(o.layout().Stride + blockOverhead)
	if o.soft() && part == dataset.Train {
		bytes += int64(each * len(o.label.Classes))
	}
	return bytes
}

// tasks returns a task for each block of a part.
func (o *objects) tasks(part dataset.Part) []jobs.Task {
	tasks := make([]jobs.Task, len(o.parts[part].Blocks))
	for i, url := range o.parts[part].Blocks {
		tasks[i] = jobs.Task{File: url, Part: part}
	}
	return tasks
}

// eachBlock calls f with the blocks of a part's objects, one after the other.
func (r *run) eachBlock(ctx context.Context, o *objects, part dataset.Part, f func(block []byte) error) error {
	for _, task := range o.tasks(part) {
		b, err := r.files.Read(ctx, task.File)
		if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// layout returns how the codes of an object lie in its key.
func (f *fitted) layout() dataset.Layout { return dataset.NewLayout(f.features) }

func (r *run) coalesceConfig(f *fitted) jobs.CoalesceConfig {
	memory := int64(0)
	if r.driver.Local() { // the memory of an engine's workers is not known
		memory = r.memory / 2
	}
	return jobs.CoalesceConfig{
		Config: r.driver.JobConfig(r.place.scratch + "/coalesce"),
		Rows:   f.spec.Encode(), Features: dataset.EncodeFeatures(f.features), Classes: f.label.Classes,
		Pieces: pieces(r.driver.Workers(), r.rowPieces()),
		Shards: jobs.Shards(f.stats.Rows, f.layout().Stride),
		Memory: memory,
		Blocks: r.place.blocks, Spill: r.spill("coalesce"),
	}
}

// rowPieces returns the number of row groups, or pieces of large ones, that workers share.
func (p *plan) rowPieces() int {
	n := int64(0)
	for _, rows := range p.input.TaskRows() {
		n += jobs.RowPieces(rows)
	}
	return int(n)
}

// objects makes objects of the rows. Rows of files with cached objects are not read.
func (r *run) objects(ctx context.Context) (*objects, error) {
	if r.config.ObjectCache != "" {
		return r.cachedObjects(ctx)
	}
	f, err := r.fit(ctx)
	if err != nil {
		return nil, err
	}
	return r.coalesce(ctx, f)
}

// coalesce makes objects of the rows.
func (r *run) coalesce(ctx context.Context, f *fitted) (*objects, error) {
	parts, err := r.coalesceTasks(ctx, r.input.Tasks, "row groups", r.coalesceConfig(f))
	if err != nil {
		return nil, err
	}
	r.files.Parquet.Forget()
	return r.objectsOf(f, parts)
}

// newObjects returns an empty set of objects with room for n.
func (o *objects) newObjects(n int) *dataset.Objects {
	return dataset.NewObjects(o.layout(), len(o.label.Classes), o.spec.Weighted(), n)
}

// coalesceTasks runs the job over row groups or blocks.
func (r *run) coalesceTasks(
	ctx context.Context, tasks []jobs.Task, unit string, config jobs.CoalesceConfig,
) (*[dataset.Parts]jobs.ObjectStats, error) {
	what := engine.Job{Name: "coalesce", Total: int64(len(tasks)), Unit: unit, Done: engine.TasksDone}
	err := r.driver.Run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Coalesce(s, tasks, config)
	})
	if err != nil {
		return nil, err
	}
	parts, err := jobs.ReadObjectStats(ctx, &config)
	if err != nil {
		return nil, err
	}
	return parts, r.removeAll(ctx, config.Out, config.Spill)
}

// objectsOf checks the numbers of objects.
func (r *run) objectsOf(f *fitted, parts *[dataset.Parts]jobs.ObjectStats) (*objects, error) {
	if parts[dataset.Train].Objects == 0 {
		return nil, r.noRows("no training row has a weight left")
	}
	if n := parts[dataset.Train].Objects; n > split.MostObjects {
		return nil, usage.Errorf("%d training objects are more than %d, whose pairs still fit 64 bits: take fewer --bins, "+
			"leave columns out by --ignore, or train on a part of the rows", n, int64(split.MostObjects))
	}
	return &objects{f.counted(&parts[dataset.Train]), parts}, nil
}

// counted returns the same features with the numbers of training rows whose value is missing
// or rare. The summaries have the weights of these rows, not their numbers.
func (f *fitted) counted(train *jobs.ObjectStats) *fitted {
	counted := *f
	counted.features = slices.Clone(f.features)
	train.SetRare(counted.features)
	return &counted
}

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
