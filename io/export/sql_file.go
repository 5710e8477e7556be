package export

import (
	"cmp"
	"fmt"
	"strings"
)

// file returns the whole file.
func (s *sqlText) file() []byte {
	var b strings.Builder
	for _, line := range s.about() {
		b.WriteString(strings.TrimRight("-- "+line, " ") + "\n")
	}
	lines := func(list []string) { b.WriteString("\n" + strings.Join(list, "\n") + "\n") }
	if s.dialect.before != nil {
		lines(s.dialect.before(s))
	}
	b.WriteString("\n" + fmt.Sprintf(s.dialect.view, s.Name) + "\n" + s.query(s.table()+" AS r", true) + ";\n")
	if s.callable() {
		lines(append([]string{"-- The same for the values of one row, without a table."}, s.dialect.function(s)...))
	} else if s.dialect.dropped != "" {
		lines([]string{fmt.Sprintf(s.dialect.dropped, s.Name)})
	}
	if s.dialect.after != nil {
		lines(s.dialect.after)
	}
	return []byte(b.String())
}

const (
	// mostArguments is how many arguments functions of PostgreSQL have.
	mostArguments = 100
	// mostZoned is how many arguments may be timestamps with a time zone: a function takes each of them
	// without one, too, in a variant of its own.
	mostZoned = 4
)

// callable reports whether the file has a function.
func (s *sqlText) callable() bool {
	return s.dialect.function != nil && len(s.Features) <= mostArguments &&
		(s.dialect.name != "postgresql" || len(s.zoned()) <= mostZoned)
}

// table returns the table of the rows.
func (s *sqlText) table() string {
	parts := strings.Split(s.options.Table, ".")
	for i, part := range parts {
		parts[i] = s.dialect.identifier(part)
	}
	return strings.Join(parts, ".")
}

// about returns the comment at the head.
func (s *sqlText) about() []string {
	d := s.dialect
	table := short(s.options.Table)
	lines := append(s.Head(), "",
		fmt.Sprintf("SQL for %s. Run this file once: it makes the view %s of the table %s.", d.name, s.Name, table),
		"  SELECT * FROM "+s.Name+";",
		"returns the columns of the table and, for each row:",
		"  "+s.outputs[0]+": the predicted class",
	)
	for k, class := range s.Label.Classes {
		lines = append(lines, fmt.Sprintf("  %s: the probability of %s, from 0 to 1", s.outputs[k+1], short(class)))
	}
	if s.With.Leaf {
		lines = append(lines, "  "+s.leaf+": the number of the leaf, a node in tree.json")
	}
	if s.With.Cost {
		lines = append(lines, "  "+s.tests+", "+s.cost+": how many values were asked for, and what they cost")
	}
	if s.With.Path {
		lines = append(lines, "  "+s.path+": the conditions that the row fulfils, as text")
	}
	lines = append(lines, "For another table, change its name in the view. The query of the view also runs alone.")
	if d.advice != "" {
		lines = append(lines, d.advice)
	}
	switch {
	case d.function == nil:
		lines = append(lines, "This database has no functions in SQL, so the file has none.")
	case !s.callable():
		lines = append(lines, "There is no function: it would have more arguments, or variants of them, than this database takes.")
	default:
		names := make([]string, 0, len(s.Features))
		for _, f := range s.Features {
			names = append(names, f.Const)
		}
		lines = append(lines, "Without the view, a function takes the values, in the order of the list below:",
			"  "+fmt.Sprintf(d.uses, s.Name, strings.Join(names, ", ")))
	}
	if len(s.Features) == 0 {
		return append(lines, "", "The tree is a single leaf: no column of the table matters.")
	}
	lines = append(lines, "", "NULL and NaN are missing values. Texts are compared by their bytes.",
		"The table has these columns; others do not matter:")
	for _, f := range s.Features {
		lines = append(lines, "  "+s.aboutColumn(f))
	}
	return lines
}

func (s *sqlText) aboutColumn(f feature) string {
	if m, ok := s.moment(f); ok {
		return fmt.Sprintf("%s: a column of type %s", short(f.Name), m.typed)
	}
	about := s.About(f)
	if cutTo(f.Name, s.dialect.longest) != f.Name {
		about += fmt.Sprintf(" (this database keeps %d bytes of the name)", s.dialect.longest)
	}
	if s.dialect.name == "sqlite" {
		switch f.Unit {
		case "date":
			about += ": julianday(COLUMN) - 2440587.5"
		case "timestamp":
			about += ": unixepoch(COLUMN) * 1000000"
		}
	}
	return about
}

func argumentName(i int, f feature) string { return fmt.Sprintf("a%d_%s", i+1, f.Const) }

// arguments returns the arguments of a function with their types, in which others replaces some.
func (s *sqlText) arguments(others map[string]string) string {
	list := make([]string, 0, len(s.Features))
	for i, f := range s.Features {
		kind := s.dialect.text
		if f.Numeric {
			kind = s.dialect.double
		}
		if m, ok := s.moment(f); ok {
			kind = m.typed
		}
		list = append(list, argumentName(i, f)+" "+cmp.Or(others[f.Const], kind))
	}
	return strings.Join(list, ", ")
}

// row returns a source with a single row: the arguments of a function.
func (s *sqlText) row() string {
	list := make([]string, 0, len(s.Features))
	for i, f := range s.Features {
		list = append(list, argumentName(i, f)+" AS "+s.column(f))
	}
	if len(list) == 0 { // a table must have a column
		list = []string{"0 AS no_value"}
	}
	return "(SELECT " + strings.Join(list, ", ") + ") AS r"
}

func duckFunction(s *sqlText) []string {
	names := make([]string, 0, len(s.Features))
	for i, f := range s.Features {
		names = append(names, argumentName(i, f))
	}
	return []string{
		fmt.Sprintf("CREATE OR REPLACE MACRO %s_row(%s) AS TABLE", s.Name, strings.Join(names, ", ")), s.query(s.row(), false) + ";",
	}
}

func bigFunction(s *sqlText) []string {
	body := strings.Replace(s.query(s.row(), false), "\nSELECT\n", "\nSELECT AS STRUCT\n", 1)
	return []string{fmt.Sprintf("CREATE OR REPLACE FUNCTION %s_row(%s) AS ((", s.Name, s.arguments(nil)), body, "));"}
}
