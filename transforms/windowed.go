package transforms

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tallies"
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

	// Classes are the classes of all trees, so that Prediction.Classes is the same for all windows. A class without
	// rows in a window has the probability 0. A row of another class is an error. Empty: the classes of the
	// rows of the window.
	Classes []string
	// MinRows is how many rows a tree needs, and MinClasses how many classes these must have. Otherwise the pane is
	// refused.
	MinRows    int64
	MinClasses int
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

// RefusedWindow is a pane without a tree.
type RefusedWindow struct {
	Start, End int64  // as in WindowTree
	Pane       int64  // as in WindowTree
	Timing     string // as in WindowTree
	Last       bool   // as in WindowTree
	Rows       int64  // training rows; 0 if they could not be read together
	Column     string // column at fault; empty if there is no single such column
	Reason     string // why there is no tree, and what was expected
	Hint       string // the remedy; may be empty
}

// WindowedTree grows a tree from each window of rows. rows is a PCollection<T> with T as in Score
// and may be unbounded. The trees are in the windows of the configuration. WindowedTree assigns
// these windows by the times of the rows, and ignores the windows in which the rows come.
//
// The tree of a pane is grown from all rows of its window so far. Its bytes do not depend on the
// order of the rows, on bundles or on earlier panes. It is the tree of Train for
// the same rows. A runner may fire a pane twice, or fire a pane without new rows: then
// the same tree is repeated. A window has no tree if no row can be trained on. If rows are maps, a
// feature without a value in any row of a window is left out of its tree; this is logged, and
// counted as features_missing. So is a text with too many values, as features_left_out.
//
// A window whose rows make no tree does not make the pipeline fail: its pane is in Refused, with the
// reason, is counted as trees_refused, and Model.Latest keeps the tree before. Examples are more
// classes than MaxClasses, or fewer rows than MinRows. With the option Reports, each pane with rows that can be trained on
// has a report, whether it is refused or not.
//
// The counts of a window are kept until it ends, in the state of the runner. If the pipeline is updated
// to rows of other columns or to other settings of how rows are read, the counts from before are
// dropped, because they cannot be added up; this is logged, and rows_dropped counts the rows.
//
// Each bundle counts its equal rows. A single worker merges the counts of a window and grows its
// tree, in memory: see Train.
//
// Dead letters are in the same windows as the trees.
//
// WindowedTree panics in the same cases as Train, and if the settings of the windows are invalid.
func WindowedTree(s beam.Scope, rows beam.PCollection, c WindowConfig, opts ...Option) Trained {
	o, err := newOptions(windowedStep, opts)
	spec, fault := newTrainSpec(rows, &c.TrainConfig, o)
	err = errors.Join(err, fault, c.check(), o.checkReports())
	if err != nil {
		panic(fmt.Errorf("%s: %w", windowedStep, err))
	}
	spec.Classes = slices.Sorted(slices.Values(c.Classes))
	s = s.Scope(windowedStep)
	spec.LeaveOut = true
	fn := &tallyFn{Spec: elements.MustJSON(spec), Shards: 1, Refusal: o.refusal(), Digest: spec.Digest()}
	fn.Stretch, fn.Alone = stretch(c.Windows)
	// tallyFn emits at the end of its bundle, which is only possible in the global window.
	batches, dead := beam.ParDo2(s, fn, beam.WindowInto(s, window.NewGlobalWindows(), rows))
	batches = beam.WindowInto(s, c.Windows, batches, c.windowing()...)
	// CombinePerKey does not work here, because its results do not know their pane
	// (exec.ExtractOutput).
	grow := &windowTreeFn{Spec: fn.Spec, Digest: fn.Digest, MinRows: c.MinRows, MinClasses: c.MinClasses, Reports: o.reports}
	trees, refused, reports := beam.ParDo3(s, grow, beam.GroupByKey(s, batches))
	if o.reports == nil {
		reports = beam.PCollection{}
	}
	if o.letters != nil {
		dead = beam.WindowInto(s, c.Windows, dead, c.windowing()...)
	}
	return Trained{Trees: trees, Refused: refused, Reports: reports, DeadLetters: o.limit(s, dead)}
}

const windowedStep = "transforms.WindowedTree"

// check checks the settings of windows.
func (c *WindowConfig) check() error {
	if c.Windows == nil {
		return errors.New("no Windows: want some, such as window.NewFixedWindows(time.Hour)")
	}
	var faults []error
	if c.Windows.Kind == window.FixedWindows && c.Windows.Size < time.Millisecond {
		faults = append(faults, fmt.Errorf("windows of %v: want 1ms or more", c.Windows.Size))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(c.Classes)))) < len(c.Classes) || slices.Contains(c.Classes, "") {
		faults = append(faults, fmt.Errorf("the Classes %q: want each class once, and no empty class", c.Classes))
	}
	if c.MinRows < 0 || c.MinClasses < 0 {
		faults = append(faults, fmt.Errorf("MinRows %d and MinClasses %d: want numbers of at least 0", c.MinRows, c.MinClasses))
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

// windowTreeFn grows the tree of a pane.
type windowTreeFn struct {
	Spec       []byte
	Digest     []byte // opens the tallies of this pipeline
	MinRows    int64
	MinClasses int
	Reports    *Reports // nil: there are no reports
}

var (
	treesRefused    = beam.NewCounter(elements.CounterNamespace, "trees_refused")
	rowsDropped     = beam.NewCounter(elements.CounterNamespace, "rows_dropped")
	featuresLeftOut = beam.NewCounter(elements.CounterNamespace, "features_left_out")
)

func (f *windowTreeFn) ProcessElement(
	ctx context.Context, pane beam.PaneInfo, w beam.Window, _ int64,
	values func(*[]byte) bool, emit func(WindowTree), refuse func(RefusedWindow), report func(Report),
) error {
	list := f.own(ctx, elements.Collect(values))
	if len(list) == 0 {
		return nil // a pane without rows
	}
	tally, err := dataset.MergeTallies(list...)
	if err != nil {
		return err
	}
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	t := WindowTree{Pane: pane.Index, Timing: timing(pane), Last: pane.IsLast}
	if interval, ok := w.(window.IntervalWindow); ok {
		t.Start, t.End = int64(interval.Start), int64(interval.End)
	}
	p, g, notes, err := spec.growTally(ctx, tally)
	fault, ok := errors.AsType[*dataset.DataError](err)
	switch {
	case !ok && (err != nil || g == nil):
		return err
	case !ok:
		fault = f.tooFew(g)
	}
	if g != nil {
		t.Rows = g.Rows[dataset.Train]
	}
	if fault != nil {
		treesRefused.Inc(ctx, 1)
		log.Warnf(ctx, "%s makes no tree of the window from %d to %d: %v", windowedStep, t.Start, t.End, fault)
		r := RefusedWindow{
			Start: t.Start, End: t.End, Pane: t.Pane, Timing: t.Timing, Last: t.Last, Rows: t.Rows, Column: fault.Column,
			Reason: fault.Problem, Hint: fault.Hint,
		}
		refuse(r)
		f.report(&t, &Report{Refused: &r}, report)
		return nil
	}
	countGrown(ctx, g)
	t.JSON = g.Tree.Encode()
	emit(t)
	if f.Reports == nil {
		return nil
	}
	r, err := spec.reportTally(p, g, notes, *f.Reports, tally)
	if err != nil {
		return elements.Carry(err)
	}
	f.report(&t, r, report)
	return nil
}

// report emits the report on a pane, if reports are wanted.
func (f *windowTreeFn) report(t *WindowTree, r *Report, emit func(Report)) {
	if f.Reports == nil {
		return
	}
	r.Start = t.Start
	r.End = t.End
	r.Pane = t.Pane
	r.Timing = t.Timing
	r.Last = t.Last
	emit(*r)
}

// own returns the tallies of this pipeline, without the digests that open them. It counts the rows of others.
func (f *windowTreeFn) own(ctx context.Context, list [][]byte) [][]byte {
	var own [][]byte
	dropped := int64(0)
	for _, b := range list {
		tally, ok := bytes.CutPrefix(b, f.Digest)
		if ok {
			own = append(own, tally)
		} else {
			dropped += rowsOf(b, len(f.Digest))
		}
	}
	if len(own) < len(list) {
		rowsDropped.Inc(ctx, dropped)
		log.Warnf(ctx, windowedStep+" drops %d rows that were counted before an update of the pipeline: their columns "+
			"or settings were others", dropped)
	}
	return own
}

// rowsOf returns the number of rows of a tally of another program, up to where it is damaged. Earlier versions of Espalier
// have no digest before a tally.
func rowsOf(b []byte, digest int) int64 {
	r, err := dataset.ReadTally(b)
	if err != nil {
		r, err = dataset.ReadTally(b[min(digest, len(b)):])
	}
	if err != nil {
		return 0
	}
	rows := r.Dropped
	for r.Next() {
		rows += r.Rows
	}
	return rows
}

// tooFew returns why the rows are too few for a tree; nil if they are enough.
func (f *windowTreeFn) tooFew(g *tallies.Grown) *dataset.DataError {
	switch rows := g.Rows[dataset.Train]; {
	case rows < f.MinRows:
		return &dataset.DataError{Problem: fmt.Sprintf("%d training rows: MinRows wants %d", rows, f.MinRows)}
	case g.Classes < f.MinClasses:
		return &dataset.DataError{Problem: fmt.Sprintf("the training rows have %d classes: MinClasses wants %d", g.Classes, f.MinClasses)}
	default:
		return nil
	}
}

// timing names the timing of a pane. The zero pane, which is not the first one of its window, is of a runner without
// panes, such as direct.
func timing(p typex.PaneInfo) string {
	if p == (typex.PaneInfo{}) {
		return "unknown"
	}
	switch p.Timing {
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

// growTally grows the tree of a window from its tally, with the notes of the choice. g is nil if the tally has no row that
// can be trained on.
func (s *trainSpec) growTally(ctx context.Context, tally []byte) (p *tallies.Plan, g *tallies.Grown, notes []string, err error) {
	p, sums, err := s.FitTally(tally)
	if err != nil && sums != nil { // the rows were read, and make no tree
		g = new(tallies.Grown)
		g.Rows[dataset.Train] = sums.TrainRows
	}
	if err != nil || p == nil {
		return nil, g, nil, err
	}
	s.warn(ctx, windowedStep, sums)
	if len(p.LeftOut) > 0 {
		featuresLeftOut.Inc(ctx, int64(len(p.LeftOut)))
		note := "left out features of the window: " + strings.Join(p.LeftOut, "; ")
		log.Warnf(ctx, "%s %s", windowedStep, note)
		notes = append(notes, note)
	}
	tables, err := s.Code(tally, p)
	if t := tables[dataset.Train]; err != nil || t == nil || t.Len() == 0 {
		return nil, nil, nil, err
	}
	g, err = s.grow(ctx, &tables, p, &notes)
	return p, g, notes, err
}
