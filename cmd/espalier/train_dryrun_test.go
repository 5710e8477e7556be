package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestDryRun: the sizes go to stdout, by hand for 6 row groups of 500 rows and 6 columns, and there is no
// trace of the dry run elsewhere. A setting that does not fit the columns is an error.
func TestDryRun(t *testing.T) {
	input := mixed(t, 3000, parquetio.WriteOptions{RowsPerGroup: 500})
	for memory, place := range map[string]string{"-1": "in memory", "0": "in files below the run folder"} {
		o, output := train(t, input, "--dry_run", "--memory_objects", memory, "--bins", "7", "--ignore", "w")
		o.wants(t, 0)
		outcome{stderr: o.stdout}.wants(t, 0, "rows      3,000  files: 1, row groups: 6", "columns       5  to read: ",
			"features      4", "bins          7  at most", "objects   3,000  at most", "kept      42 kB  about, without equal rows: the objects, "+place)
		if _, err := os.Stat(filepath.Dir(output)); err != nil {
			t.Fatal(err)
		}
		if left := files(t, filepath.Dir(output)); len(left) > 0 || o.stderr != "" {
			t.Errorf("left behind: %v; stderr: %s", left, o.stderr)
		}
	}
	for _, c := range []struct{ input, flag, value string }{
		{filepath.Join(t.TempDir(), "none.parquet"), "--input", ""}, {input, "--ignore", "weight"}, {input, "--monotone", "s"},
	} {
		args := []string{"--dry_run"}
		if c.value != "" {
			args = append(args, c.flag, c.value)
		}
		o, _ := train(t, c.input, args...)
		o.wants(t, 2, c.flag)
	}
}
