package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/provenance"
)

// spelledColumns reads all columns of a Parquet file, with each value in its exact spelling.
func spelledColumns(t *testing.T, file string) map[string][]string {
	t.Helper()
	f, err := parquetio.Open(t.Context(), objectstore.New(), file)
	if err != nil {
		t.Fatal(err)
	}
	columns := make(map[string][]string)
	var v dataset.Vector
	for _, c := range f.Columns() {
		for g := range f.RowGroups() {
			rows, err := f.RowGroup(t.Context(), g, []string{c.Name})
			if err != nil {
				t.Fatal(err)
			}
			if err := rows.ReadColumn(0, &v); err != nil {
				t.Fatal(err)
			}
			for r := range v.Rows() {
				columns[c.Name] = append(columns[c.Name], v.Spell(r))
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return columns
}

// trainAlso trains a tree of x, a tree of shop with a third class, and a tree with leaf models.
func (d *delayed) trainAlso(t *testing.T) (runs []string) {
	t.Helper()
	c := spelledColumns(t, d.path("days/"+dateOf(t, 0)+".parquet"))
	third := slices.Clone(c["class"])
	for i := range third {
		if i%9 == 0 {
			third[i] = "unsure"
		}
	}
	d.write(t, "third.parquet", parquetio.WriteColumn{Name: "shop", Values: c["shop"]}, parquetio.WriteColumn{Name: "class", Values: third})
	for _, args := range [][]string{
		{"--input", d.path("days"), "--ignore", "shop,id"},
		{"--input", d.path("third.parquet"), "--prune", "none", "--select", "first"},
		{"--input", d.path("days"), "--ignore", "id", "--leaf_model", "linear", "--select", "first", "--max_depth", "2"},
	} {
		run := d.path("run" + string(rune('a'+len(runs))))
		espalier(t, append([]string{"train", "--label", "class", "--output", run, "--report", "none", "--progress", "none"}, args...)...).
			wants(t, 0)
		runs = append(runs, run)
	}
	return runs
}

// TestPredictAlso scores rows by three trees in one pass, with the columns that each tree has alone, and the
// same bytes on prism. The trees have other features and classes. Labels that come later measure all of them.
func TestPredictAlso(t *testing.T) {
	d := newDelayed(t, 2)
	runs := d.trainAlso(t)
	predict := func(output string, more ...string) string {
		args := append([]string{
			"predict", "--input", d.path("days/" + dateOf(t, 1) + ".parquet"), "--output", d.path(output), "--key", "id",
			"--explain", "--progress", "none",
		}, more...)
		espalier(t, args...).wants(t, 0)
		return filepath.Join(d.path(output), dateOf(t, 1)+".parquet")
	}
	also := []string{"--model", runs[0], "--also", runs[1] + "," + runs[2], "--label", "none"}
	together := predict("together", also...)
	columns, want := spelledColumns(t, together), make(map[string][]string)
	for n, prefix := range []string{"", "also_", "also2_"} {
		for name, values := range spelledColumns(t, predict("alone"+prefix, "--model", runs[n], "--label", "none")) {
			if name != "id" {
				name = prefix + name
			}
			want[name] = values
		}
	}
	if diff := cmp.Diff(want, columns); diff != "" || len(columns["also_probability_unsure"]) != delayedRows {
		t.Errorf("columns (-alone +together):\n%s", diff)
	}
	direct, err := os.ReadFile(together)
	if err != nil {
		t.Fatal(err)
	}
	prism, err := os.ReadFile(predict("prism", append(also, onPrism(t)...)...))
	if err != nil || !bytes.Equal(direct, prism) {
		t.Errorf("other bytes on prism, %v", err)
	}
	validate(t, "predictions", d.path("together/_manifest.json"))

	d.writeLabels(t, "labels.parquet", 0, 2*delayedRows, false)
	l := d.evaluate(t, "together", "--labels", d.path("labels.parquet"))
	if len(l.Trees) != 3 {
		t.Fatalf("%d trees, want 3", len(l.Trees))
	}
	for i := range l.Trees {
		day := &l.Trees[i].Days[0]
		if day.Labelled != delayedRows || (day.Shadow > 0) != (i > 0) {
			t.Errorf("%s: %d labels, %d predictions in shadow", l.Trees[i].Run, day.Labelled, day.Shadow)
		}
		if i != 1 { // the other tree has classes that the rows do not have
			d.wantsFigures(t, l.Trees[i].Run, 1, day)
		}
	}
	d.write(t, "taken.parquet", parquetio.WriteColumn{Name: "x", Values: []float64{1}},
		parquetio.WriteColumn{Name: "shop", Values: []string{"a"}}, parquetio.WriteColumn{Name: "also_cost", Values: []float64{1}})
	for name, c := range map[string]struct {
		args []string
		code int
		word string
	}{
		"the same tree": {[]string{"--model", runs[0], "--also", runs[1], "--also", runs[0], "--input", d.path("days")}, 2, "scored by this tree already"},
		"no tree":       {[]string{"--model", runs[0], "--also", d.path("none"), "--input", d.path("days")}, 2, "--also"},
		"no column":     {[]string{"--model", runs[1], "--also", runs[0], "--input", d.path("third.parquet")}, 3, `"x"`},
		"a taken name":  {[]string{"--model", runs[0], "--also", runs[1], "--input", d.path("taken.parquet"), "--key", "also_cost"}, 2, `"also_cost"`},
	} {
		t.Run(name, func(t *testing.T) {
			espalier(t, append([]string{"predict", "--output", t.TempDir(), "--progress", "none"}, c.args...)...).wants(t, c.code, c.word)
		})
	}
	var m runfolder.PredictionsManifest
	b, err := os.ReadFile(d.path("together/_manifest.json"))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil || len(m.Also) != 2 || m.Also[1].Prefix != "also2_" || !strings.HasPrefix(m.TreeOf(l.Trees[2].Digest), runs[2]) {
		t.Errorf("manifest: %+v, %v", m.Also, err)
	}
	alone := filepath.Join(t.TempDir(), "alone.parquet") // away from its manifest
	if err := os.WriteFile(alone, direct, 0o600); err != nil {
		t.Fatal(err)
	}
	want1, want2 := m.Also[0], m.Also[1]
	for _, file := range []string{alone, together, d.path("together")} {
		o := origin(t, file)
		if diff := cmp.Diff([]provenance.Also{
			{Digest: want1.Digest, Run: filepath.Base(runs[1]), Prefix: "also_"},
			{Digest: want2.Digest, Run: filepath.Base(runs[2]), Prefix: "also2_"},
		}, o.Also); diff != "" || o.Digest != m.Digest {
			t.Errorf("%s: further trees (-want +got):\n%s", file, diff)
		}
		wantsPrinted(t, espalier(t, "show", file, "--origin"), want1.Digest+" of runb, in columns also_", want2.Digest+" of runc, in columns also2_")
	}
}
