package main_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen collects the output that a terminal gets.
type screen struct {
	sync.Mutex
	text string
}

func (s *screen) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	s.text += string(b)
	return len(b), nil
}

// after waits until the terminal has shown a text from a position on, and returns the position behind the text.
func (s *screen) after(ctx context.Context, from int, text string) (at int, shown bool) {
	for ctx.Err() == nil {
		s.Lock()
		at := strings.Index(s.text[from:], text)
		s.Unlock()
		if at >= 0 {
			return from + at + len(text), true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return from, false
}

// key is pressed when the terminal shows a text, later on than the texts before.
type key struct{ waitFor, press string }

// terminal runs ask in a terminal, by which keys become signals, and returns what the terminal has shown.
func terminal(t *testing.T, model string, keys []key) (got outcome, shown string) {
	t.Helper()
	us, them, err := pty.Open()
	if err != nil {
		t.Skipf("waits for a machine with pseudo-terminals: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var stdout bytes.Buffer
	command := exec.CommandContext(ctx, binary, "ask", model)
	command.Stdin, command.Stdout, command.Stderr = them, &stdout, them
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var s screen
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&s, us) }) // ends in an error when the terminal is closed
	at := 0
	for _, k := range keys {
		var seen bool
		at, seen = s.after(ctx, at, k.waitFor)
		if !seen {
			t.Errorf("the terminal does not show %q", k.waitFor)
			break
		}
		if k.press == "TERM" {
			err = command.Process.Signal(syscall.SIGTERM)
		} else {
			_, err = us.WriteString(k.press)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = command.Wait() // the exit code is compared below
	_ = them.Close()
	reading.Wait()
	_ = us.Close()
	return outcome{code: command.ProcessState.ExitCode(), stdout: stdout.String()},
		strings.ReplaceAll(s.text, "\r\n", "\n")
}

// statusModel asks for a category: married or divorced, or another value. Two categories are spelled like what a
// person types in place of a value.
const statusModel = `{"format": "espalier/tree", "version": 1, "label": {"column": "c", "classes": ["yes", "no"]},
"features": [{"name": "age", "type": "numeric", "cuts": [30.5], "missing": 1, "cost": 1},
 {"name": "status", "type": "categorical", "values": ["?", "13", "Married", "divorced", "<", "never\u001b[1m married", "remarried"],
  "missing": 1, "cost": 2}],
"algorithm": {"name": "c45", "lambda": 0, "theta": 0, "tests": "threshold", "bins": 8, "binning": "quantile",
 "leaf_estimate": "raw", "prune": "none", "seed": 1},
"training": {"rows": 3, "objects": 3, "weight": 3, "relabelled_rows": 0},
"complexity": {"expected_cost": 2.3333333333333335, "expected_tests": 1.6666666666666667, "max_cost": 3, "nodes": 5, "leaves": 3, "depth": 2},
"nodes": [
{"id": 0, "rows": 3, "objects": 3, "weight": 3, "class_weights": [1, 2], "raw_class_weights": [1, 2],
 "class": "no", "probabilities": [0.3333333333333333, 0.6666666666666666],
 "test": {"feature": "age", "kind": "threshold", "cost": 1,
          "score": {"balance": 0, "efficiency": 0, "discrimination": 1, "total": 1}},
 "branches": [{"when": {"ge": 30.5}, "child": 1}, {"when": {"lt": 30.5}, "child": 2, "missing": true}]},
{"id": 1, "rows": 1, "objects": 1, "weight": 1, "class_weights": [0, 1], "raw_class_weights": [0, 1],
 "class": "no", "probabilities": [0, 1]},
{"id": 2, "rows": 2, "objects": 2, "weight": 2, "class_weights": [1, 1], "raw_class_weights": [1, 1],
 "class": "yes", "probabilities": [0.5, 0.5],
 "test": {"feature": "status", "kind": "equals", "cost": 2,
          "score": {"balance": 0, "efficiency": 0, "discrimination": 1, "total": 1}},
 "branches": [{"when": {"in": ["Married"]}, "child": 3}, {"when": {"not_in": ["Married"]}, "child": 4, "missing": true, "other": true}]},
{"id": 3, "rows": 1, "objects": 1, "weight": 1, "class_weights": [1, 0], "raw_class_weights": [1, 0],
 "class": "yes", "probabilities": [1, 0]},
{"id": 4, "rows": 1, "objects": 1, "weight": 1, "class_weights": [0, 1], "raw_class_weights": [0, 1],
 "class": "no", "probabilities": [0, 1]}
]}`

// TestAskTerminal: a person at a terminal is asked in plain words, may correct mistakes, and may end the questions.
// The expected texts were written by hand.
func TestAskTerminal(t *testing.T) {
	status := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(status, []byte(statusModel), 0o666); err != nil {
		t.Fatal(err)
	}
	validate(t, "tree", status)
	const (
		b       = "p (p 1, n 0)\nleaf 3, after 2 tests for 9 euros\n  age: 20 (7 euros)\n  job: b (2 euros)\n"
		age     = "age: "
		job     = "job: "
		married = "yes (yes 1, no 0)\nleaf 3, after 2 tests for 3\n  age: 20 (1)\n  status: Married (2)\n"
		other   = "no (no 1, yes 0)\nleaf 4, after 2 tests for 3\n  age: 20 (1)\n  status: "
	)
	for name, c := range map[string]struct {
		model string
		keys  []key
		want  outcome
		shown string
	}{
		"values": {model: billedModel, keys: []key{{age, "20\r"}, {job, "b\r"}}, want: outcome{stdout: b}, shown: `
question 1: age, for 7 euros
  so far n 0.6, p 0.4; paid 0 euros, 8.2 to come on average and 9 at most
  type a number; ? if unknown
age: 20

question 2: job, for 2 euros
  so far p 0.6667, n 0.3333; paid 7 euros, 2 to come on average and 2 at most
  a, b
  type a value or a part of it, or another value in double quotes; ? if unknown; < to go back
job: b
`},
		"a wrong number, and backspace": {
			model: billedModel, keys: []key{{age, "old\r"}, {"  want a number\r\n" + age, "21\x7f0\r"}, {job, "b\r"}},
			want: outcome{stdout: b},
		},
		"Enter alone shows the question again": {
			model: billedModel,
			keys: []key{
				{"question 1", "\r"},
				{"question 1: age, for 7 euros", " \r"},
				{"question 1: age, for 7 euros", "20\r"},
				{"question 2", "\r"},
				{"question 2: job", "b\r"},
			},
			want: outcome{stdout: b},
		},
		"unknown": {
			model: lackedModel(t), keys: []key{{age, "?\r"}, {job, "?\r"}},
			want: outcome{stdout: "n (n 0.8, p 0.2)\nleaf 5, after 3 tests for 0 euros\n  age: unknown (0 euros for 2 tests)\n" +
				"  job: unknown (0 euros)\n"},
		},
		"unknown where no training row was": {
			model: billedModel, keys: []key{{age, "20\r"}, {job, "?\r"}},
			want: outcome{stdout: "p (p 0.6667, n 0.3333)\nwithout job at node 2, after 1 test for 7 euros\nby all training rows of the node: " +
				"less than 5 % of the training rows lacked the value, too few to show where the case belongs\n  age: 20 (7 euros)\n  job: unknown (0 euros)\n"},
		},
		"another value": {
			model: billedModel,
			keys: []key{
				{age, "20\r"},
				{job, "zzz\r"},
				{"no value contains \"zzz\"; another value is typed in double quotes\r\n" + job, "\"zzz\r"},
				{"want double quotes at both ends", "\"zzz\"\r"},
				{"it counts as another value", ""},
			},
			want: outcome{stdout: "p (p 1, n 0)\nleaf 6, after 3 tests for 9 euros\n  age: 20 (7 euros for 2 tests)\n  job: zzz (2 euros)\n"},
		},
		"back": {
			model: lackedModel(t),
			keys: []key{
				{age, "<\r"},
				{"this is the first question\r\n" + age, "50000\x15?\r"},
				{job, "<\r"},
				{"question 1: age, for 7 euros", "20\r"},
				{"question 2: job, for 2 euros", "b\r"},
			},
			want: outcome{stdout: b},
		},
		"a part of a category": {
			model: status,
			keys: []key{
				{age, "20\r"},
				{"status: ", "marr\r"},
				{"which? Married, \"never\\x1b[1m married\", remarried", "RIED\r"},
				{"which? Married, ", "3\r"},
				{"  13\r\n", ""},
			},
			want: outcome{stdout: other + "13 (2)\n"},
		},
		"a category in other letters": {
			model: status, keys: []key{{age, "20\r"}, {"status: ", "mArried\r"}, {"  Married\r\n", ""}}, want: outcome{stdout: married},
		},
		"a category with a typing error": {
			model: status,
			keys:  []key{{age, "20\r"}, {"status: ", "divrced\r"}, {`did you mean "divorced"?`, "divorced\r"}},
			want:  outcome{stdout: other + "divorced (2)\n"},
		},
		"a category like a command": {
			model: status, keys: []key{{age, "20\r"}, {"?? if unknown; << to go back\r\nstatus: ", "?\r"}},
			want: outcome{stdout: other + "? (2)\n"},
		},
		"a command that is no category": {
			model: status, keys: []key{{age, "?\r"}, {"status: ", "<<\r"}, {age, "20\r"}, {"status: ", "??\r"}},
			want: outcome{stdout: strings.Replace(other, "3\n", "1\n", 1) + "unknown (0)\n"},
		},
		"interrupt":   {model: billedModel, keys: []key{{age, "\x03"}}, want: outcome{code: 130}},
		"termination": {model: billedModel, keys: []key{{age, "TERM"}}, want: outcome{code: 130}},
		"end of file": {model: billedModel, keys: []key{{age, "20\r"}, {job, "\x04"}}, want: outcome{code: 130}},
	} {
		t.Run(name, func(t *testing.T) {
			got, shown := terminal(t, c.model, c.keys)
			if got != c.want || c.shown != "" && shown != c.shown {
				t.Errorf("exit code %d, want %d; stdout %q, want %q; terminal:\n%s\nwant:\n%s", got.code, c.want.code, got.stdout,
					c.want.stdout, shown, c.shown)
			}
		})
	}
}
