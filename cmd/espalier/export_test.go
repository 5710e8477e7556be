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
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestExport: the file is what standard output has, golden rows lie beside it, and the verb
// replaces its own files alone.
func TestExport(t *testing.T) {
	input := mixed(t, 600, parquetio.WriteOptions{})
	o, run := train(t, input, "--certificate", "none")
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

// TestExportPackage: the verb replaces its own packages and tests.
func TestExportPackage(t *testing.T) {
	o, run := train(t, mixed(t, 300, parquetio.WriteOptions{}), "--certificate", "none")
	o.wants(t, 0)
	for format, files := range map[string][]string{
		"python":     {"model-1.0-py3-none-any.whl", "test_model.py"},
		"javascript": {"model-1.0.0.tgz", "model.test.mjs"},
	} {
		folder := t.TempDir()
		file, golden := filepath.Join(folder, files[0]), filepath.Join(folder, files[1])
		args := []string{"export", run, "--format", format, "--output", file, "--golden", golden}
		espalier(t, args...).wants(t, 0)
		first := read(t, file)
		espalier(t, append(args, "--overwrite", "--with", "path")...).wants(t, 0)
		espalier(t, append(args, "--overwrite")...).wants(t, 0)
		if !bytes.Equal(first, read(t, file)) {
			t.Errorf("%s: the second package of a tree differs from the first", format)
		}
		if !strings.Contains(string(read(t, golden)), "import") {
			t.Errorf("%s: the golden rows are no test", format)
		}
	}
}

// TestExportVerifies runs the exported file on the rows that the tree was trained on, as they
// are in Parquet, and on golden rows.
func TestExportVerifies(t *testing.T) {
	const format = "go" // package export tries the other ones
	for name, input := range map[string]string{"plain": mixed(t, 600, parquetio.WriteOptions{}), "hostile": hostile(t)} {
		o, run := train(t, input, "--certificate", "none")
		o.wants(t, 0)
		e := espalier(t, "export", run, "--format", format, "--verify", input)
		e.wants(t, 0)
		if !strings.Contains(e.stderr, "no difference on 600 rows") || !strings.Contains(e.stderr, "golden rows") {
			t.Errorf("%s: %s", name, e.stderr)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	o, run := train(t, mixed(t, 300, parquetio.WriteOptions{}), "--certificate", "none")
	o.wants(t, 0)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "export takes one run folder"},
		{[]string{run}, "--format \"\": want go, c, java, python, javascript, sql, pmml, onnx or json"},
		{[]string{run, "--format", "cobol"}, "--format cobol: want go, c, java, python, javascript, sql, pmml, onnx or json"},
		{[]string{run, "--format", "go", "--name", "func"}, `--name "func": want a name`},
		{[]string{run, "--format", "go", "--overwrite"}, "--overwrite replaces"},
		{[]string{run + "x", "--format", "go"}, "no such"},
		{[]string{run, "--format", "go", "--output", run + "/model-1.0-py3-none-any.whl"}, "a wheel is for python"},
		{[]string{run, "--format", "python", "--output", run + "/model.whl"}, "named NAME-VERSION-py3-none-any.whl"},
		{[]string{run, "--format", "javascript", "--output", run + "/model-1.tgz"}, "named NAME-VERSION.tgz"},
		{[]string{run, "--format", "java", "--name", "A", "--output", run + "/B.java"}, "a class A is in a file A.java"},
		{[]string{run, "--format", "go", "--golden", run + "/model_test.py"}, "a test of --format go is no such file"},
		{[]string{run, "--format", "go", "--golden", run + "/model.go"}, "a Go test is in a file like model_test.go"},
		{[]string{run, "--format", "go", "--verify", run + "/none.parquet"}, "none.parquet"},
	} {
		espalier(t, append([]string{"export"}, c.args...)...).wants(t, 2, c.want)
	}
}
