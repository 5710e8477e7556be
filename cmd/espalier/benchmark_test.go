package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchmark runs the verb on a made-up data set.
func TestBenchmark(t *testing.T) {
	folder, output := t.TempDir(), filepath.Join(t.TempDir(), "out")
	espalier(t, "synth", "--output", filepath.Join(folder, "made-up"), "--rows", "400", "--progress", "none").wants(t, 0)
	args := []string{"benchmark", folder, "--output", output, "--splits", "2", "--algorithm", "c45,ec45", "--progress", "none"}
	if o := espalier(t, args...); o.code != 0 || !strings.Contains(o.stdout, "2 splits\nwrote ") {
		t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	tables, err := os.ReadFile(filepath.Join(output, "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(tables), "| data set | c45 | ec45 |") {
		t.Errorf("no table of the two algorithms:\n%s", tables)
	}
	espalier(t, "benchmark", "--output", output).wants(t, 2, "takes a folder of data sets")
	espalier(t, "benchmark", folder, "--output", folder).wants(t, 2, "no benchmark's")
}
