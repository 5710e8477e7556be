package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestExport: the file is what standard output has, golden rows lie beside it, and the verb
// replaces its own files alone.
func TestExport(t *testing.T) {
	input := mixed(t, 600, parquetio.WriteOptions{})
	o, run := train(t, input, fewTrees()...)
	o.wants(t, 0)
	for _, format := range export.Formats() {
		written := []string{"export", run, "--format", format}
		if format == "sql" {
			written = append(written, "--dialect", "sqlite")
		}
		printed := espalier(t, written...)
		printed.wants(t, 0)
		folder := t.TempDir()
		file, golden := filepath.Join(folder, "model"), filepath.Join(folder, "golden.json")
		args := slices.Concat(written, []string{"--output", file, "--golden", golden})
		espalier(t, args...).wants(t, 0)
		if got := string(read(t, file)); got != printed.stdout {
			t.Errorf("%s: the file differs from standard output", format)
		}
		var rows struct{ Rows []any }
		if err := json.Unmarshal(read(t, golden), &rows); err != nil || len(rows.Rows) < 10 {
			t.Errorf("%s: %d golden rows, %v", format, len(rows.Rows), err)
		}
		espalier(t, args...).wants(t, 2, "has an earlier one")
		espalier(t, append(args, "--overwrite")...).wants(t, 0)
		if err := os.WriteFile(file, []byte("my own"), 0o600); err != nil {
			t.Fatal(err)
		}
		espalier(t, append(args, "--overwrite")...).wants(t, 2, "is no file of espalier export")
	}
}

// TestExportTest: the golden rows are a test of the language by the ending of their file, which the verb replaces.
func TestExportTest(t *testing.T) {
	o, run := train(t, mixed(t, 300, parquetio.WriteOptions{}), fewTrees()...)
	o.wants(t, 0)
	folder := t.TempDir()
	file, golden := filepath.Join(folder, "model.py"), filepath.Join(folder, "test_model.py")
	args := []string{"export", run, "--format", "python", "--output", file, "--golden", golden}
	espalier(t, args...).wants(t, 0)
	first := read(t, golden)
	espalier(t, append(args, "--overwrite", "--with", "path")...).wants(t, 0)
	espalier(t, append(args, "--overwrite")...).wants(t, 0)
	if !bytes.Equal(first, read(t, golden)) || !bytes.Contains(first, []byte("import unittest")) {
		t.Error("the golden rows are no test, or differ from the first ones")
	}
}

// TestExportVerifies runs the exported file on the rows that the tree was trained on, as they
// are in Parquet, and on golden rows.
func TestExportVerifies(t *testing.T) {
	longtest.Skip(t)
	const format = "python" // package export tries the other ones
	if !export.Runs(export.Options{Format: format}) {
		t.Skip("waits for Python 3")
	}
	for name, input := range map[string]string{"plain": mixed(t, 600, parquetio.WriteOptions{}), "hostile": hostile(t)} {
		o, run := train(t, input, fewTrees()...)
		o.wants(t, 0)
		e := espalier(t, "export", run, "--format", format, "--verify", input)
		e.wants(t, 0)
		if !strings.Contains(e.stderr, "no difference on 600 rows") || !strings.Contains(e.stderr, "golden rows") {
			t.Errorf("%s: %s", name, e.stderr)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	o, run := train(t, mixed(t, 300, parquetio.WriteOptions{}), fewTrees()...)
	o.wants(t, 0)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--model is required"},
		{[]string{run}, "--format is missing: want c, java, python, javascript, sql, pmml, onnx or json"},
		{[]string{run, "--format", "cobol"}, "--format cobol: want c, java, python, javascript, sql, pmml, onnx or json"},
		{[]string{run, "--format", "c", "--name", "for"}, `--name "for": want a name`},
		{[]string{run, "--format", "c", "--overwrite"}, "--overwrite replaces"},
		{[]string{run + "x", "--format", "c"}, "no such"},
		{[]string{run, "--format", "java", "--name", "A", "--output", run + "/B.java"}, "a class A is in a file A.java"},
		{[]string{run, "--format", "c", "--golden", run + "/model_test.py"}, "a test of --format c is no such file"},
		{[]string{run, "--format", "python", "--verify", run + "/none.parquet"}, "none.parquet"},
	} {
		espalier(t, append([]string{"export"}, c.args...)...).wants(t, 2, c.want)
	}
}
