package contract_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/contract"
)

func share(x float64) *float64 { return &x }

// TestEncode: what is written is read again, whatever the names and values are, and notes stay comments.
func TestEncode(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 3))
	hostile := []rune("a\"'#:-{}[]&*!|>%@`, \t\n\r\x00\x85\u2028\ufeff\u202eé😀0~")
	text := func() string {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteRune(hostile[random.IntN(len(hostile))])
		}
		return b.String()
	}
	for range 2000 {
		c := &contract.Contract{
			Format: contract.Format, Version: contract.Version, MinRows: int64(random.IntN(3)),
			OtherColumns: contract.OthersUsed,
		}
		for _, name := range []string{"1" + text(), "2" + text(), "null", "007", "2026-11-21", "yes"} {
			c.Columns = append(c.Columns, contract.Column{
				Name: name, Type: contract.TypeText, Role: contract.RoleFeature, Categorical: true,
				MaxMissing: share(random.Float64()), Values: []string{text(), "true", "1e3", ""}, MaxUnlisted: share(0.01),
				Note: text(),
			})
		}
		c.Columns = append(c.Columns,
			contract.Column{Name: "n", Type: contract.TypeNumber, Role: contract.RoleFeature, Min: "-0.5", Max: "1e+300", MinMean: share(-1)},
			contract.Column{Name: "d", Type: "date", Role: contract.RoleFeature, Min: "1990-01-01", Max: "2026-11-21"})
		b, err := c.Encode([]string{text(), "second line"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := contract.Decode(b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		for i := range c.Columns {
			c.Columns[i].Note = ""
		}
		if !reflect.DeepEqual(got, c) {
			t.Fatalf("read\n%+v\nwant\n%+v\n%s", got, c, b)
		}
	}
}

// TestFaults: a sentence tells each fault, with the column and the expected value.
func TestFaults(t *testing.T) {
	const head = "format: espalier/contract\nversion: 1\n"
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"format: other\nversion: 1\ncolumns: [{name: a, type: text, role: key}]", `format "other"`},
		{head + "columns: []", "the list is empty"},
		{head + "colums: []", "colums"},
		{head + "other_columns: dropped\ncolumns: [{name: a, type: text, role: key}]", "ignored, used or refused"},
		{head + "min_rows: -1\ncolumns: [{name: a, type: text, role: key}]", "min_rows -1"},
		{head + "columns: [{name: a, type: text, role: key}, {name: a, type: text, role: feature}]", "twice"},
		{head + "columns: [{name: a, type: text, role: label}, {name: b, type: text, role: label}]", "a, b"},
		{head + "columns: [{name: a, type: text, role: feeture}]", `role "feeture"`},
		{head + "columns: [{name: a, type: text, role: feature, min: 1}]", "has texts"},
		{head + "columns: [{name: a, type: date, role: feature, min: soon}]", `"soon"`},
		{head + "columns: [{name: a, type: date, role: feature, max_mean: 3}]", "points in time"},
		{head + "columns: [{name: a, type: number, role: feature, min: 3, max: 2}]", "above max"},
		{head + "columns: [{name: a, type: number, role: feature, max: .nan}]", "number such as"},
		{head + "columns: [{name: a, type: number, role: feature, min_mean: 3, max_mean: 2}]", "above max_mean"},
		{head + "columns: [{name: a, type: number, role: feature, max_missing: 2}]", "from 0 to 1"},
		{head + "columns: [{name: a, type: number, role: feature, max_unlisted: 0}]", "needs values"},
	} {
		if _, err := contract.Decode([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v, want %s", c.text, err, c.want)
		}
	}
}

// FuzzDecode: no text makes Decode panic, and what it reads has no faults.
func FuzzDecode(f *testing.F) {
	f.Add("format: espalier/contract\nversion: 1\ncolumns: [{name: a, type: date, role: feature, min: 1990-01-01}]")
	f.Add("a: &a [*a]")
	f.Add("format: !!binary AA==")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := contract.Decode([]byte(text))
		if err == nil && len(c.Faults()) > 0 {
			t.Errorf("%q: %v", text, c.Faults())
		}
	})
}
