package train_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// place is a store with folders for outputs.
type place struct {
	*objectstore.Store

	base string
}

// places returns one of each kind of store, with emulators in this process.
func places(t *testing.T) map[string]*place {
	t.Helper()
	objectstoretest.UseGCS(t, objectstoretest.StartGCS(t, "bucket"))
	objectstoretest.UseS3(t, objectstoretest.StartS3(t, "bucket"))
	all := make(map[string]*place)
	for name, base := range map[string]string{"file": t.TempDir(), "gs": "gs://bucket/out", "s3": "s3://bucket/out", "mem": "mem://" + t.Name()} {
		s := objectstore.New()
		s.Register("gs", gcsstore.New(httpstore.Options{}))
		s.Register("s3", s3store.New(httpstore.Options{}))
		all[name] = &place{s, base}
	}
	return all
}

func (p *place) put(t *testing.T, url, content string) {
	t.Helper()
	w, err := p.Create(t.Context(), url, objectstore.WriteOptions{})
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

// all returns everything below a folder, hidden files included.
func (p *place) all(t *testing.T, folder string) map[string]string {
	t.Helper()
	objects, err := p.Below(t.Context(), folder, -1)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, o := range objects {
		b, err := p.ReadAll(t.Context(), o.URL, 0)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimPrefix(o.URL, folder+"/")] = string(b)
	}
	return found
}

// contents returns the files of a folder of this machine or of memory by name.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	return (&place{Store: objectstore.New()}).all(t, folder)
}

// writingVerb is a verb with an output.
type writingVerb struct {
	run   func(output string, overwrite bool) error
	taken []string // names that it writes: files of others there are refused
	free  []string // names that it leaves alone
}

// writingVerbs returns all verbs that write files, once for each set of files.
func writingVerbs(t *testing.T) map[string]writingVerb {
	t.Helper()
	_, run, input := scored(t, 1, parquetio.WriteOptions{RowsPerGroup: 100})
	training := func(edit func(c *config.Train)) func(string, bool) error {
		return func(output string, overwrite bool) error {
			c := oneTree()
			c.Input, c.Label, c.Ignore, c.Output, c.Overwrite = []string{input}, "class", []string{"id", "weight"}, output, overwrite
			c.Algorithm, c.MaxDepth = []split.Algorithm{split.C45}, 4
			edit(&c)
			_, err := train.Train(t.Context(), c, nil)
			return err
		}
	}
	documents := []string{
		"tree.json", "metrics.json", "schema.json", "manifest.json", "frontier.json", "frontier/000.json", "frontier/007.json", "frontier/1000.json",
		"_SUCCESS", "_LOCK", "frontier",
	}
	state := []string{"checkpoints/state.json", "checkpoints"}
	others := []string{"frontier/notes.txt", "frontier/best.json", "checkpoints/model.ckpt", "checkpoints/scratch/x", "_scratch/x", "data.parquet", "part-00000.parquet", ".espalier-notes.tmp"}
	return map[string]writingVerb{
		"train":              {training(func(c *config.Train) { c.Select = frontier.Best }), documents, slices.Concat(state, others)},
		"train, one tree":    {training(func(*config.Train) {}), documents, slices.Concat(state, others)},
		"train, checkpoints": {training(func(c *config.Train) { c.MemoryObjects = 60 }), slices.Concat(documents, state), others},
		"train --resume":     {training(func(c *config.Train) { c.Resume, c.Overwrite = true, false }), slices.Concat(documents, state), others},
		"train --dry_run":    {training(func(c *config.Train) { c.DryRun = true }), nil, slices.Concat(documents, state, others)},
		"predict": {
			func(output string, overwrite bool) error {
				c := config.DefaultPredict()
				c.Model, c.Input, c.Output, c.Overwrite = run, []string{input}, output, overwrite
				_, err := pipelines.Predict(t.Context(), c, nil)
				return err
			},
			[]string{"part-00.parquet", "_metrics.json", "_manifest.json", "_SUCCESS", "_LOCK"},
			[]string{"metrics.json", "part-01.parquet", "tree.json", "_scratch/x", "sub/part-00.parquet"},
		},
		"evaluate": {
			func(output string, overwrite bool) error {
				c := config.Evaluate{Model: run, Input: []string{input}, Output: output + "/out.json", Overwrite: overwrite}
				_, _, err := pipelines.Evaluate(t.Context(), c, nil)
				return err
			},
			[]string{"out.json"},
			[]string{"metrics.json", "manifest.json", "out.json.txt"},
		},
		"compare": {
			func(output string, overwrite bool) error {
				c := compareConfig(run, run, input)
				c.Output, c.Overwrite = output+"/out.json", overwrite
				_, err := pipelines.Compare(t.Context(), c, nil)
				return err
			},
			[]string{"out.json"},
			[]string{"metrics.json", "manifest.json", "out.json.txt"},
		},
	}
}

// contentsOf returns what foreign files hold: plain text, and documents that look like
// Espalier's and that no run in the folder has written.
func contentsOf(name string) []string {
	list := []string{"not Espalier's: " + name, ""}
	switch path.Base(name) {
	case "manifest.json", "_manifest.json":
		list = append(list, `{"format": "espalier/else", "version": 1, "files": ["tree.json"]}`)
	case "tree.json", "_tree.json", "000.json", "out.json":
		list = append(list, `{"format": "espalier/tree", "version": 1}`)
	case "state.json":
		list = append(list, `{"format": "espalier/other"}`)
	case "_LOCK":
		list = append(list, `{"format": "else/lock", "pid": 1}`)
	}
	return list
}

// TestForeignFiles runs every verb with an output into folders in which files of others
// have each of the names that it writes, one at a time and all together: with
// and without --overwrite, on all stores, their bytes stay, and the refusal
// names one and leaves nothing behind. Files of other names do not keep a run from
// writing, and stay, too.
func TestForeignFiles(t *testing.T) {
	longtest.Skip(t)
	verbs := writingVerbs(t)
	cases, tried := 0, 0
	for store, p := range places(t) {
		for verb, v := range verbs {
			try := func(foreign map[string]string, taken []string, overwrite bool) {
				t.Helper()
				cases++
				if some := cases%9 == 0 || len(foreign) > 1 && store == "file"; !some && !longtest.Enabled() {
					return
				}
				tried++
				folder := fmt.Sprintf("%s/%d", p.base, cases)
				for name, content := range foreign {
					p.put(t, folder+"/"+name, content)
				}
				err := v.run(folder, overwrite)
				after := p.all(t, folder)
				what := fmt.Sprintf("%s: %s, overwrite %v, over %q", store, verb, overwrite, slices.Sorted(maps.Keys(foreign)))
				for name, content := range foreign {
					if got, ok := after[name]; !ok || got != content {
						t.Errorf("%s: %s is %q afterwards, was %q", what, name, got, content)
					}
				}
				checkRefusal(t, what, err, taken, len(after) > len(foreign))
			}
			for _, overwrite := range []bool{false, true} {
				for _, name := range v.taken {
					for _, content := range contentsOf(name) {
						try(map[string]string{name: content}, []string{name}, overwrite)
					}
				}
				all := make(map[string]string)
				for _, name := range slices.Concat(v.taken, v.free) {
					if name != "frontier" && name != "checkpoints" { // there are folders of these names then
						all[name] = "not Espalier's"
					}
				}
				try(all, v.taken, overwrite)
				free := make(map[string]string)
				for _, name := range v.free {
					if name != "frontier" && name != "checkpoints" {
						free[name] = "not Espalier's"
					}
				}
				try(free, nil, overwrite)
			}
		}
	}
	t.Logf("%d of %d cases", tried, cases)
}

// checkRefusal checks a run with files of others in its way: its error names one of the files,
// and it wrote nothing. A run without such files must not fail.
func checkRefusal(t *testing.T, what string, err error, taken []string, wrote bool) {
	t.Helper()
	if len(taken) == 0 {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	named := func(name string) bool { return err != nil && strings.Contains(err.Error(), name) }
	if !errors.As(err, new(*usage.Error)) || !slices.ContainsFunc(taken, named) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: got %v, want a refusal in one sentence that names what lies there", what, err)
	}
	if wrote {
		t.Errorf("%s: a refused run has written", what)
	}
}

// spellings returns other names of a local file or folder.
func spellings(t *testing.T, url string) []string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(url, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	dir, name := filepath.Split(url)
	return []string{url, dir + "./" + name, dir + "../" + filepath.Base(dir) + "/" + name, strings.ReplaceAll(url, "/", "//"), "file://" + url, link}
}

// TestOwnInputs: no verb replaces or removes what it reads, whatever the spelling.
func TestOwnInputs(t *testing.T) {
	_, run, glob := scored(t, 1, parquetio.WriteOptions{RowsPerGroup: 100})
	input := strings.Replace(glob, "*.parquet", "part-00.parquet", 1)
	cases := 0
	refused := func(what string, err error) {
		t.Helper()
		cases++
		if !errors.As(err, new(*usage.Error)) {
			t.Errorf("%s: got %v, want a refusal", what, err)
		}
	}
	data, model := contents(t, filepath.Dir(input)), contents(t, run)
	for _, overwrite := range []bool{false, true} {
		for _, file := range []string{input, filepath.Join(run, "tree.json"), filepath.Join(run, "metrics.json")} {
			for _, output := range spellings(t, file) {
				c := config.Evaluate{Model: run, Input: []string{input}, Output: output, Overwrite: overwrite}
				_, _, err := pipelines.Evaluate(t.Context(), c, nil)
				refused("evaluate --output "+output, err)
				two := compareConfig(run, run, input)
				two.Output, two.Overwrite = output, overwrite
				_, err = pipelines.Compare(t.Context(), two, nil)
				refused("compare --output "+output, err)
			}
		}
		for _, folder := range []string{filepath.Dir(input), run} {
			for _, output := range append(spellings(t, folder), folder+"/") {
				c := config.DefaultPredict()
				c.Model, c.Input, c.Output, c.Overwrite = run, []string{input}, output, overwrite
				_, err := pipelines.Predict(t.Context(), c, nil)
				refused("predict --output "+output, err)
			}
		}
	}
	if diff := cmp.Diff(data, contents(t, filepath.Dir(input))) + cmp.Diff(model, contents(t, run)); diff != "" {
		t.Errorf("inputs have changed:\n%s", diff)
	}
	cases += replacedInputs(t, run, input)
	t.Logf("%d cases", cases)
}

// replacedInputs runs verbs with --overwrite over earlier results of their own of which a
// file is an input by now.
func replacedInputs(t *testing.T, run, input string) (cases int) {
	t.Helper()
	c := predictConfig(t, run, input)
	c.Keep = "all"
	predict(t, c)
	c.Overwrite, c.Keep = true, "key"
	for _, again := range append(spellings(t, filepath.Join(c.Output, "part-00.parquet")), filepath.Dir(c.Output)+"/*/part-00.parquet") {
		before := contents(t, c.Output)
		c.Input = []string{again}
		if _, err := pipelines.Predict(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "part-00.parquet") {
			t.Errorf("predict of its own output %s: got %v", again, err)
		}
		if diff := cmp.Diff(before, contents(t, c.Output)); diff != "" {
			t.Errorf("predict of its own output %s:\n%s", again, diff)
		}
		cases++
	}
	for flag, content := range map[string]string{"input": "", "costs": "feature,cost\na,2\n", "class_weights": "class,weight\nlow,2\n", "error_costs": "actual,predicted,cost\nlow,high,2\n", "cuts": "feature,cut\na,2\n", "config": ""} {
		c := oneTree()
		c.Input, c.Label, c.Ignore, c.Output, c.Overwrite = []string{input}, "class", []string{"id", "weight"}, filepath.Join(t.TempDir(), "run"), true
		if _, err := train.Train(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(c.Output, "schema.json")
		b, err := os.ReadFile(input)
		if content != "" {
			b = []byte(content)
		}
		if err := errors.Join(err, os.WriteFile(file, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		before := contents(t, c.Output)
		for _, url := range spellings(t, file) {
			changed := c
			switch flag {
			case "input":
				changed.Input = []string{url}
			case "costs":
				changed.CostsFile = url
			case "class_weights":
				changed.ClassWeightsFile = url
			case "error_costs":
				changed.ErrorCostsFile = url
			case "cuts":
				changed.CutsFile = url
			case "config":
				changed.AlsoRead = []string{url}
			}
			if _, err := train.Train(t.Context(), changed, nil); err == nil || !strings.Contains(err.Error(), "--"+flag) || !strings.Contains(err.Error(), "schema.json") {
				t.Errorf("train --%s %s over it: got %v", flag, url, err)
			}
			cases++
		}
		if diff := cmp.Diff(before, contents(t, c.Output)); diff != "" {
			t.Errorf("--%s: files have changed:\n%s", flag, diff)
		}
	}
	return cases
}

// TestOwnFiles: what a run has written a later one replaces when it is told to, by the list in
// its manifest.json and nothing else, also where the run was killed or the manifest is of
// a version that did not list files.
func TestOwnFiles(t *testing.T) {
	verbs := writingVerbs(t)
	for store, p := range places(t) {
		for _, verb := range []string{"train", "predict"} {
			folder, v := fmt.Sprintf("%s/own-%s", p.base, verb), verbs[verb]
			what := store + ": " + verb
			if err := v.run(folder, false); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			whole := p.all(t, folder)
			if err := v.run(folder, false); err == nil || !strings.Contains(err.Error(), "finished") || !strings.Contains(err.Error(), "--overwrite") {
				t.Errorf("%s: again: %v", what, err)
			}
			if err := p.Remove(t.Context(), folder+"/_SUCCESS"); err != nil { // as if it was killed
				t.Fatal(err)
			}
			if err := v.run(folder, false); err == nil || !strings.Contains(err.Error(), "unfinished") {
				t.Errorf("%s: over an unfinished one: %v", what, err)
			}
			p.put(t, folder+"/mine.txt", "not Espalier's")
			if err := v.run(folder, true); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			after := p.all(t, folder)
			if after["mine.txt"] != "not Espalier's" || len(after) != len(whole)+1 {
				t.Errorf("%s: files %q, want %q and mine.txt", what, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(whole)))
			}
		}
		oldManifest(t, p, verbs)
	}
}

// oldManifest replaces a run of a version whose manifests had no list by one with fewer
// files.
func oldManifest(t *testing.T, p *place, verbs map[string]writingVerb) {
	t.Helper()
	folder := p.base + "/old"
	if err := verbs["train"].run(folder, false); err != nil {
		t.Fatal(err)
	}
	manifest := p.all(t, folder)["manifest.json"]
	from := strings.Index(manifest, `"files":`)
	to := from + strings.Index(manifest[from:], "],") + 2
	p.put(t, folder+"/manifest.json", manifest[:from]+manifest[to:])
	if err := verbs["train, one tree"].run(folder, true); err != nil {
		t.Fatal(err)
	}
	want := []string{"_SUCCESS", "distribution.json", "importance.json", "manifest.json", "metrics.json", "report.html", "schema.json", "tree.json"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(p.all(t, folder)))); diff != "" {
		t.Errorf("%s: files after a run without a frontier (-want +got):\n%s", folder, diff)
	}
	if _, err := p.Stat(t.Context(), folder+"/frontier"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s/frontier stays: %v", folder, err)
	}
}

// TestManifestLies: a manifest.json cannot make a run touch files outside of its folder.
func TestManifestLies(t *testing.T) {
	verbs := writingVerbs(t)
	for _, name := range []string{"../mine.txt", "/mine.txt", "a/../../mine.txt", `..\mine.txt`, "", ".", "..", "./x"} {
		root := t.TempDir()
		mine, folder := filepath.Join(root, "mine.txt"), filepath.Join(root, "run")
		p := &place{objectstore.New(), root}
		p.put(t, mine, "not Espalier's")
		p.put(t, folder+"/manifest.json", fmt.Sprintf(`{"format": "espalier/manifest", "version": 1, "files": [%q]}`, name))
		err := verbs["train, one tree"].run(folder, true)
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "manifest.json") {
			t.Errorf("%q: got %v, want a refusal", name, err)
		}
		if p.all(t, root)["mine.txt"] != "not Espalier's" {
			t.Errorf("%q: the file has changed", name)
		}
	}
}

// TestNoEmptyFolders: refused and failing runs leave no folder that was not there before.
func TestNoEmptyFolders(t *testing.T) {
	verbs := writingVerbs(t)
	input := newRows(10).write(t, ascending(10), 1, parquetio.WriteOptions{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range map[string]func(output string) error{
		"input": func(output string) error {
			c := oneTree()
			c.Input, c.Label, c.Output = []string{"nowhere/*.parquet"}, "class", output
			_, err := train.Train(t.Context(), c, nil)
			return err
		},
		"label": func(output string) error {
			c := oneTree()
			c.Input, c.Label, c.Output, c.MemoryObjects = []string{input}, "nothing", output, 0
			_, err := train.Train(t.Context(), c, nil)
			return err
		},
		"interrupted": func(output string) error {
			c := oneTree()
			c.Input, c.Label, c.Output = []string{input}, "class", output
			_, err := train.Train(ended, c, nil)
			return err
		},
		"dry run": func(output string) error {
			return errors.Join(verbs["train --dry_run"].run(output, false), errors.New("nothing is written"))
		},
	} {
		root := t.TempDir()
		if err := run(filepath.Join(root, "a", "b")); err == nil {
			t.Errorf("%s: no error", name)
		}
		if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
	}
}

// TestResumeFinished: resuming a finished run returns the result of the run.
func TestResumeFinished(t *testing.T) {
	c := oneTree()
	c.Input, c.Label, c.Output = []string{newRows(700).write(t, ascending(700), 1, parquetio.WriteOptions{})}, "class", filepath.Join(t.TempDir(), "run")
	c.Select = frontier.Best
	want, err := train.Train(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Resume = true
	got, err := train.Train(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Frontier == nil || want.Frontier == nil {
		t.Fatalf("frontier %v, want %v", got.Frontier, want.Frontier)
	}
	if diff := cmp.Diff(want.Frontier, got.Frontier) + cmp.Diff(want.Files, got.Files); diff != "" {
		t.Errorf("resumed (-first +again):\n%s", diff)
	}
}

// TestPredictInterrupted: predictions that are interrupted before they replace earlier ones
// leave these as they are, and no file of another program goes.
func TestPredictInterrupted(t *testing.T) {
	_, run, input := scored(t, 8, parquetio.WriteOptions{RowsPerGroup: 10})
	c := predictConfig(t, run, input)
	predict(t, c)
	c.Overwrite, c.Explain = true, true
	p := &place{objectstore.New(), c.Output}
	p.put(t, c.Output+"/mine.parquet", "not Espalier's")
	before := p.all(t, c.Output)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := pipelines.Predict(ctx, c, &interruptingJob{cancel: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that it was interrupted", err)
	}
	if diff := cmp.Diff(before, p.all(t, c.Output)); diff != "" {
		t.Errorf("the earlier predictions have changed (-before +after):\n%s", diff)
	}
}

// interruptingJob ends a context when a job begins.
type interruptingJob struct {
	silent

	cancel context.CancelFunc
}

func (r *interruptingJob) Job(name string, _ int64, _ string) {
	if name == "predict" {
		r.cancel()
	}
}
