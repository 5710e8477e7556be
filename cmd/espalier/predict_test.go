package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestPredict checks the summary as JSON, and the exit codes of refused runs. These leave
// no files.
func TestPredict(t *testing.T) {
	input := mixed(t, 300, parquetio.WriteOptions{RowsPerGroup: 100})
	o, run := train(t, input, "--select", "first", "--certificate", "none", "--max_depth", "4")
	o.wants(t, 0)
	output := filepath.Join(t.TempDir(), "scored")
	args := []string{"predict", "--model", run, "--input", input, "--output", output, "--progress", "none"}
	o = espalier(t, append(args, "--json")...)
	o.wants(t, 0)
	var summary struct {
		Rows    int64
		Metrics struct{ Test struct{ Rows int64 } }
		Files   []string
	}
	if err := json.Unmarshal([]byte(o.stdout), &summary); err != nil || summary.Rows != 300 ||
		summary.Metrics.Test.Rows != 300 || len(summary.Files) != 1 {
		t.Errorf("summary %+v, error %v of\n%s", summary, err, o.stdout)
	}
	espalier(t, args...).wants(t, 2, "--overwrite")
	espalier(t, append(args, "--overwrite", "--label", "none")...).wants(t, 0)
	if _, err := os.Stat(filepath.Join(output, "_metrics.json")); err == nil {
		t.Error("the metrics of the predictions before stay")
	}
	espalier(t, append(args, "--overwrite", "--key", "nobody")...).wants(t, 2, "--key", "nobody")
	espalier(t, "predict", "--model", run, "--input", input).wants(t, 2, "--output")

	other := mixed(t, 301, parquetio.WriteOptions{})
	bytes, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, bytes[:len(bytes)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "scored")
	espalier(t, "predict", "--model", run, "--input", other, "--output", fresh, "--progress", "none").wants(t, 3, other)
	if left, err := filepath.Glob(filepath.Join(fresh, "*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, error %v", left, err)
	}
}
