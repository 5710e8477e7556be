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
	if b, err := os.ReadFile(at("file/tree.json")); err != nil || string(b) != string(want) {
		t.Errorf("file: %v, another tree\n%s", err, b)
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
	train("none", "--cuts", "size=1,2").wants(t, 3, `column "size"`, "expected a column of numbers")
	train("none", "--cuts", "age=18", "--cuts_from", at("flag")).wants(t, 2, "--cuts_from", "leave out --cuts")
}
