package parquetio_test

import (
	"os"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestConcurrentColumns decodes the columns of one row group at the same time.
func TestConcurrentColumns(t *testing.T) {
	store, url := put(t, "x", sample(t, parquetio.WriteOptions{RowsPerGroup: 1000}))
	o, err := store.Stat(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := readAll(t.Context(), store, []objectstore.Object{o, o}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRealData compares all values of real data sets with the values read by parquet-go,
// one by one.
func TestRealData(t *testing.T) {
	for _, set := range []string{"bank-marketing", "credit-g", "covertype", "iris", "mushroom", "speed-dating"} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && (set == "covertype" || set == "speed-dating") {
				t.Skip("waits for a run without -short: decoding it value by value takes seconds")
			}
			store := objectstore.New()
			objects, err := store.List(t.Context(), dataPattern(t, set))
			if err != nil {
				t.Fatal(err)
			}
			o := objects[len(objects)-1]
			file, err := os.ReadFile(o.URL)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parquetio.Open(t.Context(), store, o.URL)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range f.Columns() {
				if !slices.Equal(spell(t, store, o.URL, c.Name), naive(t, file, c.Name, spellAny)) {
					t.Errorf("column %q: other values", c.Name)
				}
			}
		})
	}
}
