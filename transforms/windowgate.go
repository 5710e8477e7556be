package transforms

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tallied"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// checkGate checks the settings that Gate needs.
func (c *WindowConfig) checkGate() []error {
	var faults []error
	if c.period() < time.Millisecond {
		faults = append(faults, errors.New("the Gate: want fixed or sliding windows"))
	}
	if c.SplitColumn == "" && c.Split[dataset.Test] == 0 {
		faults = append(faults, fmt.Errorf("the Gate compares trees on test rows, and the Split %s has none: want some, such as 80/0/20 "+
			"with a Key, or a SplitColumn", c.Split))
	}
	if len(c.Classes) == 0 || len(c.Bins) > 0 {
		faults = append(faults, errors.New("the Gate: want Classes, because only trees of the same classes can be compared, and no Bins"))
	}
	for _, name := range c.Gate.Metrics {
		if !slices.Contains(gate.Metrics(), name) {
			faults = append(faults, fmt.Errorf("the Gate: metric %q: want some of %q", name, gate.Metrics()))
		}
	}
	return faults
}

// period returns the time from the end of a window to the end of the next one; 0 for other windows than fixed and
// sliding windows.
func (c *WindowConfig) period() time.Duration {
	switch c.Windows.Kind {
	case window.FixedWindows:
		return c.Windows.Size
	case window.SlidingWindows:
		return c.Windows.Period
	default:
		return 0
	}
}

// gated returns the trees that pass the gate. As in Model.latest, a DoFn with state compares the trees of streams.
//
//	trees with their test rows, in the global window -> GroupByKey, or state -> accepted trees, in their windows
func (c *WindowConfig) gated(s beam.Scope, trees beam.PCollection, spec []byte) beam.PCollection {
	trees = beam.WindowInto(s, window.NewGlobalWindows(), trees)
	compared := gating{Spec: spec, Limits: *c.Gate}
	var accepted beam.PCollection
	if unbounded(trees) {
		accepted = beam.ParDo(s, &gateStreamFn{
			gating: compared, Period: c.period().Milliseconds(), Lateness: c.AllowedLateness.Milliseconds(),
			Kept: state.MakeValueState[[]byte]("kept"), Waiting: state.MakeBagState[[]byte]("waiting"), Due: timers.InEventTime("due"),
		}, trees)
	} else {
		accepted = beam.ParDo(s, &gateFn{compared}, beam.GroupByKey(s, trees))
	}
	return beam.ParDo(s, &acceptedFn{}, beam.WindowInto(s, c.Windows, accepted, c.windowing()...))
}

// candidateFn grows the tree of a pane. It emits a numbered packet: the WindowTree, and the tally of the test rows.
type candidateFn struct{ windowTreeFn }

func (f *candidateFn) ProcessElement(
	ctx context.Context, pane beam.PaneInfo, w beam.Window, _ int64,
	values func(*[]byte) bool, emit func(int64, []byte),
) error {
	t, tally, err := f.grow(ctx, pane, w, values)
	if t == nil {
		return err
	}
	rows, err := tallied.TestRows(tally)
	if err != nil {
		return err
	}
	emit(0, append(jobs.AppendPacket(appendTree(t.End, t.Pane, nil), 0, jobs.MustJSON(t)), rows...))
	return nil
}

// gating compares trees with earlier trees.
type gating struct {
	Spec   []byte // trainSpec
	Limits gate.Limits
}

// judge emits the tree of a candidate, at the end of its window, and keeps it, if it is accepted.
func (f *gating) judge(ctx context.Context, k *keptTrees, candidate []byte, emit func(beam.EventTime, []byte)) error {
	number, err := readTree(candidate)
	if err != nil {
		return err
	}
	_, encoded, rows, err := jobs.NextPacket(number.JSON)
	if err != nil {
		return err
	}
	var t WindowTree
	if err := json.Unmarshal(encoded, &t); err != nil {
		return err
	}
	area, checks, err := f.compare(k, &t, rows)
	if err != nil {
		return err
	}
	if refusals := gate.Refusals(checks); len(refusals) > 0 {
		treesRefused.Inc(ctx, 1)
		log.Infof(ctx, "transforms.WindowedTree: the gate refuses the tree of the window that ends at %s: %s",
			time.UnixMilli(t.End).UTC().Format(time.RFC3339), strings.Join(refusals, "; "))
		return nil
	}
	k.add(windowEnd{t.End, t.Pane, t.JSON, area})
	emit(beam.EventTime(t.End-1), encoded)
	return nil
}

// compare compares the tree of a window with the newest tree of an earlier window, on test rows.
func (f *gating) compare(k *keptTrees, t *WindowTree, rows []byte) (area *metric.Estimate, checks []gate.Check, err error) {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return nil, nil, err
	}
	grown, err := tree.Decode(t.JSON)
	if err != nil {
		return nil, nil, err
	}
	before, known := grown, k.before(t.End-1)
	if known > 0 {
		if before, err = tree.Decode(k.Trees[known-1].JSON); err != nil {
			return nil, nil, err
		}
	}
	m, err := spec.Compare(rows, before, grown)
	if fault := new(dataset.DataError); errors.As(err, &fault) {
		return nil, []gate.Check{{Check: "gate_metrics", Text: "it cannot be compared with the tree before: " + err.Error()}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if m.AUCOvRMacro == nil {
		return nil, []gate.Check{f.Limits.CheckAUC(nil)}, nil
	}
	checks = []gate.Check{f.Limits.CheckAUC(&m.AUCOvRMacro.B)}
	if known > 0 {
		checks = append(checks, f.Limits.CheckFall(m.Area, k.Trees[known-1].Area)...)
		checks = append(checks, f.Limits.Compare(m.Paired, m.Flips)...)
	}
	return m.Area, checks, nil
}

// gateFn compares the trees of bounded collections.
type gateFn struct{ gating }

func (f *gateFn) ProcessElement(
	ctx context.Context, _ int64, candidates func(*[]byte) bool, emit func(beam.EventTime, []byte),
) error {
	list := jobs.Collect(candidates)
	slices.SortFunc(list, bytes.Compare)
	var k keptTrees
	for _, b := range list {
		if err := f.judge(ctx, &k, b, emit); err != nil {
			return err
		}
	}
	return nil
}

// gateStreamFn compares the trees of streams. A tree waits until the watermark has reached the end of the window before:
// then the trees of all earlier windows have come.
type gateStreamFn struct {
	gating

	Period   int64 // time between the ends of windows in ms
	Lateness int64 // allowed lateness of the trees in ms

	Kept    state.Value[[]byte] // encoded keptTrees
	Waiting state.Bag[[]byte]   // candidates
	Due     timers.EventTime
}

func (f *gateStreamFn) ProcessElement(
	ctx context.Context, sp state.Provider, tp timers.Provider, _ int64, candidate []byte, emit func(beam.EventTime, []byte),
) error {
	return f.held(ctx, emit).process(sp, tp, candidate)
}

func (f *gateStreamFn) OnTimer(
	ctx context.Context, at beam.EventTime, sp state.Provider, _ timers.Provider, _ int64, _ timers.Context,
	emit func(beam.EventTime, []byte),
) error {
	return f.held(ctx, emit).release(sp, int64(at))
}

// held returns the trees and candidates in the state.
func (f *gateStreamFn) held(ctx context.Context, emit func(beam.EventTime, []byte)) *held {
	return &held{
		kept: &f.Kept, waiting: &f.Waiting, due: &f.Due,
		time: func(candidate []byte) (at int64, waits bool, err error) {
			t, err := readTree(candidate)
			return t.End - f.Period, true, err
		},
		take:   func(k *keptTrees, candidate []byte) error { return f.judge(ctx, k, candidate, emit) },
		needed: func(reached int64) int64 { return reached - f.Lateness - 1 },
	}
}

// acceptedFn decodes accepted trees. It drops the copies of a tree in other windows that overlap with its own.
type acceptedFn struct{}

func (*acceptedFn) ProcessElement(w beam.Window, encoded []byte, emit func(WindowTree)) error {
	var t WindowTree
	if err := json.Unmarshal(encoded, &t); err != nil {
		return err
	}
	if start, end := timesOf(w); start == t.Start && end == t.End {
		emit(t)
	}
	return nil
}
