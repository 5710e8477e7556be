package source_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	_ "github.com/espalier-ml/espalier/io/objectstore/gcsstore" // gs://
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestInput: by hand, two files of 25 and 0 rows in row groups of 10.
func TestInput(t *testing.T) {
	folder := t.TempDir()
	first := numbered(t, filepath.Join(folder, "a.parquet"), 25)
	second := write(t, filepath.Join(folder, "deep", "b.parquet"), parquetio.WriteOptions{},
		parquetio.WriteColumn{Name: "y", Values: []string{}}, parquetio.WriteColumn{Name: "x", Values: []float64{}})
	mark(t, filepath.Join(folder, "deep", "_SUCCESS"))
	mark(t, filepath.Join(folder, "c.parquet"))
	var steps parallel.Steps
	in, err := source.OpenInput(t.Context(), begin(t), []string{folder, first, folder + "/deep/*.parquet"}, &steps)
	if err != nil {
		t.Fatal(err)
	}
	if steps.Total.Load() != 2 || steps.Done.Load() != 2 {
		t.Errorf("%d of %d footers are told, want 2 of 2", steps.Done.Load(), steps.Total.Load())
	}
	if in.Rows != 25 || !slices.Equal(in.Names(), []string{"x", "y"}) || !slices.Equal(in.Below, []string{"a.parquet", "deep/b.parquet"}) {
		t.Errorf("%d rows, columns %q, files %q", in.Rows, in.Names(), in.Below)
	}
	if diff := cmp.Diff([]runfolder.Reading{{Flag: "input", URL: first}, {Flag: "input", URL: second}}, in.Reads()); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	var groups []int
	for _, task := range in.Tasks {
		groups = append(groups, task.RowGroup)
		if task.File != first || task.Size == 0 {
			t.Errorf("task %+v, want one of %s", task, first)
		}
	}
	if !slices.Equal(groups, []int{0, 1, 2}) || !slices.Equal(in.TaskRows(), []int64{10, 10, 5}) {
		t.Errorf("tasks of the row groups %v, of %v rows", groups, in.TaskRows())
	}
	if in.FileWith("x") != 0 || in.FileWith("y") != 1 || in.FileWith("z") != 0 {
		t.Errorf("x is in file %d, y in file %d", in.FileWith("x"), in.FileWith("y"))
	}
	size, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	got := in.Manifest()[0]
	if len(got.FooterDigest) != 64 {
		t.Errorf("digest of the footer %q, want 64 hexadecimal digits", got.FooterDigest)
	}
	got.FooterDigest = ""
	if want := (runfolder.Input{URL: first, Size: size.Size(), Rows: 25, RowGroups: 3}); got != want {
		t.Errorf("manifest %+v, want %+v", got, want)
	}
}

// TestInputFaults: a fault of --input is told with a remedy.
func TestInputFaults(t *testing.T) {
	root := t.TempDir()
	numbered(t, filepath.Join(root, "data", "deep", "000000_0"), 20)
	mark(t, filepath.Join(root, "data", "empty.csv"))
	numbered(t, filepath.Join(root, "mixed", "day=1", "a.parquet"), 20)
	numbered(t, filepath.Join(root, "mixed", "b.parquet"), 20)
	f := begin(t)
	for name, c := range map[string]struct{ input, want string }{
		"folder without parquet": {root + "/data", root + "/data/**"},
		"only empty files":       {root + "/data/*.csv", "empty"},
		"scheme":                 {"fiel://" + root, `did you mean "file"?`},
		"no match":               {root + "/*.parquet", "no object matches"},
		"no such file":           {root + "/none", "no such file"},
	} {
		_, err := source.OpenInput(t.Context(), f, []string{c.input}, new(parallel.Steps))
		wantUsage(t, name, err, "--input", c.want)
	}
	in := open(t, f, root+"/mixed")
	wantData(t, "a column that some paths lack", in.Check(column(t, in, "day")),
		dataset.DataError{File: "b.parquet", Column: "day", Problem: "missing in this file; it is in 1 of 2 files (the last: ", Hint: "--ignore"})
	if in := open(t, f, root+"/data/**"); in.Rows != 20 {
		t.Errorf("files by another name: %d rows, want 20", in.Rows)
	}
}

// TestInputIsNoParquet: a damaged file is told as a fault of the data.
func TestInputIsNoParquet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(file, []byte("a,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := source.OpenInput(t.Context(), begin(t), []string{file}, new(parallel.Steps))
	var e *dataset.DataError
	if !errors.As(err, &e) || e.File != file {
		t.Errorf("%v, want a data error of %s", err, file)
	}
}

// TestInputOfFaultyStore: a store that refuses a footer is told as a fault of --input.
// A run that is interrupted meanwhile says no other reason.
func TestInputOfFaultyStore(t *testing.T) {
	faults := objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
	objectstoretest.UseGCS(t, faults.URL)
	f := begin(t)
	file := numbered(t, filepath.Join(t.TempDir(), "a.parquet"), 20)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Store.Put(t.Context(), "gs://bucket/a.parquet", b, objectstore.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	refuse := objectstoretest.Fault{Kinds: []objectstoretest.Kind{objectstoretest.Read}, Effect: objectstoretest.Status(403)}
	faults.Inject(refuse)
	_, err = source.OpenInput(t.Context(), f, []string{"gs://bucket/*.parquet"}, new(parallel.Steps))
	wantUsage(t, "a refused footer", err, "--input: ", "gs://bucket/a.parquet")

	faults.Clear()
	ctx, cancel := context.WithCancel(t.Context())
	refuse.Match = func(*http.Request) bool { cancel(); return true }
	faults.Inject(refuse)
	_, err = source.OpenInput(ctx, f, []string{"gs://bucket/*.parquet"}, new(parallel.Steps))
	if err == nil || errors.As(err, new(*usage.Error)) {
		t.Errorf("interrupted: %v, want an error that blames no setting", err)
	}
}

// TestCommas: a file with commas in its name is found when its name was taken for several.
func TestCommas(t *testing.T) {
	folder := t.TempDir()
	file := numbered(t, filepath.Join(folder, "2026,11,b.parquet"), 50)
	f := begin(t)
	if in := open(t, f, strings.Split(file, ",")...); in.Rows != 50 {
		t.Errorf("%d rows, want 50", in.Rows)
	}
	_, err := source.OpenInput(t.Context(), f, []string{filepath.Join(folder, "2026"), "12", "b.parquet"}, new(parallel.Steps))
	wantUsage(t, "a file that is not there", err, "--input", "2026")
}

// TestCheck: files must agree on what a column holds. A column of nulls fits all.
func TestCheck(t *testing.T) {
	folder := t.TempDir()
	files := []string{
		write(t, filepath.Join(folder, "a.parquet"), parquetio.WriteOptions{},
			parquetio.WriteColumn{Name: "size", Values: []float64{1, 2}}, parquetio.WriteColumn{Name: "null", Values: []float64{3, 4}}),
		write(t, filepath.Join(folder, "b.parquet"), parquetio.WriteOptions{},
			parquetio.WriteColumn{Name: "size", Values: []string{"1", "2"}}, parquetio.WriteColumn{Name: "date", Values: []string{"x", "y"}}),
		typesFile,
	}
	f := begin(t)
	in := open(t, f, files[:2]...)
	wantData(t, "numbers and texts", in.Check(column(t, in, "size")),
		dataset.DataError{File: "b.parquet", Column: "size", Problem: "holds texts here and numbers in other files", Hint: "make the files agree"})

	write(t, filepath.Join(folder, "d.parquet"), parquetio.WriteOptions{}, parquetio.WriteColumn{Name: "list", Values: []float64{1}},
		parquetio.WriteColumn{Name: "bool", Values: []float64{1}})
	in = open(t, f, filepath.Join(folder, "d.parquet"), copied(t, typesFile, filepath.Join(folder, "e.parquet")))
	for name, holds := range map[string]string{"list": "nested or unreadable values", "bool": "booleans"} {
		wantData(t, name, in.Check(column(t, in, name)),
			dataset.DataError{File: "e.parquet", Column: name, Problem: holds + " here and numbers in other files", Hint: "--ignore"})
	}

	in = open(t, f, files[0], files[2])
	if c := column(t, in, "null"); c.Physical != "DOUBLE" || in.Check(c) != nil {
		t.Errorf("a column of nulls in one file, numbers in another: %+v, %v", c, in.Check(c))
	}
	in = open(t, f, files[2], filepath.Join(filepath.Dir(typesFile), "types_v2_zstd_plain.parquet"))
	for i := range in.Columns {
		if err := in.Check(&in.Columns[i]); err != nil {
			t.Error(err)
		}
	}
	in = open(t, f, files[1], copied(t, typesFile, filepath.Join(folder, "c.parquet")))
	wantData(t, "a text and a date", in.Check(column(t, in, "date")),
		dataset.DataError{File: "c.parquet", Column: "date", Problem: "holds dates here and texts in other files", Hint: "--ignore"})
}

// TestDurations: files must agree on the unit of durations. Numbers without a unit fit any.
func TestDurations(t *testing.T) {
	folder := t.TempDir()
	from := filepath.Dir(typesFile)
	us := copied(t, filepath.Join(from, "durations_us.parquet"), filepath.Join(folder, "a.parquet"))
	ns := copied(t, filepath.Join(from, "durations_ns.parquet"), filepath.Join(folder, "c.parquet"))
	plain := write(t, filepath.Join(folder, "b.parquet"), parquetio.WriteOptions{}, parquetio.WriteColumn{Name: "wait", Values: []int64{1, 2}})
	f := begin(t)
	for name, files := range map[string][]string{"two files": {us, ns}, "numbers between": {plain, us, ns}} {
		in := open(t, f, files...)
		wantData(t, name, in.Check(column(t, in, "wait")), dataset.DataError{
			File: "c.parquet", Column: "wait", Problem: "holds durations in ns here and durations in us in other files", Hint: "make the files agree",
		})
	}
	for _, files := range [][]string{{us, plain}, {plain, ns}} {
		in := open(t, f, files...)
		if err := in.Check(column(t, in, "wait")); err != nil {
			t.Error(err)
		}
	}
	in := open(t, f, us, ns)
	if err := in.Check(column(t, in, "s")); err != nil {
		t.Error(err)
	}
}

// TestLacking: a message about a column that some files lack names the last of them, and the last file that has it.
func TestLacking(t *testing.T) {
	folder := t.TempDir()
	f := begin(t)
	for name, c := range map[string]struct {
		files   []string // the columns of each
		file    string
		problem string
	}{
		"new column":     {[]string{"x", "x", "x k"}, "1", "missing in this file; it is in 1 of 3 files (the last: @2)"},
		"removed column": {[]string{"x k", "x k", "x"}, "2", "missing in this file; it is in 2 of 3 files (the last: @1)"},
		"removed first":  {[]string{"x", "x k", "x k"}, "0", "missing in this file; it is in 2 of 3 files (the last: @2)"},
		"new case":       {[]string{"x K", "x K", "x k"}, "1", `in this file, where "K" is another column: names that differ in case`},
		"old case":       {[]string{"x k", "x k", "x K"}, "2", `in this file, where "K" is another column: names that differ in case`},
	} {
		var files []string
		for i, names := range c.files {
			var columns []parquetio.WriteColumn
			for _, column := range strings.Fields(names) {
				columns = append(columns, parquetio.WriteColumn{Name: column, Values: []float64{1}})
			}
			files = append(files, write(t, filepath.Join(folder, name, strconv.Itoa(i)), parquetio.WriteOptions{}, columns...))
		}
		in := open(t, f, files...)
		wantData(t, name, in.Check(column(t, in, "k")), dataset.DataError{
			File: c.file, Column: "k", Problem: strings.ReplaceAll(c.problem, "@", filepath.Join(folder, name)+"/"), Hint: "--ignore",
		})
		if name == "new column" {
			wantData(t, name, in.CheckAmount("feature", column(t, in, "k")), dataset.DataError{
				File: "2", Column: "k", Problem: "only 1 of 3 files have the column (the last: this file)", Hint: "--ignore k",
			})
		}
	}
}

// TestFileWithValues: a file with values goes before a file of nulls.
func TestFileWithValues(t *testing.T) {
	folder := t.TempDir()
	nulls := copied(t, typesFile, filepath.Join(folder, "a.parquet"))
	f := begin(t)
	if in := open(t, f, nulls); in.FileWith("null") != 0 {
		t.Errorf("the file of nulls alone: file %d", in.FileWith("null"))
	}
	write(t, filepath.Join(folder, "b.parquet"), parquetio.WriteOptions{}, parquetio.WriteColumn{Name: "null", Values: []string{"x"}})
	in := open(t, f, folder+"/*.parquet")
	if in.FileWith("null") != 1 || column(t, in, "null").Type != dataset.Text {
		t.Errorf("file %d, column %+v, want the texts of the second file", in.FileWith("null"), column(t, in, "null"))
	}
}

// TestPaths: columns of paths, with what Hive and Spark write: dates, numbers with
// zeros in front, percent-encoded texts, nulls. Folders above the input count.
func TestPaths(t *testing.T) {
	root := "mem://" + t.Name() + "/run=3"
	for _, folder := range []string{
		"day=2026-11-01/store=7", "day=2026-11-02/store=08", "day=2026%2F11/store=7.5", "day=__HIVE_DEFAULT_PARTITION__/store=", "plain/=x/day=a%zz/store=7/store=9",
	} {
		numbered(t, root+"/"+folder+"/x=1/part-0.parquet", 3)
	}
	in := open(t, begin(t), root+"/**")
	text := func(s string) jobs.PathColumn { return jobs.PathColumn{Name: "day", Type: dataset.Text, Text: s} }
	store := func(s string) jobs.PathColumn { return jobs.PathColumn{Name: "store", Type: dataset.Text, Text: s} }
	number := func(name string, x float64) jobs.PathColumn {
		return jobs.PathColumn{Name: name, Type: dataset.Number, Number: x}
	}
	want := map[string][]jobs.PathColumn{
		"day=2026-11-01/store=7":  {text("2026-11-01"), store("7"), number("x", 1)},
		"day=2026-11-02/store=08": {text("2026-11-02"), store("08"), number("x", 1)},
		"day=2026%2F11/store=7.5": {text("2026/11"), store("7.5"), number("x", 1)},
		"day=__HIVE_DEFAULT_PARTITION__/store=": {
			{Name: "day", Type: dataset.Text, Null: true}, {Name: "store", Type: dataset.Text, Null: true}, number("x", 1),
		},
		"plain/=x/day=a%zz/store=7/store=9": {text("a%zz"), store("7"), number("x", 1)},
	}
	for i, below := range in.Below {
		folder := strings.TrimSuffix(below, "/x=1/part-0.parquet")
		if diff := cmp.Diff(append(want[folder], number("run", 3)), in.Paths[i]); diff != "" || want[folder] == nil {
			t.Errorf("%s (-want +got):\n%s", below, diff)
		}
	}
	if !slices.Equal(in.Names(), []string{"x", "day", "store", "run"}) || column(t, in, "x").Physical != "path" ||
		!strings.Contains(strings.Join(in.NoteTwice([]string{"day", "x"}), ""), "the column of the folders counts") {
		t.Errorf("columns %q, x %+v, notes %q: want x of the path in the place of the file's", in.Names(), column(t, in, "x"),
			in.NoteTwice([]string{"x"}))
	}
	if column(t, in, "day").Wide || !column(t, in, "store").Wide || column(t, in, "x").Wide {
		t.Error("08 is a number that is spelled otherwise")
	}
}

// TestPathsAbove: a file, a folder and a pattern give the same columns of a path. A folder above the input is no column
// if a file has one of this name, or another file lacks it.
func TestPathsAbove(t *testing.T) {
	root := "mem://" + t.Name() + "/lake"
	file := numbered(t, root+"/day=2026-11-01/store=7/a.parquet", 3)
	for _, input := range []string{file, root, root + "/*/*/*", root + "/day=2026-11-01", root + "/day=2026-11-01/store=7/*.parquet"} {
		in := open(t, begin(t), input)
		slices.SortFunc(in.Paths[0], func(a, b jobs.PathColumn) int { return strings.Compare(a.Name, b.Name) })
		want := []jobs.PathColumn{{Name: "day", Type: dataset.Text, Text: "2026-11-01"}, {Name: "store", Type: dataset.Number, Number: 7}}
		if diff := cmp.Diff(want, in.Paths[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", input, diff)
		}
	}
	if in := open(t, begin(t), file, numbered(t, root+"/day=2026-11-02/b.parquet", 3)); !slices.Equal(in.Names(), []string{"x", "day"}) {
		t.Errorf("columns %q, want x and day", in.Names())
	}
	if in := open(t, begin(t), numbered(t, root+"/x=5/a.parquet", 3)); len(in.Paths[0]) != 0 || column(t, in, "x").Physical == source.InPath ||
		!strings.Contains(strings.Join(in.NoteTwice([]string{"y", "x"}), ""), "the column of the files counts") {
		t.Errorf("%+v, notes %q: want x of the file", in.Paths, in.NoteTwice([]string{"x"}))
	}
}

// TestNumbersOfPaths: what looks like a number in Go alone is a text, and so are all
// values of a column with one text, with one number in two spellings, or with a number that
// float64 does not hold. Numbers that are spelled otherwise than numbers are read as texts,
// which may be numbers.
func TestNumbersOfPaths(t *testing.T) {
	const isText, isSpelled, isNumber = "text", "spelled", "number"
	for value, want := range map[string]string{
		"1": isNumber, "-1.5e3": isSpelled, "01": isSpelled, "02": isText, "2e0": isText, "1_000": isText, "0x10": isText,
		"1p3": isText, "NaN": isText, "Inf": isText, "1e999": isText, "x": isText, "9007199254740993": isText,
		"9007199254740992": isNumber, "9007199254740994": isNumber, "00000000000000000003": isSpelled,
	} {
		root := "mem://" + strings.ReplaceAll(t.Name()+value, ".", "-")
		numbered(t, root+"/k="+value+"/a.parquet", 1)
		numbered(t, root+"/k=2/a.parquet", 1)
		in := open(t, begin(t), root+"/**")
		for _, path := range in.Paths {
			got := isText
			switch c := path[0]; {
			case c.Type == dataset.Number && c.Text == "":
				got = isNumber
			case column(t, in, "k").Wide:
				got = isSpelled
			}
			if got != want {
				t.Errorf("beside %q: %s, want a %s", value, got, want)
			}
		}
	}
}
