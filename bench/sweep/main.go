// Command sweep prints what Espalier reads of a Parquet file, as JSON, for ../sweep.py.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// column is a column with its values: numbers, texts, and null for missing ones.
type column struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Values []any  `json:"values"`
	Fault  string `json:"fault,omitempty"` // why the column is not read
}

func main() {
	columns, err := read(context.Background(), os.Args[1])
	if err != nil {
		if !errors.As(err, new(*dataset.DataError)) {
			err = fmt.Errorf("NO SENTENCE: %w", err)
		}
		_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"fault": err.Error()})
		return
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"columns": columns})
}

func read(ctx context.Context, url string) ([]column, error) {
	f, err := parquetio.Open(ctx, objectstore.New(), url)
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(f.Columns()))
	for i, c := range f.Columns() {
		columns[i] = column{Name: c.Name, Unit: c.Unit.String(), Values: []any{}}
		for group := range f.RowGroups() {
			if err := columns[i].read(ctx, f, group, c.Wide); err != nil {
				if !errors.As(err, new(*dataset.DataError)) {
					err = fmt.Errorf("NO SENTENCE: %w", err)
				}
				columns[i].Fault = err.Error()
				columns[i].Values = nil
				break
			}
		}
	}
	return columns, nil
}

// read appends the values of a row group. It reads them in two pieces, as large row groups are.
func (c *column) read(ctx context.Context, f *parquetio.File, group int, wide bool) error {
	var digits []string
	if wide {
		digits = []string{c.Name}
	}
	g, err := f.RowGroup(ctx, group, []string{c.Name}, digits...)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // only read
	var v dataset.Vector
	for _, piece := range [][2]int{{0, g.Rows() / 3}, {g.Rows() / 3, g.Rows()}} {
		if err := g.ReadRows(0, piece[0], piece[1], &v); err != nil {
			return err
		}
		for r := range v.Rows() {
			c.Values = append(c.Values, value(&v, r))
		}
	}
	return nil
}

func value(v *dataset.Vector, r int) any {
	if v.Missing(r) {
		return nil
	}
	if v.Index != nil {
		r = int(v.Index[r])
	}
	if v.Type == dataset.Text {
		return v.Texts[r]
	}
	if x := v.Numbers[r]; !math.IsInf(x, 0) {
		return x
	}
	return fmt.Sprint(v.Numbers[r])
}
