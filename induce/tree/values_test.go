package tree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/rowtype/rowtypetest"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestValues: inquiries read each value of JSON rows as documented, whether it is given or
// answered.
func TestValues(t *testing.T) {
	questions := rowtypetest.Tree(t).Questions()
	rowtypetest.Run(t, func(t *testing.T, c *rowtypetest.Case) (string, error) {
		t.Helper()
		row, err := gorows.DecodeJSON(c.Row())
		if err != nil {
			t.Fatal(err)
		}
		given := questions.Start(0)
		err = given.GiveMap(row)
		if err == nil && given.Next() != nil && given.Next().Feature == c.Column {
			t.Error("a given value is asked for")
		}
		for q := given.Next(); err == nil && q != nil; q = given.Next() {
			err = given.Answer(tree.Value{})
		}
		c.Check(t, given.Standing().Class, err)
		asked := questions.Start(0)
		for q := asked.Next(); q != nil; q = asked.Next() {
			answer := []byte("null")
			if q.Feature == c.Column {
				answer = c.Value
			}
			if err := asked.AnswerJSON(answer); err != nil {
				if asked.Next().Node != q.Node {
					t.Error("after an error the question is not open")
				}
				return "", err
			}
		}
		return asked.Standing().Class, nil
	})
}

// TestGiveMap: all values are added, or none.
func TestGiveMap(t *testing.T) {
	i := rowtypetest.Tree(t).Questions().Start(0)
	err := i.GiveMap(map[string]any{"number": nil, "date": "soon", "clock": 5, "wrod": "a", "numbr": 1})
	for _, want := range []string{
		`column "clock": the row has one of the numbers`, `column "date": not a date`,
		`column "numbr": no column has this name, only ["clock" "date" "flag" "moment" "number" "word"]; did you mean "number"?`,
		`column "wrod": `,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if q := i.Next(); q == nil || q.Feature != "number" {
		t.Errorf("after an error the question is %+v", q)
	}
	if err := errors.Join(i.GiveMap(nil), i.GiveMap(map[string]any{"number": nil, "date": ""}),
		i.GiveMap(map[string]any{"number": "", "clock": "09:30"})); err != nil {
		t.Error(err)
	}
	if s := i.Standing(); s.Class != "after" || s.Paid != 0 {
		t.Errorf("%+v, want after, for nothing", s)
	}
	var e *dataset.DataError
	if err := i.GiveMap(map[string]any{"clock": "09:00"}); !errors.As(err, &e) || e.Column != "clock" ||
		!strings.HasPrefix(e.Problem, "it is known as ") {
		t.Errorf("another value: %v", err)
	}
	for _, wrong := range []string{"", "{", "1 2", "nul"} {
		i := rowtypetest.Tree(t).Questions().Start(0)
		if err := i.AnswerJSON([]byte(wrong)); !errors.As(err, &e) || e.Column != "number" || e.Hint == "" {
			t.Errorf("%q: %v, want an error of the number", wrong, err)
		}
	}
	if err := i.AnswerJSON([]byte("1")); err == nil {
		t.Error("an answer after the end: no error")
	}
}

// FuzzValues: a value means the same as an answer, as a given value and in a row, and a refused value has
// an error with all parts.
func FuzzValues(f *testing.F) {
	for _, c := range rowtypetest.Cases(f) {
		f.Add(c.Column, []byte(c.Value))
	}
	model := rowtypetest.Tree(f)
	questions := model.Questions()
	scorer, err := gorows.NewMapScorer(model)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, column string, value []byte) {
		name, err := json.Marshal(column)
		if err != nil || json.Unmarshal(name, &column) != nil || !json.Valid(value) {
			return
		}
		row, err := gorows.DecodeJSON(fmt.Appendf(nil, "{%s: %s}", name, value))
		if err != nil {
			t.Fatal(err)
		}
		p, refused := scorer.Predict(row)
		given, asked := questions.Start(0), questions.Start(0)
		err = given.GiveMap(row)
		var e *dataset.DataError
		if fmt.Sprint(err) != fmt.Sprint(refused) || err != nil && (!errors.As(err, &e) || e.Column != column || e.Problem == "") {
			t.Fatalf("%q: %s: GiveMap: %v, Predict: %v", column, value, err, refused)
		}
		for q := asked.Next(); q != nil; q = asked.Next() {
			answer := []byte("null")
			if q.Feature == column {
				answer = value
			}
			if err := asked.AnswerJSON(answer); err != nil {
				if fmt.Sprint(err) != fmt.Sprint(refused) || e.Hint == "" {
					t.Fatalf("%q: %s: AnswerJSON: %v, Predict: %v", column, value, err, refused)
				}
				return
			}
		}
		if refused == nil && asked.Standing().Class != p.Class {
			t.Fatalf("%q: %s: class %q, want %q", column, value, asked.Standing().Class, p.Class)
		}
	})
}
