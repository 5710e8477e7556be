package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
)

func init() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[makeRowsFn](), reflect.TypeFor[goodRowFn](), reflect.TypeFor[badRowFn](), reflect.TypeFor[goodTreeFn](),
		reflect.TypeFor[goodWindowFn](), reflect.TypeFor[goodMetricsFn](),
	} {
		beam.RegisterDoFn(t)
	}
	beam.RegisterType(reflect.TypeFor[Record]())
}

// Record is a row as it comes from JSON.
type Record map[string]any

// fault is a way in which a record is bad, with the reason of its dead letter.
type fault struct {
	column  string
	value   any
	spelled string // in the dead letter
	reason  string
}

// faults are the ten ways in which records are bad. The reasons come from package rowtype.
func faults() []fault {
	return []fault{
		{"number", "many", "many", "not a number, as the feature needs"},
		{"number", "12,5", "12,5", "not a number, as the feature needs"},
		{"number", []any{1.0, 2.0}, "[1,2]", "an array, expected a single value"},
		{"number", map[string]any{"x": 1.0}, `{"x":1}`, "an object, expected a single value"},
		{"day", "2026-02-30", "2026-02-30", "not a date, as the feature needs"},
		{"day", 20778.0, "20778", "the row has one of the numbers, the feature takes dates"},
		{"day", true, "true", "not a date, as the feature needs"},
		{"clock", "25:00", "25:00", "not a time, as the feature needs"},
		{"at", "soon", "soon", "not a timestamp, as the feature needs"},
		{"at", 5.0, "5", "the row has one of the numbers, the feature takes timestamps"},
	}
}

// hints are the hints of dead letters by column. Package rowtype makes them.
func hints() map[string]string {
	return map[string]string{
		"number": "give a number such as 12.5, or no value", "day": "give a date such as 2026-11-21, or no value",
		"clock": "give a time such as 09:30:00, or no value", "at": "give a timestamp such as 2026-11-21T09:30:00, or no value",
	}
}

// badEvery is the number of records among which one is bad.
const badEvery = 100

// record returns a record, and the index of its fault; -1 if it is good.
func record(i int) (r Record, way int) {
	r = Record{
		"id": float64(i), "number": float64(i % 50), "day": "2026-02-28", "clock": "12:30", "at": "2026-02-28T12:30:00",
		"color": []string{"red", "green", "unheard of"}[i%3], "class": []string{"no", "yes"}[i/25%2],
	}
	if i%badEvery != 7 {
		return r, -1
	}
	way = i / badEvery % len(faults())
	f := faults()[way]
	r[f.column] = f.value
	return r, way
}

// makeRowsFn makes records, so that the graph does not contain them.
type makeRowsFn struct{ Rows int }

func (f *makeRowsFn) ProcessElement(_ []byte, emit func(Record)) {
	for i := range f.Rows {
		r, _ := record(i)
		emit(r)
	}
}

// letterBox holds the results of a pipeline for records.
type letterBox struct {
	mu    sync.Mutex
	good  int
	trees int
	dead  []transforms.DeadLetter
}

// letterBoxes has the letter box of each running pipeline by its name.
var letterBoxes sync.Map //nolint:gochecknoglobals // DoFns find it by a name, as they are made by the runner

// into calls f with a letter box, which it locks.
func into(name string, f func(*letterBox)) {
	if box, ok := letterBoxes.Load(name); ok {
		b := box.(*letterBox) //nolint:errcheck // nothing else is stored
		b.mu.Lock()
		defer b.mu.Unlock()
		f(b)
	}
}

type goodRowFn struct{ Name string }

func (f *goodRowFn) ProcessElement(Record, transforms.Prediction) {
	into(f.Name, func(b *letterBox) { b.good++ })
}

type goodTreeFn struct{ Name string }

func (f *goodTreeFn) ProcessElement(encoded []byte) {
	into(f.Name, func(b *letterBox) {
		b.trees++
		if t, err := tree.Decode(encoded); err == nil {
			b.good = int(t.Training.Rows)
		}
	})
}

type goodWindowFn struct{ Name string }

func (f *goodWindowFn) ProcessElement(t transforms.WindowTree) {
	into(f.Name, func(b *letterBox) { b.good = int(t.Rows) })
}

type goodMetricsFn struct{ Name string }

func (f *goodMetricsFn) ProcessElement(m metric.Metrics) {
	into(f.Name, func(b *letterBox) { b.good = int(m.Rows) })
}

type badRowFn struct{ Name string }

func (f *badRowFn) ProcessElement(d transforms.DeadLetter) {
	into(f.Name, func(b *letterBox) { b.dead = append(b.dead, d) })
}

// recordTree tests the number, the day, the clock, the time and the color of records.
func recordTree() *tree.Tree {
	leaf := tree.Node{
		Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{1, 0}, RawClassWeights: []int64{1, 0},
		Probabilities: []float64{1, 0},
	}
	t := &tree.Tree{
		Label: tree.Label{Column: "class", Classes: []string{"no", "yes"}},
		Features: []dataset.Feature{
			{Name: "number", Kind: dataset.Numeric, Cuts: []float64{24.5}, Range: []float64{0, 39}, Cost: 1},
			{Name: "day", Kind: dataset.Numeric, Unit: dataset.Date, Cuts: []float64{0}, Cost: 1},
			{Name: "clock", Kind: dataset.Numeric, Unit: dataset.Time, Cuts: []float64{1}, Cost: 1},
			{Name: "at", Kind: dataset.Numeric, Unit: dataset.Timestamp, Cuts: []float64{1}, Cost: 1},
			{Name: "color", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"green", "red"}, Cost: 1},
		},
	}
	for i := range t.Features {
		n := leaf
		n.Test = &tree.Test{Test: split.Test{Feature: i, Kind: split.Threshold, Code: 1}, Cost: 1}
		if t.Features[i].Kind == dataset.Categorical {
			n.Test.Kind = split.Equals
		}
		n.Branches = []tree.Branch{{Outcome: 1, Child: 2*i + 2}, {Outcome: 0, Child: 2*i + 1, Missing: true, Other: true}}
		t.Nodes = append(t.Nodes, n, leaf)
	}
	t.Nodes = append(t.Nodes, leaf)
	return t
}

// letters runs a pipeline over records, and returns its letter box and its result.
func letters(tb testing.TB, runner string, build func(s beam.Scope, name string)) (*letterBox, beam.PipelineResult, error) {
	tb.Helper()
	box := new(letterBox)
	letterBoxes.Store(tb.Name(), box)
	defer letterBoxes.Delete(tb.Name())
	p, s := beam.NewPipelineWithRoot()
	build(s, tb.Name())
	result, err := beam.Run(tb.Context(), runner, p)
	return box, result, err
}

// DeadLetters sends records through a transform: Score, Evaluate, Train or WindowedTree. One record
// in a hundred is bad, each in one of several ways. The test fails unless each bad record is a dead
// letter with its reason, and all good records are used.
func DeadLetters(tb testing.TB, runner, transform string, rows int) {
	tb.Helper()
	c := transforms.SingleTrainConfig("class")
	c.Features = []string{"number", "color"}
	c.Numeric = []string{"number"}
	c.Categorical = []string{"color"}
	train := transform == "Train" || transform == "WindowedTree"
	build := func(limit int64) func(s beam.Scope, name string) {
		return func(s beam.Scope, name string) {
			records := beam.ParDo(s, &makeRowsFn{rows}, beam.Impulse(s))
			m := transforms.Model{Tree: recordTree()}
			letters := transforms.DeadLetters{Limit: limit}
			var dead beam.PCollection
			switch transform {
			case "Train":
				trained := transforms.Train(s, records, c, letters)
				dead = trained.DeadLetters
				beam.ParDo0(s, &goodTreeFn{name}, trained.Trees)
			case "WindowedTree":
				trained := transforms.WindowedTree(s, records,
					transforms.WindowConfig{TrainConfig: c, Windows: window.NewFixedWindows(time.Hour)}, letters)
				dead = trained.DeadLetters
				beam.ParDo0(s, &goodWindowFn{name}, trained.Trees)
			case "Evaluate":
				evaluated := transforms.Evaluate(s, records, m, transforms.EvaluateConfig{}, letters)
				dead = evaluated.DeadLetters
				beam.ParDo0(s, &goodMetricsFn{name}, evaluated.Metrics)
			default:
				scored := transforms.Score(s, records, m, letters)
				dead = scored.DeadLetters
				beam.ParDo0(s, &goodRowFn{name}, scored.Predictions)
			}
			beam.ParDo0(s, &badRowFn{name}, dead)
		}
	}
	want := wantedLetters(rows, train)
	box, result, err := letters(tb, runner, build(int64(len(want))))
	if err != nil {
		tb.Fatal(err)
	}
	var got []string
	for _, d := range box.dead {
		if d.Step != "transforms."+transform {
			tb.Errorf("a dead letter of the step %q", d.Step)
		}
		if d.Millis != 0 {
			tb.Errorf("a dead letter of the time %d, and rows have none", d.Millis)
		}
		got = append(got, fmt.Sprintf("%s: %s: %s: %s; %s", d.Row, d.Column, d.Value, d.Reason, d.Hint))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		tb.Errorf("%d dead letters, want %d: %.400q, want %.400q", len(got), len(want), got, want)
	}
	if box.good != rows-len(want) {
		tb.Errorf("%d rows are used, want %d", box.good, rows-len(want))
	}
	if transform == "Score" {
		checkCounters(tb, result, rows, len(want))
	}
	if _, _, err := letters(tb, runner, build(int64(len(want)-1))); err == nil {
		tb.Errorf("%d dead letters pass a limit of %d", len(want), len(want)-1)
	}
}

// wantedLetters returns the dead letters of records, sorted. Training only uses the number.
func wantedLetters(rows int, train bool) []string {
	var want []string
	for i := range rows {
		r, way := record(i)
		if way < 0 || train && faults()[way].column != "number" {
			continue
		}
		spelled, err := json.Marshal(r)
		if err != nil {
			panic(err) // a record is made of texts, numbers, lists and maps
		}
		f := faults()[way]
		want = append(want, fmt.Sprintf("%s: %s: %s: %s; %s", spelled, f.column, f.spelled, f.reason, hints()[f.column]))
	}
	slices.Sort(want)
	return want
}

// checkCounters compares the counters of Score with counts by hand. The
// direct runner has none.
func checkCounters(tb testing.TB, result beam.PipelineResult, rows, bad int) {
	tb.Helper()
	if result == nil {
		return
	}
	want := map[string]int64{
		"rows_scored": int64(rows - bad), "rows_refused": int64(bad), "class_no": int64(rows - bad), "values_missing": 0,
	}
	for i := range rows {
		if _, way := record(i); way < 0 {
			if i%3 == 2 {
				want["values_unseen"]++ // an unheard of color
			}
			if i%50 > 39 {
				want["values_outside"]++ // a number above 39
			}
		}
	}
	found := result.Metrics().AllMetrics()
	got := make(map[string]int64)
	for _, c := range found.Counters() {
		if _, ok := want[c.Key.Name]; ok {
			got[c.Key.Name] += c.Result()
		}
	}
	for name, n := range want {
		if got[name] != n {
			tb.Errorf("the counter %s is %d, want %d", name, got[name], n)
		}
	}
	distributions := 0
	for _, d := range found.Distributions() {
		if d.Key.Name == "tests_per_row" || d.Key.Name == "cost_per_row" {
			distributions++
			if d.Result().Count != int64(rows-bad) {
				tb.Errorf("%s: %+v, want %d rows", d.Key.Name, d.Result(), rows-bad)
			}
		}
	}
	if distributions != 2 {
		tb.Errorf("%d distributions of rows, want 2", distributions)
	}
}
