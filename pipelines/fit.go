package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/weighing"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/rowweights"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// fitted is what a run knows after one pass over the rows.
type fitted struct {
	label    tree.Label
	features []dataset.Feature // with at least two codes, so that a node can test them
	spec     jobs.RowSpec      // how the columns of these features, the label and the weight are read
	constant []string          // columns with the same code in all training rows
	stats    *jobs.RowStats
}

// summariseConfig returns the job of the pass over the rows.
func (r *run) summariseConfig(rows *jobs.RowSpec) jobs.SummariseConfig {
	return jobs.SummariseConfig{
		Config: r.driver.JobConfig(r.place.scratch + "/summarise"), Rows: rows.Encode(),
		Classes: r.config.WeighsClasses(),
		Limits: binning.Limits{
			Values: r.config.MaxValues, Categories: max(r.config.MaxValues, binning.DefaultLimits().Categories),
		},
		Pieces: pieces(4*r.driver.Workers(), r.rowPieces()), // small ones, so that all workers end at about the same time
	}
}

// weighed returns how the rows are read, with the times of the split and the units of the weights.
func (r *run) weighed(ctx context.Context) (*jobs.RowSpec, error) {
	rows := r.schema.rows
	if err := r.cutTimes(ctx, &rows.Parting); err != nil {
		return nil, err
	}
	if err := rowweights.Count(ctx, r.driver, r.input.Tasks, r.place.scratch, &rows); err != nil {
		return nil, err
	}
	if rows.Key == "" && rows.WeightEffect() > 1 && len(rows.Soft.Columns) == 0 {
		rows.Groups[dataset.Train] = trainGroups(r.config, r.parsed)
	}
	return &rows, nil
}

// fit fits the features and the classes to the rows, or takes them from an earlier run.
func (r *run) fit(ctx context.Context) (*fitted, error) {
	spec, err := r.weighed(ctx)
	if err != nil {
		return nil, err
	}
	return r.fitRows(ctx, spec)
}

// fitRows is fit for rows whose weights have units.
func (r *run) fitRows(ctx context.Context, spec *jobs.RowSpec) (*fitted, error) {
	rows := *spec
	if r.cuts != nil {
		rows.Features = nil
	}
	stats, columns, err := r.summarise(ctx, &rows)
	if err != nil {
		return nil, err
	}
	if err := r.checkRows(stats); err != nil {
		return nil, err
	}
	f := &fitted{spec: *spec, stats: stats}
	at := len(rows.Features) // index of the label; the class weights come last
	if r.cuts != nil {
		f.label, err = r.describeLabel(r.cuts.Classes)
	} else {
		f.label, err = r.fitLabel(columns[at])
	}
	if err != nil {
		return nil, err
	}
	weight, err := r.weighClasses(f, columns[len(columns)-1])
	if err != nil {
		return nil, err
	}
	if err := r.soften(f, weight); err != nil {
		return nil, err
	}
	if r.cuts != nil {
		return f, r.takeFeatures(f)
	}
	return f, r.fitFeatures(ctx, f, columns[:at])
}

// mostTimes bounds the distinct times that are counted, some 400 MB.
const mostTimes = 1 << 24

// cutTimes sets the times from which rows validate and test, if time decides. It reads that column alone.
func (r *run) cutTimes(ctx context.Context, p *dataset.Parting) error {
	if p.Time == "" || len(r.input.Tasks) == 0 {
		return nil
	}
	config := r.summariseConfig(&jobs.RowSpec{
		Features: []dataset.FeatureColumn{{Name: p.Time, Kind: dataset.Numeric, Type: dataset.Number}},
		Parting:  dataset.Parting{Shares: dataset.Shares{dataset.Train: 1}},
	})
	config.Out, config.Classes, config.Limits.Values = r.place.scratch+"/times", false, mostTimes
	what := engine.Job{Name: "times", Total: int64(len(r.input.Tasks)), Unit: "row groups", Done: engine.TasksDone}
	err := r.driver.Run(ctx, what, r.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Summarise(s, tasks, config)
	})
	if err != nil {
		return err
	}
	_, columns, err := jobs.ReadSummaries(ctx, config.Out, config.Columns(1))
	if err != nil {
		return err
	}
	times, _, err := binning.Decode(columns[0])
	if err != nil {
		return err
	}
	if !times.Exact() {
		return &dataset.DataError{
			Column: p.Time, Problem: fmt.Sprintf("more than %d different times, too many to find where the parts begin", mostTimes),
			Hint: "round them, to days for example",
		}
	}
	p.CutTimes(times.Numbers())
	return r.files.Store.RemoveAll(ctx, config.Out)
}

// checkRows makes sure that there are rows to train on.
func (p *plan) checkRows(stats *jobs.RowStats) error {
	if stats.Train == 0 {
		return p.noRows("no row is left for training")
	}
	return nil
}

// takeFeatures gives a run the features of an earlier run. Columns that the earlier run did not
// test count as constant.
func (r *run) takeFeatures(f *fitted) error {
	earlier := make(map[string]*dataset.Feature, len(r.cuts.Features))
	for i := range r.cuts.Features {
		earlier[r.cuts.Features[i].Name] = &r.cuts.Features[i]
	}
	columns := f.spec.Features
	f.spec.Features = nil
	for _, column := range columns {
		feature := earlier[column.Name]
		delete(earlier, column.Name)
		switch {
		case slices.Contains(r.config.Forbid, column.Name):
		case feature == nil:
			f.constant = append(f.constant, column.Name)
		default:
			if err := r.input.CheckFeature(feature); err != nil {
				return err
			}
			own := *feature
			own.Type = column.Type
			f.features = append(f.features, own)
			f.spec.Features = append(f.spec.Features, column)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(earlier)) {
		if !slices.Contains(r.input.Names(), name) {
			return r.input.CheckFeature(earlier[name])
		}
	}
	return r.costs.Apply(f.features)
}

// summarise runs the pass over the rows. It returns the statistics of the rows and an encoded
// summary of each column: the features in order, the label, and the class weights if classes
// are weighed.
func (r *run) summarise(ctx context.Context, rows *jobs.RowSpec) (*jobs.RowStats, [][]byte, error) {
	config := r.summariseConfig(rows)
	if len(r.input.Tasks) == 0 {
		return nil, nil, r.noRows("no input file has a row")
	}
	what := engine.Job{Name: "summarise", Total: int64(len(r.input.Tasks)), Unit: "row groups", Done: engine.TasksDone}
	err := r.driver.Run(ctx, what, r.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Summarise(s, tasks, config)
	})
	if err != nil {
		return nil, nil, err
	}
	stats, columns, err := jobs.ReadSummaries(ctx, config.Out, config.Columns(len(rows.Features)))
	if err != nil {
		return nil, nil, err
	}
	return stats, columns, r.files.Store.RemoveAll(ctx, config.Out) // frees the memory
}

func (p *plan) noRows(problem string) error {
	return &dataset.DataError{
		File: strings.Join(p.config.Input, ","), Problem: problem,
		Hint: "check --input, --split and --weight; if there are few rows, --split 100/0/0 trains on all",
	}
}

// fitLabel finds the classes, and adds the priors and error costs that the user states.
func (r *run) fitLabel(encoded []byte) (tree.Label, error) {
	column := r.labelColumn()
	s, _, err := binning.Decode(encoded)
	if err != nil {
		return tree.Label{}, err
	}
	classes, err := binning.FitClasses(column, s, r.config.MaxClasses)
	if err != nil {
		return tree.Label{}, dataset.WithHint(err, "raise --max_classes, or name a column of classes with --label")
	}
	if classes, err = r.classesOf(classes); err != nil {
		return tree.Label{}, err
	}
	if len(classes) == 1 {
		r.driver.Reporter.Warn(fmt.Sprintf(
			"the label %q has one class, %q: the tree is a single leaf", column, classes[0]))
	}
	if r.sampled { // a sample need not have all classes
		return tree.Label{Column: column, Classes: classes}, nil
	}
	if len(r.config.Monotone) > 0 && len(classes) != 2 {
		// A constraint is about the probability of the second of two classes.
		return tree.Label{}, usage.Errorf("--monotone: the label %q has %d classes, want two", column, len(classes))
	}
	return r.describeLabel(classes)
}

// describeLabel describes the class column, with priors and error costs.
func (p *plan) describeLabel(classes []string) (l tree.Label, err error) {
	l = tree.Label{Column: p.labelColumn(), Classes: classes}
	if l.Priors, err = p.tables.PriorsOf(classes); err != nil {
		return l, err
	}
	l.ErrorCosts, err = p.tables.ErrorCostsOf(classes)
	return l, err
}

// fitFeatures fits each feature to its summary. It leaves out forbidden features and features
// with a single code.
func (r *run) fitFeatures(ctx context.Context, f *fitted, encoded [][]byte) error {
	tested := make([]int, 0, len(encoded))
	for i := range encoded {
		if !slices.Contains(r.config.Forbid, r.schema.rows.Features[i].Name) {
			tested = append(tested, i)
		}
	}
	all := make([]dataset.Feature, len(tested))
	faults := make([]error, len(tested))
	bins := r.parsed.BinsFor(len(f.label.Classes))
	var fitters sync.Pool // one for each goroutine
	err := r.driver.Phase(ctx, "bins", int64(len(tested)), "features", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, len(tested), &s.Done, func(i int) {
			at := tested[i]
			fitter, _ := fitters.Get().(*binning.Fitter)
			if fitter == nil {
				fitter = new(binning.Fitter)
			}
			all[i], faults[i] = r.fitFeature(f.stats.Train, fitter, &r.schema.rows.Features[at], encoded[at], bins)
			fitters.Put(fitter)
			encoded[at] = nil
		})
	})
	if err != nil {
		return err
	}
	if err := errors.Join(faults...); err != nil {
		return parallel.First(faults)
	}
	f.spec.Features = nil
	for i := range all {
		if all[i].Other > 0 {
			which := fmt.Sprintf("values of fewer than %d rows", r.config.MinValueRows)
			if len(all[i].Values) == r.config.MaxCategories {
				which = fmt.Sprintf("more than %d values", r.config.MaxCategories)
			}
			r.driver.Reporter.Warn(fmt.Sprintf("column %q has %s: the rarest are put together as \"other\"", all[i].Name, which))
		}
		r.warnOfPeople(f, &all[i])
		if all[i].CodesSeen() < 2 {
			f.constant = append(f.constant, all[i].Name)
			continue
		}
		f.features = append(f.features, all[i])
		f.spec.Features = append(f.spec.Features, r.schema.rows.Features[tested[i]])
	}
	r.warnOfFewBins(f, bins)
	r.warnOfConstants(f.constant)
	if len(f.features) == 0 {
		r.driver.Reporter.Warn("all features are constant among the training rows: the tree is a single leaf")
	}
	return r.costs.Apply(f.features)
}

// warnOfPeople warns of a column of texts whose values have fewer than three rows on average: they may be personal
// data, and the files of the run contain them.
func (r *run) warnOfPeople(f *fitted, x *dataset.Feature) {
	const few, rows = 20, 3 // values; rows of a value
	kept := f.stats.Train
	if r.config.Weight == "" {
		kept -= x.Missing + x.Other
	}
	if n := int64(len(x.Values)); x.Type != dataset.Text || n < few || n*rows <= kept {
		return
	}
	r.driver.Reporter.Warn(fmt.Sprintf("column %q has values of one or two rows each, maybe names or keys, and the run's files contain them; "+
		"--ignore %s leaves the column out, --min_value_rows 10 leaves out values of fewer rows", x.Name, x.Name))
}

// warnOfFewBins warns of numbers of bins below the number of classes: a feature with fewer bins cannot
// tell all classes apart.
func (r *run) warnOfFewBins(f *fitted, bins []int) {
	classes, most := len(f.label.Classes), slices.Max(bins)
	if most >= classes || r.sampled {
		return
	}
	full := func(x dataset.Feature) bool { return x.Kind == dataset.Numeric && len(x.Cuts)+1 >= most }
	if at := slices.IndexFunc(f.features, full); at >= 0 {
		r.driver.Reporter.Warn(fmt.Sprintf("the label has %d classes, and column %q has %d bins: fewer bins than classes do "+
			"not tell all classes apart (--bins auto takes %d)", classes, f.features[at].Name, most,
			grid.AutoBins(r.rows(), classes)))
	}
}

func (r *run) fitFeature(
	rows int64, fitter *binning.Fitter, column *dataset.FeatureColumn, encoded []byte, bins []int,
) (dataset.Feature, error) {
	s, _, err := binning.Decode(encoded)
	if err != nil {
		return dataset.Feature{}, err
	}
	f, err := fitter.FitFeature(column.Name, s, binning.FeatureConfig{
		Method: r.config.Binning, Bins: bins, SingleBins: grid.SingleBins(r.parsed.Grid),
		Categories: r.config.MaxCategories, MinRows: r.config.MinValueRows, Rows: rows, Unit: column.Unit, Zone: column.Zone,
	})
	return f, dataset.WithHint(err, "leave it out with --ignore "+column.Name+", or allow more values with --max_values")
}

// labelColumn returns the name that the label has in tree.json: its column, or what names the
// columns of probabilities.
func (p *plan) labelColumn() string { return cmp.Or(p.config.Label, p.schema.rows.Soft.Named) }

// classesOf returns the classes of a run, from those that the rows of the label have. With
// columns of probabilities each class must have one. Each of the columns must have a class,
// unless there is no label, or the rows are a sample.
func (p *plan) classesOf(label []string) ([]string, error) {
	columns := p.schema.rows.Soft.Columns
	if len(columns) == 0 {
		return label, nil
	}
	classes := make([]string, len(columns))
	for k, c := range columns {
		classes[k] = c.Class
	}
	for _, class := range label {
		if !slices.Contains(classes, class) {
			return nil, &dataset.DataError{
				Column: p.config.Label, Value: class,
				Problem: fmt.Sprintf("a class without a column of probabilities: --label_probabilities %s has the classes %q",
					p.schema.rows.Soft.Named, classes),
				Hint: "add its column, or leave its rows out of the input",
			}
		}
	}
	if p.config.Label == "" || p.sampled {
		return classes, nil
	}
	for _, c := range columns {
		if !slices.Contains(label, c.Class) {
			return nil, &dataset.DataError{
				Column: c.Name, Value: c.Class,
				Problem: fmt.Sprintf("probabilities of no class: the label %q has the classes %q", p.config.Label, label),
				Hint:    "leave the column out with --ignore, or name the columns one by one, as CLASS=COLUMN",
			}
		}
	}
	return label, nil
}

// soften decides how soft labels are counted. If the probabilities of all training rows say
// what their labels say, they are not counted: so the trees are those of the labels, byte for
// byte. weight is that of the training rows, or more.
func (p *plan) soften(f *fitted, weight int64) error {
	soft := &f.spec.Soft
	if len(soft.Columns) == 0 {
		return nil
	}
	if !f.stats.Soft && p.config.Label != "" {
		*soft = jobs.SoftLabels{}
		return nil
	}
	soft.Columns = slices.Clone(soft.Columns)
	slices.SortFunc(soft.Columns, func(a, b jobs.ProbabilityColumn) int {
		return slices.Index(f.label.Classes, a.Class) - slices.Index(f.label.Classes, b.Class)
	})
	if !f.stats.Soft {
		return nil
	}
	const least, exact = 1 << 8, 1 << 53 // JSON's readers know whole numbers up to 2^53
	soft.Scale = jobs.MostSoftScale
	for soft.Scale > least && weight > exact/soft.Scale {
		soft.Scale /= 2
	}
	if weight > weighing.MaxTotalWeight/2/least {
		return &dataset.DataError{
			Column:  p.config.Weight,
			Problem: "the weights of the training rows add up to more than can be counted with --label_probabilities",
			Hint:    "train on a part of the rows, or leave the weights out",
		}
	}
	return nil
}

// weighClasses decides what the weights of training rows are multiplied by. It returns the
// weight of all training rows in their units, or more.
func (r *run) weighClasses(f *fitted, weights []byte) (int64, error) {
	switch {
	case r.config.WeighsClasses():
		return r.tables.Weigh(&f.spec.Rule, weights, f.label.Classes, r.sampled)
	case f.spec.Units != nil:
		return f.spec.Units[dataset.Train].Total, nil
	default:
		return f.stats.Rows, nil
	}
}
