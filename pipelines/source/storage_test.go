package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestRowGroup: columns of a file and of its path, in the order in which they were
// asked for.
func TestRowGroup(t *testing.T) {
	f := begin(t)
	root := "mem://" + t.Name()
	numbered(t, root+"/day=mo/n=2/null=/a.parquet", 13)
	in := open(t, f, root+"/**")
	task := in.Tasks[1]
	for _, names := range [][]string{{"day", "x", "n", "null"}, {"x"}, {"n"}} {
		g, err := f.RowGroup(t.Context(), task, names)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]any{"day": {"mo", "mo", "mo"}, "x": {10., 11., 12.}, "n": {2., 2., 2.}, "null": {nil, nil, nil}}
		dst := dataset.Vector{Index: make([]int32, 1, 8)} // with what was there before
		for i, name := range names {
			if err := g.ReadColumn(i, &dst); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[name], valuesOf(&dst)); diff != "" {
				t.Errorf("%v, %s (-want +got):\n%s", names, name, diff)
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	plain := task
	plain.Path = nil
	if g, err := f.RowGroup(t.Context(), plain, []string{"x"}); err != nil || g.Rows() != 3 {
		t.Errorf("without columns of the path: %v", err)
	} else if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.RowGroup(t.Context(), task, []string{"day", "none"}); err == nil {
		t.Error("no error for a column that is nowhere")
	}
	task.File = "mem://nowhere.parquet"
	if _, err := f.RowGroup(t.Context(), task, []string{"x"}); err == nil || !strings.Contains(err.Error(), task.File) {
		t.Errorf("%v, want that the file is gone", err)
	}
}

// valuesOf returns the values of a column by row; nil: missing.
func valuesOf(v *dataset.Vector) []any {
	var values []any
	for r := range v.Rows() {
		at := r
		if v.Index != nil {
			at = int(v.Index[r])
		}
		switch {
		case v.Missing(r):
			values = append(values, nil)
		case v.Type == dataset.Text:
			values = append(values, v.Texts[at])
		default:
			values = append(values, v.Numbers[at])
		}
	}
	return values
}

// TestScratch: what a run writes is read back, by the name of the run in other
// processes, too.
func TestScratch(t *testing.T) {
	f, url := begin(t), "mem://"+t.Name()+"/scratch"
	if err := f.Write(t.Context(), url, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if b, err := f.Read(t.Context(), url); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := f.Read(t.Context(), url+"2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that the file is not there", err)
	}
	if err := f.Store.Put(t.Context(), url, []byte("abd"), objectstore.WriteOptions{IfAbsent: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want that the file is there already", err)
	}
	if err := f.Store.Put(t.Context(), "fiel://a", nil, objectstore.WriteOptions{}); err == nil {
		t.Error("no error for an unknown scheme")
	}
}

// TestEnd: a run has its own storage. Outside of runs, the storage has the default settings.
func TestEnd(t *testing.T) {
	f := source.Begin(source.DefaultConfig())
	ctx := f.Run.Context(context.Background())
	if s, err := jobs.OpenStorage(ctx); err != nil || s != jobs.Storage(f.Files) {
		t.Errorf("storage %v of the run, %v", s, err)
	}
	f.End()
	if s, err := jobs.OpenStorage(context.Background()); err != nil || s == jobs.Storage(f.Files) {
		t.Errorf("storage %v of no run, %v", s, err)
	}
}

// TestSettings: by hand, as they stand in a config file.
func TestSettings(t *testing.T) {
	c := source.DefaultConfig()
	b, err := setting.Encode(&c, c.Settings())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(c.Settings()))
	for _, s := range c.Settings() {
		names = append(names, s.Name)
		if _, ok := got[s.Name]; !ok || !s.Changeable || s.Group != setting.Storage || s.Help == "" {
			t.Errorf("setting %+v in %s", s, b)
		}
	}
	if !slices.Equal(names, []string{"read_ahead", "storage_timeout", "storage_patience", "live_files"}) || c.ReadAhead != 67_108_864 || c.StorageTimeout != 30 {
		t.Errorf("settings %q, defaults %+v", names, c)
	}
	if err := setting.Decode([]byte(`{"read_ahead": "1MiB", "storage_timeout": "2m"}`), c.Settings(), nil); err != nil || c.ReadAhead != 1<<20 || c.StorageTimeout != 120 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestReadConfig(t *testing.T) {
	url := "mem://" + t.Name() + "/c.yaml"
	if err := source.Process.Store.Put(t.Context(), url, []byte("bins: 7\n"), objectstore.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if b, err := source.ReadConfig(t.Context(), url); err != nil || string(b) != "bins: 7\n" {
		t.Errorf("%q, %v", b, err)
	}
	_, err := source.ReadConfig(t.Context(), url+"2")
	wantUsage(t, "no config file", err, "--config: ", url+"2")
	if err := source.Process.Store.Put(t.Context(), url, make([]byte, 1<<20+1), objectstore.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = source.ReadConfig(t.Context(), url)
	wantUsage(t, "a great file", err, "--config: ")
}

func TestUnknownColumn(t *testing.T) {
	err := source.UnknownColumn("label", "klass", []string{"x", "class"})
	if want := `--label: no input file has a column "klass"; did you mean "class"?`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
