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

// TestAgainst: evaluate --against says in words what its JSON says in figures, and refuses what it cannot
// compare.
func TestAgainst(t *testing.T) {
	input := mixed(t, 600, parquetio.WriteOptions{})
	_, a := train(t, input, "--max_depth", "2", "--select", "first", "--ignore", "w")
	_, b := train(t, input, "--select", "first", "--leaf_model", "linear", "--ignore", "w")
	text := espalier(t, "evaluate", a, "--against", b, "--input", input, "--progress", "none")
	text.wants(t, 0)
	output := filepath.Join(t.TempDir(), "comparison.json")
	o := espalier(t, "evaluate", a, "--against", filepath.Join(b, "tree.json"), "--input", input, "--json", "--output", output,
		"--progress", "none")
	o.wants(t, 0)
	validate(t, "comparison", output)
	if written := string(read(t, output)); written != o.stdout {
		t.Errorf("--output has\n%s\nstdout\n%s", written, o.stdout)
	}
	var found runfolder.Comparison
	if err := json.Unmarshal([]byte(o.stdout), &found); err != nil {
		t.Fatal(err)
	}
	if found.Flips.Rows == 0 || len(found.Nodes.Differences) == 0 || found.Metrics.Rows != 600 {
		t.Fatalf("nothing differs: %+v", found)
	}
	for _, words := range []string{
		"A is " + a, "B is " + b, "AUC", "B - A", "95 %", "become right", "McNemar's p", "of the rows, ", "nodes: ",
		" of 600 rows (", found.Flips.ByClasses[0].From, found.Nodes.Differences[0].A.Asks,
	} {
		if !strings.Contains(text.stdout, words) {
			t.Errorf("the text lacks %q:\n%s", words, text.stdout)
		}
	}
	plain := espalier(t, "evaluate", a, "--against", b, "--input", input, "--label", "none", "--progress", "none")
	plain.wants(t, 0)
	if strings.Contains(plain.stdout, "AUC") || !strings.Contains(plain.stdout, "get another class by B\n") {
		t.Errorf("without labels:\n%s", plain.stdout)
	}
	notOurs := filepath.Join(t.TempDir(), "notes.json")
	if err := os.WriteFile(notOurs, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		word string
	}{
		{[]string{"--input", input}, 2, "--model is required"},
		{nil, 2, "--model and --input are required"},
		{[]string{a}, 2, "--input is required"},
		{[]string{a, "nowhere", "--input", input}, 2, "nowhere"},
		{[]string{a, b, "--input", input, "--slice", "s"}, 2, "--slice"},
		{[]string{a, b, "--predictions", input}, 2, "--against"},
		{[]string{a, b, "--input", input, "--output", output}, 2, "--overwrite"},
		{[]string{a, b, "--input", input, "--output", notOurs, "--overwrite"}, 2, "no comparison of Espalier"},
		{[]string{a, b, "--input", input, "--output", input, "--overwrite"}, 2, "no comparison of Espalier"},
		{[]string{a, b, "--input", input, "--label", "flag"}, 3, "none of the labels is one of the tree's classes"},
		{[]string{a, b, "--input", input, "--weight", "s"}, 3, "the weights are text"},
	} {
		if len(c.args) > 1 && c.args[0] == a {
			c.args = slices.Insert(c.args, 1, "--against")
		}
		espalier(t, append([]string{"evaluate", "--progress", "none"}, c.args...)...).wants(t, c.code, c.word)
	}
}
