package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/weighing"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// fitted has the features, the label and the statistics that a run gets from one pass over the rows.
type fitted struct {
	label    tree.Label
	features []dataset.Feature // with at least two codes, so that a node can test them
	spec     jobs.RowSpec      // how the columns of these features, the label and the weight are read
	constant []string          // columns with the same code in all training rows
	stats    *jobs.RowStats
}

// add adds a feature with its column. The column gets the kind and unit of the feature, which may differ: see
// binning.FeatureConfig.SingleBins and takeFeatures.
func (f *fitted) add(x *dataset.Feature, column dataset.FeatureColumn) {
	column.Kind = x.Kind
	column.Unit = x.Unit
	f.features = append(f.features, *x)
	f.spec.Features = append(f.spec.Features, column)
}

// fitter fits features and classes in one pass over the rows.
type fitter struct{ stage }

// summariseConfig returns the job of the pass over the rows.
func (w *fitter) summariseConfig(rows *jobs.RowSpec) jobs.SummariseConfig {
	return jobs.SummariseConfig{
		Config: w.driver.JobConfig(w.place.scratch + "/summarise"), Rows: rows.Encode(),
		Classes: w.config.WeighsClasses(),
		Limits: binning.Limits{
			Values: w.config.MaxValues, Categories: max(w.config.MaxValues, binning.DefaultLimits().Categories),
		},
		Pieces: engine.Pieces(4*w.driver.Workers(), w.rowPieces()), // small ones, so that all workers end at about the same time
	}
}

// weighed returns how the rows are read, with the times of the split and the units of the weights.
func (w *fitter) weighed(ctx context.Context) (*jobs.RowSpec, error) {
	rows := w.schema.rows
	if err := w.cutTimes(ctx, &rows.Parting); err != nil {
		return nil, err
	}
	if err := w.timeKeys(ctx, &rows); err != nil {
		return nil, err
	}
	if err := w.driver.CountWeights(ctx, w.input.Tasks, w.place.scratch, &rows); err != nil {
		return nil, err
	}
	// Rows with unequal weights keep the classes of their weights instead of groups: the weight of an object does not
	// determine the weights of its rows, and a heavy row that is divided among folds would confirm itself.
	if !rows.Dependent() && rows.WeightEffect() > 1 {
		train := int64(0)
		if len(rows.Soft.Columns) == 0 {
			train = w.parsed.Selection.Groups()
		}
		rows.Groups = groupsOf(train)
	}
	return &rows, nil
}

// fit fits the features and the classes to the rows, or takes them from an earlier run.
func (w *fitter) fit(ctx context.Context) (*fitted, error) {
	rowsOfLines, err := w.driver.CountRows(ctx, w.input.Tasks, w.place.scratch, w.config.Count)
	if err != nil {
		return nil, err
	}
	w.settleBins(rowsOfLines)
	if err := w.compareGroups(ctx); err != nil {
		return nil, err
	}
	spec, err := w.weighed(ctx)
	for w.readOtherwise(err) {
		spec, err = w.weighed(ctx)
	}
	if err != nil {
		return nil, err
	}
	rows := *spec
	if w.cuts != nil {
		rows.Features = nil
	}
	stats, columns, err := w.summarise(ctx, &rows)
	for w.readOtherwise(err) {
		rows.Features = w.schema.rows.Features
		stats, columns, err = w.summarise(ctx, &rows)
	}
	if err != nil {
		return nil, err
	}
	if stats.Train == 0 {
		return nil, w.noRows("no row is left for training")
	}
	if stats.Known > 0 {
		w.driver.Reporter.Warn(fmt.Sprintf("%d of %d rows are of a %s that has rows in an older part: they are left out", stats.Known,
			stats.Rows, rows.Key))
	}
	f := &fitted{spec: *spec, stats: stats}
	at := len(rows.Features) // index of the label; the class weights come last
	if w.cuts != nil {
		f.label, err = w.describeLabel(w.cuts.Classes)
	} else {
		f.label, err = w.fitLabel(columns[at])
	}
	if err != nil {
		return nil, err
	}
	w.warnOfPriors(&f.label)
	weight, err := w.weighClasses(f, columns[len(columns)-1])
	if err != nil {
		return nil, err
	}
	if err := w.soften(f, weight); err != nil {
		return nil, err
	}
	if w.cuts != nil {
		return f, w.takeFeatures(f)
	}
	return f, w.fitFeatures(ctx, f, columns[:at])
}

// readOtherwise reports whether an error names a text of another kind than the texts of the sample by which its column was
// read. If so, the column is read otherwise: dates as timestamps, with a note, or as texts, with a warning.
func (w *fitter) readOtherwise(err error) bool {
	var e *dataset.DataError
	if !errors.As(err, &e) {
		return false
	}
	at := slices.IndexFunc(w.schema.columns, func(c schemaColumn) bool { return c.Name == e.Column })
	if at < 0 || w.cuts != nil {
		return false
	}
	things := w.schema.columns[at].Unit.Things()
	if !w.reread(otherText{e.Column, e.Value}) {
		return false
	}
	if w.schema.columns[at].Type == dataset.Number {
		w.driver.Reporter.Note(fmt.Sprintf("column %q has %s and timestamps, such as %q in %s: all are read as timestamps", e.Column, things,
			e.Value, e.File))
		return true
	}
	w.driver.Reporter.Warn(fmt.Sprintf("column %q has texts, because of %q in %s, but a sample of them are %s: write such values "+
		"as null to read %s; --categorical %s keeps the texts", e.Column, e.Value, e.File, things, things, e.Column))
	return true
}

// mostTimes limits the number of distinct times that are counted, to about 400 MB.
const mostTimes = 1 << 24

// cutTimes sets the times at which the validation and test rows begin, if the split is by time. It only
// reads the column of the time.
func (w *fitter) cutTimes(ctx context.Context, p *dataset.Parting) error {
	if p.Time == "" || len(w.input.Tasks) == 0 {
		return nil
	}
	times, err := w.summariseAll(ctx, "times", dataset.FeatureColumn{Name: p.Time, Kind: dataset.Numeric, Type: dataset.Number}, mostTimes)
	if err != nil {
		return err
	}
	if !times.Exact() {
		return &dataset.DataError{
			Column: p.Time, Problem: fmt.Sprintf("more than %d different times, too many to find where the parts begin", mostTimes),
			Hint: "round them, to days for example",
		}
	}
	values, rows := times.Numbers()
	for _, x := range values {
		if math.IsInf(x, 0) {
			return &dataset.DataError{
				Column: p.Time, Value: dataset.SpellNumber(x), Problem: "a time that is not finite",
				Hint: "write the time of such rows, or leave them out of the input",
			}
		}
	}
	p.CutTimes(values, rows)
	return nil
}

// summariseAll summarises a column, whatever the parts of the rows are.
func (w *fitter) summariseAll(ctx context.Context, name string, column dataset.FeatureColumn, most int) (*binning.Summary, error) {
	config := w.summariseConfig(&jobs.RowSpec{
		Features: []dataset.FeatureColumn{column},
		Parting:  dataset.Parting{Shares: dataset.Shares{dataset.Train: 1}},
		Count:    w.config.Count,
	})
	config.Out = w.place.scratch + "/" + name
	config.Classes = false
	config.Limits = binning.Limits{Values: most, Categories: most}
	_, columns, err := w.driver.Summarise(ctx, name, w.input.Tasks, 1, config)
	if err != nil {
		return nil, err
	}
	s, _, err := binning.Decode(columns[0])
	return s, err
}

// mostGroups limits the number of groups whose names are compared, to about 100 MB.
const mostGroups = 1 << 20

// compareGroups warns of groups that may be one group in several spellings.
func (w *fitter) compareGroups(ctx context.Context) error {
	column := w.config.Group
	at := slices.IndexFunc(w.schema.columns, func(c schemaColumn) bool { return c.Name == column })
	if column == "" || len(w.input.Tasks) == 0 || w.schema.columns[at].Type != dataset.Text {
		return nil
	}
	groups, err := w.summariseAll(ctx, "groups", dataset.FeatureColumn{Name: column, Kind: dataset.Categorical, Type: dataset.Text}, mostGroups)
	if err != nil {
		return err
	}
	warnOfGroups(w.driver.Reporter.Warn, column, groups)
	return nil
}

// timeKeys finds the first time of each key, if rows have keys and the split is by time.
func (w *fitter) timeKeys(ctx context.Context, rows *jobs.RowSpec) error {
	if rows.Time == "" || rows.Key == "" || len(w.input.Tasks) == 0 {
		return nil
	}
	config := jobs.KeyTimesConfig{
		Config: w.driver.JobConfig(w.place.blocks + "/keys"), Parting: rows.Parting,
		Rows: (&jobs.RowSpec{Features: []dataset.FeatureColumn{
			{Name: rows.Time, Kind: dataset.Numeric, Type: dataset.Number}, {Name: rows.Key},
		}, Count: rows.Count, Parting: dataset.Parting{Shares: dataset.Shares{dataset.Train: 1}}}).Encode(),
	}
	rows.KeyTimes = config.Out
	return w.driver.RunGroups(ctx, "keys", w.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.KeyTimes(s, tasks, config)
	})
}

// takeFeatures gives a run the features of an earlier run, in their order. Columns that the earlier run did not
// test count as constant.
func (w *fitter) takeFeatures(f *fitted) error {
	earlier := make(map[string]*dataset.Feature, len(w.cuts.Features))
	order := make(map[string]int, len(w.cuts.Features))
	for i := range w.cuts.Features {
		earlier[w.cuts.Features[i].Name] = &w.cuts.Features[i]
		order[w.cuts.Features[i].Name] = i
	}
	columns := slices.SortedStableFunc(slices.Values(f.spec.Features), func(a, b dataset.FeatureColumn) int {
		return cmp.Compare(order[a.Name], order[b.Name])
	})
	f.spec.Features = nil
	for _, column := range columns {
		feature := earlier[column.Name]
		delete(earlier, column.Name)
		switch {
		case slices.Contains(w.config.Forbid, column.Name):
		case feature == nil:
			f.constant = append(f.constant, column.Name)
		default:
			if err := w.input.CheckFeature(feature); err != nil {
				return err
			}
			if values := w.config.Ordered[column.Name]; values != nil && (!feature.Ordered || !slices.Equal(values, feature.Values)) {
				return usage.Errorf("--ordered: column %q is read as in %s, with the values %q", column.Name, w.cuts.Run, feature.Values)
			}
			own := *feature
			own.Type = column.Type
			f.add(&own, column)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(earlier)) {
		if !slices.Contains(w.input.Names(), name) {
			return dataset.WithHint(w.input.CheckFeature(earlier[name]), "add the column, or take new cuts: leave out --cuts_from")
		}
	}
	return w.applyCosts(f)
}

// summarise runs the pass over the rows. It returns the statistics of the rows and an encoded
// summary of each column: the features in order, the label, and the class weights if classes
// are weighed.
func (w *fitter) summarise(ctx context.Context, rows *jobs.RowSpec) (*jobs.RowStats, [][]byte, error) {
	if len(w.input.Tasks) == 0 {
		return nil, nil, w.noRows("no input file has a row")
	}
	return w.driver.Summarise(ctx, "summarise", w.input.Tasks, len(rows.Features), w.summariseConfig(rows))
}

func (p *plan) noRows(problem string) error {
	check := []string{"check --input and --split"}
	for _, flag := range []struct{ name, column string }{{"weight", p.config.Weight}, {"count", p.config.Count}} {
		if flag.column != "" {
			check = append(check, "--"+flag.name)
		}
	}
	return &dataset.DataError{
		File: strings.Join(p.config.Input, ","), Problem: problem,
		Hint: strings.Join(check, ", ") + "; if there are few rows, --split 100/0/0 trains on all",
	}
}

// fitLabel finds the classes, and adds the priors and error costs that the user states.
func (w *fitter) fitLabel(encoded []byte) (tree.Label, error) {
	column := w.labelColumn()
	s, _, err := binning.Decode(encoded)
	if err != nil {
		return tree.Label{}, err
	}
	classes, err := binning.FitClasses(column, s, w.config.MaxClasses)
	if err != nil {
		return tree.Label{}, tooManyClasses(err, s, w.labelUnit())
	}
	values, weights := s.Spelled()
	rows := make(map[string]int64, len(values))
	for i, value := range values {
		rows[value] = weights[i]
	}
	switch {
	case len(w.config.LabelCuts) > 0:
		classes = rangesWith(w.driver.Reporter.Warn, column, w.config.LabelCuts, rows)
	case quantity(classes):
		w.driver.Reporter.Warn(fmt.Sprintf("the label %q has %d different %s as its classes: %s", column, len(classes),
			numbersOf(w.labelUnit()), cutHint(s, w.labelUnit())))
	case w.labelUnit() != dataset.Plain:
		warnOfMoments(w.driver.Reporter.Warn, column, classes, w.labelUnit())
	default:
		warnOfLabels(w.driver.Reporter.Warn, column, classes, rows)
		warnOfManyClasses(w.driver.Reporter.Warn, column, classes, rows)
	}
	if classes, err = w.classesOf(classes); err != nil {
		return tree.Label{}, err
	}
	if len(classes) == 1 {
		w.driver.Reporter.Warn(fmt.Sprintf(
			"the label %q has one class, %q: the tree is a single leaf", column, classes[0]))
	}
	if len(w.config.Monotone) > 0 && len(classes) != 2 {
		// A constraint is about the probability of the second of two classes.
		return tree.Label{}, usage.Errorf("--monotone: the label %q has %d classes, want two", column, len(classes))
	}
	return w.describeLabel(classes)
}

// labelUnit returns the unit of the label's values.
func (p *plan) labelUnit() dataset.Unit {
	for i := range p.schema.columns {
		if p.schema.columns[i].role == RoleLabel {
			return p.schema.columns[i].Unit
		}
	}
	return dataset.Plain
}

// describeLabel describes the class column, with priors, error costs and the class of interest.
func (p *plan) describeLabel(classes []string) (l tree.Label, err error) {
	l = tree.Label{Column: p.labelColumn(), Classes: classes}
	if l.Priors, err = p.tables.PriorsOf(classes); err != nil {
		return l, err
	}
	if l.ErrorCosts, err = p.tables.ErrorCostsOf(classes); err != nil {
		return l, err
	}
	l.Decision, err = p.tables.DecisionOf(classes)
	return l, err
}

// warnOfPriors warns if the sum of the given priors is not 1, and says which frequencies they are read as.
func (w *fitter) warnOfPriors(l *tree.Label) {
	const rounding = 0.01 + 1e-9
	sum := 0.0
	var list []string
	for k, prior := range l.Priors {
		sum += w.tables.Priors[l.Classes[k]]
		list = append(list, fmt.Sprintf("%s=%.3g", naming.Printable(l.Classes[k]), prior))
	}
	if len(list) > 0 && math.Abs(sum-1) > rounding {
		w.driver.Reporter.Warn(fmt.Sprintf("--priors: the sum is %.4g, not 1: they are read as %s", sum, naming.First(list, 5)))
	}
}

// fitFeatures fits each feature to its summary. It leaves out forbidden features and features
// with a single code.
func (w *fitter) fitFeatures(ctx context.Context, f *fitted, encoded [][]byte) error {
	tested := make([]int, 0, len(encoded))
	for i := range encoded {
		if !slices.Contains(w.config.Forbid, w.schema.rows.Features[i].Name) {
			tested = append(tested, i)
		}
	}
	all := make([]dataset.Feature, len(tested))
	keys := make([]identity, len(tested))
	faults := make([]error, len(tested))
	columns := make([]dataset.FeatureColumn, len(tested))
	contents := make([]uint64, len(tested))
	bins := w.parsed.BinsFor(len(f.label.Classes))
	var fitters sync.Pool // one for each goroutine
	err := w.driver.Phase(ctx, "bins", int64(len(tested)), "features", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, len(tested), &s.Done, func(i int) {
			at := tested[i]
			fitter, _ := fitters.Get().(*binning.Fitter)
			if fitter == nil {
				fitter = new(binning.Fitter)
			}
			columns[i], contents[i] = w.schema.rows.Features[at], dataset.HashContent(encoded[at])
			all[i], keys[i], faults[i] = w.fitFeature(ctx, f.stats.Train, fitter, &columns[i], encoded[at], bins)
			fitters.Put(fitter)
			encoded[at] = nil
		})
	})
	if err != nil {
		return err
	}
	if err := errors.Join(faults...); err != nil {
		return cmp.Or(faults...)
	}
	f.spec.Features = nil
	left := w.leaveOutKeys(columns, keys, w.driver.Reporter.Warn)
	for _, i := range w.config.TestOrder(columns, contents) {
		if slices.Contains(left, columns[i].Name) {
			continue
		}
		if all[i].Other > 0 {
			which := fmt.Sprintf("values of fewer than %d rows", w.config.MinValueRows)
			if len(all[i].Values) == w.config.MaxCategories {
				which = fmt.Sprintf("more than %d values", w.config.MaxCategories)
			}
			w.driver.Reporter.Warn(fmt.Sprintf("column %q has %s: the rarest are put together as \"other\"", all[i].Name, which))
		}
		if given := len(w.config.Cuts[all[i].Name]); given > len(all[i].Cuts) {
			w.driver.Reporter.Warn(fmt.Sprintf("--cuts: %d of the %d cuts of %q part training rows; cuts that part none are left out",
				len(all[i].Cuts), given, all[i].Name))
		}
		w.warnOfPeople(f, &all[i])
		if all[i].CodesSeen() < 2 {
			f.constant = append(f.constant, all[i].Name)
			continue
		}
		f.add(&all[i], columns[i])
	}
	warnOfValues(w.driver.Reporter.Warn, f.features)
	w.warnOfFewBins(f, bins)
	w.warnOfConstants(f.constant)
	if len(f.features) == 0 {
		w.driver.Reporter.Warn("all features are constant among the training rows: the tree is a single leaf")
	}
	return w.applyCosts(f)
}

// applyCosts sets the prices of the features, and warns of prices of values that the training rows lack, and of features and
// values without a price.
func (w *fitter) applyCosts(f *fitted) error {
	features := f.features
	if err := w.costs.Apply(features, f.weight()); err != nil {
		return err
	}
	if unseen := w.costs.Unseen(features); len(unseen) > 0 {
		w.driver.Reporter.Warn(fmt.Sprintf("--costs: the training rows lack the values %s, or they are too rare for a test of their own: "+
			"their prices have no effect", strings.Join(unseen, ", ")))
	}
	if unpriced := w.costs.Unpriced(features); len(unpriced) > 0 {
		w.driver.Reporter.Warn(fmt.Sprintf("--costs has no price for %d of %d features, which cost 1: %s", len(unpriced), len(features),
			naming.First(naming.Quoted(unpriced), 5)))
	}
	if unpriced := w.costs.UnpricedValues(features); len(unpriced) > 0 {
		w.driver.Reporter.Warn("--costs has no price for these values, although other values of their features have one; a test for them costs 1: " +
			naming.First(unpriced, 5))
	}
	return nil
}

// weight returns the weight of the training rows, as summaries count it.
func (f *fitted) weight() int64 {
	if f.spec.Units != nil {
		return f.spec.Units[dataset.Train].Total
	}
	return f.stats.Train
}

// warnOfPeople warns of a column of texts whose values have fewer than three rows on average: they may be personal
// data, and the files of the run contain them.
func (w *fitter) warnOfPeople(f *fitted, x *dataset.Feature) {
	const few, rows = 20, 3 // values; rows of a value
	kept := f.stats.Train
	if w.config.Weight == "" {
		kept -= x.Missing + x.Other
	}
	if n := int64(len(x.Values)); x.Type != dataset.Text || n < few || n*rows <= kept {
		return
	}
	w.driver.Reporter.Warn(fmt.Sprintf("column %q has values of one or two rows each, maybe names or keys, and the run's files contain them; "+
		"--ignore %s leaves the column out, --min_value_rows 10 leaves out values of fewer rows", x.Name, x.Name))
}

// warnOfFewBins warns of fewer bins than classes: a feature with fewer bins cannot
// tell all classes apart.
func (w *fitter) warnOfFewBins(f *fitted, bins int) {
	classes := len(f.label.Classes)
	if bins >= classes {
		return
	}
	full := func(x dataset.Feature) bool { return x.Kind == dataset.Numeric && len(x.Cuts)+1 >= bins }
	if at := slices.IndexFunc(f.features, full); at >= 0 {
		w.driver.Reporter.Warn(fmt.Sprintf("the label has %d classes, and column %q has %d bins: fewer bins than classes do "+
			"not tell all classes apart (--bins auto takes %d)", classes, f.features[at].Name, bins,
			w.parsed.AutoBins(classes)))
	}
}

func (w *fitter) fitFeature(
	ctx context.Context, rows int64, fitter *binning.Fitter, column *dataset.FeatureColumn, encoded []byte, bins int,
) (dataset.Feature, identity, error) {
	s, _, err := binning.Decode(encoded)
	if err != nil {
		return dataset.Feature{}, identity{}, err
	}
	key := identity{unseen: s.Unseen(rows)}
	key.Identity, err = w.input.Identity(ctx, w.files, column, s, rows)
	if err != nil || key.Identity >= binning.Boundless && !w.wanted(column.Name) {
		return dataset.Feature{}, key, err
	}
	f, err := fitter.FitFeature(column.Name, s, binning.FeatureConfig{
		Method: w.config.Binning, Bins: bins, SingleBins: grid.SingleBins(w.parsed.Grid),
		Categories: w.config.MaxCategories, MinRows: w.config.MinValueRows, Rows: rows, Unit: column.Unit, Zone: column.Zone,
		Order: w.config.Ordered[column.Name], Cuts: w.config.Cuts[column.Name],
	})
	return f, key, dataset.WithHint(err, "leave it out with --ignore "+column.Name+", or allow more values with --max_values")
}

// labelColumn returns the name that the label has in tree.json: its column, or the name of the columns
// of probabilities.
func (p *plan) labelColumn() string { return cmp.Or(p.config.Label, p.schema.rows.Soft.Named) }

// classesOf returns the classes of a run. label has the classes that the rows of the label have. With
// columns of probabilities, each class must have a column, and each column must have a class,
// unless there is no label.
func (w *fitter) classesOf(label []string) ([]string, error) {
	columns := w.schema.rows.Soft.Columns
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
				Column: w.config.Label, Value: class,
				Problem: fmt.Sprintf("a class without a column of probabilities: --label_probabilities %s has the classes %q",
					w.schema.rows.Soft.Named, classes),
				Hint: "add its column, or leave its rows out of the input",
			}
		}
	}
	if w.config.Label == "" {
		return classes, nil
	}
	for _, c := range columns {
		if !slices.Contains(label, c.Class) {
			return nil, &dataset.DataError{
				Column: c.Name, Value: c.Class,
				Problem: fmt.Sprintf("probabilities of no class: the label %q has the classes %q", w.config.Label, label),
				Hint:    "leave the column out with --ignore, or name the columns one by one, as CLASS=COLUMN",
			}
		}
	}
	return label, nil
}

// soften decides how soft labels are counted. If the probabilities of all training rows agree with
// their labels, they are not counted, so that training gives the same trees as with the labels, byte
// for byte. weight is an upper bound on the weight of the training rows.
func (w *fitter) soften(f *fitted, weight int64) error {
	soft := &f.spec.Soft
	if len(soft.Columns) == 0 {
		return nil
	}
	if !f.stats.Soft && w.config.Label != "" {
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
	const least, exact = 1 << 8, 1 << 53 // readers of JSON keep whole numbers exact up to 2^53
	soft.Scale = jobs.MostSoftScale
	for soft.Scale > least && weight > exact/soft.Scale {
		soft.Scale /= 2
	}
	if weight > weighing.MaxTotalWeight/2/least {
		return &dataset.DataError{
			Column:  w.config.Weight,
			Problem: "the weights of the training rows add up to more than can be counted with --label_probabilities",
			Hint:    "train on a part of the rows, or leave the weights out",
		}
	}
	return nil
}

// weighClasses sets the factors of the training rows' weights by class. It returns an upper bound on
// the weight of all training rows, in units.
func (w *fitter) weighClasses(f *fitted, weights []byte) (int64, error) {
	switch {
	case w.config.WeighsClasses():
		return w.tables.Weigh(&f.spec.Rule, weights, f.label.Classes)
	case f.spec.Units != nil:
		return f.spec.Units[dataset.Train].Total, nil
	default:
		return f.stats.Rows, nil
	}
}
