package train

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

// coalescer makes objects of rows.
type coalescer struct{ stage }

func (w *coalescer) coalesceConfig(f *fitted) jobs.CoalesceConfig {
	memory := int64(0)
	if w.driver.Local() { // the memory of an engine's workers is not known
		memory = w.memory / 2
	}
	return jobs.CoalesceConfig{
		Config: w.driver.JobConfig(w.place.scratch + "/coalesce"),
		Rows:   f.spec.Encode(), Features: dataset.EncodeFeatures(f.features), Classes: f.label.Classes,
		Pieces: engine.Pieces(w.driver.Workers(), w.rowPieces()),
		Shards: jobs.Shards(f.stats.Rows, f.layout().Stride),
		Memory: memory,
		Blocks: w.place.blocks, Spill: w.spill("coalesce"),
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
func (w *coalescer) coalesce(ctx context.Context, f *fitted) (*objects, error) {
	config := w.coalesceConfig(f)
	err := w.driver.RunGroups(ctx, "coalesce", w.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Coalesce(s, tasks, config)
	})
	if err != nil {
		return nil, err
	}
	parts, err := jobs.ReadObjectStats(ctx, &config)
	if err == nil {
		err = w.removeAll(ctx, config.Out, config.Spill)
	}
	if err != nil {
		return nil, err
	}
	if parts[dataset.Train].Objects == 0 {
		return nil, w.noRows("no training row has a weight left")
	}
	if n := parts[dataset.Train].Objects; n > split.MostObjects {
		return nil, usage.Errorf("%d training objects are more than %d, whose pairs still fit 64 bits: take fewer --bins, "+
			"leave columns out by --ignore, or train on a part of the rows", n, int64(split.MostObjects))
	}
	return &objects{f.counted(&parts[dataset.Train]), parts, w.files}, nil
}

// counted returns a copy of f whose features have the numbers of training rows with a missing or rare
// value. The summaries have the weights of these rows, not their numbers.
func (f *fitted) counted(train *jobs.ObjectStats) *fitted {
	counted := *f
	counted.features = slices.Clone(f.features)
	train.SetRare(counted.features)
	return &counted
}
