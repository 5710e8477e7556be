package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/provenance"
)

// origin returns what show --origin prints as JSON.
func origin(t *testing.T, file string, more ...string) *provenance.Origin {
	t.Helper()
	o := espalier(t, append([]string{"show", file, "--origin", "--json"}, more...)...)
	o.wants(t, 0)
	found := new(provenance.Origin)
	if err := json.Unmarshal([]byte(o.stdout), found); err != nil {
		t.Fatalf("%v\n%s", err, o.stdout)
	}
	if t.Failed() {
		t.FailNow()
	}
	printed := filepath.Join(t.TempDir(), "origin.json")
	if err := os.WriteFile(printed, []byte(o.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	validate(t, "origin", printed)
	return found
}

// scoredDay is a day of predictions, with what was noted when they were made.
type scoredDay struct {
	file, input string
	digest      string // SHA-256 of a copy of tree.json
	run         string // name
	trained     string // newest day of its training rows
}

// TestOrigin: 1,000 predictions of 14 days by 5 trees each find their tree, although --keep_runs has removed most runs.
// With -tags long they are of 30 days by 9 trees.
func TestOrigin(t *testing.T) {
	longtest.Skip(t)
	schemes, days, trees := []string{"file", "gs", "s3"}, 30, 9
	if !longtest.Enabled() {
		schemes, days, trees = schemes[:1], 14, 5 // TestUse asks on gs
	}
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			n := newNightly(t, scheme)
			models := objectstore.Join(n.url, "models")
			of := make([]scoredDay, days)
			digests := make(map[string]bool)
			for day := range days {
				n.write(t, day, false)
				if day%4 == 0 || day == days-1 {
					n.retrain(t, day, "--keep_runs", "2").wants(t, 0)
				}
				of[day] = n.score(t, day)
				digests[of[day].digest] = true
			}
			if len(digests) != trees {
				t.Fatalf("%d trees, want %d", len(digests), trees)
			}
			there, err := n.store.List(t.Context(), objectstore.Join(models, "runs")+"/*/tree.json")
			if err != nil || len(there) > 3 {
				t.Fatalf("%d runs stay, %v", len(there), err)
			}
			origins := make([]*provenance.Origin, days)
			removed := 0
			for day := range origins {
				origins[day] = origin(t, of[day].file)
				if origins[day].Removed {
					removed++
				}
			}
			if removed < days/2 {
				t.Errorf("the runs of %d days are removed, want most", removed)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 1000 { // predictions
				day := random.IntN(days)
				of[day].check(t, origins[day])
			}
			moved := filepath.Join(t.TempDir(), "moved.parquet")
			b, err := n.store.ReadAll(t.Context(), of[0].file, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(moved, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if o := origin(t, moved); o.Digest != of[0].digest || o.Run != of[0].run || o.Training != nil {
				t.Errorf("a file alone is by %s of %s", o.Digest, o.Run)
			}
			o := origin(t, moved, "--destination", models)
			if o.Digest != of[0].digest || o.Training == nil || len(o.Used) != 1 || o.Used[0].Until == nil {
				t.Errorf("with a destination: %+v", o)
			}
			espalier(t, "show", moved, "--origin", "--destination", objectstore.Join(n.url, "nothing")).wants(t, 2, of[0].digest)
		})
	}
}

// score scores the rows of a day with the tree in use.
func (n *nightly) score(t *testing.T, day int) scoredDay {
	t.Helper()
	models, output := objectstore.Join(n.url, "models"), objectstore.Join(n.url, "scored", dateOf(t, day))
	p, err := latest.Read(t.Context(), n.store, models)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := n.store.ReadAll(t.Context(), objectstore.Join(models, p.Run, runfolder.TreeName), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(tree)
	espalier(t, "predict", "--model", objectstore.Join(models, latest.Name), "--input", n.fileOf(t, day), "--output", output,
		"--progress", "none").wants(t, 0)
	return scoredDay{
		file: objectstore.Join(output, dateOf(t, day)+".parquet"), input: n.fileOf(t, day), digest: hex.EncodeToString(sum[:]),
		run: path.Base(p.Run), trained: path.Base(p.Run)[:len(firstDay)],
	}
}

// check checks the origin of the predictions of a day.
func (d *scoredDay) check(t *testing.T, o *provenance.Origin) {
	t.Helper()
	if o.Digest != d.digest || o.Run != d.run || o.Kind != provenance.Predictions || o.Input == nil || o.Input.URL != d.input {
		t.Errorf("%s is by %s of %s from %+v; want %s of %s from %s", d.file, o.Digest, o.Run, o.Input, d.digest, d.run, d.input)
		return
	}
	m := o.Training
	if m == nil || o.AUC == nil || o.Attempt == nil || len(o.Used) == 0 || len(o.Notes) > 0 {
		t.Errorf("%s: the training of %s is unknown: %+v", d.file, d.run, o)
		return
	}
	newest := m.Inputs[len(m.Inputs)-1]
	if c, ok := m.Config.(map[string]any); !strings.Contains(newest.URL, d.trained) || newest.Rows != dayRows || !ok || c["max_depth"] != 4.0 {
		t.Errorf("%s: the training was on %+v with %v", d.file, m.Inputs, m.Config)
	}
}

// TestOriginOfFiles: files that are made of a tree name it.
func TestOriginOfFiles(t *testing.T) {
	longtest.Skip(t)
	n := newNightly(t, "file")
	n.write(t, 0, false)
	n.retrain(t, 0, "--select", "best", "--report", "html").wants(t, 0)
	models := filepath.Join(n.url, "models")
	run := filepath.Join(models, n.inUse(t))
	tree, cheaper := read(t, filepath.Join(run, "tree.json")), read(t, filepath.Join(run, "frontier", "000.json"))
	folder := t.TempDir()
	made := func(name string, args ...string) string {
		t.Helper()
		file := filepath.Join(folder, name)
		espalier(t, append(args, "--output", file)...).wants(t, 0)
		return file
	}
	copied := func(name string) string {
		t.Helper()
		file := filepath.Join(folder, path.Base(name))
		if err := os.WriteFile(file, read(t, filepath.Join(run, name)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	files := []string{
		run, filepath.Join(run, "metrics.json"), filepath.Join(run, "manifest.json"), models, filepath.Join(models, latest.Name),
		copied("report.html"), copied("tree.json"), made("card.md", "report", run, "--format", "markdown"),
		made("m.sql", "export", run, "--format", "sql", "--dialect", "duckdb"),
		made("predictions", "predict", "--model", run, "--input", n.fileOf(t, 0), "--progress", "none"),
	}
	for _, format := range []string{"c", "java", "python", "javascript", "pmml", "onnx", "json"} {
		files = append(files, made("Model."+format, "export", run, "--format", format))
	}
	for _, file := range files {
		o := origin(t, file, "--destination", models)
		sum := sha256.Sum256(tree)
		if o.Digest != hex.EncodeToString(sum[:]) || o.Run != path.Base(run) || o.Training == nil || o.AUC == nil || len(o.Notes) > 0 {
			t.Errorf("%s is by %s of %q: %v", file, o.Digest, o.Run, o.Notes)
		}
	}
	sum := sha256.Sum256(cheaper)
	scored := made("scored", "predict", "--model", filepath.Join(run, "frontier", "000.json"), "--input", n.fileOf(t, 0), "--progress", "none")
	for _, file := range []string{filepath.Join(run, "frontier", "000.json"), scored} {
		o := origin(t, file)
		if o.Digest != hex.EncodeToString(sum[:]) || o.Run != path.Base(run) || len(o.Notes) == 0 || o.AUC != nil {
			t.Errorf("%s is by %s of %q: %v", file, o.Digest, o.Run, o.Notes)
		}
	}
	for _, file := range []string{n.fileOf(t, 0), n.config, n.url, filepath.Join(folder, "nothing")} {
		espalier(t, "show", file, "--origin").wants(t, 2)
	}
}
