package contracts_test

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
)

// rows writes a file of 200 rows with a column of each kind.
func rows(t *testing.T) string {
	t.Helper()
	const n = 200
	class, color, key := make([]string, n), make([]*string, n), make([]string, n)
	ratio, count, few, id := make([]*float64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	day := make([]int32, n)
	for i := range n {
		class[i] = []string{"no", "yes"}[i%2]
		if i%20 > 0 { // 5 % are missing
			color[i] = &[]string{"blue", "red", "true"}[i%3]
		}
		key[i] = "row " + string(rune('a'+i/26)) + string(rune('a'+i%26))
		if x := float64(i) / n; i%50 > 0 { // 2 % are missing
			ratio[i] = &x
		}
		count[i], few[i], id[i], day[i] = int64(i%90)*2+10, int64(i%4), int64(i)*7, int32(i%60)+20000
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), url, []parquetio.WriteColumn{
		{Name: "class", Values: class},
		{Name: "color", Values: color},
		{Name: "key", Values: key},
		{Name: "ratio", Values: ratio},
		{Name: "count", Values: count},
		{Name: "few", Values: few},
		{Name: "id", Values: id},
		{Name: "day", Values: day, Encoding: parquetio.Dictionary},
	}, parquetio.WriteOptions{RowsPerGroup: 64})
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// TestInfer: types, roles, ranges, values and shares are inferred from the rows, with some
// tolerance.
func TestInfer(t *testing.T) {
	c := config.DefaultInferContract()
	c.Input = []string{rows(t)}
	text, err := contracts.Infer(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := contract.Decode(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	share := func(x float64) *float64 { return &x }
	for i, want := range []contract.Column{
		{Name: "class", Type: "text", Role: "label", Values: []string{"no", "yes"}, MaxMissing: share(0), MaxUnlisted: share(0)},
		{Name: "color", Type: "text", Role: "feature", Categorical: true, Values: []string{"blue", "red", "true"}, MaxMissing: share(.1), MaxUnlisted: share(.01)},
		{Name: "key", Type: "text", Role: "ignored", Categorical: true, MaxMissing: share(0)},
		{Name: "ratio", Type: "number", Role: "feature", Min: "0", Max: "1.49", MaxMissing: share(.04)}, // from .005 to .995
		{Name: "count", Type: "number", Role: "feature", Min: "0", Max: "277", MaxMissing: share(0)},    // from 10 to 188
		{Name: "few", Type: "number", Role: "feature", Min: "0", Max: "5", MaxMissing: share(0)},        // from 0 to 3
		{Name: "id", Type: "number", Role: "ignored", Min: "0", Max: "2090", MaxMissing: share(0)},      // from 0 to 1393
		{Name: "day", Type: "number", Role: "feature", Min: "19970", Max: "20089", MaxMissing: share(0)},
	} {
		column := got.Columns[i]
		if column.Name != want.Name || column.Type != want.Type || column.Role != want.Role ||
			column.Categorical != want.Categorical || column.Min != want.Min || column.Max != want.Max ||
			strings.Join(column.Values, "|") != strings.Join(want.Values, "|") ||
			!same(column.MaxMissing, want.MaxMissing) || !same(column.MaxUnlisted, want.MaxUnlisted) {
			t.Errorf("%s: %+v, want %+v\n%s", want.Name, column, want, text)
		}
	}
	for _, note := range []string{"a key?", "few numbers: categorical?", "0.05 missing", "from 10 to 188"} {
		if !strings.Contains(string(text), note) {
			t.Errorf("no note %q:\n%s", note, text)
		}
	}
}

func same(a, b *float64) bool {
	return a == nil && b == nil || a != nil && b != nil && math.Abs(*a-*b) < 1e-12
}

// TestInferGoesOn: a column that cannot be read is ignored with the reason, also if a value shows it; texts that are
// mostly numbers or dates are noted.
func TestInferGoesOn(t *testing.T) {
	const n = 60
	class, blob, price, day, late := make([]*string, n), make([]string, n), make([]string, n), make([]string, n), make([]int64, n)
	for i := range n {
		if i%6 > 0 {
			class[i] = &[]string{"no", "yes"}[i%2]
		}
		blob[i], price[i], day[i] = "a\xff", strconv.Itoa(i)+".5", "0"+strconv.Itoa(i%9+1)+"/12/2024"
		late[i] = 1<<53 + int64(i)
	}
	price[n-1] = "unknown"
	c := config.DefaultInferContract()
	c.Input = []string{filepath.Join(t.TempDir(), "rows.parquet")}
	err := parquetio.Write(t.Context(), objectstore.New(), c.Input[0], []parquetio.WriteColumn{
		{Name: "class", Values: class},
		{Name: "blob", Values: blob},
		{Name: "price", Values: price},
		{Name: "day", Values: day},
		{Name: "late", Values: late},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := contracts.Infer(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := contract.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, role := range []string{"label", "ignored", "ignored", "feature"} {
		if got.Columns[i].Role != role {
			t.Errorf("%s is %s, want %s", got.Columns[i].Name, got.Columns[i].Role, role)
		}
	}
	if most := got.Columns[0].MaxMissing; most == nil || *most < 1./6 {
		t.Errorf("the label may be missing in %v of the rows, want 1/6 at least", most)
	}
	for _, part := range []string{"not valid UTF-8", "most texts are numbers", "most texts are dates", "--drop_null_labels"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// TestInferRefuses: faults are told, and an existing file stays.
func TestInferRefuses(t *testing.T) {
	url := rows(t)
	for name, bad := range map[string]struct {
		change func(*config.InferContract)
		want   string
	}{
		"no files":   {func(c *config.InferContract) { c.Input = nil }, "which files?"},
		"no label":   {func(c *config.InferContract) { c.Label = "colour" }, `"color"`},
		"no classes": {func(c *config.InferContract) { c.Label = "key" }, "more than 100 values"},
		"a file":     {func(c *config.InferContract) { c.Output = url }, "--output"},
	} {
		c := config.DefaultInferContract()
		c.Input = []string{url}
		bad.change(&c)
		if _, err := contracts.Infer(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %s", name, err, bad.want)
		}
	}
}
