package jobs

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/csvio"
)

// TextColumn is a column of texts that is read as numbers or points in time, or whose texts are in an order.
type TextColumn struct {
	Name  string       `json:"name"`
	Unit  dataset.Unit `json:"unit,omitempty"`
	Zone  dataset.Zone `json:"zone,omitempty"`  // zone of each timestamp; NoZone: any
	Order []string     `json:"order,omitempty"` // the texts that the column may have; nil: they are numbers
	// Checked means that a contract has judged the rows with other texts, which are missing values.
	Checked bool `json:"checked,omitempty"`
}

// Parse reads a text as scorers do, if import would read a column of such texts so: 007 is not a number. NaN
// is a missing value.
func (c *TextColumn) Parse(text string) (x float64, ok bool) {
	if c.Order != nil {
		return 0, slices.Contains(c.Order, text)
	}
	x, ok = c.Unit.ParseValue(text)
	switch {
	case !ok || math.IsNaN(x):
	case c.Unit == dataset.Plain:
		_, ok = new(csvio.Spelling).Parse(csvio.Kind{Type: csvio.Float}, text)
	case c.Zone != dataset.NoZone:
		_, zone, _ := c.Unit.ParseZoned(text)
		ok = (zone == dataset.UTC) == (c.Zone == dataset.UTC)
	}
	return x, ok
}

// withTexts is a row group whose columns of texts are read as numbers if the task says so.
type withTexts struct {
	dataset.RowGroup // row group with the texts

	task    *Task
	columns []*TextColumn // by column; nil: as it is
}

// readTexts returns the row group with the named columns as the task reads them.
func readTexts(g dataset.RowGroup, t *Task, names []string) dataset.RowGroup {
	columns := make([]*TextColumn, len(names))
	some := false
	for i, name := range names {
		if at := slices.IndexFunc(t.Texts, func(c TextColumn) bool { return c.Name == name }); at >= 0 {
			columns[i] = &t.Texts[at]
			some = true
		}
	}
	if !some {
		return g
	}
	return &withTexts{g, t, columns}
}

// ReadColumn implements dataset.RowGroup.
func (g *withTexts) ReadColumn(i int, dst *dataset.Vector) error {
	return g.ReadRows(i, 0, g.Rows(), dst)
}

// ReadRows implements dataset.RowGroup.
func (g *withTexts) ReadRows(i, from, to int, dst *dataset.Vector) error {
	if err := g.RowGroup.ReadRows(i, from, to, dst); err != nil || g.columns[i] == nil || dst.Type != dataset.Text {
		return err
	}
	numbers := make([]float64, len(dst.Texts))
	others := make(map[int32]bool) // positions of other texts, which the rows may not use
	for k, text := range dst.Texts {
		x, ok := g.columns[i].Parse(text)
		switch {
		case !ok && g.columns[i].Checked:
			x = math.NaN()
		case !ok:
			others[int32(k)] = true
		}
		numbers[k] = x
	}
	if len(others) > 0 {
		if r := slices.IndexFunc(dst.Index, func(at int32) bool { return others[at] }); r >= 0 {
			return g.other(g.columns[i], dst.Texts[dst.Index[r]], from+r)
		}
	}
	if g.columns[i].Order != nil {
		return nil
	}
	dst.Type = dataset.Number
	dst.Numbers = numbers
	dst.Texts = nil
	return nil
}

// other returns the error for a text of another kind.
func (g *withTexts) other(c *TextColumn, text string, row int) error {
	group := g.task.RowGroup
	if c.Order != nil {
		return &dataset.DataError{
			File: g.task.File, RowGroup: &group, Column: c.Name, Value: text,
			Problem: fmt.Sprintf("the text of row %d is not in the order of the column: expected one of %q", row, c.Order),
			Hint:    "write it so, or null, or add it to --ordered",
		}
	}
	return &dataset.DataError{
		File: g.task.File, RowGroup: &group, Column: c.Name, Value: text,
		Problem: fmt.Sprintf("the text of row %d is not a %s as import reads it, and the texts of the column are read as %s",
			row, c.Unit.Thing(), c.Unit.Things()),
		Hint: fmt.Sprintf("write it as %s, or null; in training --categorical %s keeps the texts", c.Unit.Example(), c.Name),
	}
}
