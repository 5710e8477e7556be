package runfolder_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// folderOf makes a folder in memory with files by name.
func folderOf(t *testing.T, s *objectstore.Store, files map[string]string) string {
	t.Helper()
	url := "mem://" + strings.ReplaceAll(t.Name(), "/", "-") + "/" + time.Now().Format("150405.000000000")
	for name, content := range files {
		put(t, s, objectstore.Join(url, name), content)
	}
	return url
}

func put(t *testing.T, s *objectstore.Store, url, content string) {
	t.Helper()
	w, err := s.Create(t.Context(), url, objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func isThere(t *testing.T, s *objectstore.Store, url string) bool {
	t.Helper()
	_, err := s.Stat(t.Context(), url)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// wantRefusal wants an error of usage with this text.
func wantRefusal(t *testing.T, what string, err error, text string) {
	t.Helper()
	if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want a usage error with %q", what, err, text)
	}
}

// TestOpenRefused: files of others and finished runs stay as they are.
func TestOpenRefused(t *testing.T) {
	const imported = `{"format": "espalier/import", "files": ["part-00000.parquet", "part-00001.parquet"]}`
	for name, c := range map[string]struct {
		files   map[string]string
		replace bool
		want    string // empty: it may be written
	}{
		"nothing":        {nil, false, ""},
		"other files":    {map[string]string{"notes.txt": "x"}, false, ""},
		"a finished run": {map[string]string{"_manifest.json": imported, "_SUCCESS": ""}, false, "has a finished import: choose another folder"},
		"an unfinished":  {map[string]string{"_manifest.json": imported}, false, "has an unfinished import: replace it with --overwrite"},
		"a run replaced": {map[string]string{"_manifest.json": imported, "_SUCCESS": "", "part-00001.parquet": "x"}, true, ""},
		"foreign": {
			map[string]string{"part-1.parquet": "x", "part-2.parquet": "x", "part-3.parquet": "x", "part-4.parquet": "x", "part-5.parquet": "x"},
			true,
			"part-1.parquet (and part-2.parquet, part-3.parquet, part-4.parquet, ...) lies there, and no _manifest.json of a data set made of CSV files",
		},
		"foreign beside a run": {
			map[string]string{"_manifest.json": imported, "_SUCCESS": "", "part-00007.parquet": "x"},
			true,
			"part-00007.parquet lies there",
		},
		"of another kind":        {map[string]string{"_manifest.json": `{"format": "espalier/predictions"}`}, true, "_manifest.json there is of predictions: the folder has something else than a data set made of CSV files"},
		"of others":              {map[string]string{"_manifest.json": `{"name": "app"}`}, true, "_manifest.json there is not Espalier's, and is not overwritten"},
		"no JSON":                {map[string]string{"_manifest.json": "x"}, true, "_manifest.json there is not Espalier's"},
		"a list that lies":       {map[string]string{"_manifest.json": `{"format": "espalier/import", "files": ["../x"]}`}, true, `lists a file that no run writes: `},
		"of an earlier version":  {map[string]string{"manifest.json": imported, "_SUCCESS": ""}, false, "has a finished import: choose another folder"},
		"an old one replaced":    {map[string]string{"manifest.json": imported, "_SUCCESS": "", "part-00001.parquet": "x"}, true, ""},
		"beside an old one":      {map[string]string{"manifest.json": imported, "part-00001.parquet": "x", "part-00007.parquet": "x"}, true, "part-00007.parquet lies there"},
		"an old one of a run":    {map[string]string{"manifest.json": `{"format": "espalier/manifest"}`}, true, "manifest.json there is of a run"},
		"a web application":      {map[string]string{"manifest.json": `{"name": "app"}`}, false, ""},
		"a web application, too": {map[string]string{"manifest.json": "x", "_manifest.json": imported, "part-00001.parquet": "x"}, true, ""},
		"without a list":         {map[string]string{"_manifest.json": `{"format": "espalier/import"}`}, true, ""},
	} {
		s := objectstore.New()
		_, err := runfolder.Open(t.Context(), s, folderOf(t, s, c.files), runfolder.Imported, c.replace)
		if c.want != "" {
			wantRefusal(t, name, err, c.want)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := runfolder.Open(t.Context(), objectstore.New(), "fiel://x", runfolder.Imported, false)
	wantRefusal(t, "scheme", err, "--output: ")
}

// TestFoldersOfEarlierVersions: their manifests did not list all files, which are known
// by their names, and by those in frontier.json.
func TestFoldersOfEarlierVersions(t *testing.T) {
	for _, c := range []struct {
		kind  runfolder.Kind
		files map[string]string
		stays string
	}{
		{runfolder.Training, map[string]string{
			"manifest.json": `{"format": "espalier/manifest"}`, "_SUCCESS": "", "tree.json": "x", "metrics.json": "x", "schema.json": "x",
			"frontier.json": `{"format": "espalier/frontier", "points": [{"tree": "frontier/000.json"}]}`, "frontier/000.json": "x",
		}, "notes.txt"},
		{runfolder.Training, map[string]string{"manifest.json": `{"format": "espalier/manifest"}`, "tree.json": "x"}, "frontier.txt"},
		{runfolder.Predictions, map[string]string{
			"manifest.json": `{"format": "espalier/predictions", "outputs": ["day=1/a.parquet"]}`, "_SUCCESS": "", "day=1/a.parquet": "x", "metrics.json": "x",
		}, "b.parquet"},
		{runfolder.Imported, map[string]string{
			"manifest.json": `{"format": "espalier/import", "files": ["part-00000.parquet"]}`, "part-00000.parquet": "x",
		}, "app.json"},
	} {
		s := objectstore.New()
		url := folderOf(t, s, c.files)
		put(t, s, objectstore.Join(url, c.stays), "mine")
		f, err := runfolder.Open(t.Context(), s, url, c.kind, true)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, finished := c.files["_SUCCESS"]; f.Finished() != finished {
			t.Errorf("finished: %t, want %t", f.Finished(), finished)
		}
		if f.Finished() { // otherwise the files stay until the run is whole
			if err := s.Remove(t.Context(), f.File("_SUCCESS")); err != nil {
				t.Error(err)
			}
			if f, err = runfolder.Open(t.Context(), s, url, c.kind, true); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Begin(t.Context(), "run", time.Now(), nil); err != nil {
			t.Error(err)
		}
		for name := range c.files {
			if there := isThere(t, s, f.File(name)); there != (name == runfolder.ManifestName && c.kind == runfolder.Training) {
				t.Errorf("%s of an earlier run is there: %t", name, there)
			}
		}
		if !isThere(t, s, f.File(c.stays)) {
			t.Errorf("%s of a user is gone", c.stays)
		}
	}
	s := objectstore.New()
	url := folderOf(t, s, map[string]string{"manifest.json": `{"format": "espalier/predictions", "outputs": 7}`})
	_, err := runfolder.Open(t.Context(), s, url, runfolder.Predictions, true)
	wantRefusal(t, "a damaged manifest", err, "--output: ")
}

// TestClaim: what a run claims is known as its own, and goes if the run fails. Of two
// runs that claim a folder, the second is refused.
func TestClaim(t *testing.T) {
	s := objectstore.New()
	url := folderOf(t, s, nil)
	open := func(replace bool) *runfolder.Folder {
		t.Helper()
		f, err := runfolder.Open(t.Context(), s, url, runfolder.Predictions, replace)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(false), open(false)
	started := time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600))
	if err := first.Begin(t.Context(), "1", started, []string{"a.parquet"}, "_metrics.json"); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, "the second run", second.Begin(t.Context(), "2", started, nil), "another run has written _manifest.json meanwhile")
	b, err := s.ReadAll(t.Context(), first.File("_manifest.json"), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format  string
		Started string
		Files   []string
	}
	if err := json.Unmarshal(b, &got); err != nil || got.Format != "espalier/predictions" || got.Started != "2026-11-21T08:30:00Z" ||
		strings.Join(got.Files, " ") != "a.parquet _metrics.json" {
		t.Errorf("claim %s, %v", b, err)
	}
	if !first.HoldsClaim(t.Context()) {
		t.Error("the claim is lost")
	}
	put(t, s, first.File("a.parquet"), "killed before the end")
	third := open(true)
	err = third.Begin(t.Context(), "3", started, nil)
	if isThere(t, s, first.File("a.parquet")) {
		t.Errorf("rows of a killed run are there: %v", err)
	}
	if err != nil || first.HoldsClaim(t.Context()) || !third.HoldsClaim(t.Context()) {
		t.Errorf("the third run has taken the folder over: %v", err)
	}
	if err := third.RemoveClaim(t.Context()); err != nil || isThere(t, s, third.File("_manifest.json")) {
		t.Errorf("the claim of a failed run is there: %v", err)
	}
}

// TestReplace: finished files stay until the run that replaces them is whole, whenever it fails or is killed.
func TestReplace(t *testing.T) {
	for _, scheme := range []string{"mem", "file"} {
		s := objectstore.New()
		url := "mem://" + t.Name()
		if scheme == "file" {
			url = t.TempDir()
		}
		write := func(fails bool, rows ...string) *runfolder.Folder {
			t.Helper()
			f, err := runfolder.Open(t.Context(), s, url, runfolder.Predictions, true, rows...)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Begin(t.Context(), "run", time.Now(), rows); err != nil {
				t.Fatal(err)
			}
			for _, name := range rows {
				put(t, s, f.RowFile(name), strings.Join(rows, " "))
			}
			if fails {
				f.Undo(t.Context(), nil)
				return f
			}
			_, err = f.Write(t.Context(), &runfolder.Run{Rows: rows, Predictions: &runfolder.PredictionsManifest{
				Format: runfolder.PredictionsFormat, Version: 1, Outputs: rows,
			}})
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		holds := func(want string, names ...string) {
			t.Helper()
			list, err := s.Below(t.Context(), url, -1)
			if err != nil || len(list) != len(names)+2 { // manifest, _SUCCESS
				t.Errorf("%s: %v, %v", scheme, list, err)
			}
			for _, name := range names {
				if b, err := s.ReadAll(t.Context(), objectstore.Join(url, name), 100); err != nil || string(b) != want {
					t.Errorf("%s: %s: %q, %v", scheme, name, b, err)
				}
			}
		}
		if f := write(false, "a.parquet", "below/b.parquet"); f.Replaces() {
			t.Error("an empty folder is replaced")
		}
		if f := write(true, "b.parquet", "c.parquet"); !f.Replaces() {
			t.Error("finished files are not replaced")
		}
		holds("a.parquet below/b.parquet", "a.parquet", "below/b.parquet")
		write(false, "a.parquet", "c.parquet")
		holds("a.parquet c.parquet", "a.parquet", "c.parquet")
	}
}

// TestProtectInputs: a run does not replace what it reads.
func TestProtectInputs(t *testing.T) {
	s := objectstore.New()
	url := folderOf(t, s, map[string]string{"_manifest.json": `{"format": "espalier/import", "files": ["part-00000.parquet"]}`})
	f, err := runfolder.Open(t.Context(), s, url, runfolder.Imported, true)
	if err != nil {
		t.Fatal(err)
	}
	others := []runfolder.Reading{{Flag: "priors", URL: "a=1,b=2"}, {Flag: "costs", URL: "fiel://x"}, {Flag: "input", URL: url + "/part-1.parquet"}}
	if err := f.ProtectInputs(others); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"part-00000.parquet", "_manifest.json", "_SUCCESS"} {
		err := f.ProtectInputs(append(others, runfolder.Reading{Flag: "input", URL: f.File(name)}))
		wantRefusal(t, name, err, name+" there is what --input "+f.File(name)+" names, and would be replaced while it is read")
	}
	empty, err := runfolder.Open(t.Context(), s, folderOf(t, s, nil), runfolder.Imported, false)
	if err != nil || empty.ProtectInputs([]runfolder.Reading{{Flag: "input", URL: empty.File("part-00000.parquet")}}) != nil {
		t.Errorf("a folder without an earlier run replaces nothing: %v", err)
	}
}

// TestReadTree: a model is a run folder or a tree.json; what is none is told by its name.
func TestReadTree(t *testing.T) {
	s := objectstore.New()
	url := folderOf(t, s, map[string]string{"tree.json": string(small(t).Encode()), "bad/tree.json": "{}"})
	for _, model := range []string{url, url + "/", url + "/tree.json"} {
		if got, err := runfolder.ReadTree(t.Context(), s, model); err != nil || len(got.Nodes) != len(small(t).Nodes) {
			t.Errorf("%s: %v", model, err)
		}
	}
	_, err := runfolder.ReadTree(t.Context(), s, url+"/none")
	wantRefusal(t, "nothing there", err, url+"/none: ")
	_, err = runfolder.ReadTree(t.Context(), s, url+"/bad")
	wantRefusal(t, "no tree", err, url+"/bad/tree.json: not a tree that can be used: ")
}

// TestReadDamaged: the document that cannot be read is named.
func TestReadDamaged(t *testing.T) {
	s := objectstore.New()
	url := folderOf(t, s, map[string]string{"frontier.json": "{", "tree.json": "{}"})
	_, err := runfolder.Read(t.Context(), s, url, runfolder.Training, runfolder.FrontierName)
	wantRefusal(t, "JSON", err, url+"/frontier.json: ")
	_, err = runfolder.Read(t.Context(), s, url, runfolder.Training, runfolder.MetricsName)
	wantRefusal(t, "an absent document", err, url+" has no metrics.json: name the folder of a finished run")
	_, err = runfolder.Read(t.Context(), s, url, runfolder.Training, runfolder.TreeName)
	wantRefusal(t, "no tree", err, url+"/tree.json: not a tree that can be used: ")
	if _, err := runfolder.Read(t.Context(), s, url, runfolder.Training, "_costs.csv"); err == nil ||
		!strings.Contains(err.Error(), "_costs.csv is not a document of a run") {
		t.Errorf("%v, want that there is no such document", err)
	}
}

// TestFoldMeans: by hand, of 1 and 3: the mean is 2, the deviation of a sample the root
// of 2.
func TestFoldMeans(t *testing.T) {
	x := func(v float64) *float64 { return &v }
	r := &runfolder.Folds{Count: 3, Each: []runfolder.FoldFigures{
		{AUCOvRMacro: x(1), Accuracy: x(.5), Leaves: 1}, {AUCOvRMacro: x(3), Leaves: 2}, {Leaves: 3},
	}}
	r.FillMeans()
	if m, d := r.Mean, r.StandardDeviation; *m.AUCOvRMacro != 2 || *d.AUCOvRMacro != 1.4142135623730951 || *m.Accuracy != .5 ||
		d.Accuracy != nil || m.ExpectedCost != nil || *m.Leaves != 2 || *d.Leaves != 1 {
		t.Errorf("means %+v, deviations %+v", m, d)
	}
	if expected := r.Expected(); *expected != 2 {
		t.Errorf("expected %v without optimism", *expected)
	}
	if r.Optimism = x(.5); *r.Expected() != 1.5 {
		t.Errorf("expected %v with an optimism of .5", *r.Expected())
	}
}

// TestMetricsParts: the part to quote is the test part, otherwise the validation part, otherwise
// the training part.
func TestMetricsParts(t *testing.T) {
	m := new(runfolder.Metrics)
	var want, got []string
	for _, part := range []dataset.Part{dataset.Train, dataset.Validation, dataset.Test} {
		m.Set(part, &metric.Metrics{Rows: int64(part) + 1})
		if name, best := m.Best(); name != part.String() || best.Rows != int64(part)+1 {
			t.Errorf("%s: %s is to quote, of %d rows", part, name, best.Rows)
		}
		want = append(want, part.String())
	}
	for _, p := range m.Parts() {
		got = append(got, p.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("parts %q, want %q", got, want)
	}
}

func TestNames(t *testing.T) {
	if got := runfolder.Folders(); strings.Join(got, " ") != "frontier" {
		t.Errorf("folders %q, want that of the trees", got)
	}
	if runfolder.Version() == "" {
		t.Error("no version")
	}
	if !runfolder.Imported.Reserves("_LOCK") || !runfolder.Imported.Reserves("_manifest.json") || runfolder.Imported.Reserves("tree.json") {
		t.Error("names that an import reserves")
	}
}
