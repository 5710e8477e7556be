package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCuts trains with cuts of one's own, by the flag and a file of settings: the same tree, which has these cuts and no
// others. A cut that parts no rows is left out.
func TestCuts(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	lines := []string{"age,size,class"}
	for i := range 400 {
		age := i % 80
		lines = append(lines, fmt.Sprintf("%d,%s,%t", age, []string{"low", "high"}[i%2], (age >= 30) != (i%23 == 0)))
	}
	for name, text := range map[string]string{
		"rows.csv": strings.Join(lines, "\n") + "\n", "train.yaml": "cuts: ['age=18,40,65,200']\n",
		"cuts.csv": "feature,cut\nage,40\nage, 18\nage,200\nage,65\n", "named.yaml": "cuts: " + at("cuts.csv") + "\n",
		"none.csv": "feature,cut\nage,18\nagee,40\n", "twice.csv": "feature,cut\nage,18\nage,18.0\n", "text.csv": "feature,cut\nage,old\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	espalier(t, "import", at("rows.csv"), "--output", at("rows")).wants(t, 0)
	train := func(run string, flags ...string) outcome {
		return espalier(t, append([]string{"train", "--input", at("rows"), "--label", "class", "--output", at(run)}, flags...)...)
	}
	train("flag", "--cuts", "age=18,40,65,200").wants(t, 0, `--cuts: 3 of the 4 cuts of "age" part training rows`)
	train("file", "--config", at("train.yaml")).wants(t, 0)
	want, err := os.ReadFile(at("flag/tree.json"))
	if err != nil {
		t.Fatal(err)
	}
	train("csv", "--cuts", at("cuts.csv")).wants(t, 0, `--cuts: 3 of the 4 cuts of "age" part training rows`)
	train("named", "--config", at("named.yaml")).wants(t, 0)
	for _, run := range []string{"file", "csv", "named"} {
		if b, err := os.ReadFile(at(run + "/tree.json")); err != nil || string(b) != string(want) {
			t.Errorf("%s: %v, another tree\n%s", run, err, b)
		}
	}
	if b, err := os.ReadFile(at("csv/manifest.json")); err != nil || !strings.Contains(string(b), at("cuts.csv")) {
		t.Errorf("%v: the manifest does not name the file of cuts:\n%s", err, b)
	}
	var found struct {
		Features []struct {
			Name string
			Cuts []float64
		}
	}
	if err := json.Unmarshal(want, &found); err != nil || len(found.Features) == 0 || found.Features[0].Name != "age" ||
		!slices.Equal(found.Features[0].Cuts, []float64{18, 40, 65}) {
		t.Errorf("%v, features %+v: want the cuts 18, 40 and 65 of age", err, found.Features)
	}
	train("none", "--cuts", "age=40,18").wants(t, 2, "--cuts age", "each above the one before it")
	train("none", "--cuts", "age=18,18").wants(t, 2, "--cuts age", "each above the one before it")
	train("none", "--cuts", "age=NaN").wants(t, 2, "--cuts age", "finite")
	train("none", "--cuts", "age").wants(t, 2, "--cuts age", "COLUMN=NUMBER")
	train("none", "--cuts", at("none.csv")).wants(t, 2, "none.csv, line 3", `no feature "agee"`, `did you mean "age"?`)
	train("none", "--cuts", at("twice.csv")).wants(t, 2, "twice.csv, line 3", `"age" has the cut 18 already`)
	train("none", "--cuts", at("text.csv")).wants(t, 2, "text.csv, line 2", `cut "old": want a finite number`)
	train("none", "--cuts", at("costs.csv")).wants(t, 2, "--cuts", "costs.csv")
	train("none", "--cuts", at("cuts.csv"), "--cuts", "age=18").wants(t, 2, "--cuts", "or one CSV file")
	train("none", "--cuts", at("cuts.csv"), "--categorical", "age").wants(t, 2, `column "age" is named in --cuts`)
	train("none", "--cuts", at("cuts.csv"), "--cuts_from", at("flag")).wants(t, 2, "--cuts_from", "leave out --cuts")
	train("none", "--cuts", "size=1,2").wants(t, 3, `column "size"`, "expected a column of numbers")
	train("none", "--cuts", "age=18", "--cuts_from", at("flag")).wants(t, 2, "--cuts_from", "leave out --cuts")
}
