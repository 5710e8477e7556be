package train_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestSplitTime: the newest rows test and the next newest validate, whatever the order of the rows; all rows of
// a time are in one part, and the column is not a feature.
func TestSplitTime(t *testing.T) {
	const n = 1000
	data := newRows(n)
	for i := range data.id {
		data.id[i] = int64(i / 8 * 8) // 125 times of 8 rows
	}
	var trees [][]byte
	for _, order := range [][]int{ascending(n), rand.New(rand.NewPCG(1, 70)).Perm(n)} {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output = []string{data.write(t, order, 3, parquetio.WriteOptions{RowsPerGroup: 90})}, "class", t.TempDir()
		c.SplitTime, c.Select, c.Certificate = "id", frontier.First, false
		r, err := train.Train(t.Context(), c, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		// Of 125 times 87.5 are to train and 12.5 to validate: the part ends with the time that reaches it.
		if m := r.Metrics; m.Train.Rows != 88*8 || m.Validation.Rows != 12*8 || m.Test.Rows != 25*8 {
			t.Errorf("parts of %d, %d and %d rows", m.Train.Rows, m.Validation.Rows, m.Test.Rows)
		}
		b, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), `"name": "id"`) {
			t.Error("the time is a feature")
		}
		trees = append(trees, b)
	}
	if !bytes.Equal(trees[0], trees[1]) {
		t.Error("another tree of the rows in another order")
	}
}

// TestSplitTimeRefused: what time cannot split by is refused in one sentence.
func TestSplitTimeRefused(t *testing.T) {
	data := newRows(50)
	input := data.write(t, ascending(50), 1, parquetio.WriteOptions{})
	for want, change := range map[string]func(c *config.Train){
		"would divide the rows of a --group":              func(c *config.Train) { c.SplitTime, c.Group = "a", "id" },
		"--split_column color names a column":             func(c *config.Train) { c.SplitTime, c.SplitColumn = "id", "color" },
		`column "color" has texts or booleans`:            func(c *config.Train) { c.SplitTime = "color" },
		"is null or NaN, expected a number or a point in": func(c *config.Train) { c.SplitTime = "a" },
	} {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output = []string{input}, "class", t.TempDir()
		change(&c)
		if _, err := train.Train(t.Context(), c, &silent{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
