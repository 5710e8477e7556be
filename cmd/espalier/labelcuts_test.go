package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
)

// TestLabelCuts: a label of numbers is warned of, with cuts that can be typed; with cuts its ranges are the classes in all
// verbs, whose labels remain numbers. Floats, whole numbers, negative and missing labels are cut; dates and texts are not.
func TestLabelCuts(t *testing.T) {
	longtest.Skip(t)
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	table := func(label func(i int) string) string {
		lines := []string{"x,y"}
		for i := range 300 {
			lines = append(lines, fmt.Sprintf("%d,%s", i*7%300, label(i*7%300)))
		}
		return strings.Join(lines, "\n") + "\n"
	}
	names := []string{"x,y"} // of more values than a summary of texts keeps
	for i := range 70_000 {
		names = append(names, fmt.Sprintf("%d,n%d", i%7, i))
	}
	for name, text := range map[string]string{
		"names":  strings.Join(names, "\n"),
		"floats": table(func(i int) string { return fmt.Sprintf("%.2f", float64(i)/7-20) }),
		"whole":  table(func(i int) string { return strconv.Itoa(i / 2) }),
		"absent": table(func(i int) string { return []string{strconv.Itoa(i), ""}[max(0, i%25-23)] }),
		"dates":  table(func(i int) string { return fmt.Sprintf("2026-%02d-%02d", i/28+1, i%28+1) }),
		"halves": table(func(i int) string { return []string{"2026-01-01", "2026-07-01"}[i/150] }),
		"skewed": table(func(i int) string { return strconv.Itoa(max(0, i-150)) }),
		"zeros":  table(func(i int) string { return strconv.Itoa(max(0, i-240)) }),
		"large":  table(func(i int) string { return strconv.Itoa(9007199254740993 + 2*i) }),
		"codes":  table(func(i int) string { return fmt.Sprintf("%04d", i) }),
		"truths": table(func(i int) string { return strconv.FormatBool(i > 100) }),
		"texts":  table(func(i int) string { return []string{"few", "many"}[i/200] }),
	} {
		if err := os.WriteFile(at(name+".csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		espalier(t, "import", at(name+".csv"), "--output", at(name)).wants(t, 0)
	}
	if err := os.WriteFile(at("train.yaml"), []byte("label_cuts: [-10, 5.5]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	train := func(data, run string, flags ...string) outcome {
		return espalier(t, append([]string{"train", "--input", at(data), "--label", "y", "--output", at(run), "--report", "none", "--certificate", "none", "--folds", "0", "--theta", "0.05"}, flags...)...)
	}
	train("floats", "plain").wants(t, 0, "does not predict numbers", "--label_cuts -5.8,8.5 makes 3")
	train("whole", "few").wants(t, 0, "--label_cuts 50,100 makes 3")
	train("floats", "many", "--max_classes", "100").wants(t, 3, "more than 100 classes", "--label_cuts -5.8,8.5 makes 3", "--max_classes")
	train("dates", "days").wants(t, 0, "does not predict dates")
	train("halves", "halves.run").wants(t, 0, `the label "y" has dates`, "such as class 20454 for 2026-01-01", "--text of import")

	// A range of fewer than a sixth of the rows is not proposed, and only cuts that can be typed are.
	train("skewed", "skewed.run").wants(t, 0, "--label_cuts 1,51 makes 3 classes")
	train("zeros", "zeros.run").wants(t, 0, "--label_cuts 1 makes 2 classes")
	train("large", "large.run").wants(t, 0, "--label_cuts CUT,CUT")
	train("large", "none", "--label_cuts", "9007199254740993").wants(t, 2, "--label_cuts", "9007199254740992")
	if o := train("codes", "codes.run"); o.code != 0 || strings.Contains(o.stderr, "--label_cuts") {
		t.Errorf("codes: %d\n%s", o.code, o.stderr)
	}

	train("floats", "flag", "--label_cuts", "-10,5.5").wants(t, 0)
	train("floats", "file", "--config", at("train.yaml")).wants(t, 0)
	want, err := os.ReadFile(at("flag/tree.json"))
	if err != nil || !strings.Contains(string(want), `"classes": ["< -10", "-10 to < 5.5", ">= 5.5"]`) {
		t.Fatalf("%v\n%s", err, want)
	}
	if b, err := os.ReadFile(at("file/tree.json")); err != nil || string(b) != string(want) {
		t.Errorf("by a file: %v, another tree\n%s", err, b)
	}
	o := espalier(t, "evaluate", at("flag"), "--input", at("floats"))
	if o.wants(t, 0); !strings.Contains(o.stdout, "evaluated   300") || !strings.Contains(o.stdout, "-10 to < 5.5   ") {
		t.Errorf("evaluated:\n%s", o.stdout)
	}
	espalier(t, "evaluate", at("flag"), "--input", at("floats"), "--against", at("file")).wants(t, 0)
	o = espalier(t, "predict", at("flag"), "--input", at("floats"), "--output", at("scored"))
	if o.wants(t, 0); !strings.Contains(o.stdout, "scored   300") {
		t.Errorf("predicted:\n%s", o.stdout)
	}
	train("whole", "cuts", "--cuts_from", at("flag")).wants(t, 0)

	// A contract has bounds of the numbers, not classes; a label of as many texts has no contract.
	espalier(t, "contract", at("floats"), "--label", "y", "--output", at("contract.yaml")).wants(t, 0)
	text, err := os.ReadFile(at("contract.yaml"))
	if label := "by --label_cuts\n    type: number\n    role: label\n    max_missing: 0\n    min: -41.355\n"; err != nil ||
		!strings.Contains(string(text), label) || strings.Contains(string(text), "values:") {
		t.Errorf("%v: the contract is\n%s", err, text)
	}
	espalier(t, "train", "--input", at("floats"), "--contract", at("contract.yaml"), "--label_cuts", "-10,5.5", "--output", at("kept"),
		"--report", "none", "--certificate", "none", "--folds", "0", "--theta", "0.05").wants(t, 0)
	if b, err := os.ReadFile(at("kept/tree.json")); err != nil || string(b) != string(want) {
		t.Errorf("by a contract: %v, another tree\n%s", err, b)
	}
	espalier(t, "contract", at("codes"), "--label", "y").wants(t, 2, `"y" has more than 100 values`)
	espalier(t, "contract", at("names"), "--label", "y").wants(t, 2, `"y" has more than 100 values`)
	train("whole", "none", "--cuts_from", at("flag"), "--label_cuts", "3").wants(t, 2, "--label_cuts makes", `"-10 to < 5.5"`, "leave --label_cuts out")
	train("floats", "refit", "--refit", at("flag"), "--label_cuts", "-10,5.5").wants(t, 0)

	// The order of the classes is the order of their ranges, not of their names.
	if err := os.WriteFile(at("weights.csv"), []byte("class,weight\n20 to < 50,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	train("whole", "balanced", "--label_cuts", "20,50", "--class_weights", "balanced").wants(t, 0)
	train("whole", "factors", "--label_cuts", "20,50", "--class_weights", at("weights.csv")).wants(t, 0)
	train("whole", "again", "--cuts_from", at("balanced"), "--class_weights", "balanced").wants(t, 0)
	for _, run := range []string{"balanced", "factors", "again"} {
		b, err := os.ReadFile(at(run + "/tree.json"))
		if err != nil || !strings.Contains(string(b), `"classes": ["< 20", "20 to < 50", ">= 50"]`) {
			t.Errorf("%s: %v\n%s", run, err, b)
		}
	}

	// Training and evaluation agree on which labels are numbers: codes and booleans are not.
	train("codes", "none", "--label_cuts", "100").wants(t, 3, `column "y"`, "row ", "not a number", `"0`)
	train("truths", "none", "--label_cuts", "1").wants(t, 3, `column "y"`, "not a number")

	train("absent", "none", "--label_cuts", "100").wants(t, 3, `column "y"`, "--drop_null_labels")
	train("absent", "dropped", "--label_cuts", "100,1000", "--drop_null_labels").wants(t, 0, `no row has a label "y" in the range ">= 1000"`)
	train("dates", "none", "--label_cuts", "100").wants(t, 2, "dates")
	train("texts", "none", "--label_cuts", "100").wants(t, 3, `column "y"`, "not a number", `"few"`, "--label_cuts")
	train("whole", "none", "--label_cuts", "5,5").wants(t, 2, "increase")
	train("whole", "none", "--label_cuts", "5,NaN").wants(t, 2, "want a number")
}
