package transforms_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/teststream"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest"
)

// TestGuards: a window of 120 rows of two classes has a tree unless it needs more rows or classes. Given classes are
// the classes of the tree; without rows of two further classes, it is the same tree otherwise.
func TestGuards(t *testing.T) {
	list := visits(120)
	for name, c := range map[string]struct {
		rows    int64
		classes int
		given   []string
		trees   int
	}{
		"no guards":    {trees: 1},
		"enough":       {rows: 120, classes: 2, trees: 1},
		"few rows":     {rows: 121},
		"few classes":  {classes: 3},
		"given":        {classes: 2, given: []string{"well", "ill", "a", "z"}, trees: 1},
		"few of given": {classes: 3, given: []string{"well", "ill", "a", "z"}},
	} {
		config := transforms.WindowConfig{
			TrainConfig: visitConfig(), Windows: window.NewGlobalWindows(), MinRows: c.rows, MinClasses: c.classes, Classes: c.given,
		}
		counted := make(map[string]int64)
		p, s := beam.NewPipelineWithRoot()
		sunk.trees = nil
		sunk.trees = transformstest.Collect[transforms.WindowTree](s, transforms.WindowedTree(s, beam.CreateList(s, list), config).Trees)
		result, err := beam.Run(t.Context(), "prism", p)
		if err != nil {
			t.Fatal(err)
		}
		for _, counter := range result.Metrics().AllMetrics().Counters() {
			counted[counter.Name()] += counter.Result()
		}
		if n := len(sunk.trees.All()); n != c.trees || counted["trees_refused"] != int64(1-n) || counted["trees_grown"] != int64(n) {
			t.Errorf("%s: %d trees, counters %v, want %d trees", name, n, counted, c.trees)
			continue
		}
		if c.trees == 0 {
			continue
		}
		got, err := tree.Decode(sunk.trees.All()[0].JSON)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"ill", "well"}
		if c.given != nil {
			want = []string{"a", "ill", "well", "z"}
			for i := range got.Nodes {
				if p := got.Nodes[i].Probabilities; got.Nodes[i].Leaf() && (p[0] != 0 || p[3] != 0) {
					t.Errorf("%s: a leaf has the probabilities %v: want 0 for classes without rows", name, p)
				}
			}
		}
		if !slices.Equal(got.Label.Classes, want) || got.CountLeaves() < 3 {
			t.Errorf("%s: a tree of %d leaves with the classes %q, want %q", name, got.CountLeaves(), got.Label.Classes, want)
		}
	}
}

// TestOtherClass: with Classes, a row of another class is a dead letter.
func TestOtherClass(t *testing.T) {
	err := runPipeline(t, "direct", func(s beam.Scope) {
		trained := transforms.WindowedTree(s, beam.CreateList(s, visits(120)), transforms.WindowConfig{
			TrainConfig: visitConfig(), Windows: window.NewGlobalWindows(), Classes: []string{"ill", "sick"},
		}, transforms.DeadLetters{})
		sunk.trees = transformstest.Collect[transforms.WindowTree](s, trained.Trees)
		beam.ParDo0(s, &sinkLetterFn{}, trained.DeadLetters)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sunk.trees.All()) != 1 || sunk.trees.All()[0].Rows+int64(len(sunk.rows)) != 120 || len(sunk.rows) < 20 {
		t.Fatalf("%d trees, %d dead letters", len(sunk.trees.All()), len(sunk.rows))
	}
	for _, reason := range sunk.rows {
		if !strings.Contains(reason, "not one of the classes") {
			t.Errorf("a dead letter says %q", reason)
		}
	}
}

// hourly is a row of a window of an hour.
type hourly struct {
	City  string  `json:"city"`
	X     float64 `json:"x"`
	Class string  `json:"class"`
}

func init() {
	beam.RegisterDoFn(reflect.TypeFor[stampVisitFn]())
	beam.RegisterDoFn(reflect.TypeFor[makeHoursFn]())
	beam.RegisterDoFn(reflect.TypeFor[sinkRefusedFn]())
	beam.RegisterDoFn(reflect.TypeFor[makeLaterFn]())
	beam.RegisterType(reflect.TypeFor[hourly]())
	beam.RegisterType(reflect.TypeFor[anyRow]())
	beam.RegisterType(reflect.TypeFor[later]())
	register.Emitter2[beam.EventTime, later]()
	register.Emitter2[beam.EventTime, hourly]()
	register.Emitter2[beam.EventTime, anyRow]()
	register.Emitter1[anyRow]()
}

// makeHoursFn makes five windows: a good one, one with more texts than a categorical column may have, one with too many
// classes, one of a single class, and a good one.
type makeHoursFn struct{}

func (*makeHoursFn) ProcessElement(_ []byte, emit func(beam.EventTime, hourly)) {
	add := func(hour, row int64, city, class string) {
		emit(beam.EventTime(hour*3_600_000+row), hourly{city, float64(row), class})
	}
	classes := []string{"no", "yes"}
	for row := range int64(200) {
		add(0, row, []string{"a", "b"}[row%2], classes[row/100])
		add(3, row, "a", "no")
		add(4, row, "a", classes[row/100])
	}
	for row := range int64(70_000) {
		add(1, row, fmt.Sprint("city-", row), classes[row/35_000])
	}
	for row := range int64(1_500) {
		add(2, row, "a", fmt.Sprint("class-", row))
	}
}

// sinkRefusedFn notes refused windows.
type sinkRefusedFn struct{}

func (*sinkRefusedFn) ProcessElement(w transforms.RefusedWindow) {
	sunk.Lock()
	defer sunk.Unlock()
	sunk.rows = append(sunk.rows, fmt.Sprintf("%d %d: %s: %s; %s", w.Start/3_600_000, w.Rows, w.Column, w.Reason, w.Hint))
}

// TestBadWindows: windows whose rows make no tree are refused with the reason, and those before and after have their trees.
func TestBadWindows(t *testing.T) {
	c := transforms.SingleTrainConfig("class")
	counted := make(map[string]int64)
	sunk.trees, sunk.rows = nil, nil
	p, s := beam.NewPipelineWithRoot()
	trained := transforms.WindowedTree(s, beam.ParDo(s, &makeHoursFn{}, beam.Impulse(s)), transforms.WindowConfig{
		TrainConfig: c, Windows: window.NewFixedWindows(time.Hour), MinClasses: 2,
	})
	sunk.trees = transformstest.Collect[transforms.WindowTree](s, trained.Trees)
	beam.ParDo0(s, &sinkRefusedFn{}, trained.Refused)
	result, err := beam.Run(t.Context(), "prism", p)
	if err != nil {
		t.Fatal(err)
	}
	for _, counter := range result.Metrics().AllMetrics().Counters() {
		counted[counter.Name()] += counter.Result()
	}
	// TestGuards checks the count of a single refused tree. If two bundles end before prism knows the name of a counter, prism
	// keeps the count of one bundle (v2.77, contributeMetrics in its jobservices/metrics.go).
	if n := counted["trees_refused"]; n < 1 || n > 2 || counted["features_left_out"] != 1 || counted["rows_dropped"] != 0 {
		t.Errorf("counters %v: want trees_refused, 1 of features_left_out and no rows_dropped", counted)
	}
	hours := make(map[int64][]string)
	for i := range sunk.trees.All() {
		grown, err := tree.Decode(sunk.trees.All()[i].JSON)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range grown.Features {
			hours[sunk.trees.All()[i].Start/3_600_000] = append(hours[sunk.trees.All()[i].Start/3_600_000], f.Name)
		}
	}
	if want := map[int64][]string{0: {"x"}, 1: {"x"}, 4: {"x"}}; !reflect.DeepEqual(hours, want) {
		t.Errorf("features by window %v, want %v", hours, want)
	}
	slices.Sort(sunk.rows)
	want := []string{
		"2 1500: class: the label has more than 1000 classes; raise MaxClasses, or name a column of classes as the Label",
		"3 200: : the training rows have 1 classes: MinClasses wants 2; ",
	}
	if !slices.Equal(sunk.rows, want) {
		t.Errorf("refused %q, want %q", sunk.rows, want)
	}
}

// later is a row of the same events without the column x.
type later struct {
	City string `json:"city"`
}

// makeLaterFn makes rows of the second hour after the two good windows of makeHoursFn.
type makeLaterFn struct{ Hour int64 }

func (f *makeLaterFn) ProcessElement(_ []byte, emit func(beam.EventTime, later)) {
	for row := range int64(5) {
		emit(beam.EventTime(f.Hour*3_600_000+row), later{"a"})
	}
}

// TestUnfitTrees: a tree that tests a column which the rows lack scores none of them. They are dead letters or unscored, as
// rows without a tree are; the pipeline goes on, and counts the tree.
func TestUnfitTrees(t *testing.T) {
	for name, m := range map[string]transforms.Model{"window": {}, "latest": {Latest: true}, "unscored": {Latest: true, Unscored: true}} {
		p, s := beam.NewPipelineWithRoot()
		m.Trees = transforms.WindowedTree(s, beam.ParDo(s, &makeHoursFn{}, beam.Impulse(s)), transforms.WindowConfig{
			TrainConfig: transforms.SingleTrainConfig("class"), Windows: window.NewFixedWindows(time.Hour), MinClasses: 2,
		}).Trees
		rows := beam.ParDo(s, &makeLaterFn{5}, beam.Impulse(s))
		if !m.Latest {
			rows = beam.WindowInto(s, window.NewFixedWindows(time.Hour), beam.ParDo(s, &makeLaterFn{4}, beam.Impulse(s)))
		}
		scored := transforms.Score(s, rows, m, transforms.DeadLetters{})
		predicted := transformstest.Collect[later](s, beam.DropValue(s, scored.Predictions))
		letters := transformstest.Collect[transforms.DeadLetter](s, scored.DeadLetters)
		var unscored *transformstest.Collected[later]
		if m.Unscored {
			unscored = transformstest.Collect[later](s, scored.Unscored)
		}
		result, err := beam.Run(t.Context(), "prism", p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		refused := int64(0)
		for _, c := range result.Metrics().AllMetrics().Counters() {
			if c.Name() == "models_refused" {
				refused += c.Result()
			}
		}
		list := letters.All()
		if m.Unscored && len(unscored.All()) != 5 || !m.Unscored && len(list) != 5 || len(predicted.All()) != 0 || refused == 0 {
			t.Errorf("%s: %d dead letters, %d predictions, %d trees refused", name, len(list), len(predicted.All()), refused)
		}
		if len(list) > 0 && !strings.Contains(list[0].Reason, `"x"`) {
			t.Errorf("%s: the reason is %q, want one that names the column", name, list[0].Reason)
		}
	}
}

// TestPoisonedMaps: with DeadLetters the types of maps have to be known, and then one text among numbers is a dead
// letter; a column of categories, and the label, may have numbers and texts.
func TestPoisonedMaps(t *testing.T) {
	var rows []anyRow
	for i := range 40 {
		rows = append(rows, anyRow{"x": float64(i), "kind": []any{"a", 1.5}[i%2], "class": []any{"no", 7.}[i/20]})
	}
	rows = append(rows, anyRow{"x": "bad", "kind": "a", "class": "no"})
	c := transforms.SingleTrainConfig("class")
	c.Features = []string{"x", "kind"}
	build := func(c transforms.TrainConfig, windowed bool) func(s beam.Scope) {
		return func(s beam.Scope) {
			in := beam.CreateList(s, rows)
			var trained transforms.Trained
			if windowed {
				w := transforms.WindowConfig{TrainConfig: c, Windows: window.NewGlobalWindows()}
				trained = transforms.WindowedTree(s, in, w, transforms.DeadLetters{})
				sunk.trees = transformstest.Collect[transforms.WindowTree](s, trained.Trees)
			} else {
				trained = transforms.Train(s, in, c, transforms.DeadLetters{})
				sunk.bytes = transformstest.Collect[[]byte](s, trained.Trees)
			}
			beam.ParDo0(s, &sinkLetterFn{}, trained.DeadLetters)
		}
	}
	for _, windowed := range []bool{false, true} {
		_, s := beam.NewPipelineWithRoot()
		if err := panicOf(func() { build(c, windowed)(s) }); err == nil ||
			!strings.Contains(err.Error(), `needs the types of the features ["x" "kind"]`) {
			t.Fatalf("unknown types: %v", err)
		}
		known := c
		known.Numeric, known.Categorical = []string{"x"}, []string{"kind"}
		if err := runPipeline(t, "direct", build(known, windowed)); err != nil {
			t.Fatal(err)
		}
		encoded := sunk.bytes.All()
		for i := range sunk.trees.All() {
			encoded = append(encoded, sunk.trees.All()[i].JSON)
		}
		if len(encoded) != 1 || len(sunk.rows) != 1 || !strings.HasPrefix(sunk.rows[0], "not a number, as the feature needs") {
			t.Fatalf("%d trees, dead letters %q", len(encoded), sunk.rows)
		}
		got, err := tree.Decode(encoded[0])
		if err != nil || got.Training.Rows != 40 || !slices.Equal(got.Label.Classes, []string{"7", "no"}) {
			t.Errorf("%v: a tree of %+v with the classes %q", err, got.Training, got.Label.Classes)
		}
	}
}

// TestUnbounded: transforms that answer after the last row refuse rows without a last one.
func TestUnbounded(t *testing.T) {
	encoded := library(t, "direct", visits(120), visitConfig())
	_, s := beam.NewPipelineWithRoot()
	config := teststream.NewConfig()
	if err := config.AddElements(0, visit{}); err != nil {
		t.Fatal(err)
	}
	stream := teststream.Create(s, config)
	for want, build := range map[string]func(){
		"use WindowedTree":       func() { transforms.Train(s, stream, visitConfig()) },
		"measure files of a day": func() { transforms.Evaluate(s, stream, transforms.Model{JSON: encoded}, transforms.EvaluateConfig{}) },
	} {
		if err := panicOf(build); err == nil || !strings.Contains(err.Error(), "the rows are unbounded") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// stampVisitFn gives visits times: 20 a minute.
type stampVisitFn struct{}

func (*stampVisitFn) ProcessElement(v visit) (beam.EventTime, visit) {
	return beam.EventTime(v.ID * 3000), v
}

// TestWindowReports: the report on a pane equals the report of Train on the same rows, and a refused pane has its refusal.
// Reports does not change the trees.
func TestWindowReports(t *testing.T) {
	c := transforms.DefaultTrainConfig("Class", "id")
	c.Features = visitConfig().Features
	list := visits(600)
	half := list[:240] // 12 minutes
	earlier := library(t, "direct", list, visitConfig())
	run := func(opts ...transforms.Option) (reports []transforms.Report, trees []transforms.WindowTree, refused []transforms.RefusedWindow) {
		var r *transformstest.Collected[transforms.Report]
		var w *transformstest.Collected[transforms.WindowTree]
		var f *transformstest.Collected[transforms.RefusedWindow]
		err := runPipeline(t, "prism", func(s beam.Scope) {
			trained := transforms.WindowedTree(s, beam.ParDo(s, &stampVisitFn{}, beam.CreateList(s, list)), transforms.WindowConfig{
				TrainConfig: c, Windows: window.NewFixedWindows(12 * time.Minute), MinRows: 100,
			}, opts...)
			if len(opts) > 0 {
				r = transformstest.Collect[transforms.Report](s, trained.Reports)
			}
			w = transformstest.Collect[transforms.WindowTree](s, trained.Trees)
			f = transformstest.Collect[transforms.RefusedWindow](s, trained.Refused)
		})
		if err != nil {
			t.Fatal(err)
		}
		byStart := func(a, b transforms.WindowTree) int { return cmp.Compare(a.Start, b.Start) }
		trees = slices.SortedFunc(slices.Values(w.All()), byStart)
		reports = slices.SortedFunc(slices.Values(r.All()), func(a, b transforms.Report) int { return cmp.Compare(a.Start, b.Start) })
		return reports, trees, f.All()
	}
	option := transforms.Reports{Against: earlier}
	reports, trees, refused := run(option)
	if _, without, _ := run(); !reflect.DeepEqual(without, trees) {
		t.Error("the trees differ with Reports")
	}
	if len(reports) != 3 || len(trees) != 2 || len(refused) != 1 {
		t.Fatalf("%d reports, %d trees, %d refused panes; want 3, 2, 1", len(reports), len(trees), len(refused))
	}
	if last := &reports[2]; !reflect.DeepEqual(last.Refused, &refused[0]) || last.JSON != nil || last.Start != refused[0].Start {
		t.Errorf("the report on the refused pane is %+v, want %+v", last, refused[0])
	}
	for i, r := range reports[:2] {
		if w := trees[i]; r.Start != w.Start || r.End != w.End || r.Pane != w.Pane || r.Timing != w.Timing || r.Last != w.Last {
			t.Errorf("the report on the pane %+v, want %+v", r, w)
		}
	}
	var alone *transformstest.Collected[transforms.Report]
	if err := runPipeline(t, "prism", func(s beam.Scope) {
		alone = transformstest.Collect[transforms.Report](s, transforms.Train(s, beam.CreateList(s, half), c, option).Reports)
	}); err != nil {
		t.Fatal(err)
	}
	want, got := alone.All()[0], reports[0]
	got.Start, got.End, got.Pane, got.Timing, got.Last = 0, 0, 0, "", false
	if want.Metrics[dataset.Test] == nil || want.Compared == nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the report on a window is\n%+v\nwant the report of Train\n%+v", got, want)
	}
}
