package source

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/setting"
)

// checkInputs returns an error if the input lacks a column that a tree tests, or if such a
// column is nested. The error names all such columns.
func (in *Input) checkInputs(inputs []tree.Input, columns map[string]int) error {
	var lacking, nested []string
	others := slices.DeleteFunc(in.Names(), func(name string) bool {
		return slices.ContainsFunc(inputs, func(i tree.Input) bool { return i.Name == name })
	})
	for i := range inputs {
		name := inputs[i].Name
		if at, ok := columns[name]; !ok {
			lacking = append(lacking, name)
		} else if in.Columns[at].Nested {
			nested = append(nested, name)
		}
	}
	for _, fault := range []struct {
		names                []string
		one, several, advice string
	}{
		{
			lacking, "the tree needs this column and the input lacks it",
			"the tree needs the columns %q and the input lacks them", "add what is missing, or use a tree that does without",
		},
		{
			nested, "the tree needs this column and it is nested (a list, map or struct)",
			"the tree needs the columns %q and they are nested (lists, maps or structs)",
			"write them as numbers or texts, as in training",
		},
	} {
		switch len(fault.names) {
		case 0:
			continue
		case 1:
			return &dataset.DataError{
				File: in.Files[0].URL, Column: fault.names[0], Problem: fault.one + setting.Near(fault.names[0], others), Hint: fault.advice,
			}
		default:
			return &dataset.DataError{
				File: in.Files[0].URL, Problem: fmt.Sprintf(fault.several, fault.names), Hint: fault.advice,
			}
		}
	}
	return nil
}

// CheckFeature returns an error if the input has no column with the name of a feature, or if the
// values of the column cannot be read as values of the feature.
func (in *Input) CheckFeature(f *dataset.Feature) error {
	at := slices.IndexFunc(in.Columns, func(c parquetio.Column) bool { return c.Name == f.Name })
	if at < 0 {
		return &dataset.DataError{
			File: in.Files[0].URL, Column: f.Name, Problem: "the input lacks this column of the earlier run" +
				setting.Near(f.Name, in.Names()),
		}
	}
	return in.checkKind(&in.Columns[at], f)
}

// checkKind returns an error if a column's values cannot be read as values of a feature:
//
//   - a column without values fits each feature
//   - texts fit categories; for a numeric feature each text must be a number or a
//     point in time: "12.5", "2026-11-21"
//   - numbers fit a feature of the same unit, and categories that are numbers ("7") or
//     booleans (1 is "true")
func (in *Input) checkKind(column *parquetio.Column, f *dataset.Feature) error {
	if column.Null {
		return nil
	}
	if column.Type == dataset.Text {
		return in.checkBoolean(column, f)
	}
	fault := &dataset.DataError{File: in.Files[in.FileWith(column.Name)].URL, Column: f.Name}
	switch {
	case column.Unit != f.Unit:
		fault.Problem = fmt.Sprintf("the column holds %s (%s), the tree's feature is of %s",
			column.Unit.Things(), spellType(column), wanted(f))
		fault.Hint = "write the column as in training, or train again"
		if f.Unit == dataset.Plain && f.Kind == dataset.Numeric {
			fault.Hint = "write the column as in training, or train again: trees of earlier versions do not know units"
		}
	case f.Kind == dataset.Categorical && len(f.Values) > 0 && len(f.Numbers()) == 0 && !in.inPath(column.Name):
		fault.Problem = fmt.Sprintf("the column holds numbers (%s), the tree's feature is of %s, as %q",
			spellType(column), wanted(f), f.Values[0])
		fault.Hint = "write the column as texts, as in training, or train again"
	case f.Kind == dataset.Categorical && (column.Physical == "DOUBLE" || column.Physical == "FLOAT"):
		at := slices.IndexFunc(f.Values, func(v string) bool { return losesDigits(v, column.Physical == "FLOAT") })
		if at < 0 {
			return nil
		}
		fault.Problem = fmt.Sprintf("the column holds floating-point numbers (%s), which lack the last digits of values of the "+
			"tree's feature, as %q", spellType(column), f.Values[at])
		fault.Hint = "write the column as INT64 or as texts, as in training: data frames turn whole numbers with missing values into floats"
	default:
		return nil
	}
	return fault
}

// losesDigits reports whether a value is a whole number that a double, or a single, cannot hold. Values of columns of
// doubles are spelled as doubles, and lose nothing.
func losesDigits(value string, single bool) bool {
	x, ok := dataset.LabelNumber(value)
	if !ok || x != math.Trunc(x) || dataset.SpellNumber(x) == value && (!single || float64(float32(x)) == x) {
		return false
	}
	return single && float64(float32(x)) != x || dataset.LosesDigits(value, x)
}

// checkBoolean returns an error if booleans, read as the numbers 0 and 1, cannot be values
// of the feature.
func (in *Input) checkBoolean(column *parquetio.Column, f *dataset.Feature) error {
	if column.Physical != "BOOLEAN" || f.Kind == dataset.Categorical && f.Unit == dataset.Plain {
		return nil
	}
	if f.Unit == dataset.Plain && (len(f.Range) != 2 || 0 <= f.Range[0] && f.Range[1] <= 1) {
		return nil
	}
	what := wanted(f)
	if len(f.Range) == 2 {
		what += fmt.Sprintf(" from %s to %s", f.Unit.Spell(f.Range[0]), f.Unit.Spell(f.Range[1]))
	}
	return &dataset.DataError{
		File: in.Files[in.FileWith(column.Name)].URL, Column: f.Name,
		Problem: "the column holds booleans, the tree's feature is of " + what,
		Hint:    "write the column as in training, or train again",
	}
}

// inPath reports whether a column is in the paths of the files. There, the values of some files may
// look like numbers even if the values of all files do not.
func (in *Input) inPath(column string) bool {
	for _, path := range in.Paths {
		for _, c := range path {
			if c.Name == column {
				return true
			}
		}
	}
	return false
}

// wanted describes the values of a feature in a message.
func wanted(f *dataset.Feature) string {
	if f.Kind == dataset.Categorical && f.Unit == dataset.Plain {
		return "texts"
	}
	return f.Unit.Things()
}

// spellType returns a column's type in Parquet's spelling.
func spellType(c *parquetio.Column) string {
	if c.Logical == "" {
		return c.Physical
	}
	return c.Physical + " " + c.Logical
}
