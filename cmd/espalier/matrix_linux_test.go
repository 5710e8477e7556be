package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// axis is a flag or a circumstance that must not matter, and its values.
type axis struct {
	name   string
	values []string
}

// levelsPerJob are the values of --levels_per_job.
var levelsPerJob = []string{"1", "3"}

// circumstances are what must not matter, wherever a tree is grown.
func circumstances(environments, parallelism []string) []axis {
	return []axis{
		{"memory_objects", []string{"0", "500", "-1"}},
		{"parallelism", parallelism},
		{"files", []string{"1", "13"}},
		{"place", []string{"folder", "bucket"}},
		{"environment_type", environments},
		{"histogram_memory", []string{"", "100000"}},
		{"levels_per_job", levelsPerJob},
	}
}

// pairs returns few choices of one value of each axis such that any two values
// of two axes meet in one of them.
func pairs(axes []axis) []map[string]string {
	type pair struct{ i, a, j, b int } // i < j
	missing := make(map[pair]bool)
	var order []pair
	for i := range axes {
		for j := i + 1; j < len(axes); j++ {
			for a := range axes[i].values {
				for b := range axes[j].values {
					order = append(order, pair{i, a, j, b})
					missing[order[len(order)-1]] = true
				}
			}
		}
	}
	meets := func(chosen []int, i, a int) (found []pair) {
		for j, b := range chosen {
			p := pair{i, a, j, b}
			if j < i {
				p = pair{j, b, i, a}
			}
			if b >= 0 && j != i && missing[p] {
				found = append(found, p)
			}
		}
		return found
	}
	var choices []map[string]string
	for _, first := range order {
		if !missing[first] {
			continue
		}
		chosen := make([]int, len(axes))
		for i := range chosen {
			chosen[i] = -1
		}
		chosen[first.i], chosen[first.j] = first.a, first.b
		for i := range axes {
			if chosen[i] >= 0 {
				continue
			}
			best, most := 0, -1
			for k := range axes[i].values {
				a := (k + len(choices)) % len(axes[i].values) // so that ties do not fall to the same value
				if n := len(meets(chosen, i, a)); n > most {
					best, most = a, n
				}
			}
			chosen[i] = best
		}
		choice := make(map[string]string)
		for i, a := range chosen {
			for _, p := range meets(chosen, i, a) {
				delete(missing, p)
			}
			choice[axes[i].name] = axes[i].values[a]
		}
		choices = append(choices, choice)
	}
	return choices
}

// runs returns choices in which all pairs of circumstances meet, dealt to the
// data sets in turn.
func runs(environments, parallelism, sets []string) []map[string]string {
	choices := pairs(circumstances(environments, parallelism))
	for i, c := range choices {
		c["data"] = sets[i%len(sets)]
	}
	return choices
}

// TestPairs: all pairs are there, by few choices.
func TestPairs(t *testing.T) {
	axes := circumstances([]string{"LOOPBACK", "PROCESS"}, []string{"1", "2", "4"})
	choices := pairs(axes)
	if len(choices) < 5 || len(choices) > 12 {
		t.Errorf("%d choices, want at most 12, and one for each data set", len(choices))
	}
	met := make(map[string]bool)
	want := 0
	for i, x := range axes {
		for _, y := range axes[i+1:] {
			want += len(x.values) * len(y.values)
			for _, c := range choices {
				met[fmt.Sprint(x.name, c[x.name], y.name, c[y.name])] = true
			}
		}
	}
	if len(met) != want {
		t.Errorf("%d pairs, want %d", len(met), want)
	}
}

// matrix compares runs on an engine with one on the direct runner, a data set
// each.
type matrix struct {
	cloud *cloud
	sets  map[string]*set
}

// set is a data set in all its layouts, and what a run of the direct runner has
// made of it.
type set struct {
	flags []string
	input map[string]string // by place and number of files
	want  map[string]string // the files of the run folder
}

// deterministic are the files of a run folder in which neither names nor times
// stand.
var deterministic = []string{"tree.json", "metrics.json", "schema.json", "_SUCCESS"}

// newMatrix lays out the data sets in a folder and in an emulated bucket, of
// which an engine that is started afterwards knows, too.
func newMatrix(t *testing.T, names []string) *matrix {
	t.Helper()
	m := &matrix{cloud: emptyCloud(t, "gs"), sets: make(map[string]*set)}
	for _, name := range names {
		s := &set{
			input: make(map[string]string),
			flags: []string{"--theta", "0.001", "--max_depth", "2", "--split", "80/10/10", "--group", "row"},
		}
		files := []string{}
		if name == "mixed" {
			files = append(files, mixed(t, 5000, parquetio.WriteOptions{}))
		} else {
			files = publicFiles(t, name)
			s.flags = append(s.flags, "--categorical", categorical(t, name))
		}
		columns := readColumns(t, m.cloud.store, files)
		// or a row's place in its file decides its part
		columns = append(columns, column("row", repeat(rowsOf(columns), pointer)))
		for place, folder := range map[string]string{"folder": t.TempDir(), "bucket": "gs://bucket/" + name} {
			for _, parts := range []int{1, 13} {
				url := fmt.Sprintf("%s/%d", folder, parts)
				writeParts(t, m.cloud.store, url, columns, parts)
				s.input[fmt.Sprint(place, parts)] = url + "/*.parquet"
			}
		}
		here := filepath.Join(t.TempDir(), "here")
		s.train(t, s.input["folder1"], here).wants(t, 0)
		s.want = objects(t, m.cloud.store, here)
		m.sets[name] = s
	}
	return m
}

func (s *set) train(t *testing.T, input, output string, flags ...string) outcome {
	t.Helper()
	args := append([]string{
		"train", "--select", "first", "--certificate", "none", "--input", input, "--label", "class",
		"--output", output, "--progress", "plain",
	}, s.flags...)
	return espalier(t, append(args, flags...)...)
}

// run trains under the chosen circumstances and compares the bytes.
func (m *matrix) run(t *testing.T, e *engine, choice map[string]string) {
	t.Helper()
	s := m.sets[choice["data"]]
	output := filepath.Join(t.TempDir(), "there")
	if choice["place"] == "bucket" {
		output = "gs://bucket/" + t.Name()
	}
	flags := e.flags(choice["environment_type"], choice["parallelism"])
	for _, name := range []string{"memory_objects", "histogram_memory", "levels_per_job"} {
		if choice[name] != "" {
			flags = append(flags, "--"+name, choice[name])
		}
	}
	o := s.train(t, s.input[choice["place"]+choice["files"]], output, flags...)
	o.wants(t, 0)
	sameFiles(t, s.want, objects(t, m.cloud.store, output))
}

// sameFiles checks that two run folders have the same files. Files without names or times
// in them must have the same bytes.
func sameFiles(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s stays", name)
		}
	}
	for _, name := range deterministic {
		if got[name] != want[name] {
			t.Errorf("%s differs from that of the direct runner", name)
		}
	}
}

// objects returns all files of a folder, wherever it is, by name.
func objects(t *testing.T, store *objectstore.Store, folder string) map[string]string {
	t.Helper()
	if !strings.Contains(folder, "://") {
		return files(t, folder)
	}
	all := make(map[string]string)
	list, err := store.List(t.Context(), folder+"/**")
	if err != nil {
		t.Error(err)
	}
	names := []string{folder + "/_SUCCESS"} // which no glob matches
	for _, o := range list {
		names = append(names, o.URL)
	}
	for _, url := range names {
		b, err := store.ReadAll(t.Context(), url, 0)
		if err != nil {
			t.Error(err)
		}
		all[strings.TrimPrefix(url, folder+"/")] = string(b)
	}
	return all
}

// publicFiles returns the files of a public data set.
func publicFiles(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "bench", "data", name, "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no data set %s (%v)", name, err)
	}
	return files
}

// publicSets returns the names without the data sets that are not there.
func publicSets(t *testing.T, names ...string) []string {
	t.Helper()
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Stat(filepath.Join("..", "..", "bench", "data", name))
		if err != nil {
			t.Logf("WITHOUT %s, which bench/datasets.py fetches", name)
		}
		return err != nil
	})
}

// categorical returns the number columns of a real data set that are names.
func categorical(t *testing.T, name string) string {
	t.Helper()
	manifest := read(t, filepath.Join("..", "..", "bench", "data", "MANIFEST.tsv"))
	for line := range strings.Lines(string(manifest)) {
		if fields := strings.Split(line, "\t"); fields[0] == name {
			return strings.Trim(fields[9], "-")
		}
	}
	t.Fatalf("%s is not in the manifest", name)
	return ""
}

// readColumns reads files as columns that can be written again.
func readColumns(t *testing.T, store *objectstore.Store, files []string) []parquetio.WriteColumn {
	t.Helper()
	var columns []parquetio.WriteColumn
	for _, name := range files {
		f, err := parquetio.Open(t.Context(), store, name)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range f.Columns() {
			names = append(names, c.Name)
		}
		for i := range f.RowGroups() {
			g, err := f.RowGroup(t.Context(), i, names)
			if err != nil {
				t.Fatal(err)
			}
			if columns == nil {
				columns = make([]parquetio.WriteColumn, len(names))
			}
			for k := range names {
				var v dataset.Vector
				if err := g.ReadColumn(k, &v); err != nil {
					t.Fatal(err)
				}
				columns[k] = parquetio.WriteColumn{Name: names[k], Values: appended(columns[k].Values, &v)}
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return columns
}

// appended appends a vector to values, which are nil, []*float64 or []*string.
func appended(values any, v *dataset.Vector) any {
	numbers, _ := values.([]*float64)
	texts, _ := values.([]*string)
	for r := range v.Rows() {
		switch {
		case v.Type == dataset.Text && v.Missing(r):
			texts = append(texts, nil)
		case v.Type == dataset.Text:
			texts = append(texts, &v.Texts[v.Index[r]])
		case v.Missing(r):
			numbers = append(numbers, nil)
		case v.Index != nil:
			numbers = append(numbers, &v.Numbers[v.Index[r]])
		default:
			numbers = append(numbers, &v.Numbers[r])
		}
	}
	if texts != nil {
		return texts
	}
	return numbers
}

func rowsOf(columns []parquetio.WriteColumn) int {
	return reflect.ValueOf(columns[0].Values).Len()
}

func pointer(i int) *float64 {
	x := float64(i)
	return &x
}

// writeParts writes columns as so many files, of several row groups each.
func writeParts(t *testing.T, store *objectstore.Store, url string, columns []parquetio.WriteColumn, parts int) {
	t.Helper()
	rows := rowsOf(columns)
	for i := range parts {
		part := make([]parquetio.WriteColumn, len(columns))
		for k, c := range columns {
			part[k] = column(c.Name, reflect.ValueOf(c.Values).Slice(i*rows/parts, (i+1)*rows/parts).Interface())
		}
		name := fmt.Sprintf("%s/part-%02d.parquet", url, i)
		if err := parquetio.Write(t.Context(), store, name, part,
			parquetio.WriteOptions{RowsPerGroup: rows/(2*parts) + 7}); err != nil {
			t.Fatal(err)
		}
	}
}
