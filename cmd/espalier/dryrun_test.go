package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestDryRun: the estimate goes to stdout, and there is no trace of it
// elsewhere.
func TestDryRun(t *testing.T) {
	input := mixed(t, 3000, parquetio.WriteOptions{RowsPerGroup: 500})
	for _, memory := range []string{"-1", "0", "200"} {
		o, output := train(t, input, "--dry_run", "--memory_objects", memory)
		o.wants(t, 0)
		for _, want := range []string{"rows", "3,000", "objects", "passes over objects", "shuffle", "memory", "estimate"} {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("stdout lacks %q:\n%s", want, o.stdout)
			}
		}
		if _, err := os.Stat(filepath.Dir(output)); err != nil {
			t.Fatal(err)
		}
		if left := files(t, filepath.Dir(output)); len(left) > 0 || o.stderr != "" {
			t.Errorf("left behind: %v; stderr: %s", left, o.stderr)
		}
	}
	o, _ := train(t, filepath.Join(t.TempDir(), "none.parquet"), "--dry_run")
	o.wants(t, 2, "--input")
}

// TestPeakMemory: the peak of a process is foreseen within a factor of 2, and
// the run tells what it expects.
func TestPeakMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a run without -short: half a million rows")
	}
	o, folder := synth(t, "--rows", "5e5")
	o.wants(t, 0)
	output := filepath.Join(t.TempDir(), "run")
	o = espalier(t, "train", "--input", filepath.Join(folder, "*.parquet"), "--label", "class", "--output", output,
		"--select", "first", "--certificate", "none", "--memory_objects", "1e5", "--progress", "plain")
	o.wants(t, 0, "expecting 500,000 rows")
	validate(t, "manifest", filepath.Join(output, "manifest.json"))
	var m runfolder.Manifest
	if err := json.Unmarshal(read(t, filepath.Join(output, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	if e, r := m.Estimate.DriverMemory, m.Measured.DriverMemory; e > 2*r || r > 2*e {
		t.Errorf("%d bytes foreseen, %d measured", e, r)
	}
}

// TestDryRunRows: --rows extrapolates the estimate to the given number of rows, from an input that
// is a sample of them.
func TestDryRunRows(t *testing.T) {
	o, folder := synth(t, "--rows", "20000", "--numeric", "4", "--categorical", "1")
	o.wants(t, 0)
	input := filepath.Join(folder, "*.parquet")
	foreseen := func(more ...string) map[string]float64 {
		t.Helper()
		o, _ := train(t, input, append(more, "--dry_run")...)
		o.wants(t, 0)
		return figures(t, o.stdout)
	}
	few, many := foreseen(), foreseen("--rows", "1000000")
	if few["rows"] != 20000 || many["rows"] != 1e6 {
		t.Errorf("%g rows without --rows, %g with 1,000,000", few["rows"], many["rows"])
	}
	for _, name := range []string{"objects", "read of columns", "read of blocks", "memory"} {
		if few[name] <= 0 || many[name] <= few[name] {
			t.Errorf("%s: %g for 20,000 rows, %g for 1,000,000: want more", name, few[name], many[name])
		}
	}
	o, output := train(t, input, "--rows", "1000000")
	o.wants(t, 2, "--rows says what --dry_run is to foresee: add --dry_run, or leave out --rows")
	if left := files(t, filepath.Dir(output)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// figures reads the table of an estimate, in bytes or seconds where a figure has a unit.
func figures(t *testing.T, table string) map[string]float64 {
	t.Helper()
	line := regexp.MustCompile(`^(\S+(?: \S+)*?) +([\d,.]+)(?: (B|kB|MB|GB|TB|s)\b)?`)
	units := map[string]float64{"": 1, "s": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
	found := make(map[string]float64)
	for _, text := range strings.Split(table, "\n") {
		m := line.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		x, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		found[m[1]] = x * units[m[3]]
	}
	return found
}
