package parquetio_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestDigits: by the formulas in testdata/make.py. Whole numbers beyond 2^53 are refused as
// numbers, and keep their digits as texts.
func TestDigits(t *testing.T) {
	f, err := parquetio.Open(t.Context(), objectstore.New(), "testdata/digits.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for name, spell := range map[string]func(i int) string{
		"int64":     func(i int) string { return strconv.Itoa(1<<60 + i) },
		"uint64":    func(i int) string { return strconv.FormatUint(uint64(1<<64-1)-uint64(i), 10) },
		"decimal38": func(i int) string { return "1" + strings.Repeat("0", 29) + strconv.Itoa(i) },
		"decimal18": func(i int) string { return strconv.Itoa(i - 9e16) },
		"small":     strconv.Itoa,
	} {
		wide := name != "small"
		for _, c := range f.Columns() {
			if c.Name == name && c.Wide != wide || c.Name == "money" && c.Wide {
				t.Errorf("column %q is wide: %v", c.Name, c.Wide)
			}
		}
		row := 0
		for group := range f.RowGroups() {
			g, err := f.RowGroup(t.Context(), group, []string{name}, name)
			if err != nil {
				t.Fatal(err)
			}
			for from := 0; from < g.Rows(); from += 10 { // pages are also read in part
				var v dataset.Vector
				to := min(from+10, g.Rows())
				if err := g.ReadRows(0, from, to, &v); err != nil || v.Type != dataset.Text {
					t.Fatalf("%s: texts %v, %v", name, v.Type, err)
				}
				for r := range v.Rows() {
					want := spell(row % 4)
					if strings.HasSuffix(name, "4") && name != "uint64" || name == "decimal38" {
						if row%7 == 3 {
							want = ""
						}
					}
					if got := v.Spell(r); got != want {
						t.Errorf("%s, row %d: %q, want %q", name, row, got, want)
					}
					row++
				}
			}
			_ = g.Close()
		}
		var v dataset.Vector
		if err := readColumn(t, f, 0, name, &v); wide {
			e := wantDataError(t, err, f.URL)
			if e.Column != name || !strings.Contains(e.Problem, "2^53") || !strings.Contains(e.Hint, "--categorical") {
				t.Errorf("%s as numbers: %v", name, e)
			}
		} else if err != nil {
			t.Error(err)
		}
	}
}
