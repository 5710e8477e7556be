package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOrdered trains on texts in an order, by the flag, a file of settings and a contract: the same tree, whose cut is in
// words. A text that is not in the order is refused with its place in training, and unseen in new rows.
func TestOrdered(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	lines := []string{"size,class"}
	for i := range 400 {
		k := i % 4
		lines = append(lines, fmt.Sprintf("%s,%t", []string{"low", "medium", "high", "top"}[k], (k > 1) != (i%23 == 0)))
	}
	for name, text := range map[string]string{
		"rows.csv": strings.Join(lines, "\n") + "\n", "new.csv": "size\nhigh\nHigh\n",
		"train.yaml": "ordered: ['size=low,medium,high,top']\n",
		"contract.yaml": "format: espalier/contract\nversion: 1\ncolumns:\n  - {name: class, type: text, role: label}\n" +
			"  - {name: size, type: text, role: feature, values: [low, medium, high, top], ordered: true}\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	espalier(t, "import", at("rows.csv"), "--output", at("rows")).wants(t, 0)
	espalier(t, "import", at("new.csv"), "--output", at("new")).wants(t, 0)
	train := func(run string, flags ...string) outcome {
		return espalier(t, append([]string{"train", "--input", at("rows"), "--label", "class", "--output", at(run)}, flags...)...)
	}
	train("flag", "--ordered", "size=low,medium,high,top").wants(t, 0)
	train("file", "--config", at("train.yaml")).wants(t, 0)
	train("contract", "--contract", at("contract.yaml")).wants(t, 0)
	want, err := os.ReadFile(at("flag/tree.json"))
	if err != nil || !strings.Contains(string(want), `"ordered": true`) {
		t.Fatalf("%v\n%s", err, want)
	}
	for _, run := range []string{"file", "contract"} {
		if b, err := os.ReadFile(at(run + "/tree.json")); err != nil || string(b) != string(want) {
			t.Errorf("%s: %v, another tree\n%s", run, err, b)
		}
	}
	if o := espalier(t, "show", at("flag")); !strings.Contains(o.stdout, "size >= high") || !strings.Contains(o.stdout, "size < high") {
		t.Errorf("no cut in words:\n%s", o.stdout)
	}
	espalier(t, "predict", at("flag"), "--input", at("new"), "--output", at("scored")).wants(t, 0, "50.0% of the rows have a value")
	train("none", "--ordered", "size=low,medium,top").wants(t, 3, `column "size"`, "the text of row 2", `"high"`, "--ordered")
	train("none", "--ordered", "size=low").wants(t, 2, "--ordered size", "two values or more")
	train("none", "--ordered", "size").wants(t, 2, "--ordered size", "COLUMN=VALUE")
	train("none", "--ordered", "size=low,medium,high,top", "--categorical", "size").wants(t, 2, "--ordered", "--categorical")
}
