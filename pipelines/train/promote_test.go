package train_test

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// promoteTo writes a new run with another tree of a run's frontier.
func promoteTo(t *testing.T, run string, number int, choice map[string]string) *train.Promoted {
	t.Helper()
	p, err := promoted(t, run, number, choice, nil)
	if err != nil {
		t.Fatalf("%d %v: %v", number, choice, err)
	}
	return p
}

func promoted(
	t *testing.T, run string, number int, choice map[string]string, edit func(c *config.Promote),
) (*train.Promoted, error) {
	t.Helper()
	c := config.DefaultPromote()
	c.Run = run
	c.Number = number
	c.Choice = choice
	c.Output = filepath.Join(t.TempDir(), "promoted")
	if edit != nil {
		edit(&c)
	}
	return train.Promote(context.Background(), c, &silent{})
}

func content(t *testing.T, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// plainMetrics returns metrics.json without the figures of folds, and without intervals unless they are wanted: a promotion
// does not know the weights of single rows.
func plainMetrics(t *testing.T, run string, intervals bool) []byte {
	t.Helper()
	var m runfolder.Metrics
	if err := json.Unmarshal(content(t, run, "metrics.json"), &m); err != nil {
		t.Fatal(err)
	}
	m.Folds = nil
	for _, p := range m.Parts() {
		if !intervals { // a promotion does not read the weights of the rows again
			p.Metrics.Intervals, p.Metrics.Calibration = nil, nil
			for _, c := range p.Metrics.PerClass {
				if c.ROC != nil {
					c.ROC.EffectiveRows, c.ROC.EffectiveOthers = 0, 0
				}
			}
		}
	}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPromote: a promoted tree and its metrics have the bytes that training with the budget gives, unless the budget
// guides growth, whatever was promoted before. All other documents equal the documents of the run.
func TestPromote(t *testing.T) {
	longtest.Skip(t)
	data := newRows(600).write(t, ascending(600), 2, parquetio.WriteOptions{})
	few := config.DefaultTrain()
	few.Input, few.Label, few.Ignore, few.Slice = []string{data}, "class", []string{"id"}, []string{"color", "id"}
	few.Algorithm, few.Lambda, few.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	weighted := few
	weighted.Weight, weighted.BalanceClasses, weighted.Folds, weighted.FreeRepeats = "weight", true, crossvalidate.Setting{}, true
	multiway := few
	multiway.Tests, multiway.Split, multiway.FrontierStep = []split.Family{split.Multiways}, dataset.Shares{60, 40, 0}, 0.02
	priced := few
	priced.CostsFile = textFile(t, "costs.csv", "feature,cost\ncolor,0.02\n")
	priced.ErrorCostsFile = textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,3\n")
	for name, c := range map[string]config.Train{
		"few": few, "weighted": weighted, "multiway": multiway, "priced": priced,
	} {
		c.Output = filepath.Join(t.TempDir(), "run")
		trained(t, c)
		from := c.Output
		for _, budget := range []map[string]string{
			{"max_expected_cost": "1.7"}, {"max_leaves": "5"}, {"max_cost": "4", "select": "highest"}, {"max_tests": "2"}, {"tolerance": "0.02"}, {"select": "total"}, {"select": "total", "max_expected_cost": "0.9"},
		} {
			if budget["select"] == "total" && c.ErrorCostsFile == "" {
				if _, err := promoted(t, from, -1, budget, nil); err == nil || !strings.Contains(err.Error(), "without --error_costs") {
					t.Errorf("%s %v: %v", name, budget, err)
				}
				continue
			}
			other := c
			other.Output = filepath.Join(t.TempDir(), "other")
			for _, s := range other.ChoiceSettings() {
				if text, ok := budget[s.Name]; ok {
					if err := s.Value.Set(text); err != nil {
						t.Fatal(err)
					}
				}
			}
			p := promoteTo(t, from, -1, budget)
			guided := budget["max_cost"] != "" || budget["max_tests"] != "" // the maximum also guides growth
			if !guided {
				trained(t, other)
			}
			now, err := tree.Decode(content(t, p.Output, "tree.json"))
			if err != nil {
				t.Fatal(err)
			}
			if most := now.Complexity.MaxCost; budget["max_cost"] != "" && most > 4 || budget["max_tests"] != "" && now.PaidTests() > 2 {
				t.Errorf("%s %v: a maximum cost of %v, %d paid tests", name, budget, most, now.PaidTests())
			}
			if !guided && !bytes.Equal(content(t, p.Output, "tree.json"), content(t, other.Output, "tree.json")) {
				t.Errorf("%s %v: another tree than training with the budget: %+v, want %+v", name, budget, p.Now.Complexity,
					readTree(t, other.Output, "tree.json").Complexity)
			}
			from = p.Output
			for _, name := range []string{"schema.json", "frontier/000.json", "frontier/grown.bin"} {
				if !bytes.Equal(content(t, p.Output, name), content(t, c.Output, name)) {
					t.Errorf("%s %v: another %s than in the run", name, budget, name)
				}
			}
			if !guided && !bytes.Equal(content(t, p.Output, "importance.json"), content(t, other.Output, "importance.json")) {
				t.Errorf("%s %v: other importances than training with the budget", name, budget)
			}
			if !guided && !bytes.Equal(content(t, p.Output, "distribution.json"), content(t, other.Output, "distribution.json")) {
				t.Errorf("%s %v: other rows at the leaves than training with the budget", name, budget)
			}
			if !guided && !bytes.Equal(plainMetrics(t, p.Output, c.Weight == ""), plainMetrics(t, other.Output, c.Weight == "")) {
				t.Errorf("%s %v: other metrics than training with the budget", name, budget)
			}
			if !bytes.Equal(content(t, p.Output, p.Now.Tree), content(t, p.Output, "tree.json")) {
				t.Errorf("%s %v: %s is not tree.json", name, budget, p.Now.Tree)
			}
			selected := slices.DeleteFunc(slices.Clone(p.Frontier.Points), func(q runfolder.Point) bool { return !q.Selected })
			if len(selected) != 1 || selected[0].Tree != p.Now.Tree {
				t.Errorf("%s %v: %d chosen points", name, budget, len(selected))
			}
		}
	}
}

// TestPromoteWeak: a signal that only a test of the features shows gives a tree, with a note. A run by another rule has
// tested the features for a later choice by the rule best, which gives the same tree.
func TestPromoteWeak(t *testing.T) {
	longtest.Skip(t)
	const n = 600
	r := rand.New(rand.NewPCG(58, 3))
	weak := newRows(n)
	for i := range n {
		class := r.IntN(2)
		a, b := r.NormFloat64()+.34*float64(class), r.NormFloat64()
		weak.a[i], weak.b[i], weak.class[i] = &a, &b, []string{"low", "high"}[class]
	}
	c := config.DefaultTrain()
	c.Input, c.Label = []string{weak.write(t, ascending(n), 2, parquetio.WriteOptions{})}, "class"
	c.Ignore = []string{"twin", "flag", "weight", "id", "color"}
	best := filepath.Join(t.TempDir(), "best")
	c.Output = best
	want := trained(t, c)
	found := want.Frontier.Association
	if want.Tree.Complexity.Leaves == 1 || !found.Believed() || found.Feature != "a" {
		t.Errorf("%d leaves, association %+v", want.Tree.Complexity.Leaves, found)
	}
	c.Select, c.Output = frontier.Highest, filepath.Join(t.TempDir(), "highest")
	trained(t, c)
	p := promoteTo(t, c.Output, -1, map[string]string{"select": "best"})
	if !bytes.Equal(content(t, p.Output, "tree.json"), content(t, best, "tree.json")) {
		t.Errorf("another tree than training by the rule best: %+v, want %+v", p.Now.Complexity, want.Tree.Complexity)
	}
}

// TestPromoteBack: the first tree comes back by its number with all of its bytes, the runs that it comes from stay as
// they are, the manifest names its origin, and a dry run writes nothing.
func TestPromoteBack(t *testing.T) {
	c := fewTrees(ticTacToe(t))
	r := trained(t, c)
	first := r.Frontier.Points[slices.IndexFunc(r.Frontier.Points, func(p runfolder.Point) bool { return p.Selected })].Tree
	number, err := runfolder.PointNumber(first)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{}
	for _, name := range []string{"tree.json", "metrics.json", "distribution.json", first} {
		documents[name] = content(t, c.Output, name)
	}
	before := content(t, c.Output, "manifest.json")
	dry, err := promoted(t, c.Output, 3, nil, func(c *config.Promote) {
		c.DryRun = true
		c.Output = ""
	})
	if err != nil || dry.Metrics != nil || dry.Now.Tree != runfolder.FrontierTree(3) {
		t.Errorf("dry run: %+v, %v", dry, err)
	}
	third := promoteTo(t, c.Output, 3, nil)
	if third.Before.Tree != first || third.Frontier.Select != runfolder.SelectNumber || third.Metrics.Folds == nil {
		t.Errorf("tree 3: %+v", third)
	}
	if bytes.Equal(content(t, third.Output, "tree.json"), documents["tree.json"]) {
		t.Error("tree 3 is the tree of the run")
	}
	back := promoteTo(t, third.Output, number, nil)
	for name, want := range documents {
		for _, run := range []string{c.Output, back.Output} {
			if !bytes.Equal(content(t, run, name), want) {
				t.Errorf("%s: %s is not what it was", run, name)
			}
		}
	}
	if !bytes.Equal(content(t, c.Output, "manifest.json"), before) {
		t.Error("the manifest of the run has changed")
	}
	m, err := runfolder.ReadManifest(t.Context(), objectstore.New(), back.Output)
	if err != nil || m.Origin == nil || m.Origin.Run != third.Output || m.Origin.Digest != tree.Digest(content(t, third.Output, "tree.json")) ||
		!maps.Equal(m.Origin.By, map[string]string{"promote": strconv.Itoa(number)}) {
		t.Errorf("the manifest has the origin %+v, %v", m.Origin, err)
	}
}

// TestPromoteModels: trees with leaf models are promoted, too, with metrics of the rows.
func TestPromoteModels(t *testing.T) {
	c := trainCurved(t)
	c.LeafModel, c.Teacher, c.Folds = "auto", "none", crossvalidate.Setting{}
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.C45}, []float64{10}, []float64{0.005}
	r := trained(t, c)
	metrics, rows, at := content(t, c.Output, "metrics.json"), content(t, c.Output, "distribution.json"), 0
	for i := range r.Frontier.Points {
		if r.Frontier.Points[i].Selected {
			at = i
		}
	}
	other := len(r.Frontier.Points) - 1
	if other == at {
		other--
	}
	p := promoteTo(t, c.Output, other, nil)
	if got := readTree(t, p.Output, "tree.json"); got.Modelled() != (p.Now.Algorithm.Ridge > 0) {
		t.Errorf("%s: modelled %v", p.Now.Tree, got.Modelled())
	}
	back := promoteTo(t, p.Output, at, nil)
	if !bytes.Equal(content(t, back.Output, "metrics.json"), metrics) {
		t.Error("the first tree has other metrics than training gave it")
	}
	if !bytes.Equal(content(t, back.Output, "distribution.json"), rows) {
		t.Error("the first tree has other rows at its leaves than training gave it")
	}
}

// TestPromoteModelsByErrorCosts: the list has the error costs of trees with leaf models on the validation rows.
func TestPromoteModelsByErrorCosts(t *testing.T) {
	c := trainCurved(t)
	c.LeafModel, c.Teacher, c.Folds = "auto", "none", crossvalidate.Setting{}
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.C45}, []float64{10}, []float64{0.005}
	trained(t, c)
	costs := map[string]string{"error_costs": textFile(t, "errors.csv", "actual,predicted,cost\nyes,no,3\nno,yes,1.5\n")}
	p := promoteTo(t, c.Output, -1, costs)
	at := slices.IndexFunc(p.Frontier.Points, func(q runfolder.Point) bool { return q.Algorithm.Ridge > 0 })
	if at < 0 || p.Frontier.Select != "total" {
		t.Fatalf("chosen by %s, or no tree has leaf models", p.Frontier.Select)
	}
	q := &p.Frontier.Points[at]
	number, err := runfolder.PointNumber(q.Tree)
	if err != nil {
		t.Fatal(err)
	}
	var m runfolder.Metrics
	if err := json.Unmarshal(content(t, promoteTo(t, c.Output, number, costs).Output, "metrics.json"), &m); err != nil {
		t.Fatal(err)
	}
	if got := *m.Validation.ExpectedErrorCost; *q.Validation.ErrorCost != got || *q.ExpectedErrorCost != got {
		t.Errorf("%s: error cost %v, and %v in a run of this tree", q.Tree, *q.Validation.ErrorCost, got)
	}
}

// TestPromoteRefused: what is refused names the reason, and nothing is written.
func TestPromoteRefused(t *testing.T) {
	data := fruitConfig(t)
	one := data
	one.Output, one.Select = filepath.Join(t.TempDir(), "one"), frontier.First
	trained(t, one)
	c := fewTrees(ticTacToe(t))
	folder := t.TempDir()
	rows := filepath.Join(folder, "rows.parquet")
	if err := os.WriteFile(rows, content(t, c.Input[0]), 0o666); err != nil {
		t.Fatal(err)
	}
	c.Input = []string{rows}
	r := trained(t, c)
	chosen := slices.IndexFunc(r.Frontier.Points, func(p runfolder.Point) bool { return p.Selected })
	stranger := slices.IndexFunc(r.Frontier.Points, func(p runfolder.Point) bool {
		return p.Grown != r.Frontier.Points[chosen].Grown
	})
	if err := os.WriteFile(rows, content(t, data.Input[0]), 0o666); err != nil || stranger < 0 {
		t.Fatal(stranger, err)
	}
	if _, err := promoted(t, c.Output, stranger, nil, nil); err == nil || !strings.Contains(err.Error(), "has changed since") {
		t.Errorf("other rows: %v", err)
	}
	if err := os.Remove(rows); err != nil {
		t.Fatal(err)
	}
	before := content(t, c.Output, "manifest.json")
	for _, x := range []struct {
		run    string
		number int
		choice map[string]string
		want   string
	}{
		{filepath.Join(folder, "nothing"), 0, nil, "no manifest.json"},
		{one.Output, 0, nil, "nothing to choose"},
		{c.Output, 999, nil, "no tree of this number"},
		{c.Output, 1, map[string]string{"max_leaves": "3"}, "give one of them"},
		{c.Output, -1, map[string]string{"max_leaves": "x"}, "--max_leaves x"},
		{c.Output, -1, map[string]string{"select": "first"}, "chooses nothing"},
		{c.Output, -1, map[string]string{"max_expected_cost": "-1"}, "max_expected_cost"},
		{c.Output, -1, map[string]string{"label": "x"}, "chooses no tree"},
		{c.Output, stranger, nil, "--without_rows"},
	} {
		_, err := promoted(t, x.run, x.number, x.choice, nil)
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %d %v: %v, want a usage error with %q", x.run, x.number, x.choice, err, x.want)
		}
	}
	if !bytes.Equal(content(t, c.Output, "manifest.json"), before) {
		t.Error("manifest.json has changed")
	}
	for _, x := range []struct {
		output    string
		overwrite bool
		want      string
	}{
		{"", false, "--output is missing"},
		{c.Output, false, "has a finished run"},
		{c.Output, true, "while it is read"},
	} {
		_, err := promoted(t, c.Output, 0, nil, func(c *config.Promote) {
			c.Output = x.output
			c.Overwrite = x.overwrite
		})
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("output %q: %v, want a usage error with %q", x.output, err, x.want)
		}
	}
	p, err := promoted(t, c.Output, stranger, nil, func(c *config.Promote) { c.WithoutRows = true })
	if err != nil || readTree(t, p.Output, "tree.json").Certificate != nil {
		t.Errorf("without rows: %+v, %v", p, err)
	}
}

// TestPromoteOldRuns: a run of an earlier version, without grown trees and with promotions of its own, has its listed
// trees promoted, also twice and by budgets. Its rows measure them.
func TestPromoteOldRuns(t *testing.T) {
	c := fewTrees(ticTacToe(t))
	r := trained(t, c)
	want := plainMetrics(t, c.Output, true)
	manifest := content(t, c.Output, "manifest.json")
	manifest = bytes.Replace(manifest, []byte(",\n    \"frontier/grown.bin\""), nil, 1)
	manifest = bytes.Replace(manifest, []byte(`"teacher": "auto"`), []byte(`"teacher": "forest"`), 1)
	manifest = bytes.Replace(manifest, []byte(`"tolerance": "auto"`), []byte(`"tolerance": 0.001`), 1)
	if !bytes.Contains(manifest, []byte("forest")) || !bytes.Contains(manifest, []byte("0.001")) {
		t.Fatal("manifest.json names no teacher or no tolerance")
	}
	old := content(t, c.Output, "frontier.json")
	for i := range r.Frontier.Points {
		p := &r.Frontier.Points[i]
		old = bytes.ReplaceAll(old, fmt.Appendf(nil, "\"grown\": %d,\n      \"step\": %d,", p.Grown, p.Step), nil)
	}
	manifest = bytes.Replace(manifest, []byte(`"counters": {`), []byte(`"promotions": [{"tree": "frontier/000.json"}], "counters": {`), 1)
	for name, b := range map[string][]byte{"manifest.json": manifest, "frontier.json": old} {
		if err := os.WriteFile(filepath.Join(c.Output, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(c.Output, runfolder.GrownName)); err != nil {
		t.Fatal(err)
	}
	p := promoteTo(t, c.Output, -1, map[string]string{"max_leaves": "4"})
	if p.Now.Leaves > 4 || p.Now == p.Before {
		t.Errorf("%+v", p.Now)
	}
	if p = promoteTo(t, p.Output, -1, map[string]string{"max_expected_cost": "3"}); p.Now.ExpectedCost > 3 {
		t.Errorf("%+v", p.Now)
	}
	p = promoteTo(t, p.Output, -1, map[string]string{"select": "best"})
	if got := plainMetrics(t, p.Output, true); !bytes.Equal(got, want) {
		t.Errorf("the first tree has other metrics by its rows:\n%s\nwant\n%s", got, want)
	}
	if _, err := promoted(t, c.Output, -1, map[string]string{"select": "one_se"}, nil); err == nil ||
		!strings.Contains(err.Error(), "standard errors") {
		t.Errorf("one_se: %v", err)
	}
}

// TestPromoteMerit: another merit gives the tree of a training by it, and an unnamed one is the merit of the run. With
// leaf models the merit cannot change.
func TestPromoteMerit(t *testing.T) {
	longtest.Skip(t)
	c := fewTrees(ticTacToe(t))
	c.Merit = frontier.LogLoss
	r := trained(t, c)
	if r.Frontier.Criterion() != frontier.LogLoss || r.Frontier.LeafLogLoss == 0 || r.Frontier.LogLossDeviation == 0 {
		t.Fatalf("merits by %q, log losses %v, %v", r.Frontier.Merit, r.Frontier.LeafLogLoss, r.Frontier.LogLossDeviation)
	}
	for _, p := range r.Frontier.Points {
		if p.Merits == nil || p.Merit != -*p.Merits.LogLoss {
			t.Errorf("%s: merit %v of %+v", p.Tree, p.Merit, p.Merits)
		}
	}
	same := promoteTo(t, c.Output, -1, map[string]string{"max_leaves": "1000"})
	if same.Now.Tree != same.Before.Tree {
		t.Errorf("%s without a change of the merit, want %s", same.Now.Tree, same.Before.Tree)
	}
	for by := frontier.AUC; by <= frontier.Accuracy; by++ {
		other := c
		other.Merit = by
		other.Output = filepath.Join(t.TempDir(), "other")
		want := trained(t, other)
		p := promoteTo(t, c.Output, -1, map[string]string{"merit": by.String()})
		if !bytes.Equal(content(t, p.Output, "tree.json"), content(t, other.Output, "tree.json")) {
			t.Errorf("by %v: another tree than training by it: %+v, want %+v", by, p.Now.Complexity, want.Tree.Complexity)
		}
		at := slices.IndexFunc(want.Frontier.Points, func(q runfolder.Point) bool { return q.Selected })
		if chosen := want.Frontier.Points[at]; p.Now.Merit != chosen.Merit || *p.Now.Score != *chosen.Score ||
			p.Frontier.Merit != want.Frontier.Merit {
			t.Errorf("by %v: %+v of %q, want %+v of %q", by, p.Now, p.Frontier.Merit, chosen, want.Frontier.Merit)
		}
	}
	if _, err := promoted(t, c.Output, -1, map[string]string{"select": "one_se"}, nil); err == nil ||
		!strings.Contains(err.Error(), "compares AUCs") {
		t.Errorf("one_se by log loss: %v", err)
	}
	models := trainCurved(t)
	models.LeafModel, models.Teacher, models.Folds = "auto", "none", crossvalidate.Setting{}
	models.Algorithm, models.Lambda, models.Theta = []split.Algorithm{split.C45}, []float64{10}, []float64{0.005}
	models.Merit = frontier.Accuracy
	trained(t, models)
	back := promoteTo(t, models.Output, -1, map[string]string{"select": "highest"})
	if back.Now.Merits == nil || back.Now.Merit != *back.Now.Merits.Accuracy || !back.Now.Highest {
		t.Errorf("with models: %+v", back.Now)
	}
	if _, err := promoted(t, models.Output, -1, map[string]string{"merit": "auc"}, nil); err == nil ||
		!strings.Contains(err.Error(), "--merit auc") {
		t.Errorf("another merit with models: %v", err)
	}
}

// TestPromoteManyClasses: the trees of six classes are compared by accuracy, but for rules of the AUC. Another rule for a
// finished run chooses by the criterion that training with this rule has, whatever the criterion of the run.
func TestPromoteManyClasses(t *testing.T) {
	longtest.Skip(t)
	const n = 600
	r := rand.New(rand.NewPCG(59, 6))
	x, y, class := make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		k := r.IntN(6)
		x[i] = float64(k%3) + 0.6*r.NormFloat64()
		y[i] = float64(k/3) + 0.6*r.NormFloat64()
		class[i] = string(rune('a' + k))
	}
	input := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), input, []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "y", Values: y}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	type choice struct {
		rule frontier.Rule
		by   frontier.Criterion
	}
	merits, outputs := make(map[choice]string), make(map[choice]string)
	run := func(rule frontier.Rule, by frontier.Criterion) (output, merit string) {
		of := choice{rule, by}
		if outputs[of] != "" {
			return outputs[of], merits[of]
		}
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output = []string{input}, "class", filepath.Join(t.TempDir(), "run")
		c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.C45, split.EC45}, []float64{10}, []float64{0.005}
		c.Teacher, c.FreeRepeats = distill.None, false // with free repeats the rules grow other trees
		c.Select = rule
		c.Merit = by
		outputs[of], merits[of] = c.Output, trained(t, c).Frontier.Merit
		return outputs[of], merits[of]
	}
	for _, want := range []struct {
		rule frontier.Rule
		by   frontier.Criterion
		name string
	}{
		{frontier.Best, frontier.Auto, "accuracy"},
		{frontier.OneSE, frontier.Auto, ""},
		{frontier.Paper, frontier.Auto, ""},
		{frontier.Best, frontier.AUC, ""},
	} {
		direct, name := run(want.rule, want.by)
		if name != want.name {
			t.Errorf("%v, %v: merits by %q, want %q", want.rule, want.by, name, want.name)
		}
		for _, from := range []frontier.Rule{frontier.Best, frontier.OneSE} {
			if (want.name == "accuracy") != (from == frontier.Best) {
				continue // the run has chosen the strength of smoothing
			}
			run, _ := run(from, frontier.Auto)
			p := promoteTo(t, run, -1, map[string]string{"select": want.rule.String(), "merit": want.by.String()})
			if p.Frontier.Merit != want.name ||
				!bytes.Equal(content(t, p.Output, "tree.json"), content(t, direct, "tree.json")) {
				t.Errorf("%v, %v after %v: by %q, or another tree than training", want.rule, want.by, from, p.Frontier.Merit)
			}
		}
	}
}

// TestPromoteByErrorCosts: a run that was trained without error costs gives the tree and the metrics that training with
// the error costs gives, and so does a choice from the promoted run. The first tests are named, as training would
// otherwise grow a tree by the error costs. A run that was trained with others has prunings by their total, among which
// the strength of smoothing was chosen: its tree has the least total of all that it lists.
func TestPromoteByErrorCosts(t *testing.T) {
	longtest.Skip(t)
	data := newRows(900).write(t, ascending(900), 2, parquetio.WriteOptions{})
	c := config.DefaultTrain()
	c.Input, c.Label, c.Ignore, c.Folds = []string{data}, "class", []string{"id"}, crossvalidate.Setting{}
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	c.First = []string{"", "", "", "", "", "", "", "", "a"} // deeper than any path
	c.Prune = []prune.Currency{prune.Leaves, prune.Cost}
	c.CostsFile = textFile(t, "costs.csv", "feature,cost\ncolor,0.02\na,0.3\nb,0.2\n")
	costs := textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,7\nlow,high,0.5\n")
	c.ErrorCostsFile = costs
	c.Output = filepath.Join(t.TempDir(), "direct")
	trained(t, c)
	want := content(t, c.Output, "tree.json")
	figures := plainMetrics(t, c.Output, true)
	for name, file := range map[string]string{
		"none": "", "others": textFile(t, "others.csv", "actual,predicted,cost\nlow,high,90\n"),
	} {
		c.ErrorCostsFile = file
		c.Output = filepath.Join(t.TempDir(), "run")
		trained(t, c)
		p := promoteTo(t, c.Output, -1, map[string]string{"error_costs": costs})
		if p.Frontier.Select != "total" || !p.Now.LeastTotal || file == "" && !bytes.Equal(content(t, p.Output, "tree.json"), want) {
			t.Errorf("%s: by %s, least total %v, or another tree than training", name, p.Frontier.Select, p.Now.LeastTotal)
		}
		if got := plainMetrics(t, p.Output, true); file == "" && !bytes.Equal(got, figures) {
			t.Errorf("%s: metrics\n%s\nwant\n%s", name, got, figures)
		}
		for i, q := range p.Frontier.Points { // the frontier of tests and errors
			if q.Tree == p.Before.Tree {
				continue
			}
			if *q.ExpectedTotalCost < *p.Now.ExpectedTotalCost {
				t.Errorf("%s: tree %s costs less than the chosen one", name, q.Tree)
			}
			if i > 0 && !q.Selected && p.Frontier.Points[i-1].Tree != p.Before.Tree && *q.ExpectedErrorCost > *p.Frontier.Points[i-1].ExpectedErrorCost {
				t.Errorf("%s: tree %s costs more in tests and errors than the tree before", name, q.Tree)
			}
		}
		again := promoteTo(t, p.Output, -1, map[string]string{"max_leaves": "1000"}) // the rule is the run's: total
		if !bytes.Equal(content(t, again.Output, "tree.json"), content(t, p.Output, "tree.json")) {
			t.Errorf("%s: a choice from the promoted run takes another tree", name)
		}
		named := promoteTo(t, c.Output, 0, map[string]string{"error_costs": costs})
		model, err := tree.Decode(content(t, named.Output, "tree.json"))
		if err != nil || model.Label.ErrorCosts == nil || model.Label.ErrorCosts[0][1] != 7 {
			t.Errorf("%s: tree 0 has the error costs %v: %v", name, model.Label.ErrorCosts, err)
		}
	}
	// The folds judge as in training, also without validation rows.
	c.ErrorCostsFile = costs
	c.Split = dataset.Shares{100, 0, 0}
	c.Folds = crossvalidate.Setting{Number: 3}
	c.Output = filepath.Join(t.TempDir(), "folds")
	r := trained(t, c)
	p := promoteTo(t, c.Output, -1, map[string]string{"error_costs": costs})
	if p.Now.Tree != p.Before.Tree || len(p.Frontier.Points) < 3 {
		t.Errorf("folds alone: tree %s of %d, want tree %s of training", p.Now.Tree, len(p.Frontier.Points), p.Before.Tree)
	}
	for _, q := range p.Frontier.Points {
		at := slices.IndexFunc(r.Frontier.Points, func(of runfolder.Point) bool { return of.Tree == q.Tree })
		of := r.Frontier.Points[at].OnFolds
		if math.Abs(*of.ErrorCost-*q.ErrorCost) > 1e-12 || math.Abs(*of.TotalCost-*q.TotalCost) > 1e-12 {
			t.Errorf("%s: error cost %v and total cost %v on the folds, in training %v and %v", q.Tree, *q.ErrorCost, *q.TotalCost, *of.ErrorCost,
				*of.TotalCost)
		}
	}
	byAccuracy := promoteTo(t, c.Output, -1, map[string]string{"error_costs": costs, "select": "best", "merit": "accuracy"})
	for _, q := range byAccuracy.Frontier.Points { // the mean over similar prunings is near the figure of each
		if q.Merits == nil || math.Abs(*q.Merits.Accuracy-q.Merit) > 1e-12 || math.Abs(q.Merit-*q.Accuracy) > .1 {
			t.Errorf("tree %s: merit %v, accuracy on the folds %v", q.Tree, q.Merit, *q.Accuracy)
		}
	}
	// A choice from a choice, by other costs and by the same costs again.
	others := promoteTo(t, p.Output, 0, map[string]string{"error_costs": textFile(t, "others.csv", "actual,predicted,cost\nlow,high,90\n")})
	if back := promoteTo(t, others.Output, -1, map[string]string{"error_costs": costs}); back.Now.Tree != p.Now.Tree {
		t.Errorf("tree %s after two choices, want %s", back.Now.Tree, p.Now.Tree)
	}
	// Each figure that follows the error costs is by the new ones, by whatever rule and merit the tree is chosen.
	c.ErrorCostsFile = ""
	c.Split = dataset.Shares{60, 20, 20}
	c.Output = filepath.Join(t.TempDir(), "plain")
	trained(t, c)
	for _, choice := range []map[string]string{{"select": "highest"}, {"select": "highest", "merit": "accuracy"}, {"merit": "log_loss"}} {
		choice["error_costs"] = costs
		p := promoteTo(t, c.Output, -1, choice)
		v := p.Metrics.Validation
		if *p.Now.Validation.Accuracy != *v.Accuracy || *p.Now.Validation.ErrorCost != *v.ExpectedErrorCost ||
			p.Metrics.Folds != nil && *p.Metrics.Folds.Mean.Accuracy != *p.Now.Accuracy {
			t.Errorf("%v: %+v in frontier.json, %v and %v in metrics.json", choice, p.Now.Validation, *v.Accuracy, *v.ExpectedErrorCost)
		}
		least := slices.IndexFunc(p.Frontier.Points, func(q runfolder.Point) bool { return q.LeastTotal })
		for i, q := range p.Frontier.Points {
			if q.Merit == 0 || least < 0 || q.ExpectedTotalCost != nil && *q.ExpectedTotalCost < *p.Frontier.Points[least].ExpectedTotalCost-1e-12 {
				t.Errorf("%v: merit %v of tree %d, the least total is marked at tree %d", choice, q.Merit, i, least)
			}
		}
	}
	c.ErrorCostsFile = costs
	c.Split = dataset.Shares{100, 0, 0}
	// Limits and other rules choose among all prunings.
	for rule, limit := range map[string]string{"total": "3", "highest": "5"} {
		c.Select = map[string]frontier.Rule{"total": frontier.Total, "highest": frontier.Highest}[rule]
		c.MaxLeaves, _ = strconv.Atoi(limit)
		c.Output = filepath.Join(t.TempDir(), rule)
		want := trained(t, c)
		got := promoteTo(t, others.Output, -1, map[string]string{"error_costs": costs, "max_leaves": limit, "select": rule})
		if complexity := want.Tree.Complexity; got.Now.ExpectedCost != complexity.ExpectedCost || got.Now.Leaves != complexity.Leaves {
			t.Errorf("%s of %s leaves: cost %v, %d leaves, want %v and %d", rule, limit, got.Now.ExpectedCost, got.Now.Leaves, complexity.ExpectedCost,
				complexity.Leaves)
		}
	}
}

// TestDamagedFoldTrees: trees of folds that are cut off or of another form are refused; they never leave the choice to the
// validation rows in silence.
func TestDamagedFoldTrees(t *testing.T) {
	c := config.DefaultTrain()
	c.Input, c.Label, c.Ignore = []string{newRows(300).write(t, ascending(300), 2, parquetio.WriteOptions{})}, "class", []string{"id"}
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.05}
	c.Certificate, c.Folds = false, crossvalidate.Setting{Number: 2}
	c.Output = t.TempDir()
	trained(t, c)
	costs := textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,7\nlow,high,0.5\n")
	first, sections, _ := bytes.Cut(content(t, c.Output, runfolder.GrownName), []byte{'\n'})
	var head map[string]any
	var lengths struct{ Sections [5]int }
	if err := errors.Join(json.Unmarshal(first, &head), json.Unmarshal(first, &lengths)); err != nil {
		t.Fatal(err)
	}
	others := sections[:len(sections)-lengths.Sections[4]]
	trees, err := io.ReadAll(flate.NewReader(bytes.NewReader(sections[len(others):])))
	if err != nil || len(trees) < 100 {
		t.Fatal(len(trees), err)
	}
	many := slices.Concat([]byte{1, 0}, binary.AppendUvarint(nil, 1<<30), make([]byte, 100)) // folds
	for name, b := range map[string][]byte{
		"nothing": {}, "no trees": {0, 2, 0}, "no folds": {1, 0, 0}, "twice": slices.Concat([]byte{2, 0, 0}, trees[2:]), "many": many,
		"begun": trees[:3], "halved": trees[:len(trees)/2], "a byte short": trees[:len(trees)-1], "a byte more": append(slices.Clone(trees), 0),
	} {
		var compressed bytes.Buffer
		w, err := flate.NewWriter(&compressed, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(b)
		_ = w.Close()
		forged := slices.Concat(others, compressed.Bytes())
		lengths.Sections[4] = compressed.Len()
		head["sections"] = lengths.Sections
		head["digest"] = fmt.Sprintf("%x", sha256.Sum256(forged))
		first, err = json.Marshal(head)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.Output, runfolder.GrownName), slices.Concat(first, []byte{'\n'}, forged), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = promoted(t, c.Output, -1, map[string]string{"error_costs": costs}, nil)
		var damaged *dataset.DataError
		if !errors.As(err, &damaged) || !strings.Contains(damaged.Problem, "damaged: trees of fold") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPromoteByLeaves: the list by size has for each number of leaves the tree that this maximum takes, and goes down to a single
// leaf or to the smallest tree within the other limits. The tree of the run is marked.
func TestPromoteByLeaves(t *testing.T) {
	longtest.Skip(t)
	c := config.DefaultTrain()
	c.Input = []string{newRows(600).write(t, ascending(600), 2, parquetio.WriteOptions{})}
	c.Label, c.Ignore = "class", []string{"id"}
	c.Algorithm, c.Lambda, c.Theta, c.Certificate = []split.Algorithm{split.EC45, split.C45}, []float64{10, 30}, []float64{0.005}, false
	c.Output = filepath.Join(t.TempDir(), "run")
	trained(t, c)
	bySize := func(c *config.Promote) { c.ByLeaves, c.DryRun, c.Output = true, true, "" }
	for _, rule := range []string{"best", "highest"} {
		p, err := promoted(t, c.Output, -1, map[string]string{"select": rule}, bySize)
		if err != nil {
			t.Fatal(err)
		}
		list := p.Frontier.Points
		if len(list) < 4 || list[0].Leaves != 1 || !list[len(list)-1].Selected || rule == "best" && list[len(list)-1].Tree != p.Before.Tree {
			t.Fatalf("%s: %d trees from %d leaves on; the last one is chosen: %v", rule, len(list), list[0].Leaves, list[len(list)-1].Selected)
		}
		unlisted := 0
		for i := range list {
			q := &list[i]
			one := promoteTo(t, c.Output, -1, map[string]string{"select": rule, "max_leaves": strconv.Itoa(q.Leaves)})
			if one.Now.Complexity != q.Complexity || one.Now.Grown != q.Grown || one.Now.Step != q.Step {
				t.Errorf("%s, %d leaves: %+v, and --max_leaves takes %+v", rule, q.Leaves, q.Complexity, one.Now.Complexity)
			}
			if q.Tree == "" {
				unlisted++
			}
		}
		if unlisted == 0 {
			t.Errorf("%s: all trees are listed by cost already", rule)
		}
	}
	if _, err := promoted(t, c.Output, 1, nil, func(c *config.Promote) { c.ByLeaves = true }); err == nil || !strings.Contains(err.Error(), "--by leaves lists trees") {
		t.Errorf("a tree by its number: %v", err)
	}
}

// TestPromoteByDemand: a run that was trained without a demand gives the tree, the decision and the metrics that training
// with the demand gives: with one demand another threshold of the same tree, with two the cheapest tree that keeps both.
func TestPromoteByDemand(t *testing.T) {
	data := newRows(1500).write(t, ascending(1500), 2, parquetio.WriteOptions{})
	plain := config.DefaultTrain()
	plain.Input, plain.Label, plain.Ignore, plain.Split = []string{data}, "class", []string{"id"}, dataset.Shares{50, 40, 10}
	plain.Algorithm, plain.Lambda, plain.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	plain.Certificate, plain.Folds = false, crossvalidate.Setting{Number: 2}
	plain.Output = filepath.Join(t.TempDir(), "plain")
	before := trained(t, plain)
	for name, demand := range map[string]map[string]string{
		"one":  {"min_sensitivity": "high=0.9"},
		"sure": {"min_sensitivity": "high=0.7", "confidence": "0.999"},
		"two":  {"min_sensitivity": "high=0.6", "min_specificity": "high=0.6"},
	} {
		c := plain
		for flag, text := range demand {
			for _, s := range c.Settings() {
				if s.Name == flag {
					if err := s.Value.Set(text); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		c.Output = filepath.Join(t.TempDir(), name)
		direct := trained(t, c)
		d := direct.Tree.Label.Decision
		if d == nil || d.Positive != "high" || d.Threshold <= 0 {
			t.Fatalf("%s: decision %+v", name, d)
		}
		for i := range direct.Frontier.Points { // prunings of one grown tree share their nodes, but not the threshold
			listed := readTree(t, c.Output, direct.Frontier.Points[i].Tree)
			for k := range listed.Nodes {
				if n := &listed.Nodes[k]; n.Class != listed.Label.Decide(n.Probabilities) {
					t.Fatalf("%s: node %d of %s has the class %d, which its probabilities %v do not decide", name, k,
						direct.Frontier.Points[i].Tree, n.Class, n.Probabilities)
				}
			}
		}
		if name != "two" && direct.Tree.CountLeaves() != before.Tree.CountLeaves() {
			t.Errorf("%s: another tree than without the demand", name)
		}
		p := promoteTo(t, plain.Output, -1, demand)
		if !bytes.Equal(content(t, p.Output, "tree.json"), content(t, c.Output, "tree.json")) {
			t.Errorf("%s: another tree.json than training gives", name)
		}
		if !bytes.Equal(plainMetrics(t, p.Output, true), plainMetrics(t, c.Output, true)) {
			t.Errorf("%s: other metrics than training gives", name)
		}
		if f := direct.Frontier; f.ByDemand != (name == "two") || p.Frontier.ByDemand != f.ByDemand {
			t.Errorf("%s: by the demand: %v, promoted %v", name, f.ByDemand, p.Frontier.ByDemand)
		}
		class := direct.Metrics.Validation.PerClass[slices.Index(direct.Tree.Label.Classes, "high")]
		if want := c.MinSensitivity.Share; *class.Recall < want {
			t.Errorf("%s: a recall of %v on validation rows, want more than %v", name, *class.Recall, want)
		}
	}
	if _, err := promoted(t, plain.Output, -1, map[string]string{"min_sensitivity": "high=0.999"}, nil); err == nil ||
		!strings.Contains(err.Error(), "no tree keeps the demand") {
		t.Errorf("a demand that is too high: %v", err)
	}
}

// TestPromoteByErrorCostsKeepsDemand: a run that was trained with a demand keeps it if errors get costs. The decision is
// the decision of a training with the demand and the costs, and so is the tree.
func TestPromoteByErrorCostsKeepsDemand(t *testing.T) {
	c := config.DefaultTrain()
	c.Input, c.Label, c.Ignore, c.Split = []string{newRows(3000).write(t, ascending(3000), 2, parquetio.WriteOptions{})}, "class", []string{"id"}, dataset.Shares{50, 40, 10}
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	c.First = []string{"", "", "", "", "", "", "", "", "a"} // deeper than any path; training would otherwise grow by the error costs
	c.Prune = []prune.Currency{prune.Leaves, prune.Cost}
	c.Certificate, c.Folds = false, crossvalidate.Setting{} // the run has no errors on the folds
	c.CostsFile = textFile(t, "costs.csv", "feature,cost\ncolor,0.02\na,0.03\nb,0.02\n")
	c.MinSensitivity = settings.LeastShare{Class: "high", Share: .8}
	costs := textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,1\nlow,high,5\n")
	c.Output = filepath.Join(t.TempDir(), "run")
	trained(t, c)
	p := promoteTo(t, c.Output, -1, map[string]string{"error_costs": costs})
	cheap := textFile(t, "cheap.csv", "actual,predicted,cost\nhigh,low,0.001\nlow,high,0.001\n"+
		"high,middle,0.001\nlow,middle,0.001\nmiddle,high,0.001\nmiddle,low,0.001\n") // no test pays
	if q := promoteTo(t, c.Output, -1, map[string]string{"error_costs": cheap}); q.Decision == nil || q.Now.Leaves == 1 || !q.Frontier.ByDemand {
		t.Errorf("errors that cost less than any test: %+v, by the demand %v", q.Now, q.Frontier.ByDemand) // the rule takes a single leaf
	}
	promoteTo(t, c.Output, -1, map[string]string{"error_costs": cheap, "select": "best"})
	c.ErrorCostsFile = cheap
	c.Output = filepath.Join(t.TempDir(), "cheap")
	if q := trained(t, c); q.Tree.Label.Decision == nil || q.Tree.CountLeaves() == 1 {
		t.Errorf("training with errors that cost less than any test: %d leaves", q.Tree.CountLeaves())
	}
	c.ErrorCostsFile = costs
	c.Output = filepath.Join(t.TempDir(), "direct")
	want := trained(t, c).Tree.Label.Decision
	if got := readTree(t, p.Output, "tree.json").Label.Decision; want == nil || want.Threshold == 0 || got == nil || *got != *want {
		t.Errorf("decision %+v, training gives %+v", got, want)
	}
	if !bytes.Equal(content(t, p.Output, "tree.json"), content(t, c.Output, "tree.json")) {
		t.Error("another tree.json than training gives")
	}
}

// TestDemandInsteadOfRule: with error costs the rule takes a small tree that does not keep a sensitivity. Another listed tree
// keeps it, and is taken by training and by frontier.
func TestDemandInsteadOfRule(t *testing.T) {
	plain := config.DefaultTrain()
	plain.Input, plain.Label, plain.Ignore = []string{newRows(3000).write(t, ascending(3000), 2, parquetio.WriteOptions{})}, "class", []string{"id"}
	plain.Split = dataset.Shares{50, 40, 10}
	plain.Algorithm, plain.Lambda, plain.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	plain.Certificate, plain.Folds = false, crossvalidate.Setting{Number: 2}
	plain.CostsFile = textFile(t, "costs.csv", "feature,cost\ncolor,0.2\na,0.3\nb,0.2\n")
	plain.ErrorCostsFile = textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,0.1\nlow,high,0.5\n")
	plain.Output = filepath.Join(t.TempDir(), "plain")
	before := trained(t, plain)
	c := plain
	c.MinSensitivity = settings.LeastShare{Class: "high", Share: .95}
	c.Output = filepath.Join(t.TempDir(), "demanded")
	direct := trained(t, c)
	demand := map[string]string{"min_sensitivity": "high=0.95"}
	at := slices.IndexFunc(before.Frontier.Points, func(q runfolder.Point) bool { return q.Selected })
	number, err := runfolder.PointNumber(before.Frontier.Points[at].Tree)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := promoted(t, plain.Output, number, demand, nil); err == nil || !strings.Contains(err.Error(), "no tree keeps the demand") {
		t.Errorf("the tree of the rule: %v", err)
	}
	p := promoteTo(t, plain.Output, -1, demand)
	if !bytes.Equal(content(t, p.Output, "tree.json"), content(t, c.Output, "tree.json")) {
		t.Error("another tree.json than training gives")
	}
	if direct.Tree.Label.Decision == nil || direct.Tree.CountLeaves() == before.Tree.CountLeaves() ||
		!direct.Frontier.ByDemand || !p.Frontier.ByDemand {
		t.Errorf("%d leaves, without the demand %d; by the demand %v, promoted %v", direct.Tree.CountLeaves(), before.Tree.CountLeaves(),
			direct.Frontier.ByDemand, p.Frontier.ByDemand)
	}
}

// TestPromoteByDemandOfGroups: rows of a group depend on each other, so a demand reads the rows again. The tree is the
// same as the tree of a training with the demand.
func TestPromoteByDemandOfGroups(t *testing.T) {
	rows := newRows(3000)
	for i := range rows.id {
		rows.id[i] = int64(i / 10)
		if first := i / 10 * 10; i/10%2 == 0 { // ten equal rows
			rows.a[i], rows.b[i], rows.twin[i], rows.color[i], rows.class[i] = rows.a[first], rows.b[first], rows.twin[first], rows.color[first], rows.class[first]
		}
	}
	plain := config.DefaultTrain()
	plain.Input = []string{rows.write(t, ascending(3000), 2, parquetio.WriteOptions{})}
	plain.Label, plain.Group, plain.Split = "class", "id", dataset.Shares{50, 40, 10}
	plain.Algorithm, plain.Lambda, plain.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	plain.Certificate = false
	plain.Output = filepath.Join(t.TempDir(), "plain")
	trained(t, plain)
	c := plain
	c.MinSensitivity = settings.LeastShare{Class: "high", Share: .7}
	c.Output = filepath.Join(t.TempDir(), "demanded")
	trained(t, c)
	demand := map[string]string{"min_sensitivity": "high=0.7"}
	p := promoteTo(t, plain.Output, -1, demand)
	if !bytes.Equal(content(t, p.Output, "tree.json"), content(t, c.Output, "tree.json")) {
		t.Error("another tree.json than training gives")
	}
	for _, part := range p.Metrics.Parts() { // the run does not keep the groups
		if got := part.Metrics.Calibration; got.ExpectedError != nil || got.ChanceError != nil || got.ChanceLimit != nil || got.ObservedError == 0 {
			t.Errorf("%s: calibration %+v", part.Name, got)
		}
	}
	if _, err := promoted(t, plain.Output, -1, demand, func(c *config.Promote) { c.WithoutRows = true }); err == nil ||
		!strings.Contains(err.Error(), "leave out --without_rows") {
		t.Errorf("without rows: %v", err)
	}
	warned := dropsThreshold(t, c.Output, 0)
	if len(warned) != 1 || !strings.Contains(warned[0], `no threshold on the probability of "high"`) || !strings.Contains(warned[0], "leave out --without_rows") {
		t.Errorf("a named tree without rows: warnings %q", warned)
	}
}

// dropsThreshold returns the warnings of a dry promotion without rows to a tree by its number, which has no threshold.
func dropsThreshold(t *testing.T, run string, number int) []string {
	t.Helper()
	p := config.DefaultPromote()
	p.Run = run
	p.Number = number
	p.WithoutRows = true
	p.DryRun = true
	reporter := new(silent)
	got, err := train.Promote(context.Background(), p, reporter)
	if err != nil || got.Decision != nil {
		t.Fatalf("%+v (%v)", got, err)
	}
	return reporter.warnings
}

// TestDemandOfModels: a threshold on the probabilities of leaf models keeps a demand on the validation rows, and changes
// nothing else of the tree. Two demands, of which only some trees keep both, are refused.
func TestDemandOfModels(t *testing.T) {
	plain := config.DefaultTrain()
	plain.Input = []string{newRows(1500).write(t, ascending(1500), 2, parquetio.WriteOptions{})}
	plain.Label, plain.Ignore, plain.Split = "class", []string{"id"}, dataset.Shares{50, 40, 10}
	plain.Algorithm, plain.Lambda, plain.Theta = []split.Algorithm{split.C45}, []float64{10}, []float64{0.005}
	plain.Certificate, plain.Folds = false, crossvalidate.Setting{Number: 2}
	plain.LeafModel = selection.Linear
	plain.Output = filepath.Join(t.TempDir(), "plain")
	before := trained(t, plain)
	c := plain
	c.MinSensitivity = settings.LeastShare{Class: "high", Share: .8}
	c.Output = filepath.Join(t.TempDir(), "demanded")
	after := trained(t, c)
	at := slices.Index(after.Tree.Label.Classes, "high")
	d := after.Tree.Label.Decision
	if d == nil || d.Positive != "high" || d.Threshold <= 0 || !after.Tree.Modelled() || after.Tree.CountLeaves() != before.Tree.CountLeaves() {
		t.Fatalf("decision %+v, models %v", d, after.Tree.Modelled())
	}
	then := before.Metrics.Validation.PerClass[at].OperatingPoints()
	now := after.Metrics.Validation.PerClass[at]
	point := slices.IndexFunc(then, func(p metric.OperatingPoint) bool { return p.Threshold == d.Threshold })
	if point < 0 || then[point].Sensitivity.Value != *now.Recall || *now.Recall < .8 {
		t.Errorf("threshold %v has a sensitivity of %v: want that of the operating point, above .8", d.Threshold, *now.Recall)
	}
	number, err := runfolder.PointNumber(after.Frontier.Points[len(after.Frontier.Points)-1].Tree)
	if err != nil {
		t.Fatal(err)
	}
	warned := dropsThreshold(t, c.Output, number)
	if len(warned) != 1 || !strings.Contains(warned[0], `no threshold on the probability of "high"`) || !strings.Contains(warned[0], "train again") {
		t.Errorf("a named tree with models: warnings %q", warned)
	}
	c.MinSpecificity = settings.LeastShare{Class: "high", Share: .8}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "keeps a sensitivity or a specificity alone") {
		t.Errorf("two demands: %v", err)
	}
}
