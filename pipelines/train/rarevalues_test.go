package train_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestRareValues: a warning names a column of texts with a value for almost each row, and with --min_value_rows no
// file of the run contains a value of fewer rows.
func TestRareValues(t *testing.T) {
	const rows = 400
	names, cities, class, x := make([]string, rows), make([]string, rows), make([]string, rows), make([]int64, rows)
	for i := range rows {
		names[i], cities[i], x[i] = fmt.Sprintf("person-%d", i/2), []string{"Ulm", "Bonn"}[i%2], int64(i*7%40)
		class[i] = []string{"no", "yes"}[i*7%40/20]
		if i%80 == 0 {
			cities[i] = "person-rare"
		}
	}
	file := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
		{Name: "name", Values: names},
		{Name: "city", Values: cities},
		{Name: "x", Values: x},
		{Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, least := range []int64{1, 10} {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output, c.MinValueRows = []string{file}, "class", filepath.Join(t.TempDir(), "run"), least
		c.Slice = []string{"city"}
		said := &silent{}
		if _, err := train.Train(t.Context(), c, said); err != nil {
			t.Fatal(err)
		}
		in := 0
		err := filepath.WalkDir(c.Output, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if bytes.Contains(b, []byte("person-")) {
				in++
				if least > 1 {
					t.Errorf("%s contains a value of fewer than %d rows", d.Name(), least)
				}
			}
			return err
		})
		if err != nil || least == 1 && in == 0 {
			t.Errorf("%d files contain rare values, %v: this test sees nothing", in, err)
		}
		warned := strings.Contains(strings.Join(said.warnings, "\n"), `column "name" has values of one or two rows each`)
		if warned != (least == 1) {
			t.Errorf("--min_value_rows %d: warnings %q", least, said.warnings)
		}
	}
}
