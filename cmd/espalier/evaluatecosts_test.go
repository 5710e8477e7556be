package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEvaluateErrorCosts: evaluate takes error costs that the training did not have, and prints the total and what errors
// cost without tests. frontier gives the same error cost for the tree on its test rows.
func TestEvaluateErrorCosts(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"errors.csv": "actual,predicted,cost\npositive,negative,9\n", "bad.csv": "actual,predicted,cost\nyes,negative,9\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	input := filepath.Join("example", "tic-tac-toe.parquet")
	espalier(t, "train", "--input", input, "--label", "class", "--output", at("run"), "--progress", "none").wants(t, 0)
	evaluate := func(more ...string) outcome {
		return espalier(t, append([]string{"evaluate", at("run"), "--input", input, "--progress", "none"}, more...)...)
	}
	plain := evaluate()
	plain.wants(t, 0)
	o := evaluate("--error_costs", at("errors.csv"))
	o.wants(t, 0)
	text := strings.Join(strings.Fields(o.stdout), " ")
	for _, want := range []string{
		"tests and errors together cost ", " per row on these rows; without tests, calling every row negative costs ", "calling every row positive costs ",
	} {
		if !strings.Contains(text, want) || strings.Contains(plain.stdout, "together") {
			t.Errorf("no %q, or also without error costs:\n%s\n%s", want, o.stdout, plain.stdout)
		}
	}
	evaluate("--error_costs", at("bad.csv")).wants(t, 2, "--error_costs", "line 2", `no class "yes"`)
	evaluate("--error_costs", at("errors.csv"), "--against", at("run")).wants(t, 2, "--error_costs decides for one tree")
	o = evaluate("--error_costs", at("errors.csv"), "--output", at("metrics.json"))
	o.wants(t, 0)
	if b, err := os.ReadFile(at("metrics.json")); err != nil || !strings.Contains(string(b), `"error_costs"`) {
		t.Errorf("%v: no error costs in\n%s", err, b)
	}
}

// TestEvaluateThresholds: the list of thresholds is of the class of --positive, which needs no --threshold, and else of the
// rarer class. It is of one tree.
func TestEvaluateThresholds(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	input := filepath.Join("example", "tic-tac-toe.parquet")
	espalier(t, "train", "--input", input, "--label", "class", "--output", run, "--progress", "none").wants(t, 0)
	evaluate := func(more ...string) outcome {
		return espalier(t, append([]string{"evaluate", run, "--input", input, "--progress", "none", "--thresholds"}, more...)...)
	}
	for class, more := range map[string][]string{"negative": nil, "positive": {"--positive", "positive"}} {
		o := evaluate(more...)
		o.wants(t, 0)
		if !strings.Contains(o.stdout, "operating points of "+class+" on evaluated rows") {
			t.Errorf("no operating points of %s:\n%s", class, o.stdout)
		}
	}
	evaluate("--positive", "yes").wants(t, 2, `--positive yes: want one of the tree's classes`)
	evaluate("--against", run).wants(t, 2, "--thresholds lists the thresholds of one tree")
}
