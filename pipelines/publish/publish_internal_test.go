package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // repeats less work than prism
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/retraining"
	"github.com/espalier-ml/espalier/pipelines/train"
	"github.com/espalier-ml/espalier/transforms"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// Visit is a row of a day.
type Visit struct {
	ID    int64   `json:"id"`
	Age   float64 `json:"age"`
	Scan  float64 `json:"scan"`
	Class string  `json:"class"`
}

// visits returns the rows of a day. On a bad day the classes are random.
func visits(day int, bad bool) []Visit {
	random := rand.New(rand.NewPCG(uint64(day), 0))
	list := make([]Visit, 1500)
	for i := range list {
		v := Visit{ID: int64(i), Age: float64(random.IntN(80)), Scan: float64(random.IntN(11)), Class: "well"}
		if v.Age+4*v.Scan >= 70 != (random.IntN(10) == 0) || bad && random.IntN(2) == 0 {
			v.Class = "ill"
		}
		list[i] = v
	}
	return list
}

var sunk struct {
	sync.Mutex

	outcomes []Outcome
	reports  []transforms.Report
}

type sinkFn struct{}

func (*sinkFn) ProcessElement(o Outcome) {
	sunk.Lock()
	defer sunk.Unlock()
	sunk.outcomes = append(sunk.outcomes, o)
}

type sinkReportFn struct{}

func (*sinkReportFn) ProcessElement(r transforms.Report) {
	sunk.Lock()
	defer sunk.Unlock()
	sunk.reports = append(sunk.reports, r)
}

// numbered and texted are rows with a ward, which has no part in the class.
type (
	numbered struct {
		ID    int64   `json:"id"`
		Age   float64 `json:"age"`
		Scan  float64 `json:"scan"`
		Class string  `json:"class"`
		Ward  float64 `json:"ward"`
	}
	texted struct {
		ID    int64   `json:"id"`
		Age   float64 `json:"age"`
		Scan  float64 `json:"scan"`
		Class string  `json:"class"`
		Ward  string  `json:"ward"`
	}
)

func init() {
	beam.RegisterType(reflect.TypeFor[Visit]())
	beam.RegisterType(reflect.TypeFor[numbered]())
	beam.RegisterType(reflect.TypeFor[texted]())
	beam.RegisterDoFn(reflect.TypeFor[sinkFn]())
	beam.RegisterDoFn(reflect.TypeFor[sinkReportFn]())
}

// job is the nightly job of a day. rows is a slice.
func job(ctx context.Context, runner string, c Config, rows any) (Outcome, error) {
	night, err := Open(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	p, s := beam.NewPipelineWithRoot()
	tc := transforms.DefaultTrainConfig("class", "id")
	tc.Certificate, tc.LeafModel, tc.Folds.Auto, tc.Lambda = false, selection.None, false, []float64{10}
	trained := transforms.Train(s, beam.CreateList(s, rows), tc, night.Reports())
	beam.ParDo0(s, &sinkReportFn{}, trained.Reports)
	beam.ParDo0(s, &sinkFn{}, night.Publish(s, trained))
	sunk.outcomes, sunk.reports = nil, nil
	if _, err := beam.Run(ctx, runner, p); err != nil {
		return Outcome{}, err
	}
	if len(sunk.outcomes) != 1 {
		return Outcome{}, fmt.Errorf("%d outcomes", len(sunk.outcomes))
	}
	return sunk.outcomes[0], nil
}

func configOf(destination string, day int) Config {
	c := Default(destination, fmt.Sprintf("2026-11-%02d", day))
	c.Gate.Tolerance = 0.1 // good days differ by chance
	return c
}

// check checks that LATEST.json names a complete run with the tree of its digest, and returns the run; empty if absent.
func check(t *testing.T, destination string) string {
	t.Helper()
	s := objectstore.New()
	p, err := latest.Read(t.Context(), s, destination)
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		return ""
	}
	if _, _, err := latest.Tree(t.Context(), s, objectstore.Join(destination, latest.Name)); err != nil {
		t.Fatal(err)
	}
	if _, err := runfolder.Read(t.Context(), s, objectstore.Join(destination, p.Run), runfolder.Training, runfolder.TreeName,
		runfolder.MetricsName, runfolder.SchemaName, runfolder.ManifestName); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stat(t.Context(), objectstore.Join(destination, p.Run, runfolder.SuccessName)); err != nil {
		t.Fatal(err)
	}
	return p.Run
}

// TestDays: the trees of good days are put in use, the tree of a bad one is refused. The tree of an earlier day is
// not put in use, unless Replace is set, nor is any while a person holds a run. A job that runs again finds its run.
func TestDays(t *testing.T) {
	longtest.Skip(t)
	for _, runner := range []string{"direct", "prism"} {
		t.Run(runner, func(t *testing.T) {
			destination := t.TempDir()
			run := func(day int, bad bool, change func(*Config)) Outcome {
				c := configOf(destination, day)
				if change != nil {
					change(&c)
				}
				o, err := job(t.Context(), runner, c, visits(day, bad))
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			want := func(o Outcome, outcome, inUse string) {
				t.Helper()
				if got := check(t, destination); o.Outcome != outcome || got != inUse {
					t.Fatalf("day %s is %s, and %s is in use: want %s, and %s; checks %+v", o.Date, o.Outcome, got, outcome, inUse, o.Checks)
				}
			}
			first := run(10, false, nil)
			want(first, gate.Promoted, first.Run)
			second := run(11, false, nil)
			want(second, gate.Promoted, second.Run)
			if second.Before != first.Run || len(second.Checks) < 4 || second.AUC == nil || second.Rows != 1500 {
				t.Errorf("%+v", second)
			}
			want(run(12, true, nil), gate.Refused, second.Run)
			want(run(9, false, nil), gate.Backfilled, second.Run)
			want(run(11, false, nil), gate.Promoted, second.Run)
			third := run(9, false, func(c *Config) { c.Replace = true })
			want(third, gate.Promoted, third.Run)

			s := objectstore.New()
			p, err := latest.Read(t.Context(), s, destination)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := latest.Promote(t.Context(), s, destination, latest.Pointer{
				Run: second.Run, Promoted: time.Now(), Held: latest.Forever,
			}, p); err != nil {
				t.Fatal(err)
			}
			want(run(13, false, nil), gate.Held, second.Run)
		})
	}
}

// reportOfDay returns the report of a day, with the comparison with the tree in use, and what publishes it.
func reportOfDay(t *testing.T, destination string, day int) (*publishFn, transforms.Report) {
	t.Helper()
	night, err := Open(t.Context(), configOf(destination, day))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := configOf(copied(t, destination), day)
	if _, err := job(t.Context(), "direct", elsewhere, visits(day, false)); err != nil {
		t.Fatal(err)
	}
	return &night.fn, sunk.reports[0]
}

// TestRetries: a worker that dies in or after the write of a run, or after its promotion, is repeated to the same end, also
// by several workers at once. A pipeline that was built before another one has published moves nothing.
func TestRetries(t *testing.T) {
	destination := t.TempDir()
	fn, report := reportOfDay(t, destination, 10)
	model, err := tree.Decode(report.JSON)
	if err != nil {
		t.Fatal(err)
	}
	o := Outcome{Run: "runs/2026-11-10-" + tree.Digest(report.JSON)[:16], Digest: tree.Digest(report.JSON)}
	if err := fn.write(t.Context(), &report, model, &o); err != nil { // dies before it publishes
		t.Fatal(err)
	}
	if got := check(t, destination); got != "" {
		t.Fatalf("%s is in use", got)
	}
	folder := filepath.Join(destination, o.Run)
	manifest := read(t, filepath.Join(folder, runfolder.ManifestName))
	for _, left := range []string{runfolder.SuccessName, runfolder.TreeName, runfolder.MetricsName} { // dies while it writes
		if err := os.Remove(filepath.Join(folder, left)); err != nil {
			t.Fatal(err)
		}
	}
	publish := func() Outcome {
		var got Outcome
		if err := fn.ProcessElement(t.Context(), report, func(o Outcome) { got = o }); err != nil {
			t.Error(err)
		}
		return got
	}
	const workers = 4
	all := make([]Outcome, workers)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { all[i] = publish() })
	}
	group.Wait()
	pointer := read(t, filepath.Join(destination, latest.Name))
	if check(t, destination) != o.Run || read(t, filepath.Join(folder, runfolder.ManifestName)) == manifest {
		t.Error("the unfinished run was not written again")
	}
	manifest = read(t, filepath.Join(folder, runfolder.ManifestName))
	all = append(all, publish()) // dies after it has published
	for _, got := range all {
		if got.Outcome != gate.Promoted || got.Run != o.Run {
			t.Errorf("%+v", got)
		}
	}
	if read(t, filepath.Join(destination, latest.Name)) != pointer || read(t, filepath.Join(folder, runfolder.ManifestName)) != manifest {
		t.Error("a retry has written a complete run or LATEST.json again")
	}

	slow, other := reportOfDay(t, destination, 12)
	next, err := job(t.Context(), "direct", configOf(destination, 11), visits(11, false))
	if err != nil || next.Outcome != gate.Promoted {
		t.Fatal(next, err)
	}
	if err := os.RemoveAll(folder); err != nil { // of the run that was in use when the pipeline was built, as KeepRuns does
		t.Fatal(err)
	}
	if err := slow.ProcessElement(t.Context(), other, func(o Outcome) { next = o }); err != nil || next.Outcome != gate.Overtaken {
		t.Errorf("a pipeline that was built earlier has published: %+v, %v", next, err)
	}
	if got := publish(); got.Outcome != gate.Promoted || check(t, destination) == o.Run {
		t.Errorf("a late retry has put its run in use again, or has another outcome than the first try: %+v", got)
	}
}

// TestHistory: each day has one document of the history, whatever was repeated, with the checks and figures of its outcome,
// and its manifest is in the register. A person can go back to the run of the day before.
func TestHistory(t *testing.T) {
	destination := t.TempDir()
	var want []Outcome
	for day := 10; day <= 12; day++ {
		o, err := job(t.Context(), "direct", configOf(destination, day), visits(day, day == 12))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, o)
	}
	c := config.DefaultRetrain()
	c.Destination = destination
	history, now, err := retraining.History(t.Context(), c, engine.Silent{})
	if err != nil || len(history) != len(want) {
		t.Fatalf("%d attempts, error %v", len(history), err)
	}
	for i, a := range history {
		o := &want[i]
		if a.Outcome != o.Outcome || a.Run != o.Run || a.Before != o.Before || a.Digest != o.Digest || a.Date != o.Date ||
			a.Rows != o.Rows || *a.AUC != *o.AUC || !reflect.DeepEqual(a.Checks, o.Checks) || a.Mode != config.ModeTrain {
			t.Errorf("the history has %+v, want %+v", a, o)
		}
		if _, err := os.Stat(filepath.Join(destination, "register", filepath.Base(o.Run)+".json")); err != nil {
			t.Error(err)
		}
	}
	if now.Run != want[1].Run || want[2].Outcome != gate.Refused {
		t.Errorf("%s is in use, and the bad day is %s", now.Run, want[2].Outcome)
	}
	use := config.DefaultUse()
	use.Destination, use.Run = destination, config.Previous
	if _, err := retraining.Use(t.Context(), use, engine.Silent{}); err != nil || check(t, destination) != want[0].Run {
		t.Errorf("%s is in use, want the run of the first day: %v", check(t, destination), err)
	}
}

// TestHeldMeanwhile: a hold that begins while a pipeline runs keeps the run in use, and one that ends lets the new run take
// its place.
func TestHeldMeanwhile(t *testing.T) {
	destination := t.TempDir()
	first, err := job(t.Context(), "direct", configOf(destination, 10), visits(10, false))
	if err != nil {
		t.Fatal(err)
	}
	use := config.DefaultUse()
	use.Destination, use.Run = destination, first.Run
	for day, c := range []struct {
		hold string
		want string
	}{{"forever", gate.Held}, {config.HoldNone, gate.Promoted}} {
		fn, report := reportOfDay(t, destination, 11+day)
		use.Hold = c.hold
		if _, err := retraining.Use(t.Context(), use, engine.Silent{}); err != nil {
			t.Fatal(err)
		}
		var got Outcome
		if err := fn.ProcessElement(t.Context(), report, func(o Outcome) { got = o }); err != nil || got.Outcome != c.want {
			t.Errorf("the hold is %s: %+v, %v, want %s", c.hold, got, err, c.want)
		}
	}
}

// TestRetention: with KeepRuns 1, the run in use and the run before it stay, and so does the newest refused run. The history
// has all of them.
func TestRetention(t *testing.T) {
	destination := t.TempDir()
	var runs []string
	for day := 10; day <= 14; day++ {
		c := configOf(destination, day)
		c.KeepRuns = 1
		o, err := job(t.Context(), "direct", c, visits(day, day == 11 || day == 13))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, o.Run)
	}
	for i, stays := range []bool{false, false, true, true, true} {
		if _, err := os.Stat(filepath.Join(destination, runs[i])); stays != (err == nil) {
			t.Errorf("run %d: %v; it stays: want %v", i, err, stays)
		}
	}
	c := config.DefaultRetrain()
	c.Destination = destination
	history, _, err := retraining.History(t.Context(), c, engine.Silent{})
	if err != nil || len(history) != len(runs) || check(t, destination) != runs[4] {
		t.Errorf("%d attempts, %v, and %s in use", len(history), err, check(t, destination))
	}
}

// TestDrift: the distribution of a published run has the bytes that `espalier train` writes for the same rows. `espalier drift`
// measures the same drift, with leaves, for rows with a key. A gate with a greatest PSI refuses the tree.
func TestDrift(t *testing.T) {
	destination := t.TempDir()
	rows := func(day int, older float64) []Visit {
		list := visits(day, false)
		for i := range list {
			list[i].ID /= 3 // three rows of each key
			list[i].Age += older
		}
		return list
	}
	file := func(list []Visit) string {
		url := filepath.Join(t.TempDir(), "visits.parquet")
		var id []int64
		var age, scan []float64
		var class []string
		for _, v := range list {
			id, age, scan, class = append(id, v.ID), append(age, v.Age), append(scan, v.Scan), append(class, v.Class)
		}
		if err := parquetio.Write(t.Context(), objectstore.New(), url, []parquetio.WriteColumn{
			{Name: "age", Values: age}, {Name: "scan", Values: scan}, {Name: "class", Values: class}, {Name: "id", Values: id},
		}, parquetio.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		return url
	}
	first, err := job(t.Context(), "direct", configOf(destination, 10), rows(10, 0))
	if err != nil {
		t.Fatal(err)
	}
	c := config.DefaultTrain()
	c.Training = sunk.reports[0].Settings
	c.Input, c.Output = []string{file(rows(10, 0))}, filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{runfolder.TreeName, runfolder.DistributionName} {
		if got, want := read(t, filepath.Join(destination, first.Run, name)), read(t, filepath.Join(c.Output, name)); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
		}
	}

	older := rows(11, 15)
	d := config.DefaultDrift()
	d.Model, d.Input = filepath.Join(destination, first.Run), []string{file(older)}
	want, err := pipelines.Drift(t.Context(), d, nil)
	if err != nil || !slices.Contains(want.Alarms(), "age") || want.Leaves == nil || want.Columns[0].DesignEffects == nil {
		t.Fatalf("%+v, error %v", want, err)
	}
	limited := configOf(destination, 11)
	limited.Gate.MaxPSI, limited.Gate.MaxAUCFall = 0.1, 1
	night, err := Open(t.Context(), limited)
	if err != nil {
		t.Fatal(err)
	}
	second, err := job(t.Context(), "prism", limited, older)
	if err != nil {
		t.Fatal(err)
	}
	got, why, err := night.fn.drift(t.Context(), &sunk.reports[0])
	if err != nil || why != "" {
		t.Fatal(why, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the drift is\n%+v\nwant\n%+v", got, want)
	}
	if second.Outcome != gate.Refused || !slices.ContainsFunc(second.Checks, func(c gate.Check) bool {
		return c.Check == "max_psi" && !c.Passed && strings.HasPrefix(c.Text, "age has drifted")
	}) {
		t.Errorf("%+v", second)
	}
}

// copied returns a copy of a destination.
func copied(t *testing.T, destination string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(destination)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// nights runs the job of day 11 with any PSI allowed, with a limit, and with a limit and Replace: the drift that cannot be
// measured refuses a tree only for a limit, without Replace. It returns the reason for which the tree is refused.
func nights(t *testing.T, destination string, rows any) (reason string) {
	t.Helper()
	for _, night := range []struct {
		psi     float64
		replace bool
	}{{0, false}, {10, true}, {10, false}} {
		c := configOf(copied(t, destination), 11)
		c.Gate.MaxPSI, c.Replace = night.psi, night.replace
		o, err := job(t.Context(), "direct", c, rows)
		if err != nil {
			t.Fatalf("%+v: %v", night, err)
		}
		if len(o.Checks) < 5 {
			t.Errorf("%+v: the trees are not compared: %+v", night, o.Checks)
		}
		limited := night.psi > 0 && !night.replace
		if want := map[bool]string{false: gate.Promoted, true: gate.Refused}[limited]; o.Outcome != want {
			t.Fatalf("%+v: %s, want %s; checks %+v", night, o.Outcome, want, o.Checks)
		}
		reason = strings.Join(gate.Refusals(o.Checks), "; ")
	}
	return reason
}

// TestUnmeasuredDrift: a feature that no test of the tree in use has leaves the rows, or becomes a text. The drift of the
// other columns is measured. A run without distribution.json has no drift.
func TestUnmeasuredDrift(t *testing.T) {
	longtest.Skip(t)
	destination := t.TempDir()
	var before []numbered
	for i, v := range visits(10, false) {
		before = append(before, numbered{v.ID, v.Age, v.Scan, v.Class, float64(i % 250 / 249)}) // 6 rows: too few for a leaf
	}
	first, err := job(t.Context(), "direct", configOf(destination, 10), before)
	if err != nil {
		t.Fatal(err)
	}
	var texts []texted
	for i, v := range visits(11, false) {
		texts = append(texts, texted{v.ID, v.Age, v.Scan, v.Class, string(rune('a' + i%250/249))})
	}
	for _, c := range []struct {
		rows any
		want string
	}{
		{visits(11, false), `drift of some columns cannot be measured: the run in use has the column "ward", which is not a feature`},
		{texts, `drift of some columns cannot be measured: the run in use has the column "ward" as numeric values, and the rows have texts`},
	} {
		if got := nights(t, destination, c.rows); !strings.HasPrefix(got, c.want) {
			t.Errorf("refused because %q, want %q", got, c.want)
		}
		night, err := Open(t.Context(), configOf(destination, 11))
		if err != nil {
			t.Fatal(err)
		}
		found, _, err := night.fn.drift(t.Context(), &sunk.reports[0])
		if err != nil || len(found.Columns) != 2 || !slices.Equal(found.Omitted, []string{"ward"}) || found.Leaves == nil {
			t.Errorf("%+v, error %v", found, err)
		}
	}
	if err := os.Remove(filepath.Join(destination, first.Run, runfolder.DistributionName)); err != nil {
		t.Fatal(err)
	}
	if got := nights(t, destination, before); !strings.Contains(got, "has no distribution.json") || strings.Contains(got, "train again") {
		t.Errorf("refused because %q", got)
	}
}

// TestOpen: Open refuses conditions that no worker could check, and workers find a destination below the working directory
// of the program.
func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	c := configOf("trees", 10)
	night, err := Open(t.Context(), c)
	if err != nil || !filepath.IsAbs(night.fn.Config.Destination) || filepath.Base(night.fn.Config.Destination) != "trees" {
		t.Errorf("%+v, error %v", night, err)
	}
	c.Gate.Metrics = []string{"auc"}
	if _, err := Open(t.Context(), c); usage.NatureOf(err) != usage.Usage || !strings.Contains(err.Error(), "gate_metrics auc: want auc_ovr_macro") {
		t.Errorf("error %v", err)
	}
	c = configOf("trees", 10)
	c.Gate.MinAUC = 2
	if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "min_auc 2: want a share") {
		t.Errorf("error %v", err)
	}
}

// publishedWithout publishes the run of day 10, removes one of its documents, and returns the destination.
func publishedWithout(t *testing.T, document string) string {
	t.Helper()
	destination := t.TempDir()
	first, err := job(t.Context(), "direct", configOf(destination, 10), visits(10, false))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(destination, first.Run, document)); err != nil {
		t.Fatal(err)
	}
	return destination
}

// TestReplaceLost: a tree in use that cannot be read keeps its place unless Replace is set. Its AUC on record is a check.
func TestReplaceLost(t *testing.T) {
	destination := publishedWithout(t, runfolder.TreeName)
	c := configOf(destination, 11)
	if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "Replace") {
		t.Fatalf("error %v", err)
	}
	c.Replace = true
	second, err := job(t.Context(), "direct", c, visits(11, false))
	if err != nil {
		t.Fatal(err)
	}
	if second.Outcome != gate.Promoted || !slices.ContainsFunc(second.Checks, func(c gate.Check) bool { return c.Check == "max_auc_fall" }) {
		t.Errorf("%+v", second)
	}
}

// TestLostMetrics: where the metrics on record are gone, Replace skips the fall of the AUC alone, and the trees are compared.
func TestLostMetrics(t *testing.T) {
	destination := publishedWithout(t, runfolder.MetricsName)
	for _, replace := range []bool{false, true} {
		c := configOf(copied(t, destination), 11)
		c.Replace = replace
		o, err := job(t.Context(), "direct", c, visits(11, false))
		if err != nil {
			t.Fatal(err)
		}
		fell := slices.ContainsFunc(o.Checks, func(c gate.Check) bool { return c.Check == "max_auc_fall" && !c.Passed })
		compared := slices.ContainsFunc(o.Checks, func(c gate.Check) bool { return c.Check == "max_flips" })
		if want := map[bool]string{false: gate.Refused, true: gate.Promoted}[replace]; o.Outcome != want || fell == replace || !compared {
			t.Errorf("replace %v: %s, want %s; %+v", replace, o.Outcome, want, o.Checks)
		}
	}
}

// TestUnreadable: documents of the run in use that cannot be read, but may come back, are errors also with Replace.
func TestUnreadable(t *testing.T) {
	destination := t.TempDir()
	first, err := job(t.Context(), "direct", configOf(destination, 10), visits(10, false))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{runfolder.TreeName, runfolder.DistributionName, runfolder.MetricsName} {
		c := configOf(copied(t, destination), 11)
		c.Replace = true
		file := filepath.Join(c.Destination, first.Run, name)
		if err := errors.Join(os.Remove(file), os.Symlink(name, file)); err != nil { // root cannot read it either
			t.Fatal(err)
		}
		if o, err := job(t.Context(), "direct", c, visits(11, false)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %+v, error %v", name, o, err)
		}
		if p, err := latest.Read(t.Context(), objectstore.New(), c.Destination); err != nil || p.Run != first.Run {
			t.Errorf("%s: %+v is in use, error %v", name, p, err)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestKilledAfterPromotion: the job of a day that was killed after LATEST.json had moved, before the history had its outcome,
// runs again as a new program. A person can go back to the run before.
func TestKilledAfterPromotion(t *testing.T) {
	destination := t.TempDir()
	var runs []string
	for day := 10; day <= 11; day++ {
		o, err := job(t.Context(), "direct", configOf(destination, day), visits(day, false))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, o.Run)
	}
	documents, err := filepath.Glob(filepath.Join(destination, "history", "*-2026-11-11.json"))
	if err != nil || len(documents) != 1 {
		t.Fatal(documents, err)
	}
	running := strings.Replace(read(t, documents[0]), `"outcome": "promoted"`, `"outcome": "running"`, 1)
	if err := os.WriteFile(documents[0], []byte(running), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := job(t.Context(), "direct", configOf(destination, 11), visits(11, false))
	if err != nil || again.Outcome != gate.Promoted || again.Run != runs[1] || again.Before != runs[0] {
		t.Errorf("%+v, error %v, want %s before", again, err, runs[0])
	}
	use := config.DefaultUse()
	use.Destination, use.Run = destination, config.Previous
	if _, err := retraining.Use(t.Context(), use, engine.Silent{}); err != nil || check(t, destination) != runs[0] {
		t.Errorf("%s is in use, want %s: %v", check(t, destination), runs[0], err)
	}
}

// jobOfDay is the environment variable of a test that is a nightly job: the destination and the day.
const jobOfDay = "ESPALIER_JOB_OF_DAY"

// TestKilled: a program that is killed at any moment of its job leaves LATEST.json as it was or moved to a complete run, and
// when it runs again the run has the tree of an undisturbed job.
func TestKilled(t *testing.T) {
	if of := os.Getenv(jobOfDay); of != "" {
		destination, day, _ := strings.Cut(of, "|")
		var n int
		if err := json.Unmarshal([]byte(day), &n); err != nil {
			t.Fatal(err)
		}
		if _, err := job(t.Context(), "direct", configOf(destination, n), visits(n, false)); err != nil {
			t.Fatal(err)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	destination, calm := t.TempDir(), t.TempDir()
	start := func(day int) *exec.Cmd {
		c := exec.CommandContext(t.Context(), self, "-test.run=^TestKilled$")
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", jobOfDay, destination, day))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	between := 0
	for day := 1; day <= 3; day++ {
		before := check(t, destination)
		c := start(day)
		// The run of the day appears, then its _SUCCESS, then LATEST.json: the program is killed at one of these moments.
		moments := []string{runfolder.ManifestName, runfolder.SuccessName, runfolder.SuccessName}
		pattern := filepath.Join(destination, "runs", fmt.Sprintf("2026-11-%02d-*", day), moments[day%3])
		for found, _ := filepath.Glob(pattern); len(found) == 0 && t.Context().Err() == nil; found, _ = filepath.Glob(pattern) {
			time.Sleep(50 * time.Microsecond)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // killed, unless it was faster
		if check(t, destination) == before {
			between++
		}
		if err := start(day).Wait(); err != nil {
			t.Fatal(err)
		}
		o, err := job(t.Context(), "direct", configOf(calm, day), visits(day, false))
		if err != nil {
			t.Fatal(err)
		}
		if got := check(t, destination); got != o.Run || o.Outcome != gate.Promoted {
			t.Errorf("day %d: %s is in use, want %s, which an undisturbed job has %s", day, got, o.Run, o.Outcome)
		}
	}
	if between == 0 {
		t.Error("no program was killed before it had moved LATEST.json: this shows nothing")
	}
}

// TestRetryAfterPromotion: the retry of a worker that was killed after LATEST.json had moved records the outcome with its
// checks. A retry that comes after the next night keeps the outcome of the first try.
func TestRetryAfterPromotion(t *testing.T) {
	destination := t.TempDir()
	if _, err := job(t.Context(), "direct", configOf(destination, 10), visits(10, false)); err != nil {
		t.Fatal(err)
	}
	fn, report := reportOfDay(t, destination, 11)
	publish := func() (got Outcome) {
		if err := fn.ProcessElement(t.Context(), report, func(o Outcome) { got = o }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	attempt := func() (a retraining.Attempt) {
		documents, err := filepath.Glob(filepath.Join(destination, "history", "*-2026-11-11.json"))
		if err != nil || len(documents) != 1 {
			t.Fatal(documents, err)
		}
		if err := json.Unmarshal([]byte(read(t, documents[0])), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := publish()
	kill := func() { // the document of before the promotion
		a := attempt()
		a.Outcome, a.Checks = retraining.Running, []gate.Check{}
		documents, _ := filepath.Glob(filepath.Join(destination, "history", "*-2026-11-11.json"))
		b, err := json.Marshal(&a)
		if err == nil {
			err = os.WriteFile(documents[0], b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kill()
	if got := publish(); !reflect.DeepEqual(got, first) || len(got.Checks) == 0 {
		t.Errorf("a retry: %+v, want %+v", got, first)
	}
	if a := attempt(); a.Outcome != gate.Promoted || a.Error != "" || !reflect.DeepEqual(a.Checks, first.Checks) {
		t.Errorf("the history after a retry: %+v", a)
	}
	kill()
	next, err := job(t.Context(), "direct", configOf(destination, 12), visits(12, false))
	if err != nil || next.Outcome != gate.Promoted {
		t.Fatal(next, err)
	}
	if got, a := publish(), attempt(); got.Outcome != gate.Promoted || a.Outcome != gate.Promoted || check(t, destination) != next.Run {
		t.Errorf("a late retry has the outcome %s, the history %s, and %s is in use", got.Outcome, a.Outcome, check(t, destination))
	}
}
