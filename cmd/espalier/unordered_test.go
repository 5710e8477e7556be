package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestUnordered: a lab for 30 euros was ordered for less than half of the rows. The tree asks for it, and not whether it is absent; each
// row pays for it; the screen says so. ask, predict and evaluate take nothing for a value that cannot be had. With --absent value a
// test separates rows without the value; so it does in a run without prices.
func TestUnordered(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	r := rand.New(rand.NewPCG(60, 1))
	lines := []string{"lab,age,class"}
	for range 1000 {
		z := r.NormFloat64()
		lab, class := "", "well"
		if z+r.NormFloat64() > 0.3 {
			lab = fmt.Sprintf("%.2f", z+0.2*r.NormFloat64())
		}
		if z+0.7*r.NormFloat64() > 1 {
			class = "ill"
		}
		lines = append(lines, fmt.Sprintf("%s,%d,%s", lab, 20+r.IntN(70), class))
	}
	for name, text := range map[string]string{
		"rows.csv": strings.Join(lines, "\n") + "\n", "costs.csv": "feature,cost\nlab,30\nage,0\n", "new.csv": "lab,age\n,50\n2.5,50\n",
		"bare.csv": "lab,age,class\n,50,ill\n2.5,50,well\n-1.5,30,well\n,70,well\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	espalier(t, "import", at("rows.csv"), "--output", at("rows")).wants(t, 0)
	espalier(t, "import", at("new.csv"), "--output", at("new")).wants(t, 0)
	espalier(t, "import", at("bare.csv"), "--output", at("bare")).wants(t, 0)
	train := func(run string, flags ...string) outcome {
		return espalier(t, append([]string{
			"train", "--input", at("rows"), "--label", "class", "--output", at(run), "--report", "none", "--costs", at("costs.csv"),
			"--lambda", "10", "--theta", "0.005", "--folds", "2",
		}, flags...)...)
	}
	o := train("auto")
	o.wants(t, 0)
	for _, want := range []string{"Not ordered where absent: lab (", "as it has a price", "--absent", "30 on average, 30 at most"} {
		if !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), want) {
			t.Errorf("the screen does not say %q:\n%s", want, o.stdout)
		}
	}
	tree := func(run string) string {
		b, err := os.ReadFile(at(run + "/tree.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	train("named", "--absent", "lab=unordered").wants(t, 0)
	if tree("named") != tree("auto") || !strings.Contains(tree("auto"), `"absent": "unordered"`) {
		t.Error("--absent lab=unordered gives another tree than a price")
	}
	train("value", "--absent", "value").wants(t, 0)
	train("paper", "--preset", "paper").wants(t, 0)
	for _, run := range []string{"value", "paper"} {
		if strings.Contains(tree(run), `"absent"`) {
			t.Errorf("%s: values are unordered", run)
		}
	}
	o = espalier(t, "show", at("auto"))
	o.wants(t, 0)
	if strings.Contains(o.stdout, "or missing") || strings.Contains(o.stdout, " 0.0%") {
		t.Errorf("rows without the value pass a test, or are a share of the rows that do:\n%s", o.stdout)
	}
	espalier(t, "report", at("auto"), "--output", at("page.html")).wants(t, 0)
	page, err := os.ReadFile(at("page.html"))
	if err != nil || !strings.Contains(string(page), "Not ordered where absent: lab (") {
		t.Errorf("the page does not say that lab was not ordered (%v)", err)
	}
	cannot := ask(t, "\n", at("auto"), "--json")
	cannot.wants(t, 0)
	for _, want := range []string{`"tests":0`, `"paid":0`, `"leaf":true`} {
		if !strings.Contains(cannot.stdout, want) {
			t.Errorf("a value that cannot be had: no %s in %s", want, cannot.stdout)
		}
	}
	espalier(t, "predict", at("auto"), "--input", at("new"), "--output", at("scored")).wants(t, 0)
	espalier(t, "evaluate", at("auto"), "--input", at("bare")).wants(t, 0, `say nothing about 25.0% of the rows`, `mostly "lab"`)
	// No certificate and no tree grown by the total cost where values are unordered; models only in leaves that all rows may reach.
	if err := os.WriteFile(at("errors.csv"), []byte("actual,predicted,cost\nill,well,1000\nwell,ill,100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	grown := make(map[string]int)
	for reading, certified := range map[string]bool{"unordered": false, "value": true} {
		train("total", "--error_costs", at("errors.csv"), "--absent", reading, "--overwrite").wants(t, 0)
		if strings.Contains(tree("total"), `"certificate"`) != certified {
			t.Errorf("--absent %s: a certificate: %v, want %v", reading, !certified, certified)
		}
		grown[reading] = grownTrees(t, at("total/frontier.json"))
	}
	if grown["unordered"] >= grown["value"] {
		t.Errorf("%d trees grown with unordered values, %d with others: want one less, grown by the total cost", grown["unordered"], grown["value"])
	}
	train("accurate", "--preset", "accurate", "--made_up_rows", "500").wants(t, 0)
	espalier(t, "evaluate", at("accurate"), "--input", at("rows")).wants(t, 0)
	train("none", "--absent", "lab=gone").wants(t, 2, "--absent", "lab=gone", "value, unordered or auto")
	train("none", "--absent", "lob=value").wants(t, 2, "--absent", `"lob"`)
	train("none", "--absent", "value,auto").wants(t, 2, "--absent", "twice")
}

// grownTrees returns the number of trees that frontier.json says were grown.
func grownTrees(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f runfolder.Frontier
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Grown
}

// TestOrderedByAnother: a lab was ordered by age, which the tree does not ask. evaluate, and predict with labels, print for the
// test rows what train printed, as both count within strata of age, also among rows of a class that the tree does not know.
// Without the strata or their column, with texts in it, or with damaged strata, classes are divided by the path alone, which
// gives other figures and a warning, and stops nothing.
func TestOrderedByAnother(t *testing.T) {
	longtest.Skip(t)
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	r := rand.New(rand.NewPCG(78, 1))
	lines := map[string][]string{"rows": {"lab,age,part,class"}, "held": {"lab,age,part,class"}, "narrow": {"lab,class"}, "words": {"lab,age,class"}}
	for i := range 3000 {
		age := r.IntN(70)
		z := r.NormFloat64() + float64(age-35)/20
		lab, class, part := "", "well", "train"
		if r.Float64() < 0.1+float64(age)/90 {
			lab = fmt.Sprintf("%.2f", z+0.2*r.NormFloat64())
		}
		if z+0.3*r.NormFloat64() > 1 {
			class = "ill"
		}
		if i%3 == 0 {
			part = "test"
			lines["held"] = append(lines["held"], fmt.Sprintf("%s,%d,%s,%s", lab, age, part, class))
			lines["narrow"] = append(lines["narrow"], lab+","+class)
			lines["words"] = append(lines["words"], lab+",young,"+class)
		}
		lines["rows"] = append(lines["rows"], fmt.Sprintf("%s,%d,%s,%s", lab, age, part, class))
	}
	lines["others"] = append(slices.Clone(lines["held"]), "1,30,test,dead", ",40,test,dead")
	for name, list := range lines {
		if err := os.WriteFile(at(name+".csv"), []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		espalier(t, "import", at(name+".csv"), "--output", at(name)).wants(t, 0)
	}
	if err := os.WriteFile(at("costs.csv"), []byte("feature,cost\nlab,30\nage,1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	espalier(t, append([]string{
		"train", "--input", at("rows"), "--label", "class", "--split_column", "part", "--costs", at("costs.csv"), "--max_cost", "30",
		"--report", "none", "--output", at("run"),
	}, fewTrees()...)...).wants(t, 0)
	figures := func(name string) string {
		b, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Test json.RawMessage }
		if err := json.Unmarshal(b, &m); err != nil || m.Test == nil {
			t.Fatalf("%s: %v, no figures", name, err)
		}
		return string(m.Test)
	}
	evaluate := func(input string, texts ...string) string {
		espalier(t, "evaluate", "--model", at("run"), "--input", at(input), "--output", at("figures.json"), "--overwrite").wants(t, 0, texts...)
		return figures("figures.json")
	}
	want := figures("run/metrics.json")
	if got := evaluate("held"); got != want {
		t.Errorf("evaluate: %s\ntrain: %s", got, want)
	}
	espalier(t, "predict", "--model", at("run"), "--input", at("held"), "--output", at("scored")).wants(t, 0)
	if got := figures("scored/_metrics.json"); got != want {
		t.Errorf("predict: %s\ntrain: %s", got, want)
	}
	espalier(t, "evaluate", "--model", at("run"), "--against", at("run"), "--input", at("held")).wants(t, 0, "rows as they are", "ordered")
	narrow := evaluate("narrow", "who ordered values", "age")
	if narrow == want {
		t.Errorf("strata do not change the figures %s: the test shows nothing", want)
	}
	if got := evaluate("others", "none of the tree's classes"); got != want {
		t.Errorf("evaluate with rows of another class: %s\ntrain: %s", got, want)
	}
	predict := func(input string, texts ...string) string {
		espalier(t, "predict", "--model", at("run"), "--input", at(input), "--output", at("scored"), "--overwrite").wants(t, 0, texts...)
		return figures("scored/_metrics.json")
	}
	if got := predict("others", "none of the tree's classes"); got != want {
		t.Errorf("predict with rows of another class: %s\ntrain: %s", got, want)
	}
	for name, got := range map[string]string{
		"evaluate, texts in the column": evaluate("words", "who ordered values", "age"),
		"predict, texts in the column":  predict("words", "who ordered values", "age"),
	} {
		if got != narrow {
			t.Errorf("%s: %s\nwithout the column: %s", name, got, narrow)
		}
	}
	if err := os.WriteFile(at("run/strata.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"evaluate, damaged strata": evaluate("held", "who ordered values", "strata.json"),
		"predict, damaged strata":  predict("held", "who ordered values", "strata.json"),
	} {
		if got != narrow {
			t.Errorf("%s: %s\nwithout the column: %s", name, got, narrow)
		}
	}
	if err := os.Remove(at("run/strata.json")); err != nil {
		t.Fatal(err)
	}
	if got := evaluate("held"); got != narrow {
		t.Errorf("without strata: %s\nwithout their column: %s", got, narrow)
	}
}
