package benchmark

import (
	"context"
	"math"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// writeSubset writes a share of the rows of an input as one Parquet file. Which rows those are
// depends on their places alone; a smaller share takes some of the rows of a larger one. It returns
// their number.
func writeSubset(
	ctx context.Context, store *objectstore.Store, in *source.Input, share float64, url string,
) (rows int64, err error) {
	columns := make([]parquetio.WriteColumn, len(in.Columns))
	var keep []int
	for i := range in.Columns {
		name := in.Columns[i].Name
		var numbers []*float64
		var texts []*string
		for number, file := range in.Files {
			for group := range file.RowGroups() {
				r, err := file.RowGroup(ctx, group, []string{name})
				if err != nil {
					return 0, err
				}
				var v dataset.Vector
				if err := r.ReadColumn(0, &v); err != nil {
					return 0, err
				}
				if err := r.Close(); err != nil {
					return 0, err
				}
				keep = sampled(keep[:0], number, group, v.Rows(), share)
				numbers, texts = appendValues(numbers, texts, &v, keep)
			}
		}
		columns[i] = parquetio.WriteColumn{Name: name, Values: numbers}
		if len(texts) > 0 {
			columns[i].Values = texts
		}
		rows = int64(len(numbers) + len(texts))
	}
	return rows, parquetio.Write(ctx, store, url, columns, parquetio.WriteOptions{})
}

// sampled appends the numbers of the rows of a row group that are in a share.
func sampled(keep []int, file, group, rows int, share float64) []int {
	for row := range rows {
		hash := dataset.HashText(uint64(file), strconv.Itoa(group)+"/"+strconv.Itoa(row))
		if float64(hash>>11) < share*(1<<53) {
			keep = append(keep, row)
		}
	}
	return keep
}

// appendValues appends the values of some rows of a column to its numbers or texts.
func appendValues(numbers []*float64, texts []*string, v *dataset.Vector, rows []int) ([]*float64, []*string) {
	for _, r := range rows {
		at := r
		if v.Index != nil {
			at = int(v.Index[r])
		}
		switch missing := v.Missing(r); {
		case v.Type == dataset.Text && missing:
			texts = append(texts, nil)
		case v.Type == dataset.Text:
			texts = append(texts, &v.Texts[at])
		case missing:
			numbers = append(numbers, nil)
		default:
			numbers = append(numbers, &v.Numbers[at])
		}
	}
	return numbers, texts
}

// powersOfTwo returns the shares of a scaling experiment, from small to large.
func powersOfTwo(shares int) []float64 {
	var list []float64
	for k := shares - 1; k >= 0; k-- {
		list = append(list, math.Ldexp(1, -k))
	}
	return list
}
