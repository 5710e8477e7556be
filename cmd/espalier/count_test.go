package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
)

// TestCount: a table that is grouped and counted trains by the flag, by a file of settings and by the role of a contract;
// evaluate, the gate and drift count rows, predict writes a row for each line. Counts that are none are refused with their place.
func TestCount(t *testing.T) {
	longtest.Skip(t)
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	table := func(change map[int]string) string {
		lines := []string{"x,y,n,class"}
		for i := range 40 {
			n := strconv.Itoa(10 + i)
			if other, ok := change[i]; ok {
				n = other
			}
			lines = append(lines, fmt.Sprintf("%d,%d,%s,%t", i%8, i%3, n, (i%8 > 3) != (i%13 == 0)))
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for name, text := range map[string]string{
		"lines.csv": table(map[int]string{7: "0"}), "half.csv": table(map[int]string{5: "1.5"}), "less.csv": table(map[int]string{6: "-1"}),
		"none.csv": table(map[int]string{7: ""}), "texts.csv": table(map[int]string{8: "many"}),
		"zeros.csv": "x,y,n,class\n1,2,0,true\n2,3,0,false\n", "dates.csv": "x,y,n,class\n1,2,2026-01-02,true\n2,3,2026-01-03,false\n",
		"flags.csv": "x,y,n,class\n1,2,true,true\n2,3,false,false\n", "lacks.csv": "x,y,class\n1,2,true\n",
		"train.yaml": "count: n\n",
		"contract.yaml": "format: espalier/contract\nversion: 1\nother_columns: used\ncolumns:\n" +
			"  - {name: class, type: text, role: label}\n  - {name: n, type: number, role: count}\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if data, ok := strings.CutSuffix(name, ".csv"); ok {
			espalier(t, "import", at(name), "--output", at(data)).wants(t, 0)
		}
	}
	train := func(run, data string, flags ...string) outcome {
		return espalier(t, append([]string{"train", "--input", at(data), "--label", "class", "--output", at(run), "--report", "none"}, fewTrees(flags...)...)...)
	}
	train("flag", "lines", "--count", "n").wants(t, 0)
	train("file", "lines", "--config", at("train.yaml")).wants(t, 0)
	train("contract", "lines", "--contract", at("contract.yaml")).wants(t, 0)
	want, err := os.ReadFile(at("flag/tree.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"file", "contract"} {
		if b, err := os.ReadFile(at(run + "/tree.json")); err != nil || string(b) != string(want) {
			t.Errorf("%s: %v, another tree\n%s", run, err, b)
		}
	}
	const rows = 40*10 + 39*40/2 - 17
	evaluate := []string{"evaluate", at("flag"), "--input", at("lines")}
	if o := espalier(t, append(evaluate, "--count", "n")...); !strings.Contains(o.stdout, fmt.Sprintf("evaluated  %d", rows)) {
		t.Errorf("not %d rows:\n%s", rows, o.stdout)
	}
	if o := espalier(t, evaluate...); !strings.Contains(o.stdout, fmt.Sprintf("evaluated  %d", rows)) {
		t.Errorf("not the counts of the training, %d rows:\n%s", rows, o.stdout)
	}
	if o := espalier(t, append(evaluate, "--count", "none")...); !strings.Contains(o.stdout, "evaluated    40") {
		t.Errorf("not 40 lines:\n%s", o.stdout)
	}
	compare := append(slices.Clone(evaluate), "--count", "n", "--against", at("file"))
	if o := espalier(t, compare...); !strings.Contains(o.stdout, strconv.Itoa(rows)) {
		t.Errorf("not %d rows:\n%s", rows, o.stdout)
	}
	if o := espalier(t, append(compare, "--json")...); !strings.Contains(o.stdout, `"count": "n"`) {
		t.Errorf("a comparison without the column of counts:\n%s", o.stdout)
	}
	for _, format := range []string{"html", "markdown"} {
		file := at("report." + format)
		espalier(t, "report", at("flag"), "--format", format, "--output", file).wants(t, 0)
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "Counts of rows") {
			t.Errorf("%s: %v, no column of counts", file, err)
		}
	}
	if o := espalier(t, "drift", at("flag"), "--input", at("lines")); !strings.Contains(o.stdout+o.stderr, strconv.Itoa(rows)) {
		t.Errorf("drift of other than %d rows:\n%s", rows, o.stdout)
	}
	if o := espalier(t, "predict", at("flag"), "--input", at("lines"), "--output", at("scored")); !strings.Contains(o.stdout, "scored 40 rows") {
		t.Errorf("not 40 predictions:\n%s", o.stdout)
	}
	for _, date := range []string{"2026-11-01", "2026-11-02"} {
		o := espalier(t, "retrain", "--config", at("train.yaml"), "--input", at("lines"), "--label", "class",
			"--destination", at("models"), "--date", date)
		o.wants(t, 0)
	}

	train("x", "half", "--count", "n").wants(t, 3, `column "n"`, "row group 0", "the count of row 5 is not a whole number", `"1.5"`, "--weight")
	train("x", "less", "--count", "n").wants(t, 3, "the count of row 6", `"-1"`)
	train("x", "none", "--count", "n").wants(t, 3, "the count of row 7")
	train("x", "texts", "--count", "n").wants(t, 3, "text", "--count")
	train("x", "dates", "--count", "n").wants(t, 2, `--count: column "n" has dates, expected whole numbers`)
	train("x", "dates", "--weight", "n").wants(t, 2, `--weight: column "n" has dates, expected numbers`)
	train("x", "flags", "--count", "n").wants(t, 2, `--count: column "n" has booleans, expected whole numbers`)
	train("x", "lacks,"+at("lines"), "--count", "n").wants(t, 3, "lacks", `column "n"`, "add the column, or leave out the files that lack it")
	train("x", "zeros", "--count", "n").wants(t, 3, "the counts of all lines are 0")
	espalier(t, "evaluate", at("flag"), "--input", at("zeros")).wants(t, 3, "the counts of all lines are 0")
	espalier(t, "drift", at("flag"), "--input", at("zeros")).wants(t, 3, "the counts of all lines are 0")
	espalier(t, "evaluate", at("flag"), "--input", at("dates")).wants(t, 2, "dates")
	for _, use := range []string{"weight", "group", "split_time", "split_column", "ignore"} {
		train("x", "lines", "--count", "n", "--"+use, "n").wants(t, 2, "--count", "--"+use)
	}
	espalier(t, append(evaluate, "--weight", "n")...).wants(t, 2, "--count", "--weight")
	espalier(t, append(evaluate, "--group", "n")...).wants(t, 2, "--count", "--group")
	train("x", "lines", "--count", "m").wants(t, 2, "--count", `"m"`)
	train("x", "lines", "--count", "class").wants(t, 2, "class")
	for data, reason := range map[string]string{"half": "the count is not a whole number", "less": "below min, 0", "none": "missing"} {
		train("x", data, "--contract", at("contract.yaml")).wants(t, 3, reason, "--max_rejects")
		train("with_"+data, data, "--contract", at("contract.yaml"), "--max_rejects", "1").wants(t, 0, "1 of 40 rows break the contract")
	}
	espalier(t, "evaluate", "--predictions", at("scored"), "--labels", at("lines"), "--key", "x", "--count", "n").wants(t, 2, "--count")
}
