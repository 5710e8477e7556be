package conformance

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[unscoredFn]())
	beam.RegisterDoFn(reflect.TypeFor[unscoredKeyFn]())
	beam.RegisterDoFn(reflect.TypeFor[timesFn]())
}

// latestPy finds the tree of each event from the events alone.
//
//go:embed latest.py
var latestPy string

// LatestConfig describes a test of Model.Latest.
type LatestConfig struct {
	Runner string
	Stream bool // send the events through a broker, some of them late
	Keyed  bool // give rows keys
	First  bool // score the rows before the first tree by a first model
}

const (
	latestWindows = 10 // windows of the events
	latestTrees   = 7  // windows of the events that have a tree
	vanishing     = 7  // number of the window without the class "gone"
	minRows       = 40 // WindowConfig.MinRows
)

// latestEvents are events whose rule is the opposite in every other window. Two windows are empty, one has
// few rows, and in one the class "gone" does not occur.
func latestEvents() []Event {
	const perWindow = 120
	var events []Event
	for i := range perWindow * latestWindows {
		w := i / perWindow
		if w == 3 || w == 4 || w == 6 && i%perWindow >= minRows/2 {
			continue
		}
		e := newEvent(i, perWindow*latestWindows, latestWindows)
		e.Class = "stay"
		if e.X > 0.5 != (w%2 == 0) {
			e.Class = "leave"
		}
		if e.Color == "green" && w != vanishing {
			e.Class = "gone"
		}
		events = append(events, e)
	}
	return events
}

// unscoredFn and unscoredKeyFn note rows without a tree as predictions without a model.
type (
	unscoredFn    struct{ Name string }
	unscoredKeyFn struct{ Name string }
)

func (f *unscoredFn) ProcessElement(e Event) { note(f.Name, e.ID, transforms.Prediction{}) }

func (f *unscoredKeyFn) ProcessElement(id int64, e Event) {
	if id == e.ID {
		note(f.Name, id, transforms.Prediction{})
	}
}

// timesFn fails unless a scored event has its own time and window.
type timesFn struct{}

func (*timesFn) ProcessElement(w beam.Window, at beam.EventTime, e Event, _ transforms.Prediction) {
	if want := e.Millis - e.Millis%size.Milliseconds(); int64(at) != e.Millis || w.MaxTimestamp().Milliseconds() != want+size.Milliseconds()-1 {
		panic("event " + strconv.Itoa(int(e.ID)) + " has another time or window")
	}
}

// latestRun is a test of Model.Latest.
type latestRun struct {
	run

	config LatestConfig
	first  []byte // the first model
	got    *predicted
}

// Latest scores events by the latest trees of the same events. The test fails unless each event is scored once,
// by the tree that a loop over the events in Python finds for it.
func Latest(tb testing.TB, c LatestConfig) {
	tb.Helper()
	all := latestEvents()
	r := &latestRun{config: c, got: &predicted{list: make(map[int64][]transforms.Prediction)}}
	r.run = run{TB: tb, ended: make(chan error, 1), observer: &observer{trees: make(map[int64][]transforms.WindowTree)}}
	predictions.Store(tb.Name(), r.got)
	defer predictions.Delete(tb.Name())
	observers.Store(tb.Name(), r.observer)
	defer observers.Delete(tb.Name())
	if c.First {
		r.first = batchTree(tb, all[:200], trainConfig())
	}
	var main, late, probe, tooLate []Event
	main = all
	if c.Stream {
		r.observer.broker = startBroker(tb)
		main, late, probe, tooLate = latestOrder(all)
	}
	setFlag(tb, "experiments", "prism_disable_sdf_split") // see transforms.Model
	ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Minute)
	defer cancel()
	messageCount := len(main) + len(late) + len(probe) + len(tooLate) + 2
	go func() { r.ended <- r.pipeline(ctx, main, int64(messageCount)) }()
	if c.Stream {
		r.run.config = &Config{Broker: r.observer.broker}
		r.send(ctx, main, late, probe, tooLate)
	}
	select {
	case err := <-r.ended:
		if err != nil {
			tb.Fatal(err)
		}
	case <-ctx.Done():
		tb.Fatalf("the pipeline does not end: %d windows", r.windows())
	}
	onTime := 0
	if r.prompt() {
		onTime = len(main)
	}
	r.check(slices.Concat(main, late, probe), tooLate, onTime)
}

// setFlag sets a flag of Beam for the time of a test.
func setFlag(tb testing.TB, name, value string) {
	tb.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := flag.Set(name, before); err != nil {
			tb.Error(err)
		}
	})
}

// latestOrder returns the events of a stream in the order of sending. Some are late and some too late; the probe comes
// long after all of them.
func latestOrder(all []Event) (main, late, probe, tooLate []Event) {
	for i := range all {
		switch i % 50 {
		case 3:
			late = append(late, all[i])
		case 4:
			tooLate = append(tooLate, all[i])
		default:
			main = append(main, all[i])
		}
	}
	for i := 0; i+7 < len(main); i += 7 { // the watermark is 8 s behind, and an event comes every half second
		slices.Reverse(main[i : i+7])
	}
	for i := range minRows {
		e := all[i]
		e.ID, e.Millis = int64(10_000+i), e.Millis+(latestWindows*size+2*lateness).Milliseconds()
		probe = append(probe, e)
	}
	return main, late, probe, tooLate
}

func (r *latestRun) pipeline(ctx context.Context, events []Event, last int64) error {
	name := r.Name()
	p, s := beam.NewPipelineWithRoot()
	var rows beam.PCollection
	if r.config.Stream {
		rows = beam.ParDo(s, &readFn{Numbered: Numbered{1, last + 1}, Observer: name, Behind: behind, Bundle: 100}, beam.Impulse(s))
	} else {
		rows = beam.ParDo(s, &stampFn{}, beam.CreateList(s, events))
	}
	wc := windowConfig()
	wc.MinRows = minRows
	wc.Classes = []string{"gone", "leave", "stay"}
	trees := transforms.WindowedTree(s, rows, wc).Trees
	beam.ParDo0(s, &grownFn{name}, trees)
	m := transforms.Model{Trees: trees, Latest: true, JSON: r.first, Unscored: true}
	rows = beam.WindowInto(s, window.NewFixedWindows(size), rows)
	if r.config.Keyed {
		scored := transforms.Score(s, beam.ParDo(s, &keyFn{}, rows), m) //nolint:contextcheck // a pipeline is built without a context
		beam.ParDo0(s, &predictedKeyFn{name}, scored.Predictions)
		beam.ParDo0(s, &unscoredKeyFn{name}, scored.Unscored)
	} else {
		scored := transforms.Score(s, rows, m) //nolint:contextcheck // likewise
		beam.ParDo0(s, &predictedFn{name}, scored.Predictions)
		beam.ParDo0(s, &timesFn{}, scored.Predictions)
		beam.ParDo0(s, &unscoredFn{name}, scored.Unscored)
	}
	_, err := beam.Run(ctx, r.config.Runner, p)
	return err
}

// send sends the events of a stream.
func (r *latestRun) send(ctx context.Context, main, late, probe, tooLate []Event) {
	r.Helper()
	r.publish(messages(main, start().UnixMilli()+(latestWindows*size).Milliseconds()))
	r.await(ctx, "all trees", func() bool { return r.windows() == latestTrees })
	if r.prompt() {
		r.await(ctx, "all main events to be scored", func() bool { return r.scored() == len(main) })
	}
	r.publish(messages(late, 0))
	r.publish(messages(probe, probe[len(probe)-1].Millis+size.Milliseconds()))
	r.await(ctx, "the probe to be scored", func() bool { return r.scored() == len(main)+len(late)+len(probe) })
	r.publish(messages(tooLate, 0))
}

// prompt reports whether the watermark of the trees passes a window as soon as its tree has come. On prism, trees whose
// panes accumulate hold the watermark until their window is closed.
func (r *latestRun) prompt() bool { return !r.config.Stream || r.config.Runner != "prism" }

// scored returns the number of events that were scored, or emitted unscored.
func (r *latestRun) scored() int {
	r.got.mu.Lock()
	defer r.got.mu.Unlock()
	return len(r.got.list)
}

// wanted returns the end of the window whose tree scores each event, by its id, as Python finds it; nil if absent.
// trained are the events that trees are grown from.
func (r *latestRun) wanted(trained, others []Event) map[string]*int64 {
	r.Helper()
	given, err := json.Marshal(map[string]any{"size": size.Milliseconds(), "min_rows": minRows, "events": trained, "scored": append([]Event{}, others...)})
	if err != nil {
		r.Fatal(err)
	}
	python := exec.CommandContext(r.Context(), "python3", "-c", latestPy)
	python.Stdin = bytes.NewReader(given)
	python.Stderr = os.Stderr
	out, err := python.Output()
	if err != nil {
		r.Fatal(err)
	}
	want := make(map[string]*int64)
	if err := json.Unmarshal(out, &want); err != nil {
		r.Fatal(err)
	}
	return want
}

// check compares the predictions with the predictions of the trees that must score the events. The first events, onTime in
// number, are scored before any late event comes: by the first panes.
func (r *latestRun) check(trained, tooLate []Event, onTime int) {
	r.Helper()
	want := r.wanted(trained, tooLate)
	byEnd := make(map[int64][]transforms.WindowTree)
	for at, panes := range r.observer.trees {
		slices.SortFunc(panes, func(a, b transforms.WindowTree) int { return int(a.Pane - b.Pane) })
		byEnd[at+size.Milliseconds()] = panes
	}
	var unscored, opposite int
	for i, e := range slices.Concat(trained, tooLate) {
		list := r.got.list[e.ID]
		end := want[strconv.FormatInt(e.ID, 10)]
		if len(list) != 1 {
			r.Fatalf("event %d is scored %d times, want once", e.ID, len(list))
		}
		switch p := list[0]; {
		case p.Model == "" && (end == nil && r.first == nil || i >= len(trained)): // rows after trained are too late
			unscored++
		case end == nil && r.first == nil:
			r.Fatalf("event %d, before the first tree, is scored by model %s", e.ID, p.Model)
		case end == nil:
			r.predicted(&e, p, r.first)
		default:
			panes := byEnd[*end]
			at := slices.IndexFunc(panes, func(t transforms.WindowTree) bool { return transforms.ModelID(t.JSON) == p.Model })
			if at < 0 || i < onTime && p.Model != transforms.ModelID(panes[0].JSON) {
				r.Fatalf("event %d at %d is scored by pane %d of the window to %d: want its first pane, or a later pane for a late event", e.ID,
					e.Millis, at, *end)
			}
			r.predicted(&e, p, panes[at].JSON)
			vanished := *end == start().UnixMilli()+((vanishing+1)*size).Milliseconds()
			if !slices.Equal(p.Classes, []string{"gone", "leave", "stay"}) || vanished && p.Probabilities[0] != 0 {
				r.Fatalf("event %d has the classes %q with the probabilities %v", e.ID, p.Classes, p.Probabilities)
			}
			if p.Class != e.Class {
				opposite++
			}
		}
	}
	// Of 120 events before the first tree, late events are left out.
	if r.first == nil && unscored < 100 || opposite < len(trained)/4 {
		r.Errorf("%d of %d events are unscored, and %d are scored by the opposite rule: the test shows nothing", unscored, len(trained),
			opposite)
	}
}

// predicted fails unless a prediction is the prediction of a tree.
func (r *latestRun) predicted(e *Event, p transforms.Prediction, encoded []byte) {
	r.Helper()
	t, err := tree.Decode(encoded)
	if err != nil {
		r.Fatal(err)
	}
	s := t.Scorer()
	if want, err := s.Predict(e.values(s)); err != nil || p.Model != tree.ID(encoded) || int(p.Leaf) != want.Leaf || p.Class != want.Class {
		r.Fatalf("event %d: leaf %d of model %s, class %s: want leaf %d of model %s, class %s, %v", e.ID, p.Leaf, p.Model, p.Class,
			want.Leaf, tree.ID(encoded), want.Class, err)
	}
}
