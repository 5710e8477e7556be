package main_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// delayed is a folder with rows and predictions by day, whose labels come later.
type delayed struct {
	folder string
	labels []string // class by id
}

const delayedRows = 400 // rows of a day

// newDelayed writes the rows of days days to days/DATE.parquet: x, shop, their id and their class.
func newDelayed(t *testing.T, days int) *delayed {
	t.Helper()
	d := &delayed{folder: t.TempDir()}
	r := rand.New(rand.NewPCG(3, 5))
	for day := range days {
		x, shop := make([]float64, delayedRows), make([]string, delayedRows)
		id, class := make([]int64, delayedRows), make([]string, delayedRows)
		for i := range x {
			x[i], shop[i], id[i] = r.Float64(), string(rune('a'+r.IntN(4))), int64(len(d.labels))
			class[i] = strconv.FormatBool((x[i] > 0.5 && shop[i] != "a") != (r.IntN(5) == 0))
			d.labels = append(d.labels, class[i])
		}
		d.write(t, filepath.Join("days", dateOf(t, day)+".parquet"), parquetio.WriteColumn{Name: "x", Values: x},
			parquetio.WriteColumn{Name: "shop", Values: shop}, parquetio.WriteColumn{Name: "id", Values: id},
			parquetio.WriteColumn{Name: "class", Values: class})
	}
	return d
}

func (d *delayed) path(name string) string { return filepath.Join(d.folder, name) }

func (d *delayed) write(t *testing.T, name string, columns ...parquetio.WriteColumn) {
	t.Helper()
	err := parquetio.Write(t.Context(), objectstore.New(), d.path(name), columns, parquetio.WriteOptions{RowsPerGroup: 150})
	if err != nil {
		t.Fatal(err)
	}
}

// writeLabels writes the labels of the ids [from, to), which are texts if texts is true.
func (d *delayed) writeLabels(t *testing.T, name string, from, to int, texts bool) {
	t.Helper()
	var ids []int32
	var spelled, class []string
	for id := from; id < to; id++ {
		ids, spelled = append(ids, int32(id)), append(spelled, strconv.Itoa(id))
		class = append(class, d.labels[id%len(d.labels)])
	}
	key := parquetio.WriteColumn{Name: "id", Values: ids}
	if texts {
		key.Values = spelled
	}
	d.write(t, name, key, parquetio.WriteColumn{Name: "class", Values: class})
}

// predict scores the rows of a day into scored/DATE.
func (d *delayed) predict(t *testing.T, day int, run string, more ...string) {
	t.Helper()
	args := append([]string{
		"predict", "--model", d.path(run), "--input", d.path(filepath.Join("days", dateOf(t, day)+".parquet")),
		"--output", d.path(filepath.Join("scored", dateOf(t, day))), "--key", "id", "--label", "none", "--progress", "none",
	}, more...)
	espalier(t, args...).wants(t, 0)
}

// evaluate measures the predictions, and returns the document.
func (d *delayed) evaluate(t *testing.T, predictions string, more ...string) *runfolder.Live {
	t.Helper()
	args := append([]string{
		"evaluate", "--predictions", d.path(predictions), "--key", "id", "--json", "--progress", "none",
	}, more...)
	o := espalier(t, args...)
	o.wants(t, 0)
	file := d.path("live.json")
	if err := os.WriteFile(file, []byte(o.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	validate(t, "live", file)
	l := new(runfolder.Live)
	if err := json.Unmarshal([]byte(o.stdout), l); err != nil {
		t.Fatal(err)
	}
	return l
}

// retrain trains on the rows of a day, and returns the folder of the run in use.
func (d *delayed) retrain(t *testing.T, day int) string {
	t.Helper()
	n := nightlyBelow(t, objectstore.New(), d.folder)
	espalier(t, "retrain", "--config", n.config, "--date", dateOf(t, day), "--replace", "--ignore", "id").wants(t, 0)
	return "models/" + n.inUse(t)
}

// TestLiveFigures measures two trees by labels that came later: the figures are the figures of the trees
// on the labelled rows.
func TestLiveFigures(t *testing.T) {
	d := newDelayed(t, 4)
	first := d.retrain(t, 1)
	second := d.retrain(t, 3)
	d.predict(t, 0, first)
	d.predict(t, 1, first)
	d.predict(t, 2, second)
	d.writeLabels(t, "old.parquet", 100, 2*delayedRows, true)
	d.writeLabels(t, "new.parquet", 2*delayedRows, 5*delayedRows, false)
	labels := d.path("old.parquet") + "," + d.path("new.parquet")

	l := d.evaluate(t, "scored", "--labels", labels)
	if l.Alone != 2*delayedRows || l.Label != "class" || len(l.Trees) != 2 {
		t.Fatalf("%d labels without a prediction, label %q, %d trees; want %d, class, 2", l.Alone, l.Label, len(l.Trees), 2*delayedRows)
	}
	for i, want := range []struct {
		run                   string
		days                  []int
		predictions, labelled int64
	}{{first, []int{0, 1}, 2 * delayedRows, 2*delayedRows - 100}, {second, []int{2}, delayedRows, delayedRows}} {
		tree := l.Trees[i]
		if tree.Run != filepath.Base(want.run) || len(tree.Days) != len(want.days) || tree.All.Predictions != want.predictions ||
			tree.All.Labelled != want.labelled {
			t.Errorf("tree %d: %s, %d days, %+v", i, tree.Run, len(tree.Days), tree.All)
		}
		last := len(want.days) - 1 // the first day lacks labels
		d.wantsFigures(t, want.run, want.days[last], &tree.Days[last])
	}

	d.writeLabels(t, "late.parquet", 0, 100, false)
	again := d.evaluate(t, "scored/{date-1..date}", "--date", dateOf(t, 0), "--labels", d.path("late.parquet")+","+labels)
	if len(again.Missing) != 1 || again.Trees[0].All.Labelled != delayedRows {
		t.Errorf("days without predictions: %v; %d labels, want %d", again.Missing, again.Trees[0].All.Labelled, delayedRows)
	}
}

// wantsFigures compares the live figures of a day, which has all labels, with what evaluate measures on
// its rows.
func (d *delayed) wantsFigures(t *testing.T, run string, day int, got *runfolder.LiveDay) {
	t.Helper()
	rows := d.path(filepath.Join("days", dateOf(t, day)+".parquet"))
	o := espalier(t, "evaluate", "--model", d.path(run), "--input", rows, "--json", "--progress", "none")
	o.wants(t, 0)
	var m runfolder.Metrics
	if err := json.Unmarshal([]byte(o.stdout), &m); err != nil {
		t.Fatal(err)
	}
	for i := range m.Test.PerClass {
		m.Test.PerClass[i].ROC = nil
	}
	if diff := cmp.Diff(m.Test, got.Metrics); diff != "" {
		t.Errorf("%s, %s (-evaluate --model +live):\n%s", run, got.Day, diff)
	}
}

// TestLiveFaults has keys that occur twice or are missing, files that are no predictions, and settings
// that do not go together.
func TestLiveFaults(t *testing.T) {
	d := newDelayed(t, 2)
	run := d.retrain(t, 1)
	d.predict(t, 0, run)
	d.writeLabels(t, "labels.parquet", 0, delayedRows, false)
	d.writeLabels(t, "twice.parquet", 7, 8, true)
	d.write(t, "null.parquet", parquetio.WriteColumn{Name: "id", Values: []*int64{nil}},
		parquetio.WriteColumn{Name: "class", Values: []string{"true"}})
	d.write(t, "strangers.parquet", parquetio.WriteColumn{Name: "id", Values: []string{"00003"}},
		parquetio.WriteColumn{Name: "class", Values: []string{"true"}})
	espalier(t, "predict", "--model", d.path(run), "--input", d.path("days/"+dateOf(t, 0)+".parquet"), "--output", d.path("again"),
		"--key", "id", "--progress", "none").wants(t, 0)
	scored, labels := d.path("scored"), d.path("labels.parquet")
	for name, c := range map[string]struct {
		args  []string
		code  int
		words []string
	}{
		"label twice": {
			[]string{"--predictions", scored, "--labels", labels + "," + d.path("twice.parquet"), "--key", "id"},
			3,
			[]string{"twice.parquet", "labels.parquet", `value "7"`},
		},
		"prediction twice": {
			[]string{"--predictions", scored + "," + d.path("again"), "--labels", labels, "--key", "id"},
			3,
			[]string{"again/" + dateOf(t, 0), "scored/" + dateOf(t, 0), `value "0"`},
		},
		"no key":         {[]string{"--predictions", scored, "--labels", d.path("null.parquet"), "--key", "id"}, 3, []string{"row 0 has no key"}},
		"no predictions": {[]string{"--predictions", d.path("days"), "--labels", labels, "--key", "id"}, 3, []string{"names no tree"}},
		"other spelling": {
			[]string{"--predictions", scored, "--labels", d.path("strangers.parquet"), "--key", "id"},
			0,
			[]string{`no label has the key of a prediction: a label has "00003", a prediction "0"`},
		},
		"unknown key":   {[]string{"--predictions", scored, "--labels", labels, "--key", "ids"}, 2, []string{`--predictions have no column "ids"`}},
		"unknown label": {[]string{"--predictions", scored, "--labels", labels, "--key", "id", "--label", "y"}, 2, []string{`--labels have no column "y"`}},
		"no labels":     {[]string{"--predictions", scored, "--key", "id"}, 2, []string{"--labels is required"}},
		"both":          {[]string{"--predictions", scored, "--labels", labels, "--key", "id", "--model", d.path(run)}, 2, []string{"leave out --model"}},
		"only labels":   {[]string{"--model", d.path(run), "--input", d.path("days"), "--labels", labels}, 2, []string{"are about --predictions"}},
		"bad date":      {[]string{"--predictions", scored, "--labels", labels, "--key", "id", "--date", "today"}, 2, []string{"--date"}},
	} {
		t.Run(name, func(t *testing.T) {
			espalier(t, append([]string{"evaluate", "--progress", "none"}, c.args...)...).wants(t, c.code, c.words...)
		})
	}
	if err := os.RemoveAll(d.path(run)); err != nil { // as keep_runs does
		t.Fatal(err)
	}
	if l := d.evaluate(t, "scored", "--labels", labels); l.Label != "class" || l.Trees[0].All.Labelled != delayedRows {
		t.Errorf("without the run: label %q, %+v", l.Label, l.Trees[0].All)
	}
	if err := os.RemoveAll(d.path("models")); err != nil {
		t.Fatal(err)
	}
	espalier(t, "evaluate", "--predictions", scored, "--labels", labels, "--key", "id", "--progress", "none").
		wants(t, 2, "name the column of the classes", filepath.Base(run), "keep_runs has removed the run")
	table := espalier(t, "evaluate", "--predictions", scored, "--labels", labels, "--key", "id", "--label", "class", "--progress", "none")
	wantsPrinted(t, table, "tree of "+filepath.Base(run), "predictions labelled AUC", "all 400 400")
}

// TestDayOfFile: the day of a file of predictions is the day in the manifest, wherever the folder is now, or else the last
// date in the path of the file.
func TestDayOfFile(t *testing.T) {
	d := newDelayed(t, 2)
	run := d.retrain(t, 1)
	d.writeLabels(t, "labels.parquet", 0, 2*delayedRows, false)
	zero, one := dateOf(t, 0), dateOf(t, 1)
	const old = "since-2020-01-01"
	scored := func(output, input string, more ...string) string {
		t.Helper()
		output = d.path(filepath.Join(old, output))
		espalier(t, append([]string{
			"predict", "--model", d.path(run), "--input", d.path(input), "--output", output, "--key", "id",
			"--label", "none", "--progress", "none",
		}, more...)...).wants(t, 0)
		return output
	}
	wants := func(predictions string, days ...string) {
		t.Helper()
		moved := d.path("moved-2019-01-01")
		if err := os.Rename(d.path(old), moved); err != nil {
			t.Fatal(err)
		}
		l := d.evaluate(t, filepath.Join("moved-2019-01-01", predictions), "--labels", d.path("labels.parquet"), "--label", "class")
		var got []string
		for i := range l.Trees[0].Days {
			got = append(got, l.Trees[0].Days[i].Day)
		}
		if diff := cmp.Diff(days, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", predictions, diff)
		}
		if err := os.Rename(moved, d.path(old)); err != nil {
			t.Fatal(err)
		}
	}
	all := scored("all", "days/*.parquet")
	wants("all", zero, one)
	scored("day", "days/{date}.parquet", "--date", one)
	wants("day", one)
	if err := os.Remove(filepath.Join(all, runfolder.DataManifestName)); err != nil {
		t.Fatal(err)
	}
	wants("all/"+zero+".parquet", zero)
	file := filepath.Join("days", strings.ReplaceAll(zero, "-", "/"), "part.parquet")
	if err := os.MkdirAll(filepath.Dir(d.path(file)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.path("days/"+zero+".parquet"), d.path(file)); err != nil {
		t.Fatal(err)
	}
	named := scored("scored-"+one, file)
	wants("scored-"+one, one)
	plain := objectstore.Join(named, "..", "plain")
	if err := os.Rename(named, plain); err != nil {
		t.Fatal(err)
	}
	wants("plain", one)
	if err := os.Remove(filepath.Join(plain, runfolder.DataManifestName)); err != nil {
		t.Fatal(err)
	}
	wants("plain", "2019-01-01")
}
