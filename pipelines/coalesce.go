package pipelines

import (
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
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

// layout returns how the codes of an object lie in its key.
func (f *fitted) layout() dataset.Layout { return dataset.NewLayout(f.features) }

func (r *run) coalesceConfig(f *fitted) jobs.CoalesceConfig {
	workers, memory := r.driver.Workers(), int64(0)
	if r.driver.Local() { // the memory of an engine's workers is not known
		memory = r.memory / 2
	}
	return jobs.CoalesceConfig{
		Rows: f.spec.Encode(), Features: dataset.EncodeFeatures(f.features), Classes: f.label.Classes,
		Workers: workers, Pieces: pieces(workers, r.rowPieces()),
		Shards: jobs.Shards(f.stats.Rows, f.layout().Stride),
		Memory: memory,
		Out:    r.place.scratch + "/coalesce", Blocks: r.place.blocks, Spill: r.spill("coalesce"),
		Run: r.files.Run.Name(),
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

// coalesce makes objects of the rows.
func (r *run) coalesce(ctx context.Context, f *fitted) (*objects, error) {
	config := r.coalesceConfig(f)
	what := engine.Job{Name: "coalesce", Total: int64(len(r.input.Tasks)), Unit: "row groups", Done: engine.TasksDone}
	err := r.driver.Run(ctx, what, r.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Coalesce(s, tasks, config)
	})
	if err != nil {
		return nil, err
	}
	r.files.Parquet.Forget()
	parts, err := jobs.ReadObjectStats(ctx, &config)
	if err != nil {
		return nil, err
	}
	if err := r.removeAll(ctx, config.Out, config.Spill); err != nil {
		return nil, err
	}
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
	for i := range train.Missing {
		counted.features[i].Missing, counted.features[i].Other = train.Missing[i], train.Other[i]
	}
	return &counted
}
