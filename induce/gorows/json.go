package gorows

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
)

// DecodeJSON returns the row of a JSON object, for MapScorer and for GiveMap of tree.Inquiry. Numbers
// keep their digits, so that no whole number is rounded. The error is a *dataset.DataError.
func DecodeJSON(object []byte) (row map[string]any, err error) {
	e := &dataset.DataError{Problem: "want a JSON object of values by column, not null"}
	if err := rowtype.DecodeJSON(object, &row); err != nil {
		e.Problem = "want a JSON object of values by column: " + err.Error()
		return nil, e
	}
	if row == nil {
		return nil, e
	}
	return row, nil
}
