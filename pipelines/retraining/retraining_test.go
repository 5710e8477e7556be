package retraining_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// newConfig returns a retraining of one file, whose class says whether x is above one half, with errors.
func newConfig(t *testing.T) config.Retrain {
	t.Helper()
	c := config.DefaultRetrain()
	c.Train.Input = []string{rowsAbove(t, "yes", "no")}
	c.Train.Label, c.Train.Select, c.Train.MaxDepth = "class", frontier.First, 2
	c.Destination, c.Date = filepath.Join(t.TempDir(), "models"), "2026-11-01"
	return c
}

// rowsAbove writes rows of a column x, with the class above for seven in eight of the rows whose x is above a half.
func rowsAbove(t *testing.T, above, below string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "rows.parquet")
	r := rand.New(rand.NewPCG(1, 2))
	x, class := make([]float64, 2000), make([]string, 2000)
	for i := range x {
		x[i] = r.Float64()
		class[i] = map[bool]string{true: above, false: below}[(x[i] > 0.5) != (r.IntN(8) == 0)]
	}
	err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// thief moves LATEST.json while the drift of an attempt is measured.
type thief struct {
	engine.Silent

	steal func()
}

func (s thief) Job(name string, _ int64, _ string) {
	if name == "drift" {
		s.steal()
	}
}

// TestLostPrecondition: another program moves LATEST.json during an attempt, which then moves nothing.
func TestLostPrecondition(t *testing.T) {
	c, store := newConfig(t), objectstore.New()
	first, repeated, err := retraining.Retrain(t.Context(), c, engine.Silent{})
	if err != nil || repeated || first.Outcome != retraining.Promoted {
		t.Fatalf("%+v, %v", first, err)
	}
	c.Date = "2026-11-02"
	stolen := false
	reporter := thief{steal: func() {
		p, err := latest.Read(context.Background(), store, c.Destination)
		if err == nil {
			_, err = latest.Promote(context.Background(), store, c.Destination, latest.Pointer{Run: p.Run, Promoted: time.Now()}, p)
		}
		if err != nil {
			t.Error(err)
		}
		stolen = true
	}}
	a, _, err := retraining.Retrain(t.Context(), c, reporter)
	if !stolen || !errors.Is(err, latest.ErrOvertaken) || a.Outcome != retraining.Overtaken {
		t.Fatalf("%+v, %v; want an attempt that was overtaken", a, err)
	}
	if p, err := latest.Read(t.Context(), store, c.Destination); err != nil || p.Run != first.Run {
		t.Errorf("LATEST.json names %+v, %v; want %s", p, err, first.Run)
	}
	again, repeated, err := retraining.Retrain(t.Context(), c, engine.Silent{})
	if err != nil || repeated || again.Run != a.Run || again.Outcome != retraining.Promoted {
		t.Errorf("again: %+v, %v; want the same run, promoted", again, err)
	}
}

// breaker ends an attempt once a level has been counted.
type breaker struct {
	engine.Silent

	end func()
}

func (b breaker) Job(name string, _ int64, _ string) {
	if strings.HasPrefix(name, "induce") {
		b.end()
	}
}

// TestBrokenAttempts: an attempt that leaves checkpoints does not keep later attempts from ending
// the day, whatever its run folder has, and the tree equals the tree of an uninterrupted attempt.
func TestBrokenAttempts(t *testing.T) {
	c := newConfig(t)
	c.Train.MemoryObjects, c.Train.MaxDepth = 20, 6
	whole, _, err := retraining.Retrain(t.Context(), c, engine.Silent{})
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, filepath.Join(c.Destination, whole.Run))
	for name, change := range map[string]func(state []byte) []byte{
		"as it was":       func(state []byte) []byte { return state },
		"another version": func(state []byte) []byte { return bytes.Replace(state, []byte(runfolder.Version()), []byte("0.1"), 1) },
		"another setting": func(state []byte) []byte {
			return bytes.Replace(state, []byte(`"config":{`), []byte(`"config":{"seed":99,`), 1)
		},
		"damaged": func(state []byte) []byte { return state[:len(state)/2] },
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Destination = filepath.Join(t.TempDir(), "models")
			ctx, cancel := context.WithCancel(t.Context())
			broken, _, err := retraining.Retrain(ctx, c, breaker{end: cancel})
			if err == nil || broken.Outcome != retraining.Interrupted {
				t.Fatalf("%+v, %v; want an attempt that was interrupted", broken, err)
			}
			state := filepath.Join(c.Destination, broken.Run, "checkpoints", "state.json")
			b, err := os.ReadFile(state)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(state, change(b), 0o600); err != nil {
				t.Fatal(err)
			}
			a, _, err := retraining.Retrain(t.Context(), c, engine.Silent{})
			if err != nil || a.Outcome != retraining.Promoted || a.Run != broken.Run {
				t.Fatalf("%+v, %v; want %s, promoted", a, err, broken.Run)
			}
			got := files(t, filepath.Join(c.Destination, a.Run))
			if !bytes.Equal(got["tree.json"], want["tree.json"]) {
				t.Error("another tree than that of an attempt that was let alone")
			}
			if name != "damaged" && !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
				t.Errorf("%d files, want %v", len(got), slices.Sorted(maps.Keys(want))) // a damaged file names no folders
			}
		})
	}
}

// files returns the files below a folder by name.
func files(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, path) // path is below folder
		found[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// retrainedOn retrains for a day. It returns the attempt, and the run that LATEST.json names then.
func retrainedOn(t *testing.T, c config.Retrain, day string) (*retraining.Attempt, string, error) {
	t.Helper()
	c.Date = day
	a, _, err := retraining.Retrain(t.Context(), c, engine.Silent{})
	p, readErr := latest.Read(t.Context(), objectstore.New(), c.Destination)
	if readErr != nil || p == nil {
		t.Fatal(err, readErr)
	}
	return a, p.Run, err
}

// TestLaterDay: a run of a day before the day of the run in use is trained and judged, and only
// replaces it with --replace, which also brings back a run that has been in use.
func TestLaterDay(t *testing.T) {
	c := newConfig(t)
	back := c
	back.Replace = true
	var runs [4]string
	for _, step := range []struct {
		config  config.Retrain
		day     int
		outcome string
		inUse   int
	}{
		{c, 2, retraining.Promoted, 2},
		{c, 1, retraining.Backfilled, 2},
		{c, 1, retraining.Backfilled, 2},
		{c, 3, retraining.Promoted, 3},
		{c, 2, retraining.Promoted, 3}, // as before
		{back, 2, retraining.Promoted, 2},
		{back, 2, retraining.Promoted, 2},
		{c, 3, retraining.Promoted, 2}, // as before: who has rolled back does not want it
		{back, 1, retraining.Promoted, 1},
	} {
		a, inUse, err := retrainedOn(t, step.config, "2026-11-0"+strconv.Itoa(step.day))
		if err != nil || a.Outcome != step.outcome {
			t.Fatalf("%+v: %+v, %v", step, a, err)
		}
		if runs[step.day] = a.Run; inUse != runs[step.inUse] {
			t.Errorf("day %d: LATEST.json names %s, want the run of day %d", step.day, inUse, step.inUse)
		}
	}
}

// TestOtherTree: a tree of another label or of other classes takes the place of the tree in use only by --replace.
func TestOtherTree(t *testing.T) {
	c := newConfig(t)
	write := func(label, yes string) config.Retrain {
		changed := c
		changed.Train.Label, changed.Train.Input = label, []string{filepath.Join(t.TempDir(), "rows.parquet")}
		x, class := make([]float64, 2000), make([]string, 2000)
		for i := range x {
			x[i] = float64(i*7919%2000) / 2000
			class[i] = map[bool]string{true: yes, false: "no"}[(x[i] > 0.5) != (i%8 == 0)]
		}
		err := parquetio.Write(t.Context(), objectstore.New(), changed.Train.Input[0], []parquetio.WriteColumn{
			{Name: "x", Values: x}, {Name: label, Values: class},
		}, parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	_, first, err := retrainedOn(t, c, "2026-11-01")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{config.ModeTrain, config.ModeRefit} {
		other := write("fraud", "yes")
		other.Mode = mode
		if _, inUse, err := retrainedOn(t, other, "2026-11-02"); err == nil || inUse != first ||
			!strings.Contains(err.Error(), `predicts "class", and --label is fraud`) {
			t.Errorf("another label, %s: %s in use, %v", mode, inUse, err)
		}
	}
	classes := write("class", "maybe")
	var refused *retraining.RefusedError
	if _, inUse, err := retrainedOn(t, classes, "2026-11-02"); !errors.As(err, &refused) || inUse != first ||
		!strings.Contains(err.Error(), "maybe, no") {
		t.Errorf("other classes: %s in use, %v", inUse, err)
	}
	for _, changed := range []config.Retrain{classes, write("fraud", "yes")} {
		changed.Replace, changed.Mode = true, config.ModeRefit
		if changed.Train.Label == "class" {
			changed.Mode = config.ModeTrain // tests know their classes
		}
		if a, inUse, err := retrainedOn(t, changed, "2026-11-02"); err != nil || inUse != a.Run {
			t.Errorf("--replace with %s: %s in use, %v", changed.Train.Label, inUse, err)
		}
	}
}

// TestBrokenInUse: a run in use whose tree was changed is judged again, and LATEST.json names its tree then; one that is
// gone is replaced by --replace alone.
func TestBrokenInUse(t *testing.T) {
	c := newConfig(t)
	a, _, err := retrainedOn(t, c, "2026-11-01")
	if err != nil {
		t.Fatal(err)
	}
	url, store := filepath.Join(c.Destination, latest.Name), objectstore.New()
	file := filepath.Join(c.Destination, a.Run, "tree.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(b, []byte(`"seed": 1`), []byte(`"seed": 2`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runfolder.ReadTree(t.Context(), store, url); err == nil {
		t.Fatal("LATEST.json names the changed tree")
	}
	if _, _, err := retrainedOn(t, c, "2026-11-01"); err != nil {
		t.Error(err)
	}
	if _, err := runfolder.ReadTree(t.Context(), store, url); err != nil {
		t.Error(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := retrainedOn(t, c, "2026-11-02"); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("without the tree in use: %v", err)
	}
	c.Replace = true
	if a, inUse, err := retrainedOn(t, c, "2026-11-02"); err != nil || inUse != a.Run ||
		!slices.ContainsFunc(a.Checks, func(c gate.Check) bool { return c.Check == "max_auc_fall" }) {
		t.Errorf("--replace: %v, checks %v", err, a.Checks)
	}
}

// TestUnreadableInUse: a tree in use that cannot be read, but may come back, is never replaced.
func TestUnreadableInUse(t *testing.T) {
	c := newConfig(t)
	a, first, err := retrainedOn(t, c, "2026-11-01")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.Destination, a.Run, "tree.json")
	if err := errors.Join(os.Remove(file), os.Symlink("tree.json", file)); err != nil { // root cannot read it either
		t.Fatal(err)
	}
	for _, c.Replace = range []bool{false, true} {
		_, inUse, err := retrainedOn(t, c, "2026-11-02")
		if err == nil || inUse != first || strings.Contains(err.Error(), "--replace") || !strings.Contains(err.Error(), "previous") {
			t.Errorf("replace %v: %s in use, %v", c.Replace, inUse, err)
		}
	}
}

// TestUnreadableAtGate: what the gate cannot read of the run in use is for a person, and refuses no run for good.
func TestUnreadableAtGate(t *testing.T) {
	c := newConfig(t)
	c.Gate.Tolerance = 1
	_, first, err := retrainedOn(t, c, "2026-11-01")
	if err != nil {
		t.Fatal(err)
	}
	schema := filepath.Join(c.Destination, first, runfolder.SchemaName)
	content, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(schema, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Train.Seed++
	a, inUse, err := retrainedOn(t, c, "2026-11-02")
	if usage.NatureOf(err) != usage.Usage || a.Outcome != retraining.Failed || inUse != first {
		t.Errorf("%s in use, %+v, %v", inUse, a, err)
	}
	if err := os.WriteFile(schema, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, inUse, err = retrainedOn(t, c, "2026-11-02"); err != nil || inUse != a.Run || a.Outcome != retraining.Promoted {
		t.Errorf("%s in use, %+v, %v", inUse, a, err)
	}
}

// TestWithoutDistribution: the drift from a run without distribution.json is unknown, which refuses a run only for a limit,
// without --replace.
func TestWithoutDistribution(t *testing.T) {
	c, list := newConfig(t), new(warned)
	c.Gate.Tolerance = 1
	_, first, err := retrainedOn(t, c, "2026-11-01")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(c.Destination, first, runfolder.DistributionName)); err != nil {
		t.Fatal(err)
	}
	limited := c
	limited.Gate.MaxPSI, limited.Date = 1, "2026-11-02"
	var refused *retraining.RefusedError
	if _, _, err := retraining.Retrain(t.Context(), limited, list); !errors.As(err, &refused) || len(list.texts) > 0 ||
		!strings.HasPrefix(refused.Reasons[0], "drift cannot be measured") || strings.Contains(err.Error(), "train again") {
		t.Errorf("a limit: %v, warnings %q", err, list.texts)
	}
	replacing := limited
	replacing.Replace, replacing.Destination = true, filepath.Join(t.TempDir(), "models")
	if err := os.CopyFS(replacing.Destination, os.DirFS(c.Destination)); err != nil {
		t.Fatal(err)
	}
	for _, passing := range []config.Retrain{replacing, c} {
		passing.Date, list.texts = "2026-11-03", nil
		a, _, err := retraining.Retrain(t.Context(), passing, list)
		if err != nil || a.Outcome != retraining.Promoted || len(list.texts) != 1 || !strings.HasPrefix(list.texts[0], "drift cannot be measured") {
			t.Errorf("replace %v: %+v, error %v, warnings %q", passing.Replace, a, err, list.texts)
		}
	}
}

// TestDamagedHistory: documents that cannot be used stop neither retrain nor the way back, and stay.
func TestDamagedHistory(t *testing.T) {
	c := newConfig(t)
	c.Gate.Tolerance = 1
	for _, day := range []string{"2026-11-01", "2026-11-02"} {
		c.Train.Seed++
		if _, _, err := retrainedOn(t, c, day); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(c.Destination, "history", "*.json"))
	for _, content := range []string{"", `{"format": "espalier/attempt", "version": 3, "outcome": "quarantined"}`} {
		if err := os.WriteFile(filepath.Join(c.Destination, "history", "a.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		list, _, err := retraining.History(t.Context(), c, engine.Silent{})
		if err != nil || len(list) != len(files) {
			t.Errorf("%q: %d attempts, %v", content, len(list), err)
		}
		u := config.DefaultUse()
		u.Destination, u.Run = c.Destination, config.Previous
		if _, err := retraining.Use(t.Context(), u, engine.Silent{}); err != nil {
			t.Errorf("%q: %v", content, err)
		}
		files = append(files, "the attempt of use")
	}
	c.Train.Seed++
	if _, _, err := retrainedOn(t, c, "2026-11-03"); err != nil {
		t.Error(err)
	}
}

// TestDaysWithoutRows: files without rows are no rows of their day.
func TestDaysWithoutRows(t *testing.T) {
	c := newConfig(t)
	rows, folder := c.Train.Input[0], t.TempDir()
	if err := os.Link(rows, filepath.Join(folder, "2026-11-01.parquet")); err != nil {
		t.Fatal(err)
	}
	for day, columns := range map[string][]parquetio.WriteColumn{
		"2": {{Name: "x", Values: []float64{}}, {Name: "class", Values: []string{}}},
		"3": {{Name: "x", Values: []float64{}}, {Name: "class", Values: []string{}}},
		"4": {{Name: "x", Values: []float64{1, 2}}, {Name: "class", Values: []*string{nil, nil}}},
	} {
		err := parquetio.Write(t.Context(), objectstore.New(), filepath.Join(folder, "2026-11-0"+day+".parquet"), columns,
			parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Train.Input = []string{filepath.Join(folder, "{date-2..date}.parquet")}
	a, first, err := retrainedOn(t, c, "2026-11-01")
	if err != nil || len(a.Missing) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	_, inUse, err := retrainedOn(t, c, "2026-11-02")
	var data *dataset.DataError
	if !errors.As(err, &data) || inUse != first || !strings.Contains(err.Error(), "the newest day with rows is 2026-11-01") {
		t.Errorf("%s in use, %v; want a stale input", inUse, err)
	}
	c.MaxLag = 1
	if a, _, err := retrainedOn(t, c, "2026-11-02"); err != nil || !slices.Equal(a.Missing, []string{"2026-10-31", "2026-11-02"}) {
		t.Errorf("%+v, %v; want a day without rows", a, err)
	}
	c.Train.Input = []string{filepath.Join(folder, "{date}.parquet")}
	if _, _, err := retrainedOn(t, c, "2026-11-03"); !errors.As(err, &data) || !strings.Contains(err.Error(), "no file with rows") {
		t.Errorf("one file without rows: %v", err)
	}
	c.Train.DropNullLabels = true
	if _, _, err := retrainedOn(t, c, "2026-11-04"); !errors.As(err, &data) || !strings.Contains(err.Error(), "no file with rows") {
		t.Errorf("one file without labels: %v", err)
	}
}

// TestNewColumn: a column that only the newest days have is left out until all days have it, unless a contract rules. A
// column that a newer day has lost is an error that names the day.
func TestNewColumn(t *testing.T) {
	c := newConfig(t)
	folder := t.TempDir()
	rows := func(day string, further ...string) {
		t.Helper()
		x, class := make([]float64, 900), make([]string, 900)
		for i := range x {
			x[i] = float64(i*7919%900) / 900
			class[i] = map[bool]string{true: "yes", false: "no"}[(x[i] > 0.5) != (i%8 == 0)]
		}
		columns := []parquetio.WriteColumn{{Name: "class", Values: class}}
		for _, name := range further {
			columns = append(columns, parquetio.WriteColumn{Name: name, Values: x})
		}
		err := parquetio.Write(t.Context(), objectstore.New(), filepath.Join(folder, day+".parquet"), columns, parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Train.Input = []string{filepath.Join(folder, "{date-2..date}.parquet")}
	c.Gate.Tolerance = 1
	rows("2026-11-01", "x")
	rows("2026-11-02", "x")
	rows("2026-11-03", "x", "new")
	names := func(day string) []string {
		t.Helper()
		a, _, err := retrainedOn(t, c, day)
		if err != nil {
			t.Fatal(err)
		}
		r, err := runfolder.Read(t.Context(), objectstore.New(), filepath.Join(c.Destination, a.Run), runfolder.Training, runfolder.SchemaName)
		if err != nil {
			t.Fatal(err)
		}
		var features []string
		for _, column := range r.Schema.Columns {
			if column.Role == "feature" {
				features = append(features, column.Name)
			}
		}
		return features
	}
	if got := names("2026-11-03"); !slices.Equal(got, []string{"x"}) {
		t.Errorf("features %q, want x alone", got)
	}
	rows("2026-11-04", "x", "new")
	rows("2026-11-05", "x", "new")
	if got := names("2026-11-05"); !slices.Equal(got, []string{"x", "new"}) {
		t.Errorf("features %q, want all", got)
	}
	rows("2026-11-06", "x")
	if _, _, err := retrainedOn(t, c, "2026-11-06"); err == nil || !strings.Contains(err.Error(), "2026-11-06.parquet") {
		t.Errorf("a lost column: %v", err)
	}
}

// TestGate refuses by each limit, with its name in the history.
func TestGate(t *testing.T) {
	c := newConfig(t)
	if _, _, err := retraining.Retrain(t.Context(), c, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *config.Retrain){
		"min_auc":        func(c *config.Retrain) { c.Gate.MinAUC = 0.999 },
		"max_auc_fall":   func(c *config.Retrain) { c.Train.MaxDepth, c.Train.MinRows = 1, 1_000_000; c.Gate.Metrics = nil },
		"gate_metrics":   func(c *config.Retrain) { c.Train.MinRows = 1_000_000; c.Gate.MaxAUCFall = 1 },
		"max_flips":      func(c *config.Retrain) { c.Train.MinRows, c.Gate.MaxFlips = 1_000_000, 0.1 },
		"max_cost_ratio": func(c *config.Retrain) { c.Gate.MaxCostRatio = 0.5 },
	} {
		changed := c
		changed.Date = "2026-11-03"
		change(&changed)
		a, _, err := retraining.Retrain(t.Context(), changed, engine.Silent{})
		var refused *retraining.RefusedError
		if !errors.As(err, &refused) || a.Outcome != retraining.Refused {
			t.Errorf("%s: %v, want a refusal", name, err)
			continue
		}
		found := false
		for _, check := range a.Checks {
			found = found || check.Check == name && !check.Passed
		}
		if !found {
			t.Errorf("%s: refused for %q", name, refused.Reasons)
		}
	}
}

// warned keeps the warnings of an attempt.
type warned struct {
	engine.Silent

	texts []string
}

func (w *warned) Warn(text string) { w.texts = append(w.texts, text) }

// TestManyFlips: where the label changes its meaning, the new tree passes the gate, and the rows get another class;
// a limit refuses it.
func TestManyFlips(t *testing.T) {
	c, list := newConfig(t), new(warned)
	if _, _, err := retraining.Retrain(t.Context(), c, list); err != nil || len(list.texts) > 0 {
		t.Fatal(err, list.texts)
	}
	c.Train.Input, c.Date = []string{rowsAbove(t, "no", "yes")}, "2026-11-02"
	a, _, err := retraining.Retrain(t.Context(), c, list)
	if err != nil || a.Outcome != retraining.Promoted || !strings.Contains(strings.Join(list.texts, "\n"), "another class") {
		t.Errorf("%v, %+v, warnings %q", err, a, list.texts)
	}
	if r, err := pipelines.ReadFigures(t.Context(), filepath.Join(c.Destination, latest.Name)); err != nil || r.Metrics == nil {
		t.Errorf("figures of the run in use: %v", err)
	}
	c.Gate.MaxFlips, c.Date = 0.5, "2026-11-03"
	c.Train.Input = []string{rowsAbove(t, "yes", "no")}
	var refused *retraining.RefusedError
	if _, _, err = retraining.Retrain(t.Context(), c, list); !errors.As(err, &refused) {
		t.Errorf("%v, want a refusal by max_flips", err)
	}
}

// TestOpenMetrics: each attempt replaces the figures of the one before, and nothing else.
func TestOpenMetrics(t *testing.T) {
	c := newConfig(t)
	c.OpenMetrics = filepath.Join(t.TempDir(), "espalier.prom")
	if _, _, err := retraining.Retrain(t.Context(), c, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	wants := func(texts ...string) {
		t.Helper()
		b, err := os.ReadFile(c.OpenMetrics)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if !strings.Contains(string(b), text+"\n") {
				t.Errorf("no %q in\n%s", text, b)
			}
		}
	}
	wants(`espalier_retrain_outcome{outcome="promoted"} 1`, `espalier_retrain_outcome{outcome="refused"} 0`,
		"espalier_retrain_refusals 0", "espalier_retrain_files 1", "espalier_retrain_rows 2000", // all rows of newConfig
		"# TYPE espalier_retrain_auc gauge", "# EOF")
	c.Gate.MinAUC = 0.999
	if _, _, err := retraining.Retrain(t.Context(), c, engine.Silent{}); err == nil {
		t.Error("an AUC below the limit passes")
	}
	wants(`espalier_retrain_outcome{outcome="refused"} 1`, "espalier_retrain_refusals 1")
	c.OpenMetrics = c.Train.Input[0]
	if _, _, err := retraining.Retrain(t.Context(), c, engine.Silent{}); err == nil || !strings.Contains(err.Error(), "--open_metrics") {
		t.Errorf("the input as the file of figures: %v", err)
	}
}

// TestKey: the same day is another run once a file that the settings name holds something else, and the
// same run once it holds what it held.
func TestKey(t *testing.T) {
	c := newConfig(t)
	c.Gate.Metrics = nil // weights and priors change probabilities
	run := func() (name string, repeated bool) {
		t.Helper()
		a, repeated, err := retraining.Retrain(t.Context(), c, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		return a.Run, repeated
	}
	first, _ := run()
	folder := t.TempDir()
	for name, s := range map[string]struct {
		setting   *string
		text, now string
	}{
		"costs":         {&c.Train.CostsFile, "feature,cost\nx,2\n", "feature,cost\nx,3\n"},
		"class_weights": {&c.Train.ClassWeightsFile, "class,weight\nyes,2\n", "class,weight\nyes,3\n"},
		"priors":        {&c.Train.PriorsFile, "class,prior\nyes,0.4\nno,0.6\n", "class,prior\nyes,0.3\nno,0.7\n"},
		"cuts":          {&c.Train.CutsFile, "feature,cut\nx,0.5\n", "feature,cut\nx,0.5\nx,0.2\n"},
		"error_costs":   {&c.Train.ErrorCostsFile, "actual,predicted,cost\nyes,no,2\n", "actual,predicted,cost\nyes,no,3\n"},
	} {
		before := *s.setting
		*s.setting = filepath.Join(folder, name+".csv")
		write := func(text string) {
			if err := os.WriteFile(*s.setting, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(s.text)
		one, _ := run()
		write(s.now)
		other, repeated := run()
		if one == first || other == one || repeated {
			t.Errorf("%s: %s, then %s, want two other runs than %s", name, one, other, first)
		}
		write(s.text)
		if again, repeated := run(); again != one || !repeated {
			t.Errorf("%s: %s with the first values again, want %s", name, again, one)
		}
		*s.setting = before
	}
	c.Train.CutsFrom = filepath.Join(c.Destination, first)
	if run, repeated := run(); run == first || repeated {
		t.Errorf("with --cuts_from: %s", run)
	}
}

// TestRefit: a refit keeps the tests of the run in use, is done once a day, and goes on after a kill at the last moment.
func TestRefit(t *testing.T) {
	c, store := newConfig(t), objectstore.New()
	c.Mode = config.ModeRefit
	run := func() (*retraining.Attempt, bool) {
		t.Helper()
		a, repeated, err := retraining.Retrain(t.Context(), c, engine.Silent{})
		if err != nil || a.Outcome != retraining.Promoted {
			t.Fatalf("%+v, %v", a, err)
		}
		return a, repeated
	}
	questions := func(a *retraining.Attempt) (tests []split.Test, root tree.Node) {
		t.Helper()
		found, err := runfolder.ReadTree(t.Context(), store, objectstore.Join(c.Destination, a.Run))
		if err != nil {
			t.Fatal(err)
		}
		for i := range found.Nodes {
			if !found.Nodes[i].Leaf() {
				tests = append(tests, found.Nodes[i].Test.Test)
			}
		}
		return tests, found.Nodes[0]
	}
	first, _ := run()
	c.Date, c.Train.Split = "2026-11-02", dataset.Shares{40, 10, 50} // other rows train
	second, repeated := run()
	if first.Mode != config.ModeTrain || second.Mode != config.ModeRefit || second.Before != first.Run || repeated {
		t.Fatalf("%+v, then %+v", first, second)
	}
	one, root := questions(first)
	two, now := questions(second)
	if len(one) == 0 || !reflect.DeepEqual(one, two) || now.Rows >= root.Rows {
		t.Errorf("tests %+v of %d rows, then %+v of %d", one, root.Rows, two, now.Rows)
	}
	if again, repeated := run(); !repeated || again.Run != second.Run {
		t.Errorf("again: %+v", again)
	}
	history, _, err := retraining.History(t.Context(), c, engine.Silent{})
	if err != nil || len(history) != 2 {
		t.Fatalf("%d attempts, %v", len(history), err)
	}
	files, err := filepath.Glob(filepath.Join(c.Destination, "history", "*-2026-11-02.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(files[0], bytes.Replace(b, []byte(`"promoted"`), []byte(`"running"`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	third, repeated := run()
	if repeated || third.Run != second.Run || third.Before != first.Run {
		t.Errorf("after a kill behind the promotion: %+v, want %s", third, second.Run)
	}
	c.Train.CutsFrom = first.Run
	if _, _, err := retraining.Retrain(t.Context(), c, engine.Silent{}); err == nil || !strings.Contains(err.Error(), "leave out --cuts_from") {
		t.Errorf("--cuts_from: %v", err)
	}
}

// TestRetention: runs beyond the newest one, the one in use and the one before it go, also if an attempt was killed
// while it removed one. Folders of others stay.
func TestRetention(t *testing.T) {
	c := newConfig(t)
	c.KeepRuns = 1
	var runs []string
	for _, date := range []string{"2026-11-01", "2026-11-02", "2026-11-03"} {
		c.Date = date
		if date == "2026-11-03" {
			for _, name := range []string{"manifest.json", "_SUCCESS"} { // as far as the removal of a folder had come
				if err := os.Remove(filepath.Join(c.Destination, runs[0], name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(c.Destination, "runs", "notes"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		a, _, err := retraining.Retrain(t.Context(), c, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, a.Run)
	}
	for name, stays := range map[string]bool{runs[0]: false, runs[1]: true, runs[2]: true, "runs/notes": true} {
		if _, err := os.Stat(filepath.Join(c.Destination, name)); stays != (err == nil) {
			t.Errorf("%s: %v; it stays: want %v", name, err, stays)
		}
	}
}

// TestRetentionCountsPromoted: refused runs take no place of promoted runs. The newest refused run stays, and
// so does a refused run that a person has put in use.
func TestRetentionCountsPromoted(t *testing.T) {
	c := newConfig(t)
	c.KeepRuns = 2
	var runs []string
	attempt := func(day int, refused bool) {
		t.Helper()
		c.Date, c.Gate.MinAUC = "2026-11-0"+strconv.Itoa(day), 0
		if refused {
			c.Gate.MinAUC = 0.999
		}
		a, _, err := retraining.Retrain(t.Context(), c, engine.Silent{})
		if errors.As(err, new(*retraining.RefusedError)) != refused || err != nil && !refused {
			t.Fatal(err)
		}
		runs = append(runs, a.Run)
	}
	wants := func(want ...bool) {
		t.Helper()
		for i, run := range runs {
			if _, err := os.Stat(filepath.Join(c.Destination, run)); want[i] != (err == nil) {
				t.Errorf("run %d: %v; it stays: want %v", i, err, want[i])
			}
		}
	}
	for i, refused := range []bool{false, false, false, true, true, true} {
		attempt(i+1, refused)
	}
	wants(false, true, true, false, false, true)
	u := config.DefaultUse()
	u.Destination, u.Run = c.Destination, runs[5]
	if _, err := retraining.Use(t.Context(), u, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	attempt(7, true)
	wants(false, false, true, false, false, true, true)
}

// TestKilledAfterPromotion: OpenHistory ends an attempt that was killed after it had moved LATEST.json as promoted, at the
// time of the promotion, and an attempt at another tree as interrupted.
func TestKilledAfterPromotion(t *testing.T) {
	c, store := newConfig(t), objectstore.New()
	c.Gate.Tolerance = 1
	var attempts []*retraining.Attempt
	for _, day := range []string{"2026-11-01", "2026-11-02"} {
		c.Train.Seed++
		a, _, err := retrainedOn(t, c, day)
		if err != nil {
			t.Fatal(err)
		}
		attempts = append(attempts, a)
	}
	first, killed := attempts[0], attempts[1]
	documents, _ := filepath.Glob(filepath.Join(c.Destination, "history", "*-2026-11-02.json"))
	if len(documents) != 1 {
		t.Fatal(documents)
	}
	whole, err := os.ReadFile(documents[0])
	if err != nil {
		t.Fatal(err)
	}
	seconds := regexp.MustCompile(`"seconds": [0-9.e+-]+`)
	open := func(digest string) *retraining.Attempt {
		text := seconds.ReplaceAllString(string(whole), `"seconds": 0`)
		text = strings.Replace(text, `"outcome": "promoted"`, `"outcome": "running"`, 1)
		text = strings.Replace(text, killed.Digest, digest, 1)
		if err := os.WriteFile(documents[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := retraining.OpenHistory(t.Context(), store, c.Destination, func(string) {}); err != nil {
			t.Fatal(err)
		}
		history, _, err := retraining.History(t.Context(), c, engine.Silent{})
		if err != nil || len(history) != 2 {
			t.Fatal(history, err)
		}
		return history[1]
	}
	if got := open(first.Digest); got.Outcome != retraining.Interrupted || got.Error != "killed" {
		t.Errorf("an attempt at another tree has ended as %s (%s), want interrupted", got.Outcome, got.Error)
	}
	if got := open(killed.Digest); got.Outcome != retraining.Promoted || got.Error == "" || got.Before != first.Run {
		t.Errorf("%+v, want the attempt promoted in place of %s", got, first.Run)
	}
	now, err := latest.Read(t.Context(), store, c.Destination)
	if err != nil {
		t.Fatal(err)
	}
	traced, err := retraining.Trace(t.Context(), store, c.Destination, first.Digest, "")
	if err != nil || len(traced.Uses) != 1 || traced.Uses[0].Until == nil || traced.Uses[0].Until.Sub(now.Promoted).Abs() > time.Millisecond {
		t.Errorf("the first run was in use %+v, want until %v: %v", traced.Uses, now.Promoted, err)
	}
	u := config.DefaultUse()
	u.Destination, u.Run = c.Destination, config.Previous
	if a, err := retraining.Use(t.Context(), u, engine.Silent{}); err != nil || a.Run != first.Run {
		t.Errorf("%+v, %v; want %s in use", a, err, first.Run)
	}
}
