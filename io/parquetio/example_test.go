package parquetio_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// A file of three rows is written by columns, and one of its columns is read back.
func Example() {
	ctx, store, url := context.Background(), objectstore.New(), "mem://example/rows.parquet"
	w, err := parquetio.NewWriter(ctx, store, url, []parquetio.Field{
		{Name: "age", Optional: true},
		{Name: "job", Dictionary: []string{"clerk", "student"}, Optional: true},
	}, parquetio.WriterOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Abort() //nolint:errcheck // after Commit it does nothing
	for _, step := range []error{
		w.WriteNumbers([]float64{25, 38, 41}), w.WriteIndexes([]uint16{1, parquetio.Null, 0}), w.Commit(),
	} {
		if step != nil {
			fmt.Println(step)
			return
		}
	}

	f, err := parquetio.Open(ctx, store, url)
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := f.RowGroup(ctx, 0, []string{"job"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close() //nolint:errcheck // reading only
	var jobs dataset.Vector
	if err := g.ReadColumn(0, &jobs); err != nil {
		fmt.Println(err)
		return
	}
	for r := range jobs.Rows() {
		fmt.Printf("%q missing: %v\n", jobs.Spell(r), jobs.Missing(r))
	}
	// Output:
	// "student" missing: false
	// "" missing: true
	// "clerk" missing: false
}
