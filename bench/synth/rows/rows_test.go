package rows_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestWrite: each file has its rows and columns, and the same settings give the same bytes.
func TestWrite(t *testing.T) {
	store := objectstore.New()
	c := rows.Config{Rows: 250, RowsPerFile: 100, RowsPerGroup: 60, Numeric: 2, Categorical: 1, Noise: 0.1, Seed: 3}
	var all [2]map[string]string
	for i, folder := range []string{"mem://" + t.Name() + "/a", "mem://" + t.Name() + "/b"} {
		if err := rows.Write(t.Context(), store, folder, c); err != nil {
			t.Fatal(err)
		}
		all[i] = make(map[string]string)
		for _, name := range []string{"part-00000.parquet", "part-00001.parquet", "part-00002.parquet"} {
			b, err := store.ReadAll(t.Context(), folder+"/"+name, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			all[i][name] = string(b)
		}
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" {
		t.Errorf("another time there are other bytes:\n%s", diff)
	}
	f, err := parquetio.Open(t.Context(), store, "mem://"+t.Name()+"/a/part-00002.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if f.Rows != 50 || len(f.Columns()) != 4 {
		t.Errorf("the last file has %d rows and %d columns, want 50 and 4", f.Rows, len(f.Columns()))
	}
}
