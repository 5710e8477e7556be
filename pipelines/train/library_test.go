package train_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	windows "github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
	"github.com/espalier-ml/espalier/transforms"
)

// libraryRow is a row of newRows, as the pipeline of someone else would have it.
type libraryRow struct {
	ID     int64    `json:"id"`
	A      *float64 `json:"a"`
	Twin   *float64 `json:"twin"`
	B      *float64 `json:"b"`
	Color  *string  `json:"color"`
	Flag   bool     `json:"flag"`
	Weight float64  `json:"weight"`
	Class  string   `json:"class"`
}

func (r *rows) library(order []int) []libraryRow {
	list := make([]libraryRow, len(order))
	for at, i := range order {
		list[at] = libraryRow{r.id[i], r.a[i], r.twin[i], r.b[i], r.color[i], r.flag[i], r.weight[i], r.class[i]}
	}
	return list
}

var collected struct {
	sync.Mutex

	values [][]byte
}

type collectFn struct{}

func (*collectFn) ProcessElement(b []byte) {
	collected.Lock()
	defer collected.Unlock()
	collected.values = append(collected.values, b)
}

type leafFn struct{}

func (*leafFn) ProcessElement(r libraryRow, p transforms.Prediction, emit func([]byte)) {
	emit(fmt.Appendf(nil, "%d: %s in %d, %d tests", r.ID, p.Class, p.Leaf, p.Tests))
}

func init() {
	beam.RegisterType(reflect.TypeFor[libraryRow]())
	beam.RegisterDoFn(reflect.TypeFor[collectFn]())
	beam.RegisterDoFn(reflect.TypeFor[leafFn]())
	beam.RegisterDoFn(reflect.TypeFor[stampFn]())
	beam.RegisterDoFn(reflect.TypeFor[windowTreeFn]())
	beam.RegisterDoFn(reflect.TypeFor[metricsFn]())
}

// collect runs a pipeline over rows and returns the bytes that it ends in.
func collect[T any](t *testing.T, runner string, list []T, build func(s beam.Scope, rows beam.PCollection) beam.PCollection) [][]byte {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &collectFn{}, build(s, beam.CreateList(s, list)))
	collected.values = nil
	if _, err := beam.Run(context.Background(), runner, p); err != nil {
		t.Fatal(err)
	}
	return collected.values
}

// TestLibraryTrainsTheSameTree: a tree that is grown inside of another pipeline has
// the bytes of the one that a run writes for the same rows, in ten configurations.
func TestLibraryTrainsTheSameTree(t *testing.T) {
	data := newRows(600)
	for i := range data.weight {
		data.weight[i] *= 1.1 // not exact in binary
	}
	input := data.write(t, ascending(600), 2, parquetio.WriteOptions{RowsPerGroup: 100})
	for name, change := range map[string]func(*config.Train, *transforms.TrainConfig){
		"default": func(*config.Train, *transforms.TrainConfig) {},
		"weighted": func(p *config.Train, c *transforms.TrainConfig) {
			p.Weight, c.Weight = "weight", "weight"
			p.Ignore, c.Ignore = []string{"id"}, []string{"id"}
		},
		"whole weights": func(p *config.Train, c *transforms.TrainConfig) {
			p.Weight, c.Weight = "id", "id"
			p.Ignore, c.Ignore = []string{"weight"}, []string{"weight"}
			p.Binning, c.Binning = binning.KMeans, binning.KMeans
			p.Bins, c.Bins = 5, 5
		},
		"settings": func(p *config.Train, c *transforms.TrainConfig) {
			p.Algorithm, c.Algorithm = []split.Algorithm{split.C45}, []split.Algorithm{split.C45}
			p.Tests, c.Tests = []split.Family{split.Both}, []split.Family{split.Both}
			p.Lambda, c.Lambda = []float64{3}, []float64{3}
			p.Theta, c.Theta = []float64{0.001}, []float64{0.001}
			p.Bins, c.Bins, p.LeafEstimate, c.LeafEstimate = 7, 7, tree.Raw, tree.Raw
			p.MaxDepth, c.MaxDepth, p.MinRows, c.MinRows, p.MaxLeaves, c.MaxLeaves = 6, 6, 5, 5, 9, 9
			p.MaxCategories, c.MaxCategories, p.MaxValues, c.MaxValues = 2, 2, 50, 50
			p.Categorical, c.Categorical = []string{"a"}, []string{"a"}
			p.Numeric, c.Numeric = []string{"flag"}, []string{"flag"}
			p.Ignore, c.Ignore = []string{"id", "weight"}, []string{"id", "weight"}
		},
		"no lambda and theta": func(p *config.Train, c *transforms.TrainConfig) {
			p.Lambda, c.Lambda, p.Theta, c.Theta = []float64{0}, []float64{0}, []float64{0}, []float64{0}
			p.MaxDepth, c.MaxDepth = 4, 4
		},
		"costs in groups": func(p *config.Train, c *transforms.TrainConfig) {
			p.CostsFile = csvFile(t, "feature,cost,group,group_cost\na,0.5,visit,3\ntwin,0.25,visit,3\nb,2,,\ncolor,0,,\n")
			c.Costs = map[string]float64{"a": 0.5, "twin": 0.25, "b": 2, "color": 0}
			c.Groups = []settings.CostGroup{{Name: "visit", Features: []string{"a", "twin"}, Cost: 3}}
			p.FreeRepeats, c.FreeRepeats, p.CostUnit, c.CostUnit = true, true, "euros", "euros"
		},
		"first": func(p *config.Train, c *transforms.TrainConfig) {
			p.First, c.First = []string{"color", "", "b"}, []string{"color", "", "b"}
		},
		"monotone": func(p *config.Train, c *transforms.TrainConfig) {
			p.Label, c.Label, p.Monotone, c.Monotone = "flag", "flag", map[string]int8{"a": 1, "b": -1}, map[string]int8{"a": 1, "b": -1}
		},
		"classes": func(p *config.Train, c *transforms.TrainConfig) {
			p.PriorsFile, c.Priors = "low=0.5,middle=0.2,high=0.3", map[string]float64{"low": 0.5, "middle": 0.2, "high": 0.3}
			p.ErrorCostsFile = csvFile(t, "actual,predicted,cost\nhigh,low,7\nlow,high,0.5\n")
			c.ErrorCosts = []settings.ErrorCost{
				{Actual: "high", Predicted: "low", Cost: 7}, {Actual: "low", Predicted: "high", Cost: 0.5},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := config.DefaultTrain()
			p.Input, p.Label, p.Output = []string{input}, "class", t.TempDir()
			p.Split, p.Select, p.Certificate = dataset.Shares{100, 0, 0}, frontier.First, false
			c := transforms.SingleTrainConfig("class")
			c.Workers = 2
			change(&p, &c)
			if !slices.Contains(append(p.Ignore, p.Weight), "id") { // a run leaves out keys that no setting names
				p.Numeric, c.Numeric = append(p.Numeric, "id"), append(c.Numeric, "id")
			}
			r, err := train.Train(context.Background(), p, &silent{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Tree.Complexity.Leaves < 3 {
				t.Fatalf("a tree of %d leaves proves nothing", r.Tree.Complexity.Leaves)
			}
			checkTyped(t, c, input, r.Tree)
			for _, runner := range []string{"direct", "prism"} {
				order := rand.New(rand.NewPCG(1, 2)).Perm(600)
				got := collect(t, runner, data.library(order), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
					return transforms.Train(s, rows, c).Trees
				})
				if len(got) != 1 || string(got[0]) != string(r.Tree.Encode()) {
					t.Errorf("%s: %d trees, another than\n%s\nbut\n%s", runner, len(got), r.Tree.Encode(), got)
				}
			}
		})
	}
}

// checkTyped trains on files by the configuration of a library, and compares the tree.
func checkTyped(t *testing.T, c transforms.TrainConfig, input string, want *tree.Tree) {
	t.Helper()
	p := config.DefaultTrain()
	p.Training = c.Settings
	p.Input, p.Output = []string{input}, t.TempDir()
	r, err := train.Train(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Tree.Encode(); string(got) != string(want.Encode()) {
		t.Errorf("the typed configuration gives another tree than\n%s\nbut\n%s", want.Encode(), got)
	}
}

// TestLibraryChoosesTheSameTree: a tree that another pipeline chooses from a grid, by validation rows
// and folds, with leaf models, teachers, certificates and weights of classes, has the bytes of the
// tree that a run chooses from the same rows. The configuration with the most parts runs on prism,
// too, and is the only one of -short. With -tags long all configurations run, all on prism, too.
func TestLibraryChoosesTheSameTree(t *testing.T) {
	longtest.Skip(t)
	const n = 600
	parts := map[string]string{"red": "train", "green": "Training", "blue": "validation", "grey": "test"}
	for name, change := range map[string]func(*config.Train, *transforms.TrainConfig){
		"default": func(*config.Train, *transforms.TrainConfig) {},
		"highest of bins": func(p *config.Train, c *transforms.TrainConfig) {
			p.Select, c.Select = frontier.Highest, frontier.Highest
			p.Bins, c.Bins = 16, 16
			p.Tests, c.Tests = []split.Family{split.Both}, []split.Family{split.Both}
		},
		"budget": func(p *config.Train, c *transforms.TrainConfig) {
			p.MaxExpectedCost, c.MaxExpectedCost, p.MaxCost, c.MaxCost = 1.5, 1.5, 3, 3
			p.MaxLeaves, c.MaxLeaves = 6, 6
			p.Folds, c.Folds = crossvalidate.Setting{Number: 3}, crossvalidate.Setting{Number: 3}
		},
		"fixed alpha": func(p *config.Train, c *transforms.TrainConfig) {
			p.Prune, c.Prune, p.Alpha, c.Alpha = []prune.Currency{prune.Leaves}, []prune.Currency{prune.Leaves}, new(0.002), new(0.002)
			p.Tolerance, c.Tolerance, p.FrontierStep, c.FrontierStep = new(0.0), new(0.0), 0, 0
			p.Certificate, c.Certificate = true, true
		},
		"linear leaf models": func(p *config.Train, c *transforms.TrainConfig) {
			p.LeafModel, c.LeafModel = "linear", "linear"
		},
		"boosted leaf models and teacher": func(p *config.Train, c *transforms.TrainConfig) {
			p.LeafModel, c.LeafModel, p.Teacher, c.Teacher = "auto", "auto", "boosted", "boosted"
			p.MadeUpRows, c.MadeUpRows, p.TeacherWeight, c.TeacherWeight = new(int64(300)), new(int64(300)), 0.7, 0.7
			p.Algorithm, c.Algorithm = []split.Algorithm{split.C45}, []split.Algorithm{split.C45}
			p.Theta, c.Theta = []float64{0.005}, []float64{0.005}
		},
		"teacher of weighted rows": func(p *config.Train, c *transforms.TrainConfig) {
			p.Teacher, c.Teacher, p.Weight, c.Weight = "boosted", "boosted", "weight", "weight"
			p.Seed, c.Seed, p.Theta, c.Theta = 7, 7, []float64{0}, []float64{0}
		},
		"balanced classes of weighted rows": func(p *config.Train, c *transforms.TrainConfig) {
			p.BalanceClasses, c.BalanceClasses, p.Weight, c.Weight = true, true, "weight", "weight"
			p.Lambda, c.Lambda, p.Theta, c.Theta = []float64{10}, []float64{10}, []float64{0.005}, []float64{0.005}
		},
		"class weights": func(p *config.Train, c *transforms.TrainConfig) {
			p.ClassWeightsFile = csvFile(t, "class,weight\nhigh,2.5\nmiddle,0\n")
			c.ClassWeights = map[string]float64{"high": 2.5, "middle": 0}
		},
		"groups": func(p *config.Train, c *transforms.TrainConfig) {
			p.CostsFile = csvFile(t, "feature,cost,group,group_cost\na,0.5,visit,3\ntwin,0.25,visit,3\nb,2,,\n")
			c.Costs = map[string]float64{"a": 0.5, "twin": 0.25, "b": 2}
			c.Groups = []settings.CostGroup{{Name: "visit", Features: []string{"a", "twin"}, Cost: 3}}
		},
		"costs of values": func(p *config.Train, c *transforms.TrainConfig) {
			p.CostsFile = csvFile(t, "feature,value,cost\ncolor,red,0.5\ncolor,blue,3\n")
			c.ValueCosts = map[string]map[string]float64{"color": {"red": 0.5, "blue": 3}}
		},
		"parts of a column": func(p *config.Train, c *transforms.TrainConfig) {
			p.SplitColumn, p.Group, c.SplitColumn, c.Group = "color", "", "color", ""
		},
		"no validation rows by the key": func(p *config.Train, c *transforms.TrainConfig) {
			p.Group, c.Group = "flag", "flag" // of two values, and both train
		},
		"no validation rows": func(p *config.Train, c *transforms.TrainConfig) {
			p.Split, c.Split = dataset.Shares{80, 0, 20}, dataset.Shares{80, 0, 20}
			p.Folds, c.Folds = crossvalidate.Setting{}, crossvalidate.Setting{}
		},
	} {
		most := longtest.Enabled() || name == "boosted leaf models and teacher" // it has the most parts
		some := []string{"budget", "balanced classes of weighted rows"}
		if !most && (testing.Short() || !slices.Contains(some, name)) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			data := newRows(n)
			for i, color := range data.color {
				data.weight[i] *= 1.1                                              // not exact in binary
				if name == "budget" || name == "boosted leaf models and teacher" { // some rows have one key
					data.id[i] /= 7
				}
				if part := "train"; name == "parts of a column" {
					if color != nil {
						part = parts[*color]
					}
					data.color[i] = &part
				}
			}
			input := data.write(t, ascending(n), 2, parquetio.WriteOptions{RowsPerGroup: 100})
			p := config.DefaultTrain()
			p.Input, p.Label, p.Output, p.Group = []string{input}, "class", t.TempDir(), "id"
			c := transforms.DefaultTrainConfig("class", "id")
			c.Workers = 2
			change(&p, &c)
			r, err := train.Train(context.Background(), p, &silent{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Tree.Complexity.Leaves < 2 {
				t.Fatalf("a tree of %d leaves proves nothing", r.Tree.Complexity.Leaves)
			}
			checkTyped(t, c, input, r.Tree)
			runners := []string{"direct", "prism"}
			if !most {
				runners = runners[:1]
			}
			for _, runner := range runners {
				order := rand.New(rand.NewPCG(1, 2)).Perm(n)
				got := collect(t, runner, data.library(order), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
					return transforms.Train(s, rows, c).Trees
				})
				if len(got) != 1 || string(got[0]) != string(r.Tree.Encode()) {
					t.Errorf("%s: %d trees, another than\n%s\nbut\n%s", runner, len(got), r.Tree.Encode(), got)
				}
			}
		})
	}
}

// TestLibraryWindowsChooseTheSameTree: the tree that is chosen from a grid in a window has the bytes
// of the tree that a run chooses from the rows of the window. With -tags long on prism, too.
func TestLibraryWindowsChooseTheSameTree(t *testing.T) {
	longtest.Skip(t)
	const n, length = 900, 300
	data := newRows(n)
	c := transforms.DefaultTrainConfig("class", "id")
	c.Algorithm, c.Lambda, c.Theta, c.LeafModel = []split.Algorithm{split.C45}, []float64{10}, []float64{0.005}, "linear"
	c.Workers = 2
	want := make(map[string]bool)
	for from := 0; from < n; from += length {
		p := config.DefaultTrain()
		p.Input = []string{data.write(t, ascending(n)[from:from+length], 2, parquetio.WriteOptions{RowsPerGroup: 50})}
		p.Label, p.Output, p.Group = "class", t.TempDir(), "id"
		p.Algorithm, p.Lambda, p.Theta, p.LeafModel = c.Algorithm, c.Lambda, c.Theta, c.LeafModel
		r, err := train.Train(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Tree.Complexity.Leaves < 2 {
			t.Fatalf("a tree of %d leaves proves nothing", r.Tree.Complexity.Leaves)
		}
		want[fmt.Sprintf("%d to %d:\n%s", from, from+length, r.Tree.Encode())] = true
	}
	runners := []string{"direct", "prism"}
	if !longtest.Enabled() {
		runners = runners[:1]
	}
	for _, runner := range runners {
		order := rand.New(rand.NewPCG(1, 2)).Perm(n)
		got := collect(t, runner, data.library(order), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
			return beam.ParDo(s, &windowTreeFn{}, transforms.WindowedTree(s, beam.ParDo(s, &stampFn{}, rows),
				transforms.WindowConfig{TrainConfig: c, Windows: windows.NewFixedWindows(length * time.Millisecond)}).Trees)
		})
		for _, b := range got {
			if !want[string(b)] {
				t.Errorf("%s: a run does not choose the tree of the window %s", runner, b)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d trees, want one for each of %d windows", runner, len(got), len(want))
		}
	}
}

// stampFn takes the numbers of rows for their times, in ms.
type stampFn struct{}

func (*stampFn) ProcessElement(r libraryRow, emit func(beam.EventTime, libraryRow)) {
	emit(beam.EventTime(r.ID), r)
}

// windowTreeFn returns a window with its tree.
type windowTreeFn struct{}

func (*windowTreeFn) ProcessElement(w transforms.WindowTree) []byte {
	return fmt.Appendf(nil, "%d to %d:\n%s", w.Start, w.End, w.JSON)
}

// TestLibraryFieldsNamed: a setting of train has the name of its field in settings.Settings, if it has one
// there, and no other setting has a field of that name.
func TestLibraryFieldsNamed(t *testing.T) {
	other := map[string]string{"repeat_cost": "FreeRepeats"} // a switch in Go
	fields := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[settings.Settings]()) {
		fields[f.Name] = !f.Anonymous
	}
	c := config.DefaultTrain()
	for _, s := range c.Settings() {
		delete(fields, cmp.Or(other[s.Name], settings.FieldName(s.Name)))
	}
	// Fields that --costs, --class_weights, --max_cost and --max_expected_cost set in addition to their own.
	for _, name := range []string{"ValueCosts", "Groups", "Further", "BalanceClasses", "MaxFurther", "MaxExpectedFurther"} {
		delete(fields, name)
	}
	for name, own := range fields {
		if own {
			t.Errorf("the field %s has no setting of its name", name)
		}
	}
}

// csvFile writes a table and returns its path.
func csvFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLibraryDefaultsOfManyRows: the defaults are those of espalier train for any
// number of rows; bins depend on it.
func TestLibraryDefaultsOfManyRows(t *testing.T) {
	const n = 30_000
	data := newRows(n)
	p := config.DefaultTrain()
	p.Input, p.Label, p.Output = []string{data.write(t, ascending(n), 1, parquetio.WriteOptions{})}, "class", t.TempDir()
	p.Split, p.Select, p.Certificate = dataset.Shares{100, 0, 0}, frontier.First, false
	p.Numeric = []string{"id"} // a run leaves out keys that no setting names
	r, err := train.Train(context.Background(), p, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	got := collect(t, "direct", data.library(ascending(n)), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
		return transforms.Train(s, rows, transforms.SingleTrainConfig("class")).Trees
	})
	if len(got) != 1 || string(got[0]) != string(r.Tree.Encode()) {
		t.Errorf("%d trees, another than that of espalier train, of %d bins", len(got), r.Tree.Algorithm.Bins)
	}
	if r.Tree.Algorithm.Bins != 512 {
		t.Errorf("%d bins: want 512, else this proves nothing", r.Tree.Algorithm.Bins)
	}
}

// metricsFn notes metrics as JSON.
type metricsFn struct{}

func (*metricsFn) ProcessElement(m metric.Metrics) ([]byte, error) { return json.Marshal(m) }

// TestLibraryEvaluates: the metrics of rows in another pipeline are the metrics that a run writes,
// for trees with and without models in leaves, weighted or not.
func TestLibraryEvaluates(t *testing.T) {
	longtest.Skip(t)
	const n = 600
	data := newRows(n)
	input := data.write(t, ascending(n), 2, parquetio.WriteOptions{RowsPerGroup: 100})
	for _, leafModel := range []selection.Kind{selection.None, selection.Linear} {
		p := fewTrees(config.DefaultTrain())
		p.Input, p.Label, p.Output, p.Certificate, p.LeafModel = []string{input}, "class", t.TempDir(), false, leafModel
		p.Ignore = []string{"id", "weight"}
		r, err := train.Train(context.Background(), p, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Tree.Modelled() != (leafModel == selection.Linear) {
			t.Fatalf("leaf models: %v", r.Tree.Modelled())
		}
		for _, weight := range []string{"", "weight"} {
			c := config.DefaultEvaluate()
			c.Model, c.Input, c.Weight = p.Output, []string{input}, weight
			_, want, err := pipelines.Evaluate(context.Background(), c, &silent{})
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(want.Test)
			if err != nil {
				t.Fatal(err)
			}
			for _, runner := range []string{"direct", "prism"} {
				got := collect(t, runner, data.library(ascending(n)), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
					m := transforms.Model{URL: p.Output}
					return beam.ParDo(s, &metricsFn{}, transforms.Evaluate(s, rows, m, transforms.EvaluateConfig{Weight: weight}).Metrics)
				})
				byTrees := collect(t, runner, data.library(ascending(n)), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
					m := transforms.Model{Trees: beam.Create(s, r.Tree.Encode())}
					c := transforms.EvaluateConfig{Label: "class", Weight: weight}
					return beam.ParDo(s, &metricsFn{}, transforms.Evaluate(s, rows, m, c).Metrics)
				})
				for _, got := range [][][]byte{got, byTrees} {
					if len(got) != 1 || string(got[0]) != string(encoded) {
						t.Errorf("%s, models %s, weight %q:\n%s\nwant\n%s", runner, leafModel, weight, got, encoded)
					}
				}
			}
		}
	}
}

// TestLibraryScoresByTheStores: a model is read by the stores of this package,
// and finds the leaves that the tree's own scorer finds.
func TestLibraryScoresByTheStores(t *testing.T) {
	data := newRows(300)
	c := transforms.SingleTrainConfig("class")
	encoded := collect(t, "direct", data.library(ascending(300)), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
		return transforms.Train(s, rows, c).Trees
	})[0]
	path := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(path, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	model, err := tree.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	scorer := model.Scorer()
	want := make(map[string]bool)
	for _, r := range data.library(ascending(300)) {
		var values []tree.Value
		for _, in := range scorer.Features() {
			values = append(values, r.value(in.Name))
		}
		p, err := scorer.Predict(values)
		if err != nil {
			t.Fatal(err)
		}
		want[fmt.Sprintf("%d: %s in %d, %d tests", r.ID, p.Class, p.Leaf, p.Tests)] = true
	}
	got := collect(t, "prism", data.library(ascending(300)), func(s beam.Scope, rows beam.PCollection) beam.PCollection {
		return beam.ParDo(s, &leafFn{}, transforms.Score(s, rows, transforms.Model{URL: "file://" + path}).Predictions)
	})
	for _, b := range got {
		if !want[string(b)] {
			t.Errorf("unexpected or twice: %s", b)
		}
		delete(want, string(b))
	}
	if len(want) > 0 {
		t.Errorf("%d rows were not scored so: %v", len(want), want)
	}
}

func (r *libraryRow) value(column string) tree.Value {
	number := func(x *float64) tree.Value {
		if x == nil {
			return tree.Value{}
		}
		return tree.Number(*x)
	}
	switch column {
	case "id":
		return tree.Number(float64(r.ID))
	case "a":
		return number(r.A)
	case "twin":
		return number(r.Twin)
	case "b":
		return number(r.B)
	case "weight":
		return tree.Number(r.Weight)
	case "flag":
		return tree.Text(strconv.FormatBool(r.Flag))
	default:
		if r.Color == nil {
			return tree.Value{}
		}
		return tree.Text(*r.Color)
	}
}
