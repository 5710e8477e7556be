package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// SummariseConfig holds the columns to summarise and the precision of the summaries.
type SummariseConfig struct {
	Config

	Rows    []byte         // encoded RowSpec
	Limits  binning.Limits // greatest number of distinct values that a summary counts exactly
	Pieces  int            // goroutines that share the columns of a row group, if there are few row groups
	Classes bool           // whether to also summarise the label of training rows by weight
	Weigh   bool           // whether to sum up the weights of the rows by part, because their units are not known yet
}

// Columns returns how many summaries there are: one for each feature, and one or two for the label.
func (c *SummariseConfig) Columns(features int) int {
	if c.Classes {
		return features + 2
	}
	return features + 1
}

// RowStats counts the summarised rows.
type RowStats struct {
	Rows    int64 `json:"rows"`    // at most math.MaxInt64, see sumOfRows
	Train   int64 `json:"train"`   // training rows
	Dropped int64 `json:"dropped"` // rows without a label
	Ignored int64 `json:"ignored"` // rows with a weight of 0
	Known   int64 `json:"known"`   // rows whose key has rows in an earlier part

	Weights *[dataset.Parts]*dataset.WeightSums `json:"weights,omitempty"` // by part, if SummariseConfig.Weigh is set
	// Soft means that some training row has class probabilities other than 1 for its label and 0
	// for all other classes.
	Soft bool `json:"soft,omitempty"`
}

// summaryBlock is the number of columns whose summaries form one value of the shuffle.
const summaryBlock = 64

// statsKey is the key of RowStats. Keys >= 0 belong to blocks of summaries.
const statsKey = -1

// Summarise reads the row groups of tasks, a PCollection<[]byte> of Task. It summarises
// each feature over the training rows, and the label over the rows of all parts. With
// SummariseConfig.Classes it also summarises the label of training rows by weight.
// ReadSummaries reads the result.
func Summarise(s beam.Scope, tasks beam.PCollection, c SummariseConfig) {
	addJob(s.Scope("transforms.Summarise"), tasks, &summariseFn{taskFn[*summariser]{Job: &summariser{SummariseConfig: c}}},
		&mergeSummariesFn{mergeFn[*summaryMerger]{Job: &summaryMerger{c}}})
}

type (
	summariseFn      struct{ taskFn[*summariser] }
	mergeSummariesFn struct{ mergeFn[*summaryMerger] }
)

// summariser summarises the rows of a bundle.
type summariser struct {
	SummariseConfig

	spec    *RowSpec
	workers []summariseWorker
}

// summariseWorker is the memory of one worker.
type summariseWorker struct {
	summaries []*binning.Summary // by column, see Columns; nil before the first row
	vector    dataset.Vector
	rows      []int32 // positions of the rows of a part
	stats     RowStats
}

func (f *summariser) ahead() int { return rowGroupsAhead }

func (f *summariser) begin(ctx context.Context) (err error) {
	if f.spec, err = readRows(ctx, f.Rows); err != nil {
		return err
	}
	f.workers = make([]summariseWorker, max(1, f.Workers))
	for i := range f.workers {
		f.workers[i].summaries = make([]*binning.Summary, f.Columns(len(f.spec.Features)))
	}
	return nil
}

// summarised is a piece of a row group whose columns are summarised by several tasks.
type summarised struct {
	*rowGroup

	prepared func() error // prepares the rows once
	train    []int32      // positions of the training rows
}

func newSummarised(g *rowGroup) *summarised {
	s := &summarised{rowGroup: g}
	s.prepared = sync.OnceValue(func() error {
		err := g.prepare()
		s.train = g.rowsOf(dataset.Train, nil)
		return err
	})
	return s
}

func (f *summariser) do(ctx context.Context, p *pool, t Task, _ func(int64, []byte)) error {
	g, err := openRowGroup(ctx, f.spec, t)
	if err != nil {
		return err
	}
	byRows := g.pieces()
	byColumns := max(1, min(f.Pieces, len(f.spec.Features)))
	if len(byRows) > 1 {
		byColumns = 1
	}
	all := newShared(g, len(byRows)*byColumns)
	for _, rows := range byRows {
		rows.weighing = f.Weigh
		piece := newSummarised(rows)
		for i := range byColumns {
			from, to := i*len(f.spec.Features)/byColumns, (i+1)*len(f.spec.Features)/byColumns
			err = p.doWith(ctx, all, func(worker int) error { return f.add(ctx, piece, from, to, &f.workers[worker]) })
		}
	}
	return err
}

// add summarises the features [from, to) of a piece of a row group. The first task also summarises
// the label.
func (f *summariser) add(ctx context.Context, piece *summarised, from, to int, w *summariseWorker) error {
	if err := piece.prepared(); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := piece.feature(i, &w.vector); err != nil {
			return err
		}
		c := f.spec.Features[i]
		w.summary(i, c.Kind, w.vector.Type, f.Limits).AddVector(&w.vector, piece.train, piece.weights)
	}
	if from == 0 {
		f.addLabel(ctx, piece, w)
	}
	return nil
}

// addLabel summarises the label and counts the rows.
func (f *summariser) addLabel(ctx context.Context, g *summarised, w *summariseWorker) {
	rows := slices.Grow(w.rows[:0], g.Rows())
	for r, part := range g.parts {
		if part != dataset.None {
			rows = append(rows, int32(r))
		}
	}
	w.rows = rows
	label := len(f.spec.Features)
	if g.label.Type != 0 && len(rows) > 0 { // otherwise no row has a label, or there is no label column
		w.summary(label, dataset.Categorical, g.label.Type, f.Limits).AddVector(&g.label, rows, g.counts)
	}
	if f.Classes && len(rows) > 0 {
		w.summary(label+1, dataset.Categorical, g.label.Type, f.Limits).AddVector(&g.label, g.train, g.weights)
	}
	for r, part := range g.parts {
		w.stats.Rows = sumOfRows(w.stats.Rows, g.countOf(r))
		if part == dataset.Train {
			w.stats.Train += g.countOf(r)
		}
	}
	w.stats.Dropped += g.dropped
	w.stats.Ignored += g.ignored
	w.stats.Known += g.known
	if f.Weigh {
		w.stats.weigh(g.rowGroup)
	}
	w.stats.Soft = w.stats.Soft || g.soft
	g.count(ctx)
}

// summary returns the summary of a column, and creates it if it is absent.
func (w *summariseWorker) summary(
	i int, kind dataset.Kind, typ dataset.ValueType, limits binning.Limits,
) *binning.Summary {
	if w.summaries[i] == nil {
		w.summaries[i] = binning.New(kind, typ, limits)
	}
	return w.summaries[i]
}

func (f *summariser) end(ctx context.Context, emit func(int64, []byte)) error {
	var stats RowStats
	for i := range f.workers {
		stats.Add(&f.workers[i].stats)
	}
	emit(statsKey, elements.MustJSON(stats))
	// Workers encode the summaries. Only this goroutine may call emit.
	columns := f.Columns(len(f.spec.Features))
	encoded := make([][]byte, (columns+summaryBlock-1)/summaryBlock)
	p := newPool(f.Workers, 0)
	for block := range encoded {
		if err := p.do(ctx, func(int) error {
			var err error
			encoded[block], err = f.encode(block*summaryBlock, min((block+1)*summaryBlock, columns))
			return err
		}); err != nil {
			return err
		}
	}
	if err := p.wait(); err != nil {
		return err
	}
	for block, b := range encoded {
		progressOf(ctx).Exchanged.Add(int64(len(b)))
		emit(int64(block), b)
	}
	return nil
}

// Add adds the counts of other rows.
func (s *RowStats) Add(o *RowStats) {
	s.Rows = sumOfRows(s.Rows, o.Rows)
	s.Train += o.Train
	s.Dropped += o.Dropped
	s.Ignored += o.Ignored
	s.Known += o.Known
	if o.Weights != nil {
		sums := s.sums()
		for part := range sums {
			sums[part].Merge(o.Weights[part])
		}
	}
	s.Soft = s.Soft || o.Soft
}

// sumOfRows returns the sum of two numbers of rows; math.MaxInt64 if it is greater.
func sumOfRows(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// sums returns the sums of the weights by part.
func (s *RowStats) sums() *[dataset.Parts]*dataset.WeightSums {
	if s.Weights == nil {
		s.Weights = new([dataset.Parts]*dataset.WeightSums)
		for part := range s.Weights {
			s.Weights[part] = new(dataset.WeightSums)
		}
	}
	return s.Weights
}

// weigh adds the weights of the rows of a row group that belong to a part.
func (s *RowStats) weigh(g *rowGroup) {
	sums := s.sums()
	for r, part := range g.parts {
		if part != dataset.None {
			sums[part].Add(g.ownWeight(r), g.countOf(r))
		}
	}
}

// encode merges the workers' summaries of the columns [from, to) and encodes them.
func (f *summariser) encode(from, to int) ([]byte, error) {
	var b, one []byte
	for i := from; i < to; i++ {
		var sum *binning.Summary
		for k := range f.workers {
			one := f.workers[k].summaries[i]
			f.workers[k].summaries[i] = nil // frees the memory while others are encoded
			switch {
			case one == nil:
			case sum == nil:
				sum = one
			default:
				if err := sum.Merge(one); err != nil {
					return nil, err
				}
			}
		}
		var err error
		if b, one, err = elements.AppendSummary(b, one, sum); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// summaryMerger merges the summaries of one block of columns.
type summaryMerger struct{ SummariseConfig }

func (f *summaryMerger) merge(ctx context.Context, key int64, list [][]byte) error {
	b := list[0]
	var err error
	if key == statsKey {
		b, err = mergeStats(list)
	} else if len(list) > 1 {
		b, err = mergeSummaries(list)
	}
	if err != nil {
		return err
	}
	return write(ctx, summaryURL(f.Out, key), b)
}

// mergeStats adds up encoded RowStats.
func mergeStats(list [][]byte) ([]byte, error) {
	var sum RowStats
	for _, b := range list {
		var one RowStats
		if err := json.Unmarshal(b, &one); err != nil {
			return nil, err
		}
		sum.Add(&one)
	}
	return elements.MustJSON(sum), nil
}

// mergeSummaries merges blocks of summaries, column by column.
func mergeSummaries(list [][]byte) ([]byte, error) {
	var merged, scratch []byte
	for len(list[0]) > 0 {
		var sum *binning.Summary
		for i := range list {
			one, rest, err := elements.CutSummary(list[i])
			if err != nil {
				return nil, err
			}
			list[i] = rest
			if len(one) == 0 {
				continue
			}
			s, _, err := binning.Decode(one)
			if err != nil {
				return nil, err
			}
			if sum == nil {
				sum = s
			} else if err := sum.Merge(s); err != nil {
				return nil, err
			}
		}
		var err error
		if merged, scratch, err = elements.AppendSummary(merged, scratch, sum); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

func summaryURL(out string, key int64) string { return fmt.Sprintf("%s/summary-%d", out, key) }

// ReadSummaries returns the results of Summarise: the counts of rows, and the encoded
// summary of each column. The columns are the features, the label and, with
// SummariseConfig.Classes, the label by weight. A summary is empty if it has no rows.
func ReadSummaries(ctx context.Context, out string, columns int) (*RowStats, [][]byte, error) {
	b, err := read(ctx, summaryURL(out, statsKey))
	if err != nil {
		return nil, nil, err
	}
	var stats RowStats
	if err := json.Unmarshal(b, &stats); err != nil {
		return nil, nil, err
	}
	encoded := make([][]byte, columns)
	for i := range encoded {
		if i%summaryBlock == 0 {
			if b, err = read(ctx, summaryURL(out, int64(i/summaryBlock))); err != nil {
				return nil, nil, err
			}
		}
		if encoded[i], b, err = elements.CutSummary(b); err != nil {
			return nil, nil, err
		}
	}
	return &stats, encoded, nil
}
