package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// billedModel is a tree of two features in a group that costs 4, where repeats are
// free:
//
//	0: age >= 30.5? (3 + 4)
//	  1: yes: n
//	  2: no or missing: job = b? (2)
//	    3: yes: p
//	    4: no: age missing? (nothing)
//	      5: yes: n 0.8
//	      6: no: p
var billedModel = filepath.Join("..", "..", "induce", "tree", "testdata", "golden", "billed.json")

// ask runs the verb with lines of answers.
func ask(t *testing.T, answers string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	c := exec.CommandContext(ctx, binary, append([]string{"ask"}, args...)...)
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(answers), &stdout, &stderr
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{code: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// TestAsk: each line is an answer, and ask only asks for the values that the tree comes to.
// The expected texts were worked out by hand.
func TestAsk(t *testing.T) {
	const unknown = "question 1: age, for 7 euros (a number, or an empty line)\n  so far n 0.6, p 0.4; paid 0 euros, " +
		"8.2 to come on average and 9 at most\n"
	const lacks = "by all training rows of the node: less than 5 % of the training rows lacked the value, too few to show where the case belongs\n"
	for name, c := range map[string]struct {
		answers string
		args    []string
		stderr  string
		stdout  string
	}{
		"one question": {"50\n", nil, unknown, "n (n 1, p 0)\nleaf 1, after 1 test for 7 euros\n  age: 50 (7 euros)\n"},
		"unknown": {
			"20\n\n", nil, "question 2: job",
			"p (p 0.6667, n 0.3333)\nwithout job at node 2, after 1 test for 7 euros\n" + lacks + "  age: 20 (7 euros)\n  job: unknown (0 euros)\n",
		},
		"unknown, as in training": {
			"\n\"c\"\n",
			[]string{"--model", lackedModel(t)},
			"it counts as another value",
			"n (n 0.8, p 0.2)\nleaf 5, after 3 tests for 6 euros\n  age: unknown (0 euros for 2 tests)\n  job: c (6 euros)\n",
		},
		"no line end": {
			"20\nb", nil, "question 2: job, for 2 euros (a, b, another value, or an empty line)",
			"p (p 1, n 0)\nleaf 3, after 2 tests for 9 euros\n  age: 20 (7 euros)\n  job: b (2 euros)\n",
		},
		"beforehand": {
			"b\n",
			[]string{"--value", "age=20"},
			"question 1: job, for 6 euros",
			"p (p 1, n 0)\nleaf 3, after 2 tests for 6 euros\n  age: 20 (known beforehand)\n  job: b (6 euros)\n",
		},
		"all beforehand": {
			"",
			[]string{"--value", "age=", "--value", "job=b", "--model", lackedModel(t)},
			"",
			"p (p 1, n 0)\nleaf 3, after 2 tests for 0 euros\n  age: unknown (known beforehand)\n  job: b (known beforehand)\n",
		},
		"unknown beforehand": {
			"",
			[]string{"--value", "age="},
			"",
			"n (n 0.6, p 0.4)\nwithout age at node 0, after 0 tests for 0 euros\n" + lacks + "  age: unknown (known beforehand)\n",
		},
		"sure at once": {
			"",
			[]string{"--confidence", "0.57"},
			"",
			"n (n 0.6, p 0.4)\nsure enough at node 0, after 0 tests for 0 euros\nat least 57.3% of the rows there are n\n",
		},
		"sure after a while": {
			"20\n",
			[]string{"--confidence", "0.6"},
			"",
			"p (p 0.6667, n 0.3333)\nsure enough at node 2, after 1 test for 7 euros\nat least 62.6% of the rows there are p\n" +
				"  age: 20 (7 euros)\n",
		},
		"never sure": {
			"50\n",
			[]string{"--confidence", "0.999"},
			"",
			"n (n 1, p 0)\nleaf 1, after 1 test for 7 euros\nat least 99.5% of the rows there are n\n  age: 50 (7 euros)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(c.args, "--model") {
				c.args = append(c.args, manyRows(t, billedModel))
			}
			o := ask(t, c.answers, c.args...)
			o.wants(t, 0, c.stderr)
			if diff := cmp.Diff(c.stdout, o.stdout); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAskSet: a question about a set of values shows the set.
func TestAskSet(t *testing.T) {
	set := filepath.Join(filepath.Dir(billedModel), "set.json")
	ask(t, "no\n\n\n\n\n", set).wants(t, 0, "\n  the test: \"\" in {\"\", no}\n")
}

// TestAskInterest: the class of interest comes first, with its training rows, and its threshold decides.
func TestAskInterest(t *testing.T) {
	model := edited(t, lackedModel(t), func(m *tree.Tree) { *m = *m.WithDecision(&tree.Decision{Positive: "p", Threshold: .2}) })
	got := ask(t, "\n\"c\"\n", model)
	const so = "so far p 0.4, n 0.6; paid"
	want := "p (p 0.2, n 0.8)\nleaf 5, after 3 tests for 6 euros\np: 1 of 5 training rows there\n"
	if got.code != 0 || !strings.HasPrefix(got.stdout, want) || !strings.Contains(got.stderr, so) {
		t.Errorf("exit %d, %s%s; want %s and %s", got.code, got.stdout, got.stderr, want, so)
	}
}

// TestAskModel: by hand, the outcome at a leaf with a model, as text and as JSON.
func TestAskModel(t *testing.T) {
	model := filepath.Join("..", "..", "induce", "tree", "testdata", "golden", "modelled.json")
	o := ask(t, "25\nc\n", model) // the logit of p is 0.25 + 0.5
	o.wants(t, 0)
	want := "p (p 0.6792, n 0.3208)\nleaf 4, after 2 tests for 5\nby the leaf's model of age; without it p 0.6, n 0.4\n" +
		"  age: 25 (3)\n  job: c (2)\n"
	if diff := cmp.Diff(want, o.stdout); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	file := filepath.Join(t.TempDir(), "ask.json")
	if err := os.WriteFile(file, []byte(ask(t, "25\nc\n", "--json", model).stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	validate(t, "ask", file)
	b, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(b, []byte(`"model":["age"]`)) {
		t.Errorf("%s, %v", b, err)
	}
	lacked := edited(t, strings.Replace(model, "modelled", "boosted", 1), func(tr *tree.Tree) { tr.Features[1].Missing = 1 })
	boosted := ask(t, "25\n\n", lacked) // 0.25 + 0.5 - 0.25 + 0.125
	want = "p (p 0.6514, n 0.3486)\nleaf 4, after 2 tests for 3\nby the leaf's model of age and job; without it p 0.6, n 0.4\n"
	if boosted.wants(t, 0); !strings.HasPrefix(boosted.stdout, want) {
		t.Errorf("with a booster %q, want %q", boosted.stdout, want)
	}
	other := ask(t, "50\n", model)
	if other.wants(t, 0); strings.Contains(other.stdout, "model") {
		t.Errorf("a leaf without a model: %s", other.stdout)
	}
}

// TestAskJSON: one object on stdout, whatever the questions say on stderr.
func TestAskJSON(t *testing.T) {
	o := ask(t, "-inf\n\n", "--json", "--model", lackedModel(t))
	o.wants(t, 0, "question 2")
	var got map[string]any
	if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"class": "p", "probabilities": map[string]any{"n": 0., "p": 1.}, "node": 6., "leaf": true, "tests": 3., "paid": 7.,
		"cost_unit": "euros", "at_least": 0.239088, // (1/20 / 4^3)^(1/5): 5 rows of one class below 3 tests on 2 features
		"values": []any{
			map[string]any{"feature": "age", "value": "-Inf", "asked": true, "tests": 2., "cost": 7.},
			map[string]any{"feature": "job", "value": nil, "asked": true, "tests": 1., "cost": 0.},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAskAddsUp: whatever is answered, the costs of the lines are what was paid, and
// the text says what the JSON says.
func TestAskAddsUp(t *testing.T) {
	costs := filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(costs, []byte("feature,cost,group,group_cost\nx,1.5,lab,4\nn,2,lab,4\ns,3,,\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for _, repeat := range []string{"full", "free"} {
		o, output := train(t, mixed(t, 600, parquetio.WriteOptions{}), "--select", "first", "--certificate", "none",
			"--theta", "0", "--costs", costs, "--repeat_cost", repeat)
		o.wants(t, 0)
		for i, answers := range []string{"1\n2\n3\n4\n5\n", "9\n70\nvalue-3\n1\n1\n", "\n\n\n\n\n"} {
			more := [][]string{nil, {"--value", "n=50"}, {"--value", "s=value-2"}}[i]
			got := ask(t, answers, append(more, "--json", output)...)
			got.wants(t, 0)
			var outcome struct {
				Paid   float64
				Tests  int
				Values []struct {
					Feature string
					Asked   bool
					Tests   int
					Cost    float64
				}
			}
			if err := json.Unmarshal([]byte(got.stdout), &outcome); err != nil {
				t.Fatal(err)
			}
			text := ask(t, answers, append(more, output)...).stdout
			paid, tests := 0., 0
			for _, v := range outcome.Values {
				paid, tests = paid+v.Cost, tests+v.Tests
				end := " (known beforehand)\n"
				if v.Asked {
					end = fmt.Sprintf(" (%.6g)\n", v.Cost)
				}
				if v.Asked && v.Tests > 1 {
					end = fmt.Sprintf(" (%.6g for %d tests)\n", v.Cost, v.Tests)
					repeats++
				}
				if !regexp.MustCompile(`(?m)^  ` + v.Feature + `: .*` + regexp.QuoteMeta(end)).MatchString(text) {
					t.Errorf("the text has no line on %+v:\n%s", v, text)
				}
			}
			if math.Abs(paid-outcome.Paid) > 1e-9 || tests != outcome.Tests ||
				!strings.Contains(text, fmt.Sprintf("after %d tests for %.6g\n", tests, paid)) {
				t.Errorf("the lines add up to %v for %d tests, want %v for %d:\n%s", paid, tests, outcome.Paid, outcome.Tests, text)
			}
		}
	}
	if repeats == 0 {
		t.Error("no test was repeated")
	}
}

// TestAskNearest: a value that is not listed is told with the nearest one.
func TestAskNearest(t *testing.T) {
	o, output := train(t, mixed(t, 600, parquetio.WriteOptions{}), "--select", "first", "--certificate", "none", "--first",
		"s")
	o.wants(t, 0)
	const want = `"valu-3" is none of the values that s is known to have: it counts as another value; ` +
		`did you mean "value-3"?`
	ask(t, "valu-3\n1\n1\n1\n1\n", output).wants(t, 0, want)
	ask(t, "1\n1\n1\n1\n", output, "--value", "s=valu-3").wants(t, 0, want)
}

// TestAskTraining: a tree trained on the example asks for columns of the example.
func TestAskTraining(t *testing.T) {
	output := filepath.Join(t.TempDir(), "run")
	espalier(t, "train", "--input", filepath.Join("example", "tic-tac-toe.parquet"), "--label", "class", "--output",
		output, "--select", "first", "--certificate", "none").wants(t, 0)
	o := ask(t, strings.Repeat("x\n", 9), output)
	o.wants(t, 0, "question 1: ", "(b, o, x, another value, or an empty line)")
	if !strings.HasPrefix(o.stdout, "positive (positive ") {
		t.Errorf("a board of crosses alone: %s", o.stdout)
	}
}

func TestAskErrors(t *testing.T) {
	hostile := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(hostile, []byte(`{"format": "espalier/tree"`), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answers string
		args    []string
		code    int
		want    string
	}{
		"no model":      {"", nil, 2, "--model is required"},
		"two models":    {"", []string{billedModel, billedModel}, 2, "unexpected argument"},
		"absent model":  {"", []string{"none.json"}, 2, "none.json"},
		"hostile model": {"", []string{hostile}, 2, "not a tree"},
		"confidence": {
			"", []string{billedModel, "--confidence", "1.5"}, 2, "--confidence 1.5: want a share from 0 to 1",
		},
		"no confidence": {
			"", []string{billedModel, "--confidence", "NaN"}, 2, "--confidence NaN: want a share from 0 to 1",
		},
		"unknown feature": {"", []string{billedModel, "--value", "agee=3"}, 2, `did you mean "age"?`},
		"no such feature": {
			"",
			[]string{billedModel, "--value", "nope=1"},
			2,
			`--value nope=1: the tree asks for no feature "nope"; it asks for age, job`,
		},
		"no value":           {"", []string{billedModel, "--value", "age"}, 2, "want NAME=VALUE"},
		"value of no number": {"", []string{billedModel, "--value", "age=old"}, 2, `the answer "old": want a number`},
		"two values":         {"", []string{billedModel, "--value", "age=3", "--value", "age=4"}, 2, "it is known as 3"},
		"answer of none": {
			"old\n", []string{billedModel}, 3, `standard input, line 1, column "age": the answer "old": want a number`,
		},
		"no number":   {"NaNs\n", []string{billedModel}, 3, "want a number"},
		"beyond 2^53": {"9007199254740993\n", []string{billedModel}, 3, "want a number"},
		"half quoted": {
			"3\n\"b\n", []string{billedModel}, 3, `line 2, column "job": the answer "b: want double quotes at both ends`,
		},
		"too few answers": {
			"3\n", []string{billedModel}, 3, `standard input, line 2, column "job": there is no such line`,
		},
		"an endless line": {strings.Repeat("9", 2<<20), []string{billedModel}, 3, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			o := ask(t, c.answers, c.args...)
			o.wants(t, c.code, c.want)
			if o.stdout != "" {
				t.Errorf("stdout: %s", o.stdout)
			}
		})
	}
}

// manyRows writes a tree with 100 times the training rows, and returns its file.
func manyRows(t *testing.T, model string) string {
	t.Helper()
	return edited(t, model, func(tr *tree.Tree) {
		for i := range tr.Nodes {
			n := &tr.Nodes[i]
			n.Rows *= 100
			n.Weight *= 100
			for k := range n.RawClassWeights {
				n.RawClassWeights[k] *= 100
				n.ClassWeights[k] *= 100
			}
		}
	})
}

// lackedModel returns billedModel, where 2 of 20 training rows lack each value.
func lackedModel(t *testing.T) string {
	t.Helper()
	return edited(t, billedModel, func(tr *tree.Tree) {
		tr.Training.Rows = 20
		for i := range tr.Features {
			tr.Features[i].Missing = 2
		}
	})
}

// edited returns the file of a tree after a change.
func edited(t *testing.T, model string, edit func(tr *tree.Tree)) string {
	t.Helper()
	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	edit(tr)
	file := filepath.Join(t.TempDir(), "tree.json")
	if err = os.WriteFile(file, tr.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// datedModel asks for a date: since 2026-11-21, or before.
const datedModel = `{"format": "espalier/tree", "version": 1, "label": {"column": "c", "classes": ["new", "old"]},
"features": [{"name": "day", "type": "numeric", "unit": "date", "cuts": [20778], "missing": 0, "cost": 1}],
"algorithm": {"name": "c45", "lambda": 0, "theta": 0, "tests": "threshold", "bins": 2, "binning": "quantile",
 "leaf_estimate": "raw", "prune": "none", "seed": 1},
"training": {"rows": 2, "objects": 2, "weight": 2, "relabelled_rows": 0},
"complexity": {"expected_cost": 1, "expected_tests": 1, "max_cost": 1, "nodes": 3, "leaves": 2, "depth": 1},
"nodes": [
{"id": 0, "rows": 2, "objects": 2, "weight": 2, "class_weights": [1, 1], "raw_class_weights": [1, 1],
 "class": "new", "probabilities": [0.5, 0.5],
 "test": {"feature": "day", "kind": "threshold", "cost": 1,
          "score": {"balance": 0, "efficiency": 0, "discrimination": 1, "total": 1}},
 "branches": [{"when": {"ge": 20778}, "child": 1}, {"when": {"lt": 20778}, "child": 2, "missing": true}]},
{"id": 1, "rows": 1, "objects": 1, "weight": 1, "class_weights": [1, 0], "raw_class_weights": [1, 0],
 "class": "new", "probabilities": [1, 0]},
{"id": 2, "rows": 1, "objects": 1, "weight": 1, "class_weights": [0, 1], "raw_class_weights": [0, 1],
 "class": "old", "probabilities": [0, 1]}
]}`

// TestAskDate: dates are asked and answered as dates.
func TestAskDate(t *testing.T) {
	model := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(model, []byte(datedModel), 0o666); err != nil {
		t.Fatal(err)
	}
	validate(t, "tree", model)
	classes := map[string]string{"2026-11-21": "new", "2026-11-20": "old", "1969-12-31": "old"}
	for answer, class := range classes {
		o := ask(t, answer+"\n", model)
		o.wants(t, 0, "a date such as 2026-11-21, or an empty line")
		if !strings.HasPrefix(o.stdout, class+" ") ||
			!strings.Contains(o.stdout, "day: "+answer) {
			t.Errorf("%s: %s, want %s", answer, o.stdout, class)
		}
	}
	ask(t, "", model, "--value", "day=2026-11-21", "--json").wants(t, 0)
	ask(t, "yesterday\n", model).wants(t, 3, `the answer "yesterday": want a date such as 2026-11-21`)
	ask(t, "20778\n", model).wants(t, 3, `the answer "20778": want a date such as 2026-11-21`)
	ask(t, "", model, "--value", "day=2026-02-30").wants(t, 2, "want a date such as")
	local := filepath.Join(t.TempDir(), "tree.json")
	stamped := strings.Replace(datedModel, `"unit": "date"`, `"unit": "timestamp", "zone": "local"`, 1)
	if err := os.WriteFile(local, []byte(stamped), 0o666); err != nil {
		t.Fatal(err)
	}
	ask(t, "", local, "--value", "day=2026-11-21T09:30:00", "--json").wants(t, 0)
	ask(t, "", local, "--value", "day=2026-11-21T09:30:00+01:00").wants(t, 2, "local timestamps, want one without an offset from UTC")
	o := espalier(t, "show", model)
	o.wants(t, 0)
	if !strings.Contains(o.stdout, "day >= 2026-11-21") {
		t.Errorf("show: %s", o.stdout)
	}
}
