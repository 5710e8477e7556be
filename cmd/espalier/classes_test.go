package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// badClasses is a case of TestBadClasses.
type badClasses struct {
	flag, content string // a flag and the content of its file; a flag with a value has no file
	words         []string
}

// badClassCases lists faults in the settings and files about classes.
func badClassCases() map[string]badClasses {
	return map[string]badClasses{
		"typing error": {"class_weights=blanced", "", []string{"blanced", `did you mean "balanced"?`}},
		"no such path": {
			"class_weights=weights/of.csv", "",
			[]string{"weights/of.csv", "none, balanced or a CSV file"},
		},
		"no such file":    {"error_costs=nowhere.csv", "", []string{"nowhere.csv"}},
		"weights' header": {"class_weights", "class,cost\na,1\n", []string{`"class,cost"`, "class,weight"}},
		"empty file":      {"class_weights", "", []string{"class,weight"}},
		"weight of no class": {
			"class_weights", "class,weight\na,1\nbb,2\n",
			[]string{"line 3", `no class "bb"`, `did you mean`},
		},
		"negative weight": {
			"class_weights", "class,weight\na,-1\n",
			[]string{"line 2", `weight "-1"`, "from 0 to 1000000"},
		},
		"NaN weight":       {"class_weights", "class,weight\na,NaN\n", []string{"line 2", `weight "NaN"`}},
		"infinite weight":  {"class_weights", "class,weight\na,+Inf\n", []string{"line 2", `weight "+Inf"`}},
		"no number":        {"class_weights", "class,weight\na,much\n", []string{"line 2", `weight "much"`}},
		"class twice":      {"class_weights", "class,weight\na,1\nb,1\na,2\n", []string{"line 4", `"a"`, "already"}},
		"ragged line":      {"class_weights", "class,weight\na,1,2\n", []string{"line 2"}},
		"all weights 0":    {"class_weights", "class,weight\na,0\nb,0\nc,0\n", []string{"weight 0"}},
		"cost of no class": {"error_costs", "actual,predicted,cost\na,d,1\n", []string{"line 2", `no class "d"`}},
		"negative cost":    {"error_costs", "actual,predicted,cost\na,b,-2\n", []string{"line 2", `cost "-2"`}},
		"NaN cost":         {"error_costs", "actual,predicted,cost\na,b,nan\n", []string{"line 2", `cost "nan"`}},
		"pair twice": {
			"error_costs", "actual,predicted,cost\na,b,2\nb,a,2\na,b,2\n",
			[]string{"line 4", `"a" "b"`, "already"},
		},
		"priors' header":      {"priors", "class;prior\na;1\n", []string{"class,prior"}},
		"class without prior": {"priors", "class,prior\na,0.5\nb,0.5\n", []string{`class "c"`, "each of the 3"}},
		"prior 0":             {"priors", "class,prior\na,0\nb,1\nc,1\n", []string{"line 2", `prior "0"`, "above 0"}},
		"prior of no class":   {"priors=a=1,b=1,c=1,d=1", "", []string{"--priors", `no class "d"`}},
		"prior twice":         {"priors=a=1,a=1", "", []string{"--priors", `"a"`, "already"}},
		"no file of priors": {
			"priors=runs/kind=a/priors.csv", "",
			[]string{"--priors", "runs/kind=a/priors.csv", "CLASS=P"},
		},
		"prior that is none": {"priors=a=1,b=x,c=1", "", []string{"--priors", `prior "x"`}},
		"negative prior":     {"priors=a=1,b=-1,c=1", "", []string{"--priors", `prior "-1"`}},
	}
}

// TestBadClasses: each fault in what is said about classes ends in exit code 2 and
// one sentence with the flag, the place, what was expected, and leaves nothing.
func TestBadClasses(t *testing.T) {
	input := mixed(t, 300, parquetio.WriteOptions{})
	for name, c := range badClassCases() {
		t.Run(name, func(t *testing.T) {
			flag := "--" + c.flag
			words := c.words
			if !strings.Contains(c.flag, "=") {
				file := filepath.Join(t.TempDir(), "classes.csv")
				if err := os.WriteFile(file, []byte(c.content), 0o666); err != nil {
					t.Fatal(err)
				}
				flag += "=" + file
				words = append(words, "--"+c.flag)
			}
			o, output := train(t, input, flag)
			o.wants(t, 2, words...)
			leftNothing(t, output)
		})
	}
}
