package gorows_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/rowtype/rowtypetest"
)

// untyped is a row whose fields may hold any value.
type untyped struct {
	Number any `json:"number"`
	Date   any `json:"date"`
	Clock  any `json:"clock"`
	Moment any `json:"moment"`
	Word   any `json:"word"`
	Flag   any `json:"flag"`
}

// TestValues: scorers read each value of JSON rows as documented, from maps and from structs.
func TestValues(t *testing.T) {
	model := rowtypetest.Tree(t)
	maps, err := gorows.NewMapScorer(model)
	if err != nil {
		t.Fatal(err)
	}
	structs, err := gorows.NewScorer[untyped](model)
	if err != nil {
		t.Fatal(err)
	}
	rowtypetest.Run(t, func(t *testing.T, c *rowtypetest.Case) (string, error) {
		t.Helper()
		row, err := gorows.DecodeJSON(c.Row())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Unseen(row); (err != nil) != (c.Class == "") {
			t.Errorf("Unseen: %v", err)
		}
		s := untyped{row["number"], row["date"], row["clock"], row["moment"], row["word"], row["flag"]}
		if p, err := structs.Predict(&s); err != nil {
			c.Check(t, "", err)
		} else {
			c.Check(t, p.Class, nil)
		}
		checkRounded(t, maps, c)
		p, err := maps.Predict(row)
		if err != nil {
			return "", err
		}
		return p.Class, nil
	})
}

// checkRounded reads a row with float64 numbers, which are the same unless encoding/json had to
// round them.
func checkRounded(t *testing.T, maps *gorows.MapScorer, c *rowtypetest.Case) {
	t.Helper()
	var row map[string]any
	if err := json.Unmarshal(c.Row(), &row); err != nil {
		return // 1e999
	}
	if x, ok := row[c.Column].(float64); ok && math.Abs(x) >= 1<<53 {
		return
	}
	p, err := maps.Predict(row)
	if err != nil {
		c.Check(t, "", err)
		return
	}
	c.Check(t, p.Class, nil)
}

// TestDecodeJSON: a row is a single JSON object.
func TestDecodeJSON(t *testing.T) {
	for _, wrong := range []string{"", "null", "[]", "1", `{"a": 1} {}`, `{"a": 1}x`, `{"a"`, `{"a": 01}`} {
		row, err := gorows.DecodeJSON([]byte(wrong))
		var e *dataset.DataError
		if row != nil || !errors.As(err, &e) {
			t.Errorf("%q: row %v, error %v", wrong, row, err)
		}
	}
	row, err := gorows.DecodeJSON([]byte(" {\"a\": 12345678901234567890}\n"))
	if err != nil || row["a"] != json.Number("12345678901234567890") {
		t.Errorf("%v, %v, want all digits", row, err)
	}
}
