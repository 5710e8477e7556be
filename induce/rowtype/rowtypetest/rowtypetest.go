// Package rowtypetest tests how the values of JSON rows are read. Its cases hold for all that reads
// such rows: scorers, inquiries, pipelines, the command and the Python package.
package rowtypetest

import (
	_ "embed" // the tree and the cases
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

//go:embed tree.json
var treeJSON []byte

//go:embed cases.json
var casesJSON []byte

// Tree returns a tree whose classes show how it has read the value of a single column.
func Tree(tb testing.TB) *tree.Tree {
	tb.Helper()
	t, err := tree.Decode(treeJSON)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// Case is a row with a single value.
type Case struct {
	Column string          `json:"column"`
	Value  json.RawMessage `json:"value"`
	Class  string          `json:"class"`  // the tree's class for the row; empty if the value is refused
	Reason string          `json:"reason"` // beginning of the reason of a refused value
	Hint   string          `json:"-"`      // hint of a refused value
}

// Row returns the row of the case as a JSON object.
func (c *Case) Row() []byte {
	b, err := json.Marshal(map[string]json.RawMessage{c.Column: c.Value})
	if err != nil {
		panic(err) // the value is a part of valid JSON
	}
	return b
}

// Plain reports whether the value is a number, a text or null, and returns its text; empty for null.
func (c *Case) Plain() (text string, ok bool) {
	switch c.Value[0] {
	case '[', '{':
		return "", false
	case '"':
		return text, json.Unmarshal(c.Value, &text) == nil
	case 'n':
		return "", true
	default:
		return string(c.Value), true
	}
}

// Cases returns all cases. The classes follow from the documentation of tree.Input.Value.
func Cases(tb testing.TB) []Case {
	tb.Helper()
	var document struct {
		Hints map[string]string
		Cases []Case
	}
	if err := json.Unmarshal(casesJSON, &document); err != nil {
		tb.Fatal(err)
	}
	for i := range document.Cases {
		c := &document.Cases[i]
		c.Hint = document.Hints[c.Column]
	}
	return document.Cases
}

// Run reads the row of each case. The class, or the parts of the error, must be the same as in the case.
func Run(t *testing.T, read func(t *testing.T, c *Case) (class string, err error)) {
	t.Helper()
	for _, c := range Cases(t) {
		t.Run(c.Column+"="+string(c.Value), func(t *testing.T) {
			t.Helper()
			class, err := read(t, &c)
			c.Check(t, class, err)
		})
	}
}

// Check compares the class or the error of a row with the case.
func (c *Case) Check(tb testing.TB, class string, err error) {
	tb.Helper()
	if c.Class != "" {
		if err != nil || class != c.Class {
			tb.Errorf("%s: class %q, error %v, want class %q", c.Row(), class, err, c.Class)
		}
		return
	}
	var e *dataset.DataError
	if !errors.As(err, &e) || e.Column != c.Column || e.Value == "" || !strings.HasPrefix(e.Problem, c.Reason) || e.Hint != c.Hint {
		tb.Errorf("%s: class %q, error %v, want an error of column %q: %s; %s", c.Row(), class, err, c.Column, c.Reason, c.Hint)
	}
}
