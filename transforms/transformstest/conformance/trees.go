package conformance

import (
	"reflect"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

func init() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[stampFn](), reflect.TypeFor[keyFn](), reflect.TypeFor[predictedFn](), reflect.TypeFor[predictedKeyFn](),
		reflect.TypeFor[shiftFn](),
	} {
		beam.RegisterDoFn(t)
	}
	register.Emitter2[int64, Event]()
}

// stampFn gives events their times.
type stampFn struct{}

func (*stampFn) ProcessElement(e Event, emit func(beam.EventTime, Event)) {
	emit(beam.EventTime(e.Millis), e)
}

// keyFn gives events their number as a key.
type keyFn struct{}

func (*keyFn) ProcessElement(e Event) (id int64, event Event) { return e.ID, e }

// predicted holds the predictions of a pipeline by the number of the event.
type predicted struct {
	mu   sync.Mutex
	list map[int64][]transforms.Prediction
}

func (p *predicted) add(id int64, prediction transforms.Prediction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[id] = append(p.list[id], prediction)
}

// predictions has the predictions of each running pipeline by its name.
var predictions sync.Map //nolint:gochecknoglobals // DoFns find it by a name, as they are made by the runner

// note adds a prediction to the predictions of a pipeline.
func note(name string, id int64, p transforms.Prediction) {
	if list, ok := predictions.Load(name); ok {
		list.(*predicted).add(id, p) //nolint:errcheck // nothing else is stored
	}
}

type predictedFn struct{ Name string }

func (f *predictedFn) ProcessElement(e Event, p transforms.Prediction) { note(f.Name, e.ID, p) }

type predictedKeyFn struct{ Name string }

func (f *predictedKeyFn) ProcessElement(id int64, p transforms.Prediction) { note(f.Name, id, p) }

// shiftFn moves every tenth event to a later time, out of its window.
type shiftFn struct{}

func (*shiftFn) ProcessElement(at beam.EventTime, e Event) (beam.EventTime, Event) {
	if e.ID%10 == 0 {
		at += beam.EventTime(2 * size.Milliseconds())
	}
	return at, e
}

// Feed trains trees on all events, or on each window of them, and scores the same events in the
// same pipeline. The test fails unless each event is scored once, with the prediction of the tree
// that Train grows in batch from the same events, or from the events of its window, whatever its time.
func Feed(tb testing.TB, runner string, windowed, keyed bool) {
	tb.Helper()
	const count, windows = 900, 3
	var events []Event
	batches := make(map[int64][]Event)
	for i := range count {
		e := newEvent(i, count, windows)
		at := int64(0)
		if windowed {
			at = e.Millis / size.Milliseconds()
		}
		events = append(events, e)
		batches[at] = append(batches[at], e)
	}
	name := tb.Name()
	got := &predicted{list: make(map[int64][]transforms.Prediction)}
	predictions.Store(name, got)
	defer predictions.Delete(name)

	p, s := beam.NewPipelineWithRoot()
	rows := beam.ParDo(s, &stampFn{}, beam.CreateList(s, events))
	var m transforms.Model
	if windowed {
		m.Trees = transforms.WindowedTree(s, rows, transforms.WindowConfig{
			TrainConfig: trainConfig(), Windows: window.NewFixedWindows(size),
		}).Trees
		rows = beam.ParDo(s, &shiftFn{}, beam.WindowInto(s, window.NewFixedWindows(size), rows))
	} else {
		m.Trees = transforms.Train(s, rows, trainConfig()).Trees
	}
	if keyed {
		beam.ParDo0(s, &predictedKeyFn{name}, transforms.Score(s, beam.ParDo(s, &keyFn{}, rows), m).Predictions)
	} else {
		beam.ParDo0(s, &predictedFn{name}, transforms.Score(s, rows, m).Predictions)
	}
	if _, err := beam.Run(tb.Context(), runner, p); err != nil {
		tb.Fatal(err)
	}
	for _, batch := range batches {
		checkFed(tb, batch, got.list)
	}
}

// Chosen trains trees that are chosen from a grid, with leaf models, a teacher and a certificate:
// once on all events, and on each window of them. The test fails unless the trees have the same
// bytes as trees grown in batch on the direct runner.
func Chosen(tb testing.TB, runner string) {
	tb.Helper()
	const count, windows = 900, 2
	c := transforms.DefaultTrainConfig("class", "id")
	c.Ignore = []string{"millis"}
	c.Lambda = []float64{10}
	c.Theta = []float64{0.005}
	c.Tests = []split.Family{split.Thresholds}
	c.LeafModel = selection.Linear
	c.Teacher = distill.Boosted
	c.MadeUpRows = new(int64(300))
	var events []Event
	batches := make(map[int64][]Event)
	for i := range count {
		e := newEvent(i, count, windows)
		at := e.Millis - e.Millis%size.Milliseconds()
		events = append(events, e)
		batches[at] = append(batches[at], e)
	}
	o := &observer{trees: make(map[int64][]transforms.WindowTree)}
	observers.Store(tb.Name(), o)
	defer observers.Delete(tb.Name())
	p, s := beam.NewPipelineWithRoot()
	rows := beam.ParDo(s, &stampFn{}, beam.CreateList(s, events))
	beam.ParDo0(s, &keepFn{tb.Name()}, transforms.Train(s, rows, c).Trees)
	beam.ParDo0(s, &grownFn{tb.Name()}, transforms.WindowedTree(s, rows, transforms.WindowConfig{
		TrainConfig: c, Windows: window.NewFixedWindows(size),
	}).Trees)
	if _, err := beam.Run(tb.Context(), runner, p); err != nil {
		tb.Fatal(err)
	}
	if want := batchTree(tb, events, c); len(o.kept) != 1 || string(o.kept[0]) != string(want) {
		tb.Errorf("%d trees, but a batch has another tree\n%s\nbut\n%s", len(o.kept), want, o.kept)
	}
	for at, batch := range batches {
		want := batchTree(tb, batch, c)
		checkChosen(tb, want)
		if got := o.trees[at]; len(got) != 1 || string(got[0].JSON) != string(want) {
			tb.Errorf("window %d: %d trees, but a batch of its events has another tree", at, len(got))
		}
	}
	if len(o.trees) != windows {
		tb.Errorf("%d windows have trees, want %d", len(o.trees), windows)
	}
}

// checkChosen fails unless a tree has two leaves, leaf models and a certificate.
func checkChosen(tb testing.TB, encoded []byte) {
	tb.Helper()
	t, err := tree.Decode(encoded)
	if err != nil {
		tb.Fatal(err)
	}
	if t.CountLeaves() < 2 || !t.Modelled() || t.Certificate == nil {
		tb.Fatalf("a tree of %d leaves, modelled: %v, certified: %v: it shows nothing", t.CountLeaves(), t.Modelled(),
			t.Certificate != nil)
	}
}

// checkFed compares the predictions for a batch of events with the predictions of its tree.
func checkFed(tb testing.TB, events []Event, got map[int64][]transforms.Prediction) {
	tb.Helper()
	encoded := batchTree(tb, events, trainConfig())
	model, err := tree.Decode(encoded)
	if err != nil {
		tb.Fatal(err)
	}
	if model.CountLeaves() < 3 {
		tb.Fatalf("a tree of %d leaves shows nothing", model.CountLeaves())
	}
	s := model.Scorer()
	for i := range events {
		want, err := s.Predict(events[i].values(s))
		if err != nil {
			tb.Fatal(err)
		}
		list := got[events[i].ID]
		if len(list) != 1 || int(list[0].Leaf) != want.Leaf || list[0].Class != want.Class || list[0].Model != tree.ID(encoded) {
			tb.Fatalf("event %d of %d: %+v, want once leaf %d of model %s", events[i].ID, len(events), list, want.Leaf,
				tree.ID(encoded))
		}
	}
}
