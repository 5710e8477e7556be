package main_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// billing is a retraining with a group of features and free repeats, on rows in files of their parts.
type billing struct {
	*nightly

	figures string // file of --open_metrics
}

func newBilling(t *testing.T) *billing {
	t.Helper()
	n := newNightly(t, "file")
	b := &billing{n, filepath.Join(n.url, "retrain.prom")}
	costs := filepath.Join(n.url, "costs.csv")
	save(t, costs, "feature,cost,group,group_cost\na,3,blood,20\nb,5,blood,20\nc,11,,\n")
	save(t, n.config, fmt.Sprintf("input: %s/{date}/*.parquet\ndestination: %s/models\nlabel: class\ncosts: %s\nrepeat_cost: free\n"+
		"split_column: part\nfolds: 0\nalgorithm: c45\ncertificate: none\nmax_cost_ratio: 9\nopen_metrics: %s\nprogress: none\n",
		n.url, n.url, costs, b.figures))
	return b
}

func save(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// part returns the file of a part of a day's rows.
func (b *billing) part(t *testing.T, day int, part string) string {
	t.Helper()
	return filepath.Join(b.url, dateOf(t, day), part+".parquet")
}

// write writes the rows of a day. The class follows from two intervals of a, and from b and c.
func (b *billing) write(t *testing.T, day int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(day), 56))
	for part, rows := range map[string]int{"train": 900, "validation": 300, "test": 400} {
		parts, class, x := make([]string, rows), make([]string, rows), [3][]float64{}
		for i := range rows {
			parts[i] = part
			for k := range x {
				x[k] = append(x[k], r.Float64())
			}
			yes := int(x[0][i]*4)%2 == 0 && x[1][i] > 0.3 || x[2][i] > 0.8
			class[i] = strconv.FormatBool(yes != (r.IntN(12) == 0))
		}
		if err := os.MkdirAll(filepath.Dir(b.part(t, day, part)), 0o700); err != nil {
			t.Fatal(err)
		}
		err := parquetio.Write(t.Context(), objectstore.New(), b.part(t, day, part), []parquetio.WriteColumn{
			{Name: "a", Values: x[0]},
			{Name: "b", Values: x[1]},
			{Name: "c", Values: x[2]},
			{Name: "class", Values: class},
			{Name: "part", Values: parts},
		}, parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// paid returns what the rows of a part pay for a tree: the mean and the maximum of the column cost of predict.
func (b *billing) paid(t *testing.T, run string, day int, part string) (mean, most float64) {
	t.Helper()
	out := t.TempDir()
	espalier(t, "predict", "--model", run, "--input", b.part(t, day, part), "--output", out, "--progress", "none").wants(t, 0)
	files, err := filepath.Glob(filepath.Join(out, "*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	costs := spelledColumns(t, files[0])["cost"]
	for _, text := range costs {
		cost, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		mean += cost / float64(len(costs))
		most = max(most, cost)
	}
	return mean, most
}

// TestBilledEverywhere: each document and each screen of a tree with a group and free repeats has what
// rows pay, as predict writes it for single rows, and nothing else has the name of a cost.
func TestBilledEverywhere(t *testing.T) {
	longtest.Skip(t)
	b := newBilling(t)
	for day := range 2 {
		b.write(t, day)
		b.retrain(t, day).wants(t, 0)
	}
	runs := make([]string, 2)
	for day, a := range b.attempts(t) {
		runs[day] = filepath.Join(b.url, "models", a.Run)
		mean, _ := b.paid(t, runs[day], day, "test")
		near(t, "history", *a.Cost, mean)
		if day == 0 {
			continue
		}
		before, _ := b.paid(t, runs[0], day, "test")
		for _, c := range a.Checks {
			if c.Check == "max_cost_ratio" {
				near(t, "max_cost_ratio", c.Value, mean/before)
				before = 0
			}
		}
		if before != 0 {
			t.Errorf("no check of the cost: %+v", a.Checks)
		}
	}
	run := runs[1]
	b.checkOwnPrices(t, run)
	b.checkRun(t, run)
	b.checkScreens(t, run)
}

// TestEarlierRecords: a record of version 0.3, with the cost of the tests at their own prices and with cuts, is printed as such.
// Monitoring has no cost then, show --origin has the cost of the run, and a run that was refused for such a cost is
// judged again.
func TestEarlierRecords(t *testing.T) {
	b := newBilling(t)
	b.write(t, 0)
	b.retrain(t, 0).wants(t, 0)
	a := b.attempts(t)[0]
	run, record := filepath.Join(b.url, "models", a.Run), b.records(t)[0]
	mean, _ := b.paid(t, run, 0, "test")
	earlier := 99.25
	a.Version, a.Cost = 1, &earlier
	write := func() {
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		const cuts = `{"cuts": {"run": "runs/gone", "date": "2026-11-01", "renewed": "", "column": "x", "psi": 0.1},`
		save(t, record, strings.Replace(string(text), "{", cuts, 1))
	}
	write()
	again := b.retrain(t, 0)
	wantsPrinted(t, again, "promoted, as before", "on test rows")
	if strings.Contains(again.stdout, "cost") {
		t.Errorf("a cost of a record of version 0.3:\n%s", again.stdout)
	}
	if text := string(read(t, b.figures)); strings.Contains(text, "expected_cost") || !strings.Contains(text, "retrain_auc") {
		t.Errorf("figures of a record of version 0.3:\n%s", text)
	}
	wantsPrinted(t, espalier(t, "retrain", "--config", b.config, "--history"), "99.2 at own prices")
	wantsPrinted(t, espalier(t, "retrain", "use", filepath.Join(b.url, "models")), "99.2 at own prices")
	o := origin(t, filepath.Join(run, "tree.json"))
	near(t, "origin", *o.Cost, mean)
	if len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "own price") {
		t.Errorf("notes %q", o.Notes)
	}
	a.Outcome, a.Checks = retraining.Refused, []gate.Check{gate.NewCheck("max_cost_ratio", 10, 9, false, "%v of %v")}
	write()
	b.retrain(t, 0).wants(t, 0)
	if list := b.attempts(t); len(list) != 2 || list[1].Outcome != retraining.Promoted {
		t.Errorf("%d attempts: want a second one, which promotes the run", len(list))
	}
}

// records lists the documents of the history.
func (b *billing) records(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.url, "models", "history", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// checkOwnPrices makes sure that the sum of the tests' own prices is something else.
func (b *billing) checkOwnPrices(t *testing.T, run string) {
	t.Helper()
	m, err := runfolder.ReadTree(t.Context(), objectstore.New(), run)
	if err != nil {
		t.Fatal(err)
	}
	less, more := false, false
	for i := range m.Nodes {
		if n := &m.Nodes[i]; !n.Leaf() {
			less, more = less || n.Test.Paid() < n.Test.Cost, more || n.Test.Paid() > n.Test.Cost
		}
	}
	if !less || !more {
		t.Fatalf("tests that cost less than their price: %v, more: %v; want both", less, more)
	}
}

// checkRun checks the documents of the run.
func (b *billing) checkRun(t *testing.T, run string) {
	t.Helper()
	type costs struct {
		Expected float64 `json:"expected_cost"`
		Most     float64 `json:"max_cost"`
		Selected bool    `json:"selected"`
	}
	var metrics map[string]json.RawMessage
	decode(t, filepath.Join(run, "metrics.json"), &metrics)
	for _, part := range []string{"train", "validation", "test"} {
		var c costs
		if err := json.Unmarshal(metrics[part], &c); err != nil {
			t.Fatal(err)
		}
		mean, _ := b.paid(t, run, 1, part)
		near(t, "metrics.json, "+part, c.Expected, mean)
	}
	var tree struct{ Complexity costs }
	var frontier struct{ Points []costs }
	decode(t, filepath.Join(run, "tree.json"), &tree)
	decode(t, filepath.Join(run, "frontier.json"), &frontier)
	mean, most := b.paid(t, run, 1, "train")
	for _, p := range append(frontier.Points, tree.Complexity) {
		if p != tree.Complexity && !p.Selected {
			continue
		}
		near(t, "expected_cost", p.Expected, mean)
		near(t, "max_cost", p.Most, most)
	}
}

func decode(t *testing.T, file string, to any) {
	t.Helper()
	if err := json.Unmarshal(read(t, file), to); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// checkScreens checks what verbs print and write about the run.
func (b *billing) checkScreens(t *testing.T, run string) {
	t.Helper()
	mean, _ := b.paid(t, run, 1, "test")
	trained, _ := b.paid(t, run, 1, "train")
	test := b.part(t, 1, "test")
	for command, want := range map[string]string{
		"show RUN --figures":                        fmt.Sprintf(" %.4f ", mean),
		"show RUN":                                  fmt.Sprintf("expected cost %s (", strconv.FormatFloat(trained, 'g', 6, 64)),
		"evaluate --model RUN --input":              fmt.Sprintf("expected cost %.4f", mean),
		"evaluate RUN --against RUN --input":        fmt.Sprintf("%.4f", mean),
		"show RUN/tree.json --origin":               fmt.Sprintf("expected cost %.3g\n", mean),
		"retrain --config CONFIG --history":         fmt.Sprintf("%.3g", mean),
		"retrain use MODELS":                        fmt.Sprintf("%.3g", mean),
		"retrain --config CONFIG --date 2026-02-02": fmt.Sprintf("expected cost %.3g", mean), // again
	} {
		args := strings.Fields(strings.NewReplacer("RUN", run, "CONFIG", b.config, "MODELS", filepath.Join(b.url, "models"),
			"2026-02-02", dateOf(t, 1)).Replace(command))
		if strings.HasSuffix(command, "--input") {
			args = append(args, test, "--progress", "none")
		}
		o := espalier(t, args...)
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("%s: exit code %d, want %q in\n%s%s", command, o.code, want, o.stdout, o.stderr)
		}
	}
	if want := fmt.Sprintf("espalier_retrain_expected_cost %v\n", *b.attempts(t)[1].Cost); !strings.Contains(string(read(t, b.figures)), want) {
		t.Errorf("want %q in\n%s", want, read(t, b.figures))
	}
	compared := filepath.Join(t.TempDir(), "compared.json")
	espalier(t, "evaluate", run, "--against", run, "--input", test, "--output", compared, "--progress", "none").wants(t, 0)
	var c struct {
		Metrics struct {
			ExpectedCost struct{ A, B float64 } `json:"expected_cost"`
		}
	}
	decode(t, compared, &c)
	near(t, "comparison, A", c.Metrics.ExpectedCost.A, mean)
	near(t, "comparison, B", c.Metrics.ExpectedCost.B, mean)
}
