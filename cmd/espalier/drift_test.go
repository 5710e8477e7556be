package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestDrift: the training rows have not moved from themselves; a column that has moved alone is named.
func TestDrift(t *testing.T) {
	input := mixed(t, 3000, parquetio.WriteOptions{})
	_, run := train(t, input, "--select", "first", "--ignore", "w", "--split", "100/0/0", "--max_depth", "3")
	same := espalier(t, "drift", "--model", run, "--input", input, "--progress", "none")
	wantsPrinted(t, same, "3000 rows against the 3000 training rows", "the run held no rows out", "no drift")

	floats, texts := make([]float64, 1000), make([]string, 1000)
	ints, flags := make([]int64, 1000), make([]bool, 1000)
	for i := range floats { // as in mixed, but x is from 5 on, and no value is missing
		floats[i], texts[i], ints[i], flags[i] = 5+float64(i%37)/4, "value-"+string(rune('0'+i%10)), int64(i*i%101), i%3 == 0
	}
	moved := parquet(t, parquetio.WriteOptions{},
		parquetio.WriteColumn{Name: "x", Values: floats}, parquetio.WriteColumn{Name: "n", Values: ints},
		parquetio.WriteColumn{Name: "s", Values: texts}, parquetio.WriteColumn{Name: "flag", Values: flags})
	o := espalier(t, "drift", "--model", run, "--input", moved, "--json", "--progress", "none")
	o.wants(t, 0)
	file := filepath.Join(t.TempDir(), "drift.json")
	if err := os.WriteFile(file, []byte(o.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	validate(t, "drift", file)
	var found runfolder.Drift
	if err := json.Unmarshal([]byte(o.stdout), &found); err != nil {
		t.Fatal(err)
	}
	alarms := found.Alarms()
	if !slices.Contains(alarms, "x") || slices.Contains(alarms, "n") || slices.Contains(alarms, "flag") || found.Now != 1000 {
		t.Errorf("alarms %q of %d rows, want x and neither n nor flag of 1000", alarms, found.Now)
	}
	text := espalier(t, "drift", "--model", run, "--input", moved, "--progress", "none")
	wantsPrinted(t, text, "drift: s, x")
	runs := espalier(t, "drift", "--model", run, "--against", run)
	wantsPrinted(t, runs, "3000 training rows of "+run+" against the 3000 training rows of "+run, "no drift")

	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--model", filepath.Join(run, "nowhere"), "--input", moved}, 2, "name the folder of a finished run"},
		{[]string{"--model", run, "--input", parquet(t, parquetio.WriteOptions{}, parquetio.WriteColumn{Name: "x", Values: floats})}, 3, "the input lacks this column"},
		{[]string{"--model", run, "--input", moved, "--fail_above", "0.25"}, 4, "drift above --fail_above: s (PSI "},
		{[]string{"--model", run, "--input", moved, "--fail_above", "100"}, 0, ""},
		{[]string{"--model", run, "--input", input, "--fail_above", "0.01"}, 0, ""},
		{[]string{"--model", run, "--input", moved, "--false_alarms", "2"}, 2, "want a share from 0 to 1"},
	} {
		o := espalier(t, append([]string{"drift", "--progress", "none"}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.stderr, c.text) {
			t.Errorf("%v: exit code %d, %q; want %d, %q", c.args, o.code, o.stderr, c.code, c.text)
		}
	}
	if err := os.Remove(filepath.Join(run, "distribution.json")); err != nil {
		t.Fatal(err)
	}
	old := espalier(t, "drift", "--model", run, "--input", moved, "--progress", "none")
	if old.code != 2 || !strings.Contains(old.stderr, "train again") {
		t.Errorf("a run without distribution.json: exit code %d, %q", old.code, old.stderr)
	}
}

// wantsPrinted fails unless a verb has succeeded and printed all texts.
func wantsPrinted(t *testing.T, o outcome, texts ...string) {
	t.Helper()
	o.wants(t, 0)
	for _, text := range texts {
		if !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), text) {
			t.Errorf("want %q in\n%s", text, o.stdout)
		}
	}
}
