package transforms_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/teststream"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// base has fields that several rows share. It is embedded in them.
type base struct {
	ID int32 `json:"id,omitempty"`
}

// visit has a field of every type, with names from each of the tags.
type visit struct {
	base

	Age     *uint8    `parquet:"age,optional"`
	Weight  float32   `beam:"kg"`
	Smoker  *bool     `espalier:"smoker" json:"Smokes"`
	Day     time.Time `parquet:"day,date"`
	Ward    ward      `json:"ward"`
	Class   string
	Scan    []byte
	private int //nolint:unused // no column
}

type ward string

// Beam accepts maps as elements only if their type has a name.
type (
	anyRow  map[string]any
	textRow map[string]string
)

// wide is a row of the columns of newTable.
type wide struct {
	Number *float64 `json:"number"`
	Text   string   `json:"text"`
	Label  *string  `json:"label"`
}

var sunk struct {
	sync.Mutex

	rows   []string
	trees  *transformstest.Collected[transforms.WindowTree]
	bytes  *transformstest.Collected[[]byte]
	faults []dataset.DataError
}

type sinkFn struct{}

func (*sinkFn) ProcessElement(row beam.T, p transforms.Prediction) {
	sunk.Lock()
	defer sunk.Unlock()
	id := ""
	switch r := row.(type) {
	case visit:
		id = strconv.Itoa(int(r.ID))
	case *visit:
		id = strconv.Itoa(int(r.ID))
	case anyRow:
		id = fmt.Sprint(r["id"])
	case textRow:
		id = r["id"]
	}
	sunk.rows = append(sunk.rows,
		fmt.Sprintf("%s: %s %.2f, leaf %d, %d tests, %v", id, p.Class, p.Probabilities, p.Leaf, p.Tests, p.Cost))
}

func init() {
	beam.RegisterType(reflect.TypeFor[visit]())
	beam.RegisterType(reflect.TypeFor[wide]())
	beam.RegisterType(reflect.TypeFor[anyRow]())
	beam.RegisterType(reflect.TypeFor[textRow]())
	beam.RegisterDoFn(reflect.TypeFor[sinkFn]())
	beam.RegisterDoFn(reflect.TypeFor[noVisitFn]())
	beam.RegisterDoFn(reflect.TypeFor[sinkLetterFn]())
	beam.RegisterDoFn(reflect.TypeFor[caseFn]())
	beam.RegisterDoFn(reflect.TypeFor[classFn]())
	beam.RegisterDoFn(reflect.TypeFor[faultFn]())
}

func runPipeline(t *testing.T, runner string, build func(s beam.Scope)) error {
	t.Helper()
	sunk.rows, sunk.trees, sunk.bytes = nil, nil, nil
	return transformstest.Run(runner, build)
}

// library returns the tree that Train grows from rows.
func library[T any](t *testing.T, runner string, rows []T, c transforms.TrainConfig) []byte {
	t.Helper()
	if err := runPipeline(t, runner, func(s beam.Scope) {
		sunk.bytes = transformstest.Collect[[]byte](s, transforms.Train(s, beam.CreateList(s, rows), c).Trees)
	}); err != nil {
		t.Fatal(err)
	}
	if len(sunk.bytes.All()) != 1 {
		t.Fatalf("%d trees, want 1", len(sunk.bytes.All()))
	}
	return sunk.bytes.All()[0]
}

func pointer[T any](x T) *T { return &x }

// day returns the n-th day after 2026-01-01.
func day(n int) time.Time { return time.Date(2026, 1, 1+n, 13, 0, 0, 0, time.UTC) }

func visits(n int) []visit {
	list := make([]visit, n)
	for i := range list {
		v := visit{
			base: base{int32(i)}, Weight: float32(60 + i%40), Day: day(i % 9), Ward: ward("abc"[i%3 : i%3+1]),
			Class: "well",
		}
		if i%5 > 0 {
			v.Age = pointer(uint8(20 + i*7%60))
		}
		if i%4 > 0 {
			v.Smoker = pointer(i%2 == 0)
		}
		if (v.Age != nil && *v.Age > 50) != (v.Ward == "b") || v.Smoker != nil && *v.Smoker && i%9 > 3 {
			v.Class = "ill"
		}
		list[i] = v
	}
	return list
}

func visitConfig() transforms.TrainConfig {
	c := transforms.SingleTrainConfig("Class")
	c.Features = []string{"age", "kg", "smoker", "day", "ward"}
	return c
}

// asMap returns a row in the spelling of JSON.
func (v *visit) asMap() map[string]any {
	m := map[string]any{
		"id": float64(v.ID), "kg": float64(v.Weight), "day": v.Day.Format("2006-01-02"),
		"ward": string(v.Ward), "Class": v.Class,
	}
	if v.Age != nil {
		m["age"] = float64(*v.Age)
	}
	if v.Smoker != nil {
		m["smoker"] = *v.Smoker
	}
	return m
}

func (v *visit) asTexts() map[string]string {
	m := make(map[string]string)
	for name, x := range v.asMap() {
		m[name] = fmt.Sprint(x)
	}
	return m
}

// TestRowTypes: structs, pointers to structs and maps of the same values train the same
// tree. Score gives the predictions of the tree's own scorer for each of them.
func TestRowTypes(t *testing.T) {
	list := visits(120)
	var rowMaps []anyRow
	var texts []textRow
	var pointers []*visit
	for i := range list {
		rowMaps, texts = append(rowMaps, list[i].asMap()), append(texts, list[i].asTexts())
		pointers = append(pointers, &list[i])
	}
	c := visitConfig()
	c.Features = []string{"age", "kg", "smoker", "ward"} // maps do not say that a text is a date
	encoded := library(t, "prism", list, c)
	if other := library(t, "prism", rowMaps, c); string(other) != string(encoded) {
		t.Errorf("maps of anything give another tree:\n%s\n%s", encoded, other)
	}
	c.Numeric = []string{"age", "kg"}
	if other := library(t, "direct", texts, c); string(other) != string(encoded) {
		t.Errorf("maps of texts give another tree:\n%s\n%s", encoded, other)
	}
	encoded = library(t, "prism", list, visitConfig())
	if !strings.Contains(string(encoded), `"unit": "date"`) {
		t.Fatalf("the tree tests no date:\n%s", encoded)
	}
	withModels := modelled(t, encoded)
	want, wantModelled := scoredBy(t, encoded, list), scoredBy(t, withModels, list)
	if slices.Equal(want, wantModelled) {
		t.Error("leaf models change nothing: the test shows nothing of them")
	}
	for name, rows := range map[string]func(s beam.Scope) beam.PCollection{
		"structs":          func(s beam.Scope) beam.PCollection { return beam.CreateList(s, list) },
		"pointers":         func(s beam.Scope) beam.PCollection { return beam.CreateList(s, pointers) },
		"maps of anything": func(s beam.Scope) beam.PCollection { return beam.CreateList(s, rowMaps) },
		"maps of texts":    func(s beam.Scope) beam.PCollection { return beam.CreateList(s, texts) },
	} {
		for _, runner := range conformance.Runners() {
			for i, model := range [][]byte{encoded, withModels} {
				want := [][]string{want, wantModelled}[i]
				err := runPipeline(t, runner, func(s beam.Scope) {
					beam.ParDo0(s, &sinkFn{}, transforms.Score(s, rows(s), transforms.Model{JSON: model}).Predictions)
				})
				slices.Sort(sunk.rows)
				if err != nil || !slices.Equal(sunk.rows, want) {
					t.Errorf("%s on %s, models %v: %v; scored\n%s\nwant\n%s", name, runner, i > 0, err,
						strings.Join(sunk.rows, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}

// modelled returns a tree with models in the leaves below tests on numbers.
func modelled(t *testing.T, encoded []byte) []byte {
	t.Helper()
	m, err := tree.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	tested := make([]int, len(m.Nodes)) // the last number tested above the node; 0: none, else its feature plus 1
	for i := range m.Nodes {
		n := &m.Nodes[i]
		for _, b := range n.Branches {
			tested[b.Child] = tested[i]
			if m.Features[n.Test.Feature].Kind == dataset.Numeric {
				tested[b.Child] = n.Test.Feature + 1
			}
		}
		if n.Leaf() && tested[i] > 0 {
			n.Model = &tree.LeafModel{Intercept: []float64{0.5}, Terms: []tree.Term{{
				Feature: tested[i] - 1, At: []float64{20, 80, 20000}, Values: [][]float64{{-2}, {3}, {1}}, Missing: []float64{-1},
			}}}
		}
	}
	return m.Encode()
}

// scoredBy returns the sorted predictions that sinkFn should see.
func scoredBy(t *testing.T, encoded []byte, list []visit) []string {
	t.Helper()
	model, err := tree.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	scorer := model.Scorer()
	if n := len(scorer.Features()); n < 3 {
		t.Fatalf("the tree tests %d features, want 3 or more", n)
	}
	var want []string
	for i := range list {
		var values []tree.Value
		for _, in := range scorer.Features() {
			v, err := in.Value(list[i].asMap()[in.Name])
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		p, err := scorer.Predict(values)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%d: %s %.2f, leaf %d, %d tests, %v", list[i].ID, p.Class, p.Probabilities, p.Leaf,
			p.Tests, p.Cost))
	}
	slices.Sort(want)
	return want
}

// buildFault is a pipeline that cannot be built, with words of the error.
type buildFault struct {
	build func(s beam.Scope) error
	want  []string
}

// wrongRow has columns of other types than visit.
type wrongRow struct {
	Age  string `json:"age"`
	Kg   float64
	Day  []int  `json:"day"`
	Ward string `json:"ward"`
}

// twiceNamed has two fields for one column.
type twiceNamed struct {
	A int `espalier:"x"`
	X int `json:"x"`
}

// panicOf returns the error by which f panics; nil: it does not panic.
func panicOf(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error) //nolint:errcheck // another panic ends the test
		}
	}()
	f()
	return nil
}

// training builds Train by a changed configuration.
func training(change func(*transforms.TrainConfig)) func(s beam.Scope) error {
	return func(s beam.Scope) error {
		c := visitConfig()
		change(&c)
		return panicOf(func() { transforms.Train(s, beam.CreateList(s, visits(1)), c) })
	}
}

// windowing builds WindowedTree by a changed configuration.
func windowing(change func(*transforms.WindowConfig)) func(s beam.Scope) error {
	return func(s beam.Scope) error {
		c := transforms.WindowConfig{TrainConfig: visitConfig(), Windows: window.NewFixedWindows(time.Minute)}
		change(&c)
		return panicOf(func() { transforms.WindowedTree(s, beam.CreateList(s, visits(1)), c) })
	}
}

// scoring builds Score of a model and rows.
func scoring(m transforms.Model, rows func(s beam.Scope) beam.PCollection) func(s beam.Scope) error {
	return func(s beam.Scope) error {
		return panicOf(func() { transforms.Score(s, rows(s), m) })
	}
}

// latest builds Score by the latest trees of windows, and a first model.
func latest(windows *window.Fn, first []byte) func(s beam.Scope) error {
	return func(s beam.Scope) error {
		c := transforms.WindowConfig{TrainConfig: visitConfig(), Windows: windows}
		return panicOf(func() {
			m := transforms.Model{Trees: transforms.WindowedTree(s, oneVisit(s), c).Trees, Latest: true, JSON: first}
			transforms.Score(s, oneVisit(s), m)
		})
	}
}

func oneVisit(s beam.Scope) beam.PCollection { return beam.CreateList(s, visits(1)) }

// rowsOf makes a collection of one row.
func rowsOf(row any) func(s beam.Scope) beam.PCollection {
	return func(s beam.Scope) beam.PCollection { return beam.Create(s, row) }
}

// scoreFaults lists models and rows that Score refuses.
func scoreFaults(t *testing.T, encoded []byte) map[string]buildFault {
	t.Helper()
	return map[string]buildFault{
		"fields": {
			scoring(transforms.Model{JSON: encoded}, rowsOf(wrongRow{})),
			[]string{
				"transforms_test.wrongRow", `column "age" is a text, want a number`, `no field for column "smoker"`, `"Kg"`,
				`column "day" cannot be read`, "[]int",
			},
		},
		"two fields of a name": {
			scoring(transforms.Model{JSON: encoded}, rowsOf(twiceNamed{})),
			[]string{"two fields", `"x"`},
		},
		"numbers as rows": {
			scoring(transforms.Model{JSON: encoded}, rowsOf(3)),
			[]string{"type int", "want a struct"},
		},
		"grouped rows": {
			scoring(transforms.Model{JSON: encoded},
				func(s beam.Scope) beam.PCollection { return beam.GroupByKey(s, beam.AddFixedKey(s, oneVisit(s))) }),
			[]string{"CoGBK<int,", "beam.DropKey"},
		},
		"trees of another type": {
			func(s beam.Scope) error {
				return panicOf(func() { transforms.Score(s, oneVisit(s), transforms.Model{Trees: oneVisit(s)}) })
			},
			[]string{"the Trees are of type", "visit", "WindowedTree"},
		},
		"the latest of one tree": {
			scoring(transforms.Model{JSON: encoded, Latest: true}, oneVisit), []string{"Latest needs Trees"},
		},
		"unscored rows of one tree": {
			scoring(transforms.Model{JSON: encoded, Unscored: true}, oneVisit), []string{"Unscored needs Latest"},
		},
		"the latest tree of Train": {
			func(s beam.Scope) error {
				return panicOf(func() {
					transforms.Score(s, oneVisit(s), transforms.Model{Trees: transforms.Train(s, oneVisit(s), visitConfig()).Trees, Latest: true})
				})
			},
			[]string{"the Trees are of type", "WindowedTree for Latest"},
		},
		"the latest tree of sessions": {latest(window.NewSessions(time.Minute), nil), []string{"windows of kind SES", "fixed or sliding"}},
		"a first model for other rows": {
			latest(window.NewFixedWindows(time.Minute), []byte("{}")), []string{"the model", "format"},
		},
		"a limit below 0": {
			func(s beam.Scope) error {
				return panicOf(func() {
					transforms.Score(s, oneVisit(s), transforms.Model{JSON: encoded}, transforms.DeadLetters{Limit: -1})
				})
			},
			[]string{"the limit of dead letters is -1"},
		},
		"an evaluation by Trees without a label": {
			func(s beam.Scope) error {
				return panicOf(func() {
					m := transforms.Model{Trees: transforms.Train(s, oneVisit(s), visitConfig()).Trees}
					transforms.Evaluate(s, oneVisit(s), m, transforms.EvaluateConfig{})
				})
			},
			[]string{"Trees", "the Label"},
		},
		"a report of Score": {
			func(s beam.Scope) error {
				return panicOf(func() { transforms.Score(s, oneVisit(s), transforms.Model{JSON: encoded}, transforms.Reports{}) })
			},
			[]string{"the option Reports is for Train and WindowedTree"},
		},
		"a comparison with another file": {
			func(s beam.Scope) error {
				return panicOf(func() { transforms.Train(s, oneVisit(s), visitConfig(), transforms.Reports{Against: []byte("{}")}) })
			},
			[]string{"the tree Against", "format"},
		},
		"bins of another training": {
			func(s beam.Scope) error {
				return panicOf(func() {
					x := tree.SchemaColumn{Name: "x", Role: "feature", Physical: "DOUBLE", Feature: &dataset.Feature{
						Name: "x", Kind: dataset.Numeric, Type: dataset.Number, Cuts: []float64{1},
					}}
					earlier := &tree.Schema{Label: tree.Label{Column: "class", Classes: []string{"a", "b"}}, Columns: []tree.SchemaColumn{x}}
					transforms.Train(s, oneVisit(s), visitConfig(), transforms.Reports{
						Against: encoded, Schema: earlier.Encode(), Codes: map[string][]int64{"x": {1, 2}},
					})
				})
			},
			[]string{`Codes has 2 codes of "x", and Schema has 3`},
		},
		"no model":   {scoring(transforms.Model{}, oneVisit), []string{"JSON", "URL"}},
		"two models": {scoring(transforms.Model{JSON: encoded, URL: "x"}, oneVisit), []string{"JSON", "URL"}},
		"no tree": {
			scoring(transforms.Model{JSON: []byte("{}")}, oneVisit), []string{"the model", "format"},
		},
		"nothing to read anew": {scoring(transforms.Model{JSON: encoded, Every: 1}, oneVisit), []string{"Every"}},
		"a model that comes later": {
			scoring(transforms.Model{JSON: encoded, Later: true}, oneVisit), []string{"Later", "URL"},
		},
		"no model at the URL": {
			scoring(transforms.Model{URL: filepath.Join(t.TempDir(), "none.json"), Every: 1}, oneVisit),
			[]string{"none.json", "Later"},
		},
		"fields and a URL": {
			scoring(transforms.Model{URL: written(t, encoded)},
				rowsOf(wrongRow{})),
			[]string{"tree.json", `column "age" is a text, want a number`},
		},
		"no tree at the URL": {
			scoring(transforms.Model{URL: written(t, []byte("{}"))}, oneVisit), []string{"tree.json", "format"},
		},
	}
}

// trainFaults lists settings that Train refuses.
func trainFaults() map[string]buildFault {
	return map[string]buildFault{
		"no label": {training(func(c *transforms.TrainConfig) { c.Label = "" }), []string{"no Label"}},
		"unknown columns": {
			training(func(c *transforms.TrainConfig) { c.Label, c.Features, c.Weight = "klass", []string{"age", "agee"}, "w" }),
			[]string{`"klass"`, `"agee"`, `"w"`, "transforms_test.visit"},
		},
		"settings": {
			training(func(c *transforms.TrainConfig) {
				c.Algorithm, c.Theta, c.Bins = []split.Algorithm{99}, []float64{2}, 1
				c.Tests, c.Costs = []split.Family{0}, map[string]float64{"kg": -1, "y": 1}
			}),
			[]string{`Algorithm: algorithm "unknown(99)"`, "Theta 2", "Bins 1", `Tests: tests "unknown(0)"`, `Costs: the cost of "kg" -1`, `"y" is not a feature`},
		},
		"text weights": {
			training(func(c *transforms.TrainConfig) { c.Weight = "ward"; c.Features = []string{"age"} }),
			[]string{"weights", `"ward"`, "numbers"},
		},
		"a feature twice": {
			training(func(c *transforms.TrainConfig) { c.Features = append(c.Features, "kg", "age") }),
			[]string{`the Features: "kg" stands there twice`, `"age"`},
		},
		"names in other lists": {
			training(func(c *transforms.TrainConfig) {
				c.Ignore, c.Categorical, c.Numeric = []string{"wardd", "Class", "age", "ID", "Scan"},
					[]string{"kgg", "Class", "Scan"}, []string{"ward", "ward", "id"}
			}), []string{
				`the Ignore: rows of type transforms_test.visit have no field for column "wardd"`,
				`column "age" is also named in Features`, `no field for column "ID"`,
				`the Categorical: "kgg" is not a feature`, `the Categorical: "Class"`, `the Categorical: "Scan"`,
				`the Numeric: "ward" stands there twice`, `the Numeric: "id" is not a feature`,
			},
		},
		"a misspelled Ignore": {
			training(func(c *transforms.TrainConfig) { c.Features, c.Ignore = nil, []string{"Scan", "wardd"} }),
			[]string{`the Ignore: rows of type transforms_test.visit have no field for column "wardd"`, `"ward"`},
		},
		"nothing to test": {
			training(func(c *transforms.TrainConfig) {
				c.Features, c.Ignore = nil, []string{"Scan", "age", "kg", "smoker", "day", "ward", "id"}
			}), []string{"no field that may be tested"},
		},
		"in both lists": {
			training(func(c *transforms.TrainConfig) { c.Categorical, c.Numeric = []string{"age"}, []string{"age"} }),
			[]string{"both Categorical and Numeric"},
		},
		"wishes": {
			training(func(c *transforms.TrainConfig) {
				c.First, c.Monotone = []string{"kg", "", "", "kg", "agee"}, map[string]int8{"age": 2, "kgg": 1}
				c.Tests = []split.Family{split.OneHot}
				c.Groups = []settings.CostGroup{{Features: []string{"age", "Age"}, Cost: -1}, {Name: "g", Features: []string{"age"}}}
			}),
			[]string{
				`the First: "kg" stands there twice`, `the First: "agee" is not a feature`, `Monotone: "age" 2: want +1 or -1`,
				`the Monotone: "kgg" is not a feature`, "Monotone needs threshold tests", "Groups: a group has no name",
				`Groups: the feature "age" is named twice`, `the Groups: "Age" is not a feature`, `Groups: the cost of "" -1`,
			},
		},
		"classes": {
			training(func(c *transforms.TrainConfig) {
				c.Priors = map[string]float64{"a": 0, "b": 1e9}
				c.ErrorCosts = []settings.ErrorCost{{Actual: "a", Predicted: "b", Cost: -1}, {Actual: "a", Predicted: "b"}}
			}),
			[]string{
				`Priors: "a" 0: want`, `Priors: "b" 1e+09: want`, `ErrorCosts: "a as b" -1: want`,
				`ErrorCosts: the pair "a as b" is named twice`,
			},
		},
		"choice": {
			training(func(c *transforms.TrainConfig) {
				c.Algorithm, c.Lambda, c.Bins = []split.Algorithm{split.C45, 77}, []float64{-3}, 70_000
				c.Split, c.Choice = dataset.Shares{70, 10, 20}, settings.Choice{
					Select: 88, Prune: []prune.Currency{66}, Folds: crossvalidate.Setting{Number: 1}, Teacher: "master", MadeUpRows: new(int64(-7)),
				}
				c.ValueCosts, c.ClassWeights = map[string]map[string]float64{"wardd": {"a": -1}}, map[string]float64{"a": -2}
			}),
			[]string{
				`"unknown(77)"`, "Lambda -3", "Bins 70000: want a number", "Split 70/10/20 has no Group", `"unknown(88)"`, `"unknown(66)"`, "Folds 1",
				`Teacher "master": want one of`, "MadeUpRows -7", `ValueCosts: the cost of "a" of "wardd" -1`, `the ValueCosts: "wardd" is not a feature`,
				`ClassWeights: "a" -2: want`, `LeafModel "": want one of`,
			},
		},
		"choices that do not go together": {
			training(func(c *transforms.TrainConfig) {
				c.Teacher, c.Alpha, c.Prune = distill.Boosted, new(1.0), []prune.Currency{prune.Leaves, prune.Cost}
				c.SplitColumn, c.Group = "smokerr", "id"
				c.Monotone, c.ClassWeights, c.BalanceClasses = map[string]int8{"age": 1}, map[string]float64{"a": 1}, true
				c.ValueCosts = map[string]map[string]float64{"ward": {"a": 1}}
				c.Groups = []settings.CostGroup{{Name: "g", Features: []string{"age"}}}
			}),
			[]string{
				"Alpha 1 is of one currency", "Teacher boosted does not keep Monotone", "Select first chooses nothing",
				"ClassWeights and BalanceClasses", "ValueCosts and Groups", `Group "id"`,
			},
		},
		"unreadable": {training(func(c *transforms.TrainConfig) { c.Features = nil }), []string{`"Scan"`, "[]uint8"}},
	}
}

// windowFaults lists windows that WindowedTree refuses.
func windowFaults() map[string]buildFault {
	return map[string]buildFault{
		"no windows": {
			windowing(func(c *transforms.WindowConfig) { c.Windows, c.Ignore = nil, []string{"wardd"} }),
			[]string{"no Windows", `"wardd"`},
		},
		"guards": {
			windowing(func(c *transforms.WindowConfig) {
				c.MinRows, c.Classes = -1, []string{"a", "b", "a"}
			}), []string{"MinRows -1", `the Classes ["a" "b" "a"]`},
		},
	}
}

// TestBindErrors: rows, models and settings that do not fit together are refused when
// the pipeline is built.
func TestBindErrors(t *testing.T) {
	encoded := library(t, "direct", visits(120), visitConfig())
	faults := scoreFaults(t, encoded)
	maps.Copy(faults, trainFaults())
	maps.Copy(faults, windowFaults())
	for name, test := range faults {
		t.Run(name, func(t *testing.T) {
			_, s := beam.NewPipelineWithRoot()
			err := test.build(s)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
	_, s := beam.NewPipelineWithRoot()
	if err := panicOf(func() {
		transforms.Train(s, beam.CreateList(s, []anyRow{{}}), transforms.SingleTrainConfig("x"))
	}); err == nil || !strings.Contains(err.Error(), "name the Features") {
		t.Errorf("maps without features: %v", err)
	}
}

// written writes a model to a file and returns its path.
func written(t *testing.T, model []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(path, model, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRowErrors: a bad row gives a data error with the column and the value.
func TestRowErrors(t *testing.T) {
	label := pointer("a")
	type entry = anyRow
	c := transforms.SingleTrainConfig("label")
	c.Features = []string{"number"}
	weighted := c
	weighted.Weight = "w"
	misspelled := c
	misspelled.Features = []string{"numbr", "number"}
	few := c
	few.MaxClasses = 1
	for name, test := range map[string]struct {
		config transforms.TrainConfig
		rows   []entry
		column string
		value  string
	}{
		"null label":      {c, []entry{{"number": 1.0}}, "label", ""},
		"mixed":           {c, []entry{{"number": 1.0, "label": *label}, {"number": "x", "label": *label}}, "number", ""},
		"a list":          {c, []entry{{"number": []any{1.0}, "label": *label}}, "number", "[1]"},
		"negative weight": {weighted, []entry{{"number": 1.0, "label": *label, "w": -2.5}}, "w", "-2.5"},
		"NaN as weight":   {weighted, []entry{{"number": 1.0, "label": *label, "w": "NaN"}}, "w", ""},
		"endless weight":  {weighted, []entry{{"number": 1.0, "label": *label, "w": "Inf"}}, "w", "+Inf"},
		"misspelled key":  {misspelled, []entry{{"number": 1.0, "label": *label}, {"label": *label}}, "numbr", ""},
		"no weight":       {weighted, []entry{{"number": 1.0, "label": *label}}, "w", ""},
		"classes":         {few, []entry{{"number": 1.0, "label": "a"}, {"number": 2.0, "label": "b"}}, "label", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, runner := range conformance.RunnersOfFailures() {
				err := runPipeline(t, runner, func(s beam.Scope) {
					sunk.bytes = transformstest.Collect[[]byte](s, transforms.Train(s, beam.CreateList(s, test.rows), test.config).Trees)
				})
				if err == nil {
					t.Fatalf("%s: no error", runner)
				}
				e, ok := dataset.ParseError(err.Error())
				if !ok || e.Column != test.column || e.Value != test.value {
					t.Fatalf("%s: %v, want one of column %q, value %q", runner, err, test.column, test.value)
				}
				if !strings.Contains(err.Error(), "\n"+e.Error()) {
					t.Errorf("%s: %v has no sentence for people", runner, err)
				}
			}
		})
	}
	big := struct {
		Number uint64 `json:"number"`
		Label  string `json:"label"`
	}{1<<60 + 1, "a"}
	err := runPipeline(t, "direct", func(s beam.Scope) {
		sunk.bytes = transformstest.Collect[[]byte](s, transforms.Train(s, beam.Create(s, big), c).Trees)
	})
	if err == nil || !strings.Contains(err.Error(), "1152921504606846977") {
		t.Errorf("a whole number that float64 cannot hold: %v", err)
	}
}

// TestTrainOfNothing: without a row to train on the pipeline fails and says why. With
// AllowEmpty it succeeds without a tree. Dropped rows without a label are counted.
func TestTrainOfNothing(t *testing.T) {
	c := transforms.SingleTrainConfig("label")
	c.DropNullLabels = true
	weighted := transforms.SingleTrainConfig("label")
	weighted.Weight = "number"
	for name, test := range map[string]struct {
		config transforms.TrainConfig
		rows   func(s beam.Scope) beam.PCollection
		told   string
	}{
		"no rows": {
			c, func(s beam.Scope) beam.PCollection { return beam.ParDo(s, &noneFn{}, beam.Create(s, wide{})) },
			"0 rows have no label",
		},
		"no label": {
			c, func(s beam.Scope) beam.PCollection { return beam.Create(s, wide{Text: "x"}, wide{Text: "y"}) },
			"2 rows have no label",
		},
		"no weight": {weighted, func(s beam.Scope) beam.PCollection {
			return beam.Create(s, wide{Text: "x", Number: pointer(0.), Label: pointer("a")})
		}, "no row has both a label and a weight above 0"},
	} {
		for _, runner := range conformance.RunnersOfFailures() {
			for _, allowed := range []bool{false, true} {
				test.config.AllowEmpty = allowed
				err := runPipeline(t, runner, func(s beam.Scope) {
					sunk.bytes = transformstest.Collect[[]byte](s, transforms.Train(s, test.rows(s), test.config).Trees)
				})
				if len(sunk.bytes.All()) > 0 || allowed && err != nil || !allowed &&
					(err == nil || !strings.Contains(err.Error(), test.told)) {
					t.Errorf("%s on %s, allowed %v: %d trees, error %v", name, runner, allowed, len(sunk.bytes.All()), err)
				}
			}
		}
	}
	encoded := library(t, "prism", []wide{{Text: "x", Label: pointer("a")}, {Text: "y"}, {Text: "y", Label: pointer("b")}},
		c)
	model, err := tree.Decode(encoded)
	if err != nil || model.Training.DroppedNullLabel != 1 || model.Training.Rows != 2 {
		t.Errorf("%+v, error %v: want 2 rows, and 1 left out", model.Training, err)
	}
}

// TestMissingKeys: Score counts the missing keys of maps, and Train accepts them with
// AllowEmpty.
func TestMissingKeys(t *testing.T) {
	c := transforms.SingleTrainConfig("label")
	c.Features, c.AllowEmpty = []string{"numbr", "number"}, true
	var rows []anyRow
	for i := range 120 {
		rows = append(rows, anyRow{"number": float64(i), "label": strconv.FormatBool(i > 40)})
	}
	encoded := library(t, "direct", rows, c)
	model, err := tree.Decode(encoded)
	if err != nil || len(model.Nodes) < 3 || len(model.Features) != 1 {
		t.Fatalf("features %v, %d nodes, error %v: want a tree of number alone", model.Features, len(model.Nodes), err)
	}
	for i := range rows {
		if i%4 > 0 {
			rows[i] = anyRow{"nummber": rows[i]["number"], "label": rows[i]["label"]}
		}
	}
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &sinkFn{}, transforms.Score(s, beam.CreateList(s, rows), transforms.Model{JSON: encoded}).Predictions)
	result, err := beam.Run(context.Background(), "prism", p)
	if err != nil {
		t.Fatal(err)
	}
	counted := make(map[string]int64)
	for _, counter := range result.Metrics().AllMetrics().Counters() {
		counted[counter.Name()] += counter.Result()
	}
	if counted["rows_scored"] != 120 || counted["values_missing"] != 90 || counted["keys_missing"] != 90 {
		t.Errorf("counters %v, want 120 rows_scored, 90 values_missing and 90 keys_missing", counted)
	}
	strict := transforms.SingleTrainConfig("label")
	strict.Features, strict.Numeric, strict.Strict = []string{"number"}, []string{"number"}, true
	for name, score := range map[string]bool{"Score": true, "Train": false} {
		sunk.rows = nil
		err := runPipeline(t, "direct", func(s beam.Scope) {
			var dead beam.PCollection
			if score {
				m := transforms.Model{JSON: encoded, Strict: true}
				dead = transforms.Score(s, beam.CreateList(s, rows), m, transforms.DeadLetters{Limit: 90}).DeadLetters
			} else {
				dead = transforms.Train(s, beam.CreateList(s, rows), strict, transforms.DeadLetters{Limit: 90}).DeadLetters
			}
			beam.ParDo0(s, &sinkLetterFn{}, dead)
		})
		const want = `the row has no such key, only ["label" "nummber"]`
		if err != nil || len(sunk.rows) != 90 || !strings.HasPrefix(sunk.rows[0], want) {
			t.Errorf("%s: error %v, %d dead letters %.200q, want 90 of %q", name, err, len(sunk.rows), sunk.rows, want)
		}
	}
}

// noneFn drops all rows.
type noneFn struct{}

func (*noneFn) ProcessElement(wide, func(wide)) {}

func init() {
	beam.RegisterDoFn(reflect.TypeFor[noneFn]())
	register.Emitter1[wide]()
}

// TestModelFile: a URL without a tree fails the pipeline, but a tree that is damaged
// later does not.
func TestModelFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tree.json")
	score := func(every time.Duration) error {
		return runPipeline(t, "direct", func(s beam.Scope) {
			beam.ParDo0(s, &sinkFn{}, transforms.Score(s, beam.ParDo(s, &spoilFn{path}, beam.CreateList(s, visits(100))),
				transforms.Model{URL: "file://" + path, Every: every, Later: true}).Predictions)
		})
	}
	if err := score(time.Nanosecond); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no file when rows come: %v", err)
	}
	encoded := library(t, "direct", visits(120), visitConfig())
	want := scoredBy(t, encoded, visits(100))
	if err := os.WriteFile(path, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	err := score(time.Nanosecond)
	slices.Sort(sunk.rows)
	if err != nil || !slices.Equal(sunk.rows, want) {
		t.Errorf("error %v; scored\n%s", err, strings.Join(sunk.rows, "\n"))
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "no tree" {
		t.Errorf("the model was not spoilt: %v", err)
	}
}

// spoilFn damages a file, if there is one, before the 50th row.
type spoilFn struct{ Path string }

func (f *spoilFn) ProcessElement(v visit, emit func(visit)) error {
	if v.ID == 50 {
		if err := os.WriteFile(f.Path, []byte("no tree"), 0o600); err != nil {
			return err
		}
	}
	emit(v)
	return nil
}

func init() {
	beam.RegisterDoFn(reflect.TypeFor[spoilFn]())
	register.Emitter1[visit]()
}

// timedFn decodes rows of a test stream.
type timedFn struct{}

func (*timedFn) ProcessElement(b []byte, emit func(wide)) error {
	var w wide
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	emit(w)
	return nil
}

func init() { beam.RegisterDoFn(reflect.TypeFor[timedFn]()) }

func wideRows(n int) []wide {
	data := conformance.NewTable(n)
	list := make([]wide, n)
	for i := range list {
		list[i] = wide{Text: data.Text[i], Label: pointer(data.Label[i])}
		if data.Label[i] == "" {
			list[i].Label = pointer("no")
		}
		if x := data.Number[i]; x == x {
			list[i].Number = &x
		}
	}
	return list
}

// minutes converts minutes to the milliseconds of the test streams.
func minutes(x float64) int64 { return int64(x * 60000) }

// paneStream sends rows of two windows of a minute, some of them late.
func paneStream(t *testing.T, list []wide) teststream.Config {
	t.Helper()
	stream := teststream.NewConfig()
	add := func(at float64, rows []wide) {
		var list [][]byte
		for i := range rows {
			b, err := json.Marshal(rows[i])
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, b)
		}
		if err := stream.AddElementList(minutes(at), list); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(at float64) {
		if err := stream.AdvanceWatermark(minutes(at)); err != nil {
			t.Fatal(err)
		}
	}
	add(0.5, list[:40])
	add(1.5, list[100:130]) // of the second window, before the first one's end
	add(0.1, list[40:60])
	mark(1)
	add(0.9, list[60:80]) // late
	mark(1.9)
	add(0.9, list[80:90]) // late, again
	mark(2.5)
	add(1.2, list[130:140])
	if err := stream.AdvanceWatermarkToInfinity(); err != nil {
		t.Fatal(err)
	}
	return stream
}

// TestPanes: the tree of each pane is the tree of the window's rows so far. TestStream
// has rows beyond the allowed lateness: on a test stream, prism puts them into a window
// of their own.
func TestPanes(t *testing.T) {
	list := wideRows(200)
	stream := paneStream(t, list)
	c := transforms.WindowConfig{
		TrainConfig: transforms.SingleTrainConfig("label"),
		Windows:     window.NewFixedWindows(time.Minute), AllowedLateness: time.Minute,
	}
	c.Trigger = trigger.AfterEndOfWindow().EarlyFiring(trigger.AfterCount(math.MaxInt32)).LateFiring(trigger.AfterCount(1))
	err := runPipeline(t, "prism", func(s beam.Scope) {
		rows := beam.ParDo(s, &timedFn{}, teststream.Create(s, stream))
		sunk.trees = transformstest.Collect[transforms.WindowTree](s, transforms.WindowedTree(s, rows, c).Trees)
	})
	if err != nil {
		t.Fatal(err)
	}
	got := sunk.trees.All()
	batches := map[int64]map[int64][]wide{
		0:          {60: list[:60], 80: list[:80], 90: list[:90]},
		minutes(1): {30: list[100:130], 40: list[100:140]},
	}
	seen := make(map[int64]map[int64]bool)
	for _, g := range got {
		rows := batches[g.Start][g.Rows]
		if rows == nil {
			t.Errorf("a tree of %d rows in the window from %d", g.Rows, g.Start)
			continue
		}
		want := library(t, "direct", rows, c.TrainConfig)
		if string(g.JSON) != string(want) {
			t.Errorf("window from %d, %d rows: another tree than the batch's", g.Start, g.Rows)
		}
		if g.Timing == "early" || g.Timing == "ontime" && g.Pane != 0 || g.End-g.Start != minutes(1) {
			t.Errorf("pane %+v", g)
		}
		if seen[g.Start] == nil {
			seen[g.Start] = make(map[int64]bool)
		}
		seen[g.Start][g.Rows] = true
	}
	// A late pane may come with the next one.
	if !seen[0][60] || !seen[0][90] || !seen[minutes(1)][30] || !seen[minutes(1)][40] {
		t.Errorf("panes of %v rows, want one on time and the whole for each window", seen)
	}
}

// TestWindows: the tree of a window, of any kind, is the tree of the rows in it.
func TestWindows(t *testing.T) {
	list := wideRows(120)
	stream := teststream.NewConfig()
	var at []int64
	for i := range list {
		millis := minutes(float64(i%3)*10 + float64(i)/60) // three bursts of two minutes
		at = append(at, millis)
		b, err := json.Marshal(list[i])
		if err = errors.Join(err, stream.AddElements(millis, b)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.AdvanceWatermarkToInfinity(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		windows *window.Fn
		sets    int
	}{
		"fixed":    {window.NewFixedWindows(time.Minute), 6},
		"sliding":  {window.NewSlidingWindows(time.Minute, 2*time.Minute), 9},
		"uneven":   {window.NewSlidingWindows(time.Minute, 90*time.Second), 9},
		"sessions": {window.NewSessions(3 * time.Minute), 3},
		"global":   {window.NewGlobalWindows(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := transforms.WindowConfig{TrainConfig: transforms.SingleTrainConfig("label"), Windows: test.windows}
			err := runPipeline(t, "prism", func(s beam.Scope) {
				rows := beam.ParDo(s, &timedFn{}, teststream.Create(s, stream))
				sunk.trees = transformstest.Collect[transforms.WindowTree](s, transforms.WindowedTree(s, rows, c).Trees)
			})
			if err != nil {
				t.Fatal(err)
			}
			got := sunk.trees.All()
			starts := make(map[int64]bool)
			for _, g := range got {
				starts[g.Start] = true
				var rows []wide
				for i := range list {
					if g.End == 0 || g.Start <= at[i] && at[i] < g.End {
						rows = append(rows, list[i])
					}
				}
				if string(g.JSON) != string(library(t, "direct", rows, c.TrainConfig)) {
					t.Errorf("window %d to %d: a tree of %d rows is not that of a batch of %d", g.Start, g.End, g.Rows, len(rows))
				}
			}
			if len(starts) != test.sets {
				t.Errorf("%d windows, want %d", len(starts), test.sets)
			}
		})
	}
}
