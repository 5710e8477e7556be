package train_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go" //nolint:depguard // judges what this project's own writer has written

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// contractOf writes a contract of the rows of newRows, after a change of its text.
func contractOf(t *testing.T, from, to string) string {
	t.Helper()
	text := strings.Replace(`format: espalier/contract
version: 1
columns:
  - {name: id, type: number, role: key}
  - {name: a, type: number, role: feature, min: 0, max: 4, max_missing: 0.2, max_mean: 3}
  - {name: twin, type: number, role: ignored}
  - {name: b, type: number, role: feature, max_missing: 0}
  - {name: color, type: text, role: feature, values: [red, green, blue, grey], max_unlisted: 0}
  - {name: class, type: text, role: label, values: [low, middle, high], max_unlisted: 0, max_missing: 0}
`, from, to, 1)
	url := filepath.Join(t.TempDir(), "contract.yaml")
	if err := os.WriteFile(url, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return url
}

// brokenValue is the value that breaks the contract in a row, and why.
type brokenValue struct {
	Row           int64
	Column, Value string
	Reason        string
}

// breakRows breaks rows in each way, and lists the faults in the order of the rows and columns.
func breakRows(data *rows) []brokenValue {
	low, high, purple := -1.0, 9.5, "purple"
	data.a[17], data.a[500], data.b[18], data.color[499], data.class[700] = &high, &low, nil, &purple, "none"
	data.color[17] = &purple // two faults of a row
	return []brokenValue{
		{17, "a", "9.5", "above max"},
		{17, "color", "purple", "not listed"},
		{18, "b", "", "missing"},
		{499, "color", "purple", "not listed"},
		{500, "a", "-1", "below min"},
		{700, "class", "none", "not listed"},
	}
}

const brokenRows = 5 // of breakRows

// TestContract: a training without the rows that break the contract has the same bytes as a
// training on the remaining rows.
func TestContract(t *testing.T) {
	const n, files, group = 900, 3, 100
	data := newRows(n)
	faults := breakRows(data)
	clean := slices.DeleteFunc(ascending(n), func(i int) bool {
		return slices.ContainsFunc(faults, func(b brokenValue) bool { return b.Row == int64(i) })
	})
	dirty := data.write(t, ascending(n), files, parquetio.WriteOptions{RowsPerGroup: group})
	for name, change := range map[string]func(*config.Train){
		"plain":  func(*config.Train) {},
		"prism":  func(c *config.Train) { c.Runner = "prism" },
		"models": func(c *config.Train) { c.LeafModel = "linear" },
		"levels": func(c *config.Train) { c.MemoryObjects = 0 },
		"slices": func(c *config.Train) { c.Slice = []string{"color"} },
	} {
		t.Run(name, func(t *testing.T) {
			c := oneTree()
			c.Theta = []float64{0.0005}
			change(&c)
			other := c
			other.Input, other.Label, other.Group = []string{data.write(t, clean, 2, parquetio.WriteOptions{})}, "class", "id"
			other.Ignore = []string{"twin", "flag", "weight"}
			rejects := filepath.Join(t.TempDir(), "rejects.parquet")
			c.Input, c.ContractFile, c.MaxRejects, c.Rejects = []string{dirty}, contractOf(t, "", ""), brokenRows, rejects
			if !bytes.Equal(treeOf(t, c), treeOf(t, other)) {
				t.Error("not the bytes of the rows that keep the contract")
			}
			checkRejects(t, rejects, faults, n/files, group)
		})
	}
}

// checkRejects compares the file of rejects with what breakRows broke.
func checkRejects(t *testing.T, url string, want []brokenValue, perFile, perGroup int64) {
	t.Helper()
	type reject struct {
		File     string `parquet:"file"`
		RowGroup int64  `parquet:"row_group"`
		Row      int64  `parquet:"row"`
		Column   string `parquet:"column"`
		Value    string `parquet:"value"`
		Reason   string `parquet:"reason"`
	}
	got, err := parquet.ReadFile[reject](url)
	if err != nil {
		t.Fatal(err)
	}
	var list []brokenValue
	for _, r := range got {
		var file int64
		if _, err := fmt.Sscanf(filepath.Base(r.File), "part-%d.parquet", &file); err != nil {
			t.Fatal(err)
		}
		list = append(list, brokenValue{file*perFile + r.RowGroup*perGroup + r.Row, r.Column, r.Value, r.Reason})
	}
	if !slices.Equal(list, want) {
		t.Errorf("rejects %v, want %v", list, want)
	}
}

// TestContractBroken: a fault names file, column, value and bound, is one of the data, and leaves no run.
func TestContractBroken(t *testing.T) {
	const n = 600
	bad := newRows(n)
	high := 9.5
	bad.a[17] = &high
	dirty := bad.write(t, ascending(n), 1, parquetio.WriteOptions{})
	fine := newRows(n).write(t, ascending(n), 1, parquetio.WriteOptions{})
	for _, c := range []struct{ name, input, from, to, want string }{
		{"a value", dirty, "", "", `row 17: the value is above max, 4; 1 of 600 rows`},
		{"a share", fine, "max_missing: 0.2", "max_missing: 0.01", "want max_missing 0.01"},
		{"a mean", fine, "max_mean: 3", "max_mean: 1", "the mean is"},
		{"unlisted", fine, "grey], max_unlisted: 0", "gray], max_unlisted: 0.1", "not listed is 0."},
		{"a type", fine, "b, type: number", "b, type: text", "holds numbers"},
		{"a column", fine, "name: b,", "name: bb,", "the file lacks it"},
		{"few rows", fine, "columns:", "min_rows: 601\ncolumns:", "have 600 rows, want 601"},
		{"others", fine, "columns:", "other_columns: refused\ncolumns:", "does not list this column"},
	} {
		settings := oneTree()
		settings.Input, settings.ContractFile, settings.Output = []string{c.input}, contractOf(t, c.from, c.to), t.TempDir()
		_, err := train.Train(t.Context(), settings, &silent{})
		var data *dataset.DataError
		if !errors.As(err, &data) || data.File == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if left, _ := os.ReadDir(settings.Output); len(left) > 0 {
			t.Errorf("%s: %v is left in the output", c.name, left)
		}
	}
	settings := oneTree()
	settings.Input, settings.ContractFile, settings.Output = []string{fine}, contractOf(t, "role: feature", "role: fature"), t.TempDir()
	if _, err := train.Train(t.Context(), settings, &silent{}); !errors.As(err, new(*usage.Error)) {
		t.Errorf("a fault of the contract: %v", err)
	}
}

// TestContractOfScoring: evaluate leaves rows out that break the contract, predict scores them.
func TestContractOfScoring(t *testing.T) {
	const n = 600
	data := newRows(n)
	high := 9.5
	data.a[17], data.a[300] = &high, &high
	c := oneTree()
	c.Input = []string{newRows(n).write(t, ascending(n), 1, parquetio.WriteOptions{})}
	c.ContractFile, c.Output = contractOf(t, "", ""), t.TempDir()
	if _, err := train.Train(t.Context(), c, &silent{}); err != nil {
		t.Fatal(err)
	}
	e := config.DefaultEvaluate()
	e.Model, e.Input, e.ContractFile, e.MaxRejects = c.Output, []string{data.write(t, ascending(n), 2, parquetio.WriteOptions{})}, c.ContractFile, 2
	_, m, err := pipelines.Evaluate(t.Context(), e, &silent{})
	if err != nil || m.Test.Rows != n-2 {
		t.Errorf("%v, %v: want metrics of %d rows", m, err, n-2)
	}
	p := config.DefaultPredict()
	p.Model, p.Input, p.ContractFile, p.MaxRejects, p.Output = e.Model, e.Input, e.ContractFile, 2, t.TempDir()
	told := &silent{}
	r, err := pipelines.Predict(t.Context(), p, told)
	if err != nil || r.Rows != n || r.Metrics.Test.Rows != n {
		t.Errorf("%v, %v: want predictions of %d rows", r, err, n)
	}
	if !slices.ContainsFunc(told.warnings, func(s string) bool { return strings.Contains(s, "2 of 600 rows break the contract") }) {
		t.Errorf("no warning of the rows: %q", told.warnings)
	}
	p.MaxRejects, p.Output = 1, t.TempDir()
	if _, err = pipelines.Predict(t.Context(), p, &silent{}); !errors.As(err, new(*dataset.DataError)) {
		t.Errorf("more rejects than may be: %v", err)
	}
}
