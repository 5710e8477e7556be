package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// nightly is a retraining of days below a URL.
type nightly struct {
	store  *objectstore.Store
	url    string // URL of the folder with days/ and models/
	config string // file
}

const (
	dayRows  = 1500
	firstDay = "2026-11-01"
)

func newNightly(t *testing.T, scheme string) *nightly {
	t.Helper()
	if scheme != "file" {
		c := emptyCloud(t, scheme)
		return nightlyBelow(t, c.store, scheme+"://bucket/nightly")
	}
	return nightlyBelow(t, objectstore.New(), t.TempDir())
}

// nightlyBelow returns a retraining in a folder.
func nightlyBelow(t *testing.T, store *objectstore.Store, url string) *nightly {
	t.Helper()
	n := &nightly{store: store, url: url}
	n.config = filepath.Join(t.TempDir(), "nightly.yaml")
	text := fmt.Sprintf("input: %s/days/{date-4..date}.parquet\ndestination: %s/models\nlabel: class\n"+
		"select: first\nmax_depth: 4\ncertificate: none\ngate_tolerance: 0.02\nreport: none\nkeep_runs: 4\nmax_psi: 3\nprogress: none\n", n.url, n.url)
	if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// dateOf returns the date of a day, the first of which is 0.
func dateOf(t *testing.T, day int) string {
	t.Helper()
	first, err := time.Parse(time.DateOnly, firstDay)
	if err != nil {
		t.Fatal(err)
	}
	return first.AddDate(0, 0, day).Format(time.DateOnly)
}

func (n *nightly) fileOf(t *testing.T, day int) string {
	t.Helper()
	return objectstore.Join(n.url, "days", dateOf(t, day)+".parquet")
}

// write writes the rows of a day. The class says whether x is above 0.5 and the shop is no "a", with a tenth of errors; x
// drifts by 0.02 a day. Shuffled classes say nothing.
func (n *nightly) write(t *testing.T, day int, shuffled bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(day), 5))
	x, shop, class := make([]float64, dayRows), make([]string, dayRows), make([]string, dayRows)
	for i := range x {
		x[i], shop[i] = r.Float64()+float64(day)/50, string(rune('a'+r.IntN(4)))
		class[i] = strconv.FormatBool((x[i] > 0.5+float64(day)/50 && shop[i] != "a") != (r.IntN(10) == 0))
	}
	if shuffled {
		r.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
	}
	err := parquetio.Write(t.Context(), n.store, n.fileOf(t, day), []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "shop", Values: shop}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (n *nightly) retrain(t *testing.T, day int, more ...string) outcome {
	t.Helper()
	return espalier(t, append([]string{"retrain", "--config", n.config, "--date", dateOf(t, day)}, more...)...)
}

// inUse returns the run in use. It fails unless that run is complete, its tree the one that LATEST.json means, and the
// last check of the gate has passed.
func (n *nightly) inUse(t *testing.T) string {
	t.Helper()
	models := objectstore.Join(n.url, "models")
	p, err := latest.Read(t.Context(), n.store, models)
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		return ""
	}
	if _, err := n.store.Stat(t.Context(), objectstore.Join(models, p.Run, "_SUCCESS")); err != nil {
		t.Errorf("LATEST.json names a run that is not complete: %v", err)
	}
	if _, err := runfolder.ReadTree(t.Context(), n.store, objectstore.Join(models, latest.Name)); err != nil {
		t.Errorf("LATEST.json names no tree: %v", err)
	}
	gated := false
	for _, a := range n.attempts(t) {
		if a.Run == p.Run && (a.Outcome == retraining.Promoted || a.Outcome == retraining.Running) && len(a.Refusals()) == 0 {
			gated = true
		}
	}
	if !gated {
		t.Errorf("LATEST.json names %s, which no attempt has promoted", p.Run)
	}
	return p.Run
}

// attempts reads the history, the oldest attempt first.
func (n *nightly) attempts(t *testing.T) []*retraining.Attempt {
	t.Helper()
	files, err := n.store.List(t.Context(), objectstore.Join(n.url, "models", "history")+"/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []*retraining.Attempt
	for _, file := range files {
		b, err := n.store.ReadAll(t.Context(), file.URL, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		a := new(retraining.Attempt)
		if err := json.Unmarshal(b, a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// TestRetrainDays goes through thirty days with drift: a day with shuffled labels, a broken file, a file that comes late, a
// second attempt at the same time. Without -tags long it goes through sixteen days, on disk.
func TestRetrainDays(t *testing.T) {
	longtest.Skip(t)
	schemes := []string{"file", "gs", "s3"}
	if !longtest.Enabled() {
		schemes = schemes[:1] // TestRetrainOvertaken is on gs and s3, TestRetrainKilledInPhases on s3
	}
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			n, days := newNightly(t, scheme), 30
			if !longtest.Enabled() {
				days = 16
			}
			for day := range days {
				n.day(t, day)
			}
			runs := make(map[string]bool)
			list, err := n.store.Below(t.Context(), objectstore.Join(n.url, "models", "runs"), 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range list {
				if path.Base(o.URL) == runfolder.TreeName {
					runs[path.Base(path.Dir(o.URL))] = true
				}
			}
			if len(runs) < 2 || len(runs) > 5 || !runs[path.Base(n.inUse(t))] {
				t.Errorf("%d runs stay: %v; want the four newest, and the one in use among them", len(runs), runs)
			}
			table := espalier(t, "retrain", "--config", n.config, "--history")
			wantsPrinted(t, table, "promoted", "refused", "AUC on the new tree's own test rows has fallen", "not a Parquet file",
				"the newest day with rows is")
			if scheme == "file" {
				n.validate(t)
			}
			scored := espalier(t, "predict", "--model", objectstore.Join(n.url, "models", latest.Name), "--input", n.fileOf(t, 0),
				"--output", t.TempDir(), "--progress", "none")
			scored.wants(t, 0)
		})
	}
}

// validate checks the documents of the destination, on disk, by their schemas.
func (n *nightly) validate(t *testing.T) {
	t.Helper()
	validate(t, "latest", filepath.Join(n.url, "models", latest.Name))
	documents, err := filepath.Glob(filepath.Join(n.url, "models", "history", "*.json"))
	if err != nil || len(documents) == 0 {
		t.Fatalf("%d attempts, %v", len(documents), err)
	}
	for _, document := range documents {
		validate(t, "attempt", document)
	}
}

// day is a day of the simulation.
func (n *nightly) day(t *testing.T, day int) {
	t.Helper()
	before := ""
	if day > 0 {
		before = n.inUse(t)
	}
	fails := func(code int, text string) {
		t.Helper()
		o := n.retrain(t, day)
		if o.code != code || !strings.Contains(o.stderr, text) {
			t.Errorf("day %d: exit code %d, want %d with %q; stderr:\n%s", day, o.code, code, text, o.stderr)
		}
		if now := n.inUse(t); now != before {
			t.Errorf("day %d: LATEST.json has moved from %s to %s", day, before, now)
		}
	}
	switch day {
	case 6: // labels are shuffled; the same day again is refused without training
		n.write(t, day, true)
		fails(4, "the gate refuses")
		attempts := len(n.attempts(t))
		fails(4, "the gate refuses")
		if now := len(n.attempts(t)); now != attempts {
			t.Errorf("the same day again is attempt %d, want none", now)
		}
	case 9: // a broken file
		n.write(t, day, false)
		b, err := n.store.ReadAll(t.Context(), n.fileOf(t, day), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.store.Put(t.Context(), n.fileOf(t, day), b[:len(b)/2], objectstore.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		fails(3, "not a Parquet file")
	case 12: // the file comes late
		fails(3, "the newest day with rows is")
	case 14: // another attempt is at work
		n.write(t, day, false)
		lock, _, _, err := runfolder.Acquire(t.Context(), n.store, objectstore.Join(n.url, "models"), func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		fails(5, "is at work there")
		lock.Release(t.Context())
	}
	n.write(t, day, false) // as it should have been
	o := n.retrain(t, day)
	if o.wants(t, 0); o.code != 0 {
		return
	}
	if now := n.inUse(t); now == before || !strings.Contains(now, dateOf(t, day)) {
		t.Errorf("day %d: the run in use is %q", day, now)
	}
	if again := n.retrain(t, day); !strings.Contains(again.stdout, "as before") {
		t.Errorf("day %d again: %s%s", day, again.stdout, again.stderr)
	}
}

// TestRetrainFigures: the file of --open_metrics has the outcome of the last attempt, however early it ended.
func TestRetrainFigures(t *testing.T) {
	n := newNightly(t, "file")
	n.write(t, 0, false)
	figures := filepath.Join(n.url, "espalier.prom")
	good := string(read(t, n.config)) + "open_metrics: '" + figures + "' # for the collector\n"
	attempt := func(name, text string, code int, outcome string, flags ...string) {
		t.Helper()
		if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if o := n.retrain(t, 0, flags...); o.code != code {
			t.Errorf("%s: exit code %d, want %d: %s", name, o.code, code, o.stderr)
		}
		told := string(read(t, figures))
		if !strings.Contains(told, "espalier_retrain_outcome{outcome=\""+outcome+"\"} 1\n") || strings.Count(told, "} 1\n") != 1 {
			t.Errorf("%s: want the outcome %s, got\n%s", name, outcome, told)
		}
		if outcome != "promoted" && !strings.Contains(told, "espalier_model_promoted_timestamp_seconds ") {
			t.Errorf("%s: the time of the last promotion is gone", name)
		}
	}
	attempt("the first", good, 0, "promoted")
	attempt("an unknown key", good+"labels: class\n", 2, "failed")
	attempt("repeated", good, 0, "promoted")
	attempt("a wrong value", strings.Replace(good, "max_depth: 4", "max_depth: four", 1), 2, "failed")
	attempt("repeated", good, 0, "promoted")
	attempt("no YAML", good+"label: [\n", 2, "failed")
	attempt("repeated", good, 0, "promoted")
	attempt("settings that do not go together", good, 2, "failed", "--split", "100/0/0")
	attempt("repeated", good, 0, "promoted")
	lock, _, _, err := runfolder.Acquire(t.Context(), n.store, objectstore.Join(n.url, "models"), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	attempt("another attempt is at work", good, 5, "failed")
	lock.Release(t.Context())
	attempt("repeated", good, 0, "promoted")
	if err := os.Remove(n.config); err != nil {
		t.Fatal(err)
	}
	destination := []string{"--open_metrics", figures, "--destination", n.url + "/models"}
	n.retrain(t, 0, destination...).wants(t, 2)
	if told := string(read(t, figures)); !strings.Contains(told, "{outcome=\"failed\"} 1\n") {
		t.Errorf("without a YAML file:\n%s", told)
	}
}

// TestInUse: nothing but retrain changes the tree in use.
func TestInUse(t *testing.T) {
	n := newNightly(t, "file")
	n.write(t, 0, false)
	n.retrain(t, 0, "--select", "best").wants(t, 0)
	models := filepath.Join(n.url, "models")
	run := filepath.Join(models, n.inUse(t))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(run, link); err != nil {
		t.Fatal(err)
	}
	tree := read(t, filepath.Join(run, "tree.json"))
	for _, folder := range []string{run, run + "/", link} {
		promoted := filepath.Join(t.TempDir(), "promoted")
		espalier(t, "frontier", folder, "--promote", "0", "--output", promoted, "--without_rows", "--progress", "none").wants(t, 0)
		espalier(t, "frontier", promoted, "--promote", "1", "--output", folder, "--overwrite", "--without_rows", "--progress",
			"none").wants(t, 2, "is in use: ")
		o := espalier(t, "train", "--input", n.fileOf(t, 0), "--label", "class", "--output", folder, "--overwrite", "--max_depth",
			"1", "--progress", "none")
		if o.code != 2 || !strings.Contains(o.stderr, "is in use: ") {
			t.Errorf("%s: exit code %d, %s", folder, o.code, o.stderr)
		}
	}
	espalier(t, "report", run, "--overwrite").wants(t, 0)
	if string(read(t, filepath.Join(run, "tree.json"))) != string(tree) {
		t.Error("the tree in use has changed")
	}
	n.inUse(t)
}

// TestRetrainKilled kills attempts without warning at seeded moments: LATEST.json always names a complete run that has
// passed the gate, and the attempt that is let alone ends.
func TestRetrainKilled(t *testing.T) {
	longtest.Skip(t)
	n := newNightly(t, "file")
	for day := range 6 {
		n.write(t, day, false)
	}
	start := time.Now()
	n.retrain(t, 4).wants(t, 0)
	took, random := time.Since(start), rand.New(rand.NewPCG(3, 4))
	before := n.inUse(t)
	kills := 12
	if longtest.Enabled() {
		kills = 60
	}
	// The first attempt is killed once it is in the history.
	c := exec.CommandContext(t.Context(), binary, "retrain", "--config", n.config, "--date", dateOf(t, 5))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	running := func() bool {
		return slices.ContainsFunc(n.attempts(t), func(a *retraining.Attempt) bool { return a.Outcome == retraining.Running })
	}
	for range 10_000 {
		if running() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = c.Process.Kill()
	_ = c.Wait() // it was killed
	// Early moments come first: the first attempt that ends by itself ends the day.
	moments := make([]float64, kills)
	for i := range moments {
		moments[i] = random.Float64()
	}
	slices.Sort(moments)
	for _, moment := range moments {
		c := exec.CommandContext(t.Context(), binary, "retrain", "--config", n.config, "--date", dateOf(t, 5))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(moment*float64(took)), func() { _ = c.Process.Kill() })
		_ = c.Wait() // it was killed
		timer.Stop()
		if now := n.inUse(t); now != before && !strings.Contains(now, dateOf(t, 5)) {
			t.Fatalf("LATEST.json names %s", now)
		}
	}
	n.retrain(t, 5).wants(t, 0)
	if now := n.inUse(t); !strings.Contains(now, dateOf(t, 5)) {
		t.Errorf("the run in use is %s, want that of the day", now)
	}
	killed := slices.ContainsFunc(n.attempts(t), func(a *retraining.Attempt) bool {
		return a.Outcome == retraining.Interrupted && a.Error == "killed"
	})
	if !killed || running() {
		t.Errorf("the history has killed attempts as such: %t, and active ones: %t", killed, running())
	}
}

// TestRetrainRefusals: settings that cannot be carried out, by exit code 2.
func TestRetrainRefusals(t *testing.T) {
	n := newNightly(t, "file")
	n.write(t, 0, false)
	for _, c := range []struct {
		flags []string
		text  string
	}{
		{[]string{"--date", "today"}, "want a day such as"},
		{[]string{"--gate_metrics", "auc"}, "--gate_metrics auc: want"},
		{[]string{"--split", "100/0/0"}, "the gate measures on test rows"},
		{[]string{"--input", n.url + "/{date..}"}, "want {date}, {date-1} or {date-29..date}"},
		{[]string{"--input", n.url + "/{date..date-2}"}, "has -1 days"},
	} {
		o := n.retrain(t, 0, c.flags...)
		if o.code != 2 || !strings.Contains(o.stderr, c.text) {
			t.Errorf("%v: exit code %d, %q; want %q", c.flags, o.code, o.stderr, c.text)
		}
	}
	if o := espalier(t, "retrain"); o.code != 2 {
		t.Errorf("without a file: exit code %d", o.code)
	}
}
