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
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// WindowConfig says how trees are grown from the windows of rows. Shards is of no
// use here: the rows of a window are gathered in one worker.
type WindowConfig struct {
	TrainConfig

	// Windows are fixed, sliding or session windows, or the global one; required.
	Windows *window.Fn
	// Trigger fires the panes of a window, which accumulate: each gives a tree of all
	// rows of the window that have come until then. nil: one when the watermark
	// passes the window's end, and one whenever late rows have come. Any trigger
	// will do. Of AfterEndOfWindow, Flink wants both the early and the late one to be
	// set, as Beam's Go SDK leaves it a default that it cannot read.
	Trigger trigger.Trigger
	// AllowedLateness is the time for which rows are waited for after the end of
	// their window. The runner drops later ones. (Prism, which is for tests, may
	// take rows that come right after that time for the only ones of their window.)
	AllowedLateness time.Duration

	// Bins is a schema.json or a tree.json whose features (with cuts, values and
	// costs) and classes all windows have; by them rows are codes from the start, and
	// a window is kept as its objects. A schema.json has every feature with
	// two values or more. A tree.json has only the features of its tests: Features or
	// Ignore must leave all other columns out. Empty: bins are fitted to the rows,
	// which are kept as they are, equal ones together. A row of another class is an
	// error.
	Bins []byte
	// PreviousBins fits the bins of a window to the rows of the one before, those
	// that have come until the pane, so that the trees of neighbours have the same
	// cuts where the data stay. Where no row came in the window before, as before
	// the first one, they are its own. For fixed windows.
	PreviousBins bool
}

// WindowTree is the tree of a window.
type WindowTree struct {
	Start, End int64  // of the window, ms since 1970; both 0: the global window
	Pane       int64  // number of the pane, from 0 on
	Timing     string // of the pane: early, ontime, late or unknown
	Last       bool   // the runner knows that no pane follows
	Rows       int64  // that the tree is grown from
	JSON       []byte // tree.json
}

// WindowedTree grows a tree of each window of rows, a PCollection<T> with T as in
// Score, which may be unbounded, and returns a PCollection<WindowTree> in these
// windows. It windows the rows itself, by their times, whatever windows they come
// in.
//
// A pane's tree is that of all rows of its window that have come, to the byte,
// whatever their order, bundles and panes; without Bins and PreviousBins it is
// the tree of Train for these rows. Runners may fire a pane twice, or one to which
// no row was added: it has the same tree. A window without rows has none, nor one
// whose rows are all left out. A feature of maps that no row of a window has a value
// of is not in the window's tree; it is logged and counted as features_missing.
//
// Equal rows are counted in each bundle, and the counts of a window are merged and
// its tree is grown in one worker, within its memory: see Train.
//
// WindowedTree panics where TryWindowedTree returns an error.
func WindowedTree(s beam.Scope, rows beam.PCollection, c WindowConfig) beam.PCollection {
	return beam.Must(TryWindowedTree(s, rows, c))
}

// TryWindowedTree is WindowedTree with an error, see TryTrain.
func TryWindowedTree(s beam.Scope, rows beam.PCollection, c WindowConfig) (beam.PCollection, error) {
	spec, err := newTrainSpec(rows, &c.TrainConfig)
	err = errors.Join(err, c.check())
	var given []byte
	if err == nil {
		given, err = c.given(spec)
	}
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("transforms.WindowedTree: %w", err)
	}
	s = s.Scope("transforms.WindowedTree")
	fn := &tallyFn{Spec: jobs.MustJSON(spec), Shards: 1, Given: given}
	fn.Of, fn.Alone = stretch(c.Windows)
	if c.PreviousBins {
		fn.Earlier = c.Windows.Size
	}
	// Bundles end in the global window, whatever windows the rows come in.
	batches := beam.ParDo(s, fn, beam.WindowInto(s, window.NewGlobalWindows(), rows))
	batches = beam.WindowInto(s, c.Windows, batches, c.windowing()...)
	// No CombinePerKey: what it gives has lost its pane (exec.ExtractOutput).
	return beam.ParDo(s, &windowTreeFn{Spec: fn.Spec, Given: given}, beam.GroupByKey(s, batches)), nil
}

func (c *WindowConfig) check() error {
	if c.Windows == nil {
		return errors.New("no Windows: want some, as window.NewFixedWindows(time.Hour)")
	}
	var faults []error
	if c.Windows.Kind == window.FixedWindows && c.Windows.Size < time.Millisecond {
		faults = append(faults, fmt.Errorf("windows of %v: want 1ms or more", c.Windows.Size))
	}
	if c.PreviousBins && (c.Windows.Kind != window.FixedWindows || len(c.Bins) > 0) {
		faults = append(faults, errors.New("PreviousBins: want fixed windows, and no Bins"))
	}
	if c.AllowedLateness < 0 {
		faults = append(faults, fmt.Errorf("AllowedLateness %v: want a time of at least 0", c.AllowedLateness))
	}
	return errors.Join(faults...)
}

func (c *WindowConfig) windowing() []beam.WindowIntoOption {
	options := []beam.WindowIntoOption{beam.PanesAccumulate(), beam.AllowedLateness(c.AllowedLateness)}
	if c.Trigger != nil {
		options = append(options, beam.Trigger(c.Trigger))
	}
	return options
}

// stretch returns the length of the stretches of time that the windows are made
// of, so that rows of one stretch have the same windows; 0: one window has them
// all. alone: windows depend on the rows.
func stretch(w *window.Fn) (of time.Duration, alone bool) {
	switch w.Kind {
	case window.GlobalWindows:
		return 0, false
	case window.FixedWindows:
		return w.Size, false
	case window.SlidingWindows:
		if of = gcd(w.Period, w.Size).Truncate(time.Millisecond); of > 0 {
			return of, false
		}
	case window.Sessions:
	}
	return 0, true
}

func gcd(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// given returns the plan of the bins that all windows have; empty: there are
// none.
func (c *WindowConfig) given(spec *trainSpec) ([]byte, error) {
	if len(c.Bins) == 0 {
		return nil, nil
	}
	features, classes, err := c.bins(spec)
	if err != nil {
		return nil, fmt.Errorf("the Bins: %w", err)
	}
	p := &plan{Classes: classes, Encoded: dataset.EncodeFeatures(features), Scale: 1, Bins: c.TrainConfig.Bins}
	if p.Bins == 0 {
		for i := range features {
			p.Bins = max(p.Bins, len(features[i].Cuts)+1)
		}
	}
	var faults []error
	for i := range features {
		f := &features[i]
		at := slices.IndexFunc(spec.Columns, func(c jobs.FeatureColumn) bool { return c.Name == f.Name })
		switch {
		case at < 0:
			faults = append(faults, fmt.Errorf("the Bins: their feature %q is no feature of the rows", f.Name))
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

// bins returns the features and classes of Bins.
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
		return nil, nil, fmt.Errorf("a tree.json has the features that its tree tests, and not %q of the rows: give the "+
			"schema.json beside it, or leave these out with Ignore", others)
	}
	return t.Features, t.Label.Classes, nil
}

// windowTreeFn grows the tree of a pane.
type windowTreeFn struct {
	Spec  []byte
	Given []byte
}

func (f *windowTreeFn) ProcessElement(
	ctx context.Context, pane beam.PaneInfo, w beam.Window, _ int64,
	values func(*[]byte) bool, emit func(WindowTree),
) error {
	list := jobs.Collect(values)
	if len(list) == 0 {
		return nil // a pane of no rows
	}
	tally, err := dataset.MergeTallies(list...)
	if err != nil {
		return err
	}
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	encoded, rows, err := spec.growTally(ctx, tally, f.Given)
	if err != nil {
		return jobs.Carry(err)
	}
	if rows == 0 {
		return nil
	}
	t := WindowTree{Pane: pane.Index, Timing: timing(pane.Timing), Last: pane.IsLast, Rows: rows, JSON: encoded}
	if of, ok := w.(window.IntervalWindow); ok {
		t.Start, t.End = int64(of.Start), int64(of.End)
	}
	emit(t)
	return nil
}

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

// growTally grows the tree of a tally's own rows; none: there are no rows.
func (s *trainSpec) growTally(ctx context.Context, tally, given []byte) (encoded []byte, rows int64, err error) {
	var p *plan
	var t *dataset.Table
	if len(given) > 0 {
		if p, err = openPlan(given); err == nil {
			t, err = p.objects(tally, s.weighted())
		}
	} else if p, err = s.planOf(ctx, tally); err == nil && p != nil {
		t, err = s.code(tally, p)
	}
	if err != nil || t == nil || t.Len() == 0 {
		return nil, 0, err
	}
	return s.grow(t, p)
}

// planOf fits the bins to the earlier rows of a tally, or to its own where there
// are no earlier ones; nil: it has no own rows.
func (s *trainSpec) planOf(ctx context.Context, tally []byte) (*plan, error) {
	sums, err := s.summarise(tally, ownRows)
	if err != nil || sums.Label == nil {
		return nil, err
	}
	earlier, err := s.summarise(tally, earlierRows)
	if err != nil {
		return nil, err
	}
	if earlier.Label != nil {
		sums.Columns, sums.Units, sums.BinRows = earlier.Columns, earlier.Units, earlier.rows()
	}
	s.warn(ctx, "transforms.WindowedTree", sums)
	return s.fit(sums)
}
