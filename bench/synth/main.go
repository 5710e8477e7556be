// Command synth writes synthetic rows as Parquet files, for benchmarks.
//
//	go run ./bench/synth --rows 1000000 --output FOLDER
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/io/objectstore"
)

func main() {
	c := rows.Default()
	output := flag.String("output", "rows", "folder of the files")
	flag.IntVar(&c.Rows, "rows", c.Rows, "rows")
	flag.IntVar(&c.RowsPerFile, "rows_per_file", c.RowsPerFile, "rows of a file")
	flag.IntVar(&c.RowsPerGroup, "rows_per_group", c.RowsPerGroup, "rows of a row group")
	flag.IntVar(&c.Numeric, "numeric", c.Numeric, "numeric columns")
	flag.IntVar(&c.Categorical, "categorical", c.Categorical, "categorical columns")
	flag.Float64Var(&c.Noise, "noise", c.Noise, "share of rows whose class is random")
	flag.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the values")
	flag.Parse()
	if err := rows.Write(context.Background(), objectstore.New(), *output, c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
