// Package rows writes synthetic rows of any number, for benchmarks and tests of scale.
package rows

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// Config describes a data set. Columns are x00, x01, ... (numbers), c00, c01, ... (texts), and class.
type Config struct {
	Rows         int
	RowsPerFile  int
	RowsPerGroup int
	Numeric      int     // columns; numbers of every second column hardly repeat, the other columns have 4,096 numbers
	Categorical  int     // columns of 2 to 32 texts
	Noise        float64 // share of rows whose class is random
	Seed         uint64
}

// Default returns a million rows of ten numeric and ten categorical columns, in one file.
func Default() Config {
	return Config{
		Rows: 1_000_000, RowsPerFile: 1_000_000, RowsPerGroup: 250_000, Numeric: 10, Categorical: 10, Noise: 0.1, Seed: 1,
	}
}

// The class depends on the first columns of each kind.
const (
	informativeNumeric     = 3
	informativeCategorical = 2
)

// Write writes the rows to the files part-00000.parquet, part-00001.parquet and so on of a folder. The values of a row
// depend on its number, the seed and the columns, not on the number of rows or their files.
func Write(ctx context.Context, store *objectstore.Store, folder string, c Config) error {
	for file := 0; file*c.RowsPerFile < c.Rows; file++ {
		first := file * c.RowsPerFile
		url := objectstore.Join(folder, fmt.Sprintf("part-%05d.parquet", file))
		columns := c.columns(first, min(c.RowsPerFile, c.Rows-first))
		if err := parquetio.Write(ctx, store, url, columns, parquetio.WriteOptions{RowsPerGroup: c.RowsPerGroup}); err != nil {
			return err
		}
	}
	return nil
}

// columns returns the columns of n rows from a number on.
func (c *Config) columns(first, n int) []parquetio.WriteColumn {
	numbers := make([][]float64, c.Numeric)
	texts := make([][]string, c.Categorical)
	classes := make([]string, n)
	source := rand.NewPCG(0, 0)
	random := rand.New(source)
	half := float64(min(c.Numeric, informativeNumeric)+min(c.Categorical, informativeCategorical)) / 2
	for i := range n {
		source.Seed(c.Seed, uint64(first+i))
		score := -half
		for k := range numbers {
			u := random.Float64()
			if k < informativeNumeric {
				score += u
			}
			if k%2 == 1 {
				u = float64(int(u*4096)) / 4096
			}
			numbers[k] = append(numbers[k], u)
		}
		for k := range texts {
			u := random.Float64()
			if k < informativeCategorical {
				score += u
			}
			texts[k] = append(texts[k], fmt.Sprintf("v%02d", int(u*float64(2+k*7%31))))
		}
		classes[i] = "no"
		if random.Float64() < c.Noise {
			score = random.Float64() - 0.5
		}
		if score > 0 {
			classes[i] = "yes"
		}
	}
	var columns []parquetio.WriteColumn
	for k := range numbers {
		columns = append(columns, parquetio.WriteColumn{Name: fmt.Sprintf("x%02d", k), Values: numbers[k]})
	}
	for k := range texts {
		columns = append(columns, parquetio.WriteColumn{Name: fmt.Sprintf("c%02d", k), Values: texts[k]})
	}
	return append(columns, parquetio.WriteColumn{Name: "class", Values: classes})
}
