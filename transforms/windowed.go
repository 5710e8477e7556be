package transforms

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/tallied"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// WindowConfig describes how trees are grown from windows of rows. Shards has no effect: a single
// worker gathers all rows of a window.
type WindowConfig struct {
	TrainConfig

	// Windows assigns rows to windows: fixed, sliding or session windows, or the global window. It
	// is required.
	Windows *window.Fn
	// Trigger fires the panes of a window. Panes accumulate: each gives a tree from all rows of the
	// window so far. nil: a pane fires when the watermark passes the end of the window, and again
	// whenever late rows have come. If you use AfterEndOfWindow on Flink, set both the early and
	// the late trigger, because Flink cannot read the defaults of Beam's Go SDK.
	Trigger trigger.Trigger
	// AllowedLateness is how long after the end of a window its late rows still count. The runner
	// drops later rows. (Prism, a runner for tests, may instead put rows that come shortly after
	// this time into a window of their own.)
	AllowedLateness time.Duration

	// Bins is a schema.json or a tree.json. All windows use its features (with cuts, values and
	// costs) and its classes. Rows are then encoded at once, and a window is stored as objects,
	// which takes less memory. A schema.json has every feature with two or more values. A tree.json
	// only has the features of its tests: leave out all other columns by Features or Ignore. A row
	// of another class is an error. Empty: bins are fitted to the rows of each window, which is
	// stored as its distinct rows.
	Bins []byte
	// PreviousBins fits the bins of a window to those rows of the previous window that have come
	// when the pane fires. Neighbouring trees then have the same cuts if the data do not change. If
	// the previous window has no rows, the bins are fitted to the window's own rows. PreviousBins
	// needs fixed windows.
	PreviousBins bool

	// Classes are the classes of all trees, so that Prediction.Classes is the same for all windows. A class without
	// rows in a window has the probability 0. A row of another class is an error. Empty: the classes of Bins or, without
	// Bins, of the rows of the window.
	Classes []string
	// MinRows is how many rows a tree needs, and MinClasses how many classes these must have. Otherwise the pane has
	// no tree, which is counted as trees_refused, and Model.Latest keeps the tree before.
	MinRows    int64
	MinClasses int

	// Gate compares the tree of a window with the newest accepted tree of an earlier window, on the test rows of the
	// window, as `espalier retrain` does: see gate.Default. A tree that is refused is not emitted, which is counted as
	// trees_refused and logged: Model.Latest keeps the tree before. The first tree only needs an AUC of at least MinAUC.
	// Trees are compared in the order of the ends of their windows, whatever the order in which they come; in streams, a
	// tree waits until the watermark has reached the end of the window before. A late pane is compared as the first pane
	// of its window is.
	//
	// Bad labels of a whole window also mislead its test rows: MaxAUCFall finds labels that do not follow from the
	// features, and a MaxFlips such as 0.5 labels that are swapped. Gate needs fixed or sliding windows, test rows (Split
	// or SplitColumn) and Classes, and allows no Bins. A single worker compares all trees. In bounded collections it
	// holds the distinct test rows of all windows. Streams need a runner with state and timers: see Model.Latest. nil: no
	// gate.
	Gate *gate.Limits
}

// WindowTree is the tree of a window.
type WindowTree struct {
	Start, End int64  // times of the window in ms since 1970; both 0 for the global window
	Pane       int64  // number of the pane in its window, starting at 0
	Timing     string // timing of the pane: early, ontime, late or unknown
	Last       bool   // whether this is the last pane of the window; false if the runner does not know
	Rows       int64  // number of rows that the tree is grown from
	JSON       []byte // tree.json
}

// WindowedTree grows a tree from each window of rows. rows is a PCollection<T> with T as in Score
// and may be unbounded. The trees are in the windows of the configuration. WindowedTree assigns
// these windows by the times of the rows, and ignores the windows in which the rows come.
//
// The tree of a pane is grown from all rows of its window so far. Its bytes do not depend on the
// order of the rows, on bundles or on earlier panes. Without Bins and PreviousBins it is the tree
// of Train for the same rows. A runner may fire a pane twice, or fire a pane without new rows: then
// the same tree is repeated. A window has no tree if no row can be trained on. If rows are maps, a
// feature without a value in any row of a window is left out of its tree; this is logged, and
// counted as features_missing.
//
// Each bundle counts its equal rows. A single worker merges the counts of a window and grows its
// tree, in memory: see Train.
//
// Dead letters are in the same windows as the trees.
//
// WindowedTree panics in the same cases as Train, and if the settings of the windows are invalid.
func WindowedTree(s beam.Scope, rows beam.PCollection, c WindowConfig, opts ...Option) Trained {
	const step = "transforms.WindowedTree"
	o, err := newOptions(step, opts)
	spec, fault := newTrainSpec(rows, &c.TrainConfig)
	err = errors.Join(err, fault, c.check())
	var given []byte
	if err == nil {
		spec.Classes = slices.Sorted(slices.Values(c.Classes))
		given, err = c.givenPlan(spec)
	}
	if err != nil {
		panic(fmt.Errorf("%s: %w", step, err))
	}
	s = s.Scope(step)
	fn := &tallyFn{Spec: jobs.MustJSON(spec), Shards: 1, Given: given, Refusal: o.refusal()}
	fn.Stretch, fn.Alone = stretch(c.Windows)
	if c.PreviousBins {
		fn.Earlier = c.Windows.Size
	}
	// tallyFn emits at the end of its bundle, which is only possible in the global window.
	batches, dead := beam.ParDo2(s, fn, beam.WindowInto(s, window.NewGlobalWindows(), rows))
	batches = beam.WindowInto(s, c.Windows, batches, c.windowing()...)
	// CombinePerKey does not work here, because its results do not know their pane
	// (exec.ExtractOutput).
	grow := windowTreeFn{Spec: fn.Spec, Given: given, MinRows: c.MinRows, MinClasses: c.MinClasses}
	var trees beam.PCollection
	if c.Gate == nil {
		trees = beam.ParDo(s, &grow, beam.GroupByKey(s, batches))
	} else {
		trees = c.gated(s, beam.ParDo(s, &candidateFn{grow}, beam.GroupByKey(s, batches)), fn.Spec)
	}
	if o.letters != nil {
		dead = beam.WindowInto(s, c.Windows, dead, c.windowing()...)
	}
	return Trained{Trees: trees, DeadLetters: o.limit(s, dead)}
}

// check checks the settings of windows.
func (c *WindowConfig) check() error {
	if c.Windows == nil {
		return errors.New("no Windows: want some, such as window.NewFixedWindows(time.Hour)")
	}
	var faults []error
	if c.Windows.Kind == window.FixedWindows && c.Windows.Size < time.Millisecond {
		faults = append(faults, fmt.Errorf("windows of %v: want 1ms or more", c.Windows.Size))
	}
	if c.PreviousBins && (c.Windows.Kind != window.FixedWindows || len(c.Bins) > 0) {
		faults = append(faults, errors.New("PreviousBins: want fixed windows, and no Bins"))
	}
	if len(c.Bins) > 0 && (len(c.TrainConfig.Bins) > 1 || c.Weighs()) {
		faults = append(faults, errors.New("the Bins of a window: want at most one number of bins, and no ClassWeights or BalanceClasses, which "+
			"rows decide on before they are coded"))
	}
	if len(c.Bins) > 0 && len(c.Classes) > 0 {
		faults = append(faults, errors.New("the Classes: want none with Bins, which have classes"))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(c.Classes)))) < len(c.Classes) || slices.Contains(c.Classes, "") {
		faults = append(faults, fmt.Errorf("the Classes %q: want each class once, and no empty class", c.Classes))
	}
	if c.MinRows < 0 || c.MinClasses < 0 {
		faults = append(faults, fmt.Errorf("MinRows %d and MinClasses %d: want numbers of at least 0", c.MinRows, c.MinClasses))
	}
	if c.Gate != nil {
		faults = append(faults, c.checkGate()...)
	}
	if c.AllowedLateness < 0 {
		faults = append(faults, fmt.Errorf("AllowedLateness %v: want a time of at least 0", c.AllowedLateness))
	}
	return errors.Join(faults...)
}

// windowing returns the options of WindowInto.
func (c *WindowConfig) windowing() []beam.WindowIntoOption {
	options := []beam.WindowIntoOption{beam.PanesAccumulate(), beam.AllowedLateness(c.AllowedLateness)}
	if c.Trigger != nil {
		options = append(options, beam.Trigger(c.Trigger))
	}
	return options
}

// stretch returns the longest length of time such that all rows in a stretch of that length are in
// the same windows; 0 if all rows are in a single window. alone reports whether the windows of a
// row depend on other rows.
func stretch(w *window.Fn) (length time.Duration, alone bool) {
	switch w.Kind {
	case window.GlobalWindows:
		return 0, false
	case window.FixedWindows:
		return w.Size, false
	case window.SlidingWindows:
		if length = gcd(w.Period, w.Size).Truncate(time.Millisecond); length > 0 {
			return length, false
		}
	case window.Sessions:
	}
	return 0, true
}

// gcd returns the greatest common divisor.
func gcd(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// givenPlan returns the encoded plan of Bins; empty if no Bins are given.
func (c *WindowConfig) givenPlan(spec *trainSpec) ([]byte, error) {
	if len(c.Bins) == 0 {
		return nil, nil
	}
	features, classes, err := c.bins(spec)
	if err != nil {
		return nil, fmt.Errorf("the Bins: %w", err)
	}
	p := &tallied.Plan{Classes: classes, Encoded: dataset.EncodeFeatures(features), Bins: c.TrainConfig.Bins}
	if len(p.Bins) == 0 {
		p.Bins = []int{0}
		for i := range features {
			p.Bins[0] = max(p.Bins[0], len(features[i].Cuts)+1)
		}
	}
	var faults []error
	for i := range features {
		f := &features[i]
		at := slices.IndexFunc(spec.Columns, func(c dataset.FeatureColumn) bool { return c.Name == f.Name })
		switch {
		case at < 0:
			faults = append(faults, fmt.Errorf("the Bins: their feature %q is not a feature of the rows", f.Name))
		case spec.Columns[at].Type == dataset.Number && spec.Columns[at].Unit != f.Unit:
			faults = append(faults, fmt.Errorf("the Bins: their feature %q is of %s, the rows have %s", f.Name, f.Unit.Things(),
				spec.Columns[at].Unit.Things()))
		case f.Kind == dataset.Numeric && spec.Columns[at].Type == dataset.Text:
			faults = append(faults,
				fmt.Errorf("the Bins: their feature %q is numeric, the rows have texts: name it in Numeric", f.Name))
		}
		p.Columns = append(p.Columns, at)
	}
	return jobs.MustJSON(p), errors.Join(faults...)
}

// bins returns the features and the classes of Bins.
func (c *WindowConfig) bins(spec *trainSpec) ([]dataset.Feature, []string, error) {
	if tree.IsSchema(c.Bins) {
		s, err := tree.DecodeSchema(c.Bins)
		if err != nil {
			return nil, nil, err
		}
		return s.Features(), s.Label.Classes, nil
	}
	t, err := tree.Decode(c.Bins)
	if err != nil {
		return nil, nil, err
	}
	var others []string
	for _, column := range spec.Columns {
		if !slices.ContainsFunc(t.Features, func(f dataset.Feature) bool { return f.Name == column.Name }) {
			others = append(others, column.Name)
		}
	}
	if len(others) > 0 {
		return nil, nil, fmt.Errorf("a tree.json has the features that its tree tests, and the rows also have %q: give the "+
			"schema.json next to it, or leave these out with Ignore", others)
	}
	return t.Features, t.Label.Classes, nil
}

// windowTreeFn grows the tree of a pane.
type windowTreeFn struct {
	Spec       []byte
	Given      []byte
	MinRows    int64
	MinClasses int
}

var treesRefused = beam.NewCounter(jobs.CounterNamespace, "trees_refused")

func (f *windowTreeFn) ProcessElement(
	ctx context.Context, pane beam.PaneInfo, w beam.Window, _ int64,
	values func(*[]byte) bool, emit func(WindowTree),
) error {
	t, _, err := f.grow(ctx, pane, w, values)
	if t != nil {
		emit(*t)
	}
	return err
}

// grow returns the tree of a pane and the tally of its rows; nil if the pane has no tree.
func (f *windowTreeFn) grow(
	ctx context.Context, pane beam.PaneInfo, w beam.Window, values func(*[]byte) bool,
) (t *WindowTree, tally []byte, err error) {
	list := jobs.Collect(values)
	if len(list) == 0 {
		return nil, nil, nil // a pane without rows
	}
	if tally, err = dataset.MergeTallies(list...); err != nil {
		return nil, nil, err
	}
	spec, err := openSpec(f.Spec)
	if err != nil {
		return nil, nil, err
	}
	g, err := spec.growTally(ctx, tally, f.Given)
	if err != nil || g == nil {
		return nil, nil, jobs.Carry(err)
	}
	if g.Rows[dataset.Train] < f.MinRows || g.Classes < f.MinClasses {
		treesRefused.Inc(ctx, 1)
		return nil, nil, nil
	}
	t = &WindowTree{Pane: pane.Index, Timing: timing(pane.Timing), Last: pane.IsLast, Rows: g.Rows[dataset.Train], JSON: g.Tree.Encode()}
	t.Start, t.End = timesOf(w)
	return t, tally, nil
}

// timesOf returns the start and the end of a window in ms since 1970; both 0 for the global window.
func timesOf(w beam.Window) (start, end int64) {
	if interval, ok := w.(window.IntervalWindow); ok {
		return int64(interval.Start), int64(interval.End)
	}
	return 0, 0
}

// timing names the timing of a pane.
func timing(t typex.PaneTiming) string {
	switch t {
	case typex.PaneEarly:
		return "early"
	case typex.PaneOnTime:
		return "ontime"
	case typex.PaneLate:
		return "late"
	default:
		return "unknown"
	}
}

// growTally grows the tree of a window from its tally. It returns nil if the tally has no row of
// the window itself.
func (s *trainSpec) growTally(ctx context.Context, tally, given []byte) (*tallied.Grown, error) {
	var p *tallied.Plan
	var tables tallied.Tables
	var err error
	if len(given) > 0 {
		if p, err = tallied.OpenPlan(given); err == nil {
			tables, err = s.Objects(p, tally)
		}
	} else {
		var sums *tallied.Sums
		if p, sums, err = s.FitTally(tally); err == nil && p != nil {
			s.warn(ctx, "transforms.WindowedTree", sums)
			tables, err = s.Code(tally, p)
		}
	}
	if t := tables[dataset.Train]; err != nil || t == nil || t.Len() == 0 {
		return nil, err
	}
	return s.grow(ctx, &tables, p)
}
