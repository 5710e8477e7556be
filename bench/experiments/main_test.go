package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// TestCommand runs command lines on a synthetic data set: one that works, and ones with faults.
func TestCommand(t *testing.T) {
	folder, output := t.TempDir(), filepath.Join(t.TempDir(), "out")
	c := rows.Default()
	c.Rows = 400
	if err := rows.Write(t.Context(), objectstore.New(), filepath.Join(folder, "synthetic"), c); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (code int, stdout, stderr string) {
		var out, told bytes.Buffer
		code = start(t.Context(), args, &out, &told)
		return code, out.String(), told.String()
	}
	code, stdout, stderr := command(folder, "--output", output, "--splits", "2", "--algorithm", "c45,ec45")
	if code != 0 || !strings.Contains(stdout, "2 splits\nwrote ") || !strings.Contains(stderr, "2 of 2 splits: synthetic") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	tables, err := os.ReadFile(filepath.Join(output, "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(tables), "| data set | c45 | ec45 |") {
		t.Errorf("no table of the two algorithms:\n%s", tables)
	}
	for _, refused := range []struct {
		want string
		args []string
	}{
		{"want one folder of data sets", []string{"--output", output}},
		{"no benchmark's", []string{folder, "--output", folder}},
		{"--splits", []string{folder, "--output", output, "--splits", "0"}},
		{"--output", []string{folder}},
		{"unknown flag", []string{folder, "--split", "2"}},
	} {
		if code, _, stderr := command(refused.args...); code != exitUsage || !strings.Contains(stderr, refused.want) {
			t.Errorf("%q: exit code %d and %q, want %d and %q", refused.args, code, stderr, exitUsage, refused.want)
		}
	}
	if code, stdout, _ := command("--help"); code != 0 || !strings.Contains(stdout, "--significance") {
		t.Errorf("help: exit code %d\n%s", code, stdout)
	}
}
