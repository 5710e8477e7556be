package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // grows the batch trees

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[scoredFn]())
	beam.RegisterDoFn(reflect.TypeFor[grownFn]())
	beam.RegisterDoFn(reflect.TypeFor[keepFn]())
}

// Config describes a stream and the runner that takes it.
type Config struct {
	Runner   string
	Events   int           // approximate number of events
	Windows  int           // number of windows of a minute
	Broker   Broker        // nil: a small one in memory
	Deadline time.Duration // longest time for the whole stream
}

const (
	size     = time.Minute            // length of a window
	disorder = 20 * time.Second       // greatest delay of an event
	behind   = 8 * time.Second        // delay of the watermark: below disorder, to have late events
	lateness = 30 * time.Minute       // allowed lateness
	every    = 200 * time.Millisecond // interval at which workers read the model again
)

// start is the time of the first event.
func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// newEvent makes the i-th event. Its class follows from its columns, with some noise. The
// columns drift over time.
func newEvent(i, n, windows int) Event {
	random := rand.New(rand.NewPCG(17, uint64(i)))
	share := float64(i) / float64(n)
	e := Event{
		ID: int64(i), Millis: start().UnixMilli() + int64(share*float64(windows)*float64(size.Milliseconds())),
		X: math.Round(100*(random.NormFloat64()+share)) / 100, Color: []string{"red", "green", "blue"}[random.IntN(3)],
		Member: random.IntN(2) == 0,
	}
	y := math.Round(10*random.ExpFloat64()) / 10
	if random.IntN(9) > 0 {
		e.Y = &y
	}
	e.Class = "stay"
	if e.X > 0.8 != (e.Color == "red" && y > 1) != (random.IntN(12) == 0) {
		e.Class = "leave"
	}
	return e
}

// sent has the events in the order of sending.
type sent struct {
	main, late, tooLate, probe []Event
}

func newSent(c *Config) *sent {
	random := rand.New(rand.NewPCG(1, 2))
	s := new(sent)
	type timed struct {
		Event
		at int64
	}
	var order []timed
	for i := range c.Events {
		e := newEvent(i, c.Events, c.Windows)
		switch random.IntN(1000) {
		case 0:
			s.tooLate = append(s.tooLate, e)
		case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
			s.late = append(s.late, e)
		default:
			order = append(order, timed{e, e.Millis + random.Int64N(disorder.Milliseconds())})
		}
	}
	slices.SortStableFunc(order, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	for i := range order {
		s.main = append(s.main, order[i].Event)
	}
	for i := range 20 { // long after all other events
		e := newEvent(i, c.Events, c.Windows)
		e.ID, e.Millis = int64(c.Events+i), s.end(c)+2*lateness.Milliseconds()
		s.probe = append(s.probe, e)
	}
	return s
}

// end returns the end of the last window, without the window of the probe.
func (s *sent) end(c *Config) int64 {
	return start().UnixMilli() + int64(c.Windows)*size.Milliseconds()
}

// messages makes messages of events, and of a watermark unless it is 0.
func messages(events []Event, watermark int64) []message {
	list := make([]message, len(events), len(events)+1)
	for i := range events {
		list[i].Event = &events[i]
	}
	if watermark > 0 {
		list = append(list, message{Watermark: watermark})
	}
	return list
}

// observer collects the results of a pipeline. Its DoFns run in the test's process.
type observer struct {
	broker Broker // broker of the stream
	scored atomic.Int64

	mu     sync.Mutex
	models []string // by event
	leaves []int    // by event
	times  []int    // how often each event was scored
	trees  map[int64][]transforms.WindowTree
	kept   [][]byte
}

// observers has the observer of each running pipeline by its name.
var observers sync.Map //nolint:gochecknoglobals // DoFns find it by a name, as they are made by the runner

func observe(name string) *observer {
	o, _ := observers.Load(name)
	return o.(*observer) //nolint:errcheck // nothing else is stored
}

// scoredFn gives scored events to an observer.
type scoredFn struct{ Observer string }

func (f *scoredFn) ProcessElement(e Event, p transforms.Prediction) {
	o := observe(f.Observer)
	o.mu.Lock()
	o.models[e.ID] = p.Model
	o.leaves[e.ID] = int(p.Leaf)
	o.times[e.ID]++
	o.mu.Unlock()
	o.scored.Add(1)
}

// grownFn gives the trees of windows to an observer.
type grownFn struct{ Observer string }

func (f *grownFn) ProcessElement(t transforms.WindowTree) {
	o := observe(f.Observer)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trees[t.Start] = append(o.trees[t.Start], t)
}

// keepFn gives the tree of a batch to an observer.
type keepFn struct{ Observer string }

func (f *keepFn) ProcessElement(b []byte) {
	o := observe(f.Observer)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = append(o.kept, b)
}

func trainConfig() transforms.TrainConfig {
	c := transforms.SingleTrainConfig("class")
	c.Ignore = []string{"id", "millis"}
	c.Bins = 32
	return c
}

// batchTree returns the tree that Train grows from events in one batch.
func batchTree(tb testing.TB, events []Event, c transforms.TrainConfig) []byte {
	tb.Helper()
	o := &observer{}
	name := tb.Name() + "/batch"
	observers.Store(name, o)
	defer observers.Delete(name)
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &keepFn{name}, transforms.Train(s, beam.CreateList(s, events), c).Trees)
	if _, err := beam.Run(tb.Context(), "direct", p); err != nil {
		tb.Fatal(err)
	}
	if len(o.kept) != 1 {
		tb.Fatalf("%d trees of a batch of %d events", len(o.kept), len(events))
	}
	return o.kept[0]
}

// run is the test of a single stream.
type run struct {
	testing.TB

	config   *Config
	events   *sent
	observer *observer
	models   [2][]byte // the first model, and its successor
	model    string    // path of the model in use
	ended    chan error
}

// Stream sends a stream of events, some of them out of order and some late, through Score and
// WindowedTree. The test fails unless each event is scored once, by the model in use when it comes,
// and the last tree of each window is the tree that Train grows in batch from all events of the
// window that came before the window was closed. The variable ESPALIER_STREAM_EVENTS sets the number
// of events in place of the configuration.
func Stream(tb testing.TB, c Config) {
	tb.Helper()
	if s := os.Getenv("ESPALIER_STREAM_EVENTS"); s != "" {
		var err error
		if c.Events, err = strconv.Atoi(s); err != nil {
			tb.Fatalf("ESPALIER_STREAM_EVENTS=%s: want a number", s)
		}
	}
	c.Deadline += time.Duration(c.Events) * time.Millisecond
	r := &run{TB: tb, config: &c, events: newSent(&c), ended: make(chan error, 1)}
	if c.Broker == nil {
		c.Broker = startBroker(tb)
	}
	all := c.Events + len(r.events.probe)
	r.observer = &observer{
		broker: c.Broker,
		models: make([]string, all), leaves: make([]int, all), times: make([]int, all),
		trees: make(map[int64][]transforms.WindowTree),
	}
	observers.Store(tb.Name(), r.observer)
	defer observers.Delete(tb.Name())
	r.model = filepath.Join(tb.TempDir(), "tree.json")
	for i, n := range []int{2000, 200} {
		r.models[i] = batchTree(tb, r.events.main[:n], trainConfig())
	}
	r.place(0)
	ctx, cancel := context.WithTimeout(tb.Context(), c.Deadline)
	defer cancel()
	go func() { r.ended <- r.pipeline(ctx, int64(all)+2) }()
	r.send(ctx)
	select {
	case err := <-r.ended:
		if err != nil {
			tb.Fatal(err)
		}
	case <-ctx.Done():
		tb.Fatalf("the pipeline does not end within %v: %d of %d events scored", c.Deadline, r.observer.scored.Load(), all)
	}
	r.checkScored()
	r.checkTrees()
}

// place replaces the model in use.
func (r *run) place(i int) {
	r.Helper()
	next := r.model + ".next"
	if err := os.WriteFile(next, r.models[i], 0o600); err != nil {
		r.Fatal(err)
	}
	if err := os.Rename(next, r.model); err != nil {
		r.Fatal(err)
	}
}

// windowConfig returns the configuration of WindowedTree.
func windowConfig() transforms.WindowConfig {
	return transforms.WindowConfig{
		TrainConfig: trainConfig(), Windows: window.NewFixedWindows(size), AllowedLateness: lateness,
		Trigger: trigger.AfterEndOfWindow().EarlyFiring(trigger.AfterCount(math.MaxInt32)).
			LateFiring(trigger.AfterCount(1)),
	}
}

func (r *run) pipeline(ctx context.Context, last int64) error {
	p, s := beam.NewPipelineWithRoot()
	rows := beam.ParDo(s, &readFn{Numbered: Numbered{1, last + 1}, Observer: r.Name(), Behind: behind, Bundle: 5000}, beam.Impulse(s))
	//nolint:contextcheck // a pipeline is built without a context
	scored := transforms.Score(s, rows, transforms.Model{URL: r.model, Every: every})
	beam.ParDo0(s, &scoredFn{r.Name()}, scored.Predictions)
	beam.ParDo0(s, &grownFn{r.Name()}, transforms.WindowedTree(s, rows, windowConfig()).Trees)
	_, err := beam.Run(ctx, r.config.Runner, p)
	return err
}

// publish sends messages to the broker.
func (r *run) publish(list []message) {
	r.Helper()
	payloads := make([]json.RawMessage, len(list))
	for i := range list {
		var err error
		if payloads[i], err = json.Marshal(&list[i]); err != nil {
			r.Fatal(err)
		}
	}
	r.config.Broker.Publish(r, payloads)
}

// send sends the events, and waits for their results.
func (r *run) send(ctx context.Context) {
	e := r.events
	half := len(e.main) / 2
	r.publish(messages(e.main[:half], 0))
	r.await(ctx, "the first half to be scored", func() bool { return r.observer.scored.Load() == int64(half) })
	r.place(1)
	time.Sleep(every) // workers read the model again after this time
	r.publish(messages(e.main[half:], e.end(r.config)))
	r.await(ctx, "all windows to have a tree", func() bool { return r.windows() == r.config.Windows })
	r.publish(messages(e.late, 0))
	probe := e.probe[0].Millis + size.Milliseconds()
	r.publish(messages(e.probe, probe))
	r.await(ctx, "the windows to be closed", func() bool { return r.windows() > r.config.Windows })
	r.publish(messages(e.tooLate, 0))
}

func (r *run) windows() int {
	r.observer.mu.Lock()
	defer r.observer.mu.Unlock()
	return len(r.observer.trees)
}

// await waits for a condition.
func (r *run) await(ctx context.Context, what string, done func() bool) {
	r.Helper()
	for !done() {
		select {
		case err := <-r.ended:
			r.Fatalf("the pipeline ended, while waiting for %s: %v", what, err)
		case <-ctx.Done():
			r.Fatalf("no sign of %s: %d events scored, %d windows", what, r.observer.scored.Load(), r.windows())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// checkScored looks for events that were lost, scored twice, or scored by a model that was not in
// use.
func (r *run) checkScored() {
	r.Helper()
	o := r.observer
	first := make(map[int64]bool)
	for _, e := range r.events.main[:len(r.events.main)/2] {
		first[e.ID] = true
	}
	var scorers [2]*tree.Scorer
	var ids [2]string
	for i, b := range r.models {
		t, err := tree.Decode(b)
		if err != nil {
			r.Fatal(err)
		}
		scorers[i], ids[i] = t.Scorer(), transforms.ModelID(b)
	}
	for _, e := range slices.Concat(r.events.main, r.events.late, r.events.tooLate, r.events.probe) {
		model := 1
		if first[e.ID] {
			model = 0
		}
		p, err := scorers[model].Predict(e.values(scorers[model]))
		if err != nil {
			r.Fatal(err)
		}
		if o.times[e.ID] != 1 || o.models[e.ID] != ids[model] || o.leaves[e.ID] != p.Leaf {
			r.Fatalf("event %d was scored %d times, at last by model %s to leaf %d: want once by %s to leaf %d", e.ID,
				o.times[e.ID], o.models[e.ID], o.leaves[e.ID], ids[model], p.Leaf)
		}
	}
}

func (e *Event) values(s *tree.Scorer) []tree.Value {
	var values []tree.Value
	for _, in := range s.Features() {
		var v tree.Value
		switch in.Name {
		case "x":
			v = tree.Number(e.X)
		case "y":
			if e.Y != nil {
				v = tree.Number(*e.Y)
			}
		case "color":
			v = tree.Text(e.Color)
		case "member":
			v = tree.Text(strconv.FormatBool(e.Member))
		}
		values = append(values, v)
	}
	return values
}

// checkTrees compares the last tree of each window with the tree grown in batch.
func (r *run) checkTrees() {
	r.Helper()
	byWindow := make(map[int64][]Event)
	for _, e := range slices.Concat(r.events.main, r.events.late, r.events.probe) {
		at := e.Millis - e.Millis%size.Milliseconds()
		byWindow[at] = append(byWindow[at], e)
	}
	for at, panes := range r.observer.trees {
		events := byWindow[at]
		last := slices.MaxFunc(panes, func(a, b transforms.WindowTree) int { return cmp.Compare(a.Rows, b.Rows) })
		for _, p := range panes {
			if p.Rows == last.Rows && string(p.JSON) != string(last.JSON) {
				r.Errorf("window %d: two trees of the same %d rows", at, p.Rows)
			}
		}
		if int(last.Rows) != len(events) || last.End-last.Start != size.Milliseconds() {
			r.Errorf("window %d to %d: a tree of %d rows, want %d", last.Start, last.End, last.Rows, len(events))
			continue
		}
		want := batchTree(r, events, trainConfig())
		if !slices.ContainsFunc(panes, func(p transforms.WindowTree) bool { return string(p.JSON) == string(want) }) {
			r.Errorf("window %d: a batch of the same %d events has another tree", at, len(events))
		}
	}
	if len(r.observer.trees) != len(byWindow) {
		r.Errorf("%d windows have trees, want %d", len(r.observer.trees), len(byWindow))
	}
}
