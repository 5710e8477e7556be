package runfolder_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
)

var update = flag.Bool("update", false, "write the tables of docs/files.md anew")

// kinds are the kinds of folders by the verb that writes them.
var kinds = []struct {
	verb string
	kind runfolder.Kind
}{{"train", runfolder.Training}, {"predict", runfolder.Predictions}, {"import", runfolder.Imported}}

// small returns a tree that can be decoded.
func small(t *testing.T) *tree.Tree {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "induce", "tree", "testdata", "golden", "small.json"))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	decoded.Algorithm = tree.Algorithm{ // the file has an empty one
		Name: "ec45", Tests: "threshold", Bins: 2, Binning: "quantile", LeafEstimate: "raw", Prune: "none",
	}
	return decoded
}

// runOf returns a run with a value for each document of a kind.
func runOf(t *testing.T, kind runfolder.Kind) *runfolder.Run {
	t.Helper()
	model := small(t)
	metrics := &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1, Test: tested(model.Label.Classes)}
	config, inputs := map[string]any{}, []runfolder.Input{{URL: "a", FooterDigest: strings.Repeat("0", 64)}}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	switch kind {
	case runfolder.Training:
		half := 0.5
		points := []runfolder.Point{
			{Tree: runfolder.FrontierTree(0), Merit: 0.5, Algorithm: model.Algorithm, Complexity: model.Complexity},
			{Tree: runfolder.FrontierTree(1), Merit: 0.75, Algorithm: model.Algorithm, Complexity: model.Complexity, Selected: true},
		}
		return &runfolder.Run{
			Tree: model, Metrics: metrics, Trees: []*tree.Tree{model, model},
			Schema: &tree.Schema{
				Label: model.Label, Columns: []tree.SchemaColumn{{Name: "a", Role: "key", Physical: "INT64"}}, // as of an earlier version
			},
			Grown: &runfolder.Grown{
				Label: model.Label, Scales: [3]float64{1, 1, 1}, Features: []byte{1, 2}, Candidates: []byte{3},
				Sample: []byte{4, 5}, FigureCount: 2, Figures: []*float64{nil, &half}, FoldTrees: []byte{6},
			},
			Importance: &runfolder.Importance{Format: "espalier/importance", Version: 1, Part: "validation", Features: []importance.Feature{{Name: "a"}}},
			Frontier:   &runfolder.Frontier{Format: runfolder.FrontierFormat, Version: 1, Select: "best", Grown: 1, Pruned: 2, Points: points},
			Manifest: &runfolder.Manifest{
				Format: runfolder.ManifestFormat, Version: 1, Started: began, Config: config, Inputs: inputs, Timings: []runfolder.Timing{},
				Counters: map[string]int64{},
			},
		}
	case runfolder.Predictions:
		return &runfolder.Run{
			Metrics: metrics, Rows: []string{"a.parquet", "x=1/b.parquet"},
			Predictions: &runfolder.PredictionsManifest{
				Format: runfolder.PredictionsFormat, Version: 1, Started: began, Config: config, Inputs: inputs, Digest: strings.Repeat("0", 64),
				Timings: []runfolder.Timing{}, Columns: []runfolder.ColumnNovelty{}, Outputs: []string{"a.parquet"},
			},
		}
	default:
		return &runfolder.Run{
			Rows:     []string{runfolder.PartName(0)},
			Imported: &runfolder.ImportManifest{Format: runfolder.ImportFormat, Version: 1, Rows: 3, Config: config, Inputs: []runfolder.ImportInput{{URL: "a.csv"}}, Columns: []runfolder.ImportColumn{{Name: "a", Type: "number"}}},
		}
	}
}

// tested returns the metrics of three rows.
func tested(classes []string) *metric.Metrics {
	m := &metric.Metrics{Rows: 3, Weight: 3}
	for _, name := range classes {
		m.PerClass = append(m.PerClass, metric.Class{Class: name, Gains: make([]float64, 10), Lift: make([]float64, 10)})
		m.Confusion = append(m.Confusion, make([]int64, len(classes)))
	}
	return m
}

// encoded compares trees and schemas as they are written.
var encoded = cmp.Options{
	cmp.Comparer(func(a, b *tree.Tree) bool {
		return a == b || a != nil && b != nil && bytes.Equal(a.Encode(), b.Encode())
	}),
	cmp.Comparer(func(a, b *tree.Schema) bool {
		return a == b || a != nil && b != nil && bytes.Equal(a.Encode(), b.Encode())
	}),
}

// TestRoundTrip: what is written is read back, and manifest.json and the result list the files.
func TestRoundTrip(t *testing.T) {
	listed := map[runfolder.Kind][]string{
		runfolder.Training: {
			"tree.json", "metrics.json", "importance.json", "schema.json", "frontier.json", "frontier/000.json", "frontier/001.json",
			"frontier/grown.bin",
		},
		runfolder.Predictions: {"a.parquet", "x=1/b.parquet", "_metrics.json"},
		runfolder.Imported:    {"part-00000.parquet"},
	}
	named := map[runfolder.Kind][]string{
		runfolder.Training: {
			"tree.json", "metrics.json", "importance.json", "schema.json", "manifest.json", "frontier.json", "_SUCCESS",
		},
		runfolder.Predictions: {"_metrics.json", "_manifest.json", "_SUCCESS"},
		runfolder.Imported:    {"_manifest.json", "_SUCCESS"},
	}
	for _, base := range []string{"mem://" + t.Name(), t.TempDir()} {
		for _, k := range kinds {
			s, url := objectstore.New(), objectstore.Join(base, k.verb)
			f, err := runfolder.Open(t.Context(), s, url, k.kind, false)
			if err != nil {
				t.Fatal(err)
			}
			want := runOf(t, k.kind)
			urls, err := f.Write(t.Context(), want)
			if err != nil {
				t.Fatalf("%s: %v", k.verb, err)
			}
			for i := range urls {
				urls[i] = strings.TrimPrefix(urls[i], url+"/")
			}
			if !slices.Equal(urls, named[k.kind]) {
				t.Errorf("%s: the result lists %q, want %q", k.verb, urls, named[k.kind])
			}
			got, err := runfolder.Read(t.Context(), s, url, k.kind)
			if err != nil {
				t.Fatalf("%s: %v", k.verb, err)
			}
			if diff := cmp.Diff(want, got, encoded); diff != "" {
				t.Errorf("%s (-written +read):\n%s", k.verb, diff)
			}
			if files := manifestFiles(got); !slices.Equal(files, listed[k.kind]) {
				t.Errorf("%s: manifest.json lists %q, want %q", k.verb, files, listed[k.kind])
			}
		}
	}
}

// manifestFiles returns the list in the manifest of a run.
func manifestFiles(r *runfolder.Run) []string {
	switch {
	case r.Manifest != nil:
		return r.Manifest.Files
	case r.Predictions != nil:
		return r.Predictions.Files
	default:
		return r.Imported.Files
	}
}

// TestReadSome: documents are read by name; a document that a run may lack may be missing.
func TestReadSome(t *testing.T) {
	s, url := objectstore.New(), "mem://"+t.Name()
	f, err := runfolder.Open(t.Context(), s, url, runfolder.Training, false)
	if err != nil {
		t.Fatal(err)
	}
	r := runOf(t, runfolder.Training)
	r.Frontier, r.Trees = nil, nil
	if _, err := f.Write(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	read := func(names ...string) (*runfolder.Run, error) {
		return runfolder.Read(t.Context(), s, url, runfolder.Training, names...)
	}
	got, err := read(runfolder.MetricsName, runfolder.FrontierName)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&runfolder.Run{Metrics: r.Metrics}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.Remove(t.Context(), url+"/metrics.json"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.json", "_costs.csv", "frontier/000.json", "metrics.json"} {
		if _, err := read(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want an error that names it", name, err)
		}
	}
}

// TestWriteLacks: a run without the value of a document that all runs have is refused, and
// nothing is written.
func TestWriteLacks(t *testing.T) {
	s, url := objectstore.New(), "mem://"+t.Name()
	f, err := runfolder.Open(t.Context(), s, url, runfolder.Training, false)
	if err != nil {
		t.Fatal(err)
	}
	r := runOf(t, runfolder.Training)
	r.Schema = nil
	if _, err := f.Write(t.Context(), r); err == nil || !strings.Contains(err.Error(), "schema.json") {
		t.Errorf("got %v, want an error that names schema.json", err)
	}
	if left, err := s.Below(t.Context(), url, -1); err == nil && len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestDocuments: each document has a description and, in JSON, a schema, and is found by its
// name in each of its kinds of folders and in no other.
func TestDocuments(t *testing.T) {
	schemas := runfolder.Schemas()
	// of no folder
	used := map[string]bool{"ask": true, "comparison": true, "drift": true, "live": true, "notice": true, "attempt": true, "latest": true, "origin": true}
	for _, d := range runfolder.Documents() {
		if d.Holds == "" || len(d.Kinds) == 0 {
			t.Errorf("%s: no description or no kind", d.Name)
		}
		if _, ok := schemas[d.Schema]; ok != (filepath.Ext(d.Name) == ".json") {
			t.Errorf("%s: schema %q is there: %v", d.Name, d.Schema, ok)
		}
		used[d.Schema] = true
		for _, k := range kinds {
			found := k.kind.DocumentOf(d.Name)
			switch {
			case strings.HasPrefix(d.Name, "NAME."): // a name of the input
			case !slices.Contains(d.Kinds, k.kind):
				if found != nil && found.Holds == d.Holds {
					t.Errorf("%s is found in the folders of %s", d.Name, k.verb)
				}
			case found == nil || found.Holds != d.Holds:
				t.Errorf("%s is not found in the folders of %s", d.Name, k.verb)
			}
		}
	}
	for name := range schemas {
		if !used[name] {
			t.Errorf("schemas/%s.schema.json describes no document", name)
		}
	}
	for _, name := range []string{"_metrics.json", "_manifest.json", "_SUCCESS", "_LOCK"} {
		if !runfolder.Predictions.Reserves(name) {
			t.Errorf("predictions may be called %s", name)
		}
	}
	if runfolder.Predictions.Reserves("tree.json") {
		t.Error("predictions may not be called tree.json")
	}
}

// TestFilesPage: docs/files.md has the tables of the documents.
func TestFilesPage(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "files.md")
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, k := range kinds {
		before, after, ok := strings.Cut(text, "\n## What "+k.verb+" writes\n\n")
		if !ok {
			t.Fatalf("%s has no section on what %s writes", page, k.verb)
		}
		there, rest, _ := strings.Cut(after, "\n\n")
		if diff := cmp.Diff(table(k.kind), there); diff != "" && !*update {
			t.Errorf("%s: what %s writes (-want +got; accept with go test ./io/runfolder -update):\n%s",
				page, k.verb, diff)
		}
		text = before + "\n## What " + k.verb + " writes\n\n" + table(k.kind) + "\n\n" + rest
	}
	const before, after = "Check this table before you share a file.\n\n", "\n\n| other files"
	head, rest, ok := strings.Cut(text, before)
	there, tail, also := strings.Cut(rest, after)
	if !ok || !also {
		t.Fatalf("%s has no table of values", page)
	}
	if diff := cmp.Diff(valuesTable(), there); diff != "" && !*update {
		t.Errorf("%s: values in files (-want +got; accept with go test ./io/runfolder -update):\n%s", page, diff)
	}
	text = head + before + valuesTable() + after + tail
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// table lists the documents of a kind in Markdown.
func table(kind runfolder.Kind) string {
	rows := [][]string{{"file", "holds", "schema"}}
	for _, d := range kind.Documents() {
		rows = append(rows, []string{"`" + d.Name + "`", d.Holds, d.Schema})
	}
	return markdown(rows)
}

// valuesTable lists the documents of all kinds with the values that they may contain, in Markdown.
func valuesTable() string {
	rows := [][]string{{"file", "values of the rows"}}
	for _, d := range runfolder.Documents() {
		name := "`" + d.Name + "`"
		if d.Name == runfolder.DataManifestName {
			name += " of " + map[runfolder.Kind]string{runfolder.Predictions: "predict", runfolder.Imported: "import"}[d.Kinds[0]]
		}
		rows = append(rows, []string{name, d.Values.String()})
	}
	return markdown(rows)
}

// markdown writes a table.
func markdown(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	line := func(row []string, fill string) string {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString("| " + cell + strings.Repeat(fill, widths[i]-len(cell)) + " ")
		}
		return b.String() + "|"
	}
	lines := []string{line(rows[0], " "), line(make([]string, len(widths)), "-")}
	for _, row := range rows[1:] {
		lines = append(lines, line(row, " "))
	}
	return strings.Join(lines, "\n")
}
