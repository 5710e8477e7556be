package export

import (
	"fmt"
	"strings"
)

// file returns the whole file.
func (s *sqlText) file() []byte {
	var b strings.Builder
	for _, line := range s.about() {
		b.WriteString(strings.TrimRight("-- "+line, " ") + "\n")
	}
	b.WriteString("\n" + fmt.Sprintf(s.dialect.view, s.Name) + "\n" + s.query(s.table(), true) + ";\n")
	if f := s.dialect.function; f != nil && len(s.Features) <= mostArguments {
		b.WriteString("\n-- The same for the values of one row, without a table.\n" + strings.Join(f(s), "\n") + "\n")
	}
	return []byte(b.String())
}

// mostArguments is how many arguments functions of PostgreSQL have.
const mostArguments = 100

// table returns the table of the rows.
func (s *sqlText) table() string {
	parts := strings.Split(s.options.Table, ".")
	for i, part := range parts {
		parts[i] = s.dialect.identifier(part)
	}
	return strings.Join(parts, ".") + " AS r"
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
	lines = append(lines, "For another table, change its name in the view. The query of the view runs by itself, too.")
	if d.advice != "" {
		lines = append(lines, d.advice)
	}
	switch {
	case d.function == nil:
		lines = append(lines, "This database has no functions in SQL, so there is none.")
	case len(s.Features) > mostArguments:
		lines = append(lines, "There is no function: it would have more arguments than this database takes.")
	default:
		names := make([]string, 0, len(s.Features))
		for _, f := range s.Features {
			names = append(names, f.Const)
		}
		lines = append(lines, "Without the view, a function takes the values, in the order of the list below:",
			"  "+fmt.Sprintf(d.uses, s.Name, strings.Join(names, ", ")))
	}
	lines = append(lines, "", "NULL and NaN are missing values. Texts are compared by their bytes.",
		"The table has these columns; others do not matter:")
	for _, f := range s.Features {
		lines = append(lines, "  "+s.aboutColumn(f))
	}
	return lines
}

func (s *sqlText) aboutColumn(f feature) string {
	if m, ok := s.dialect.moments[f.Unit]; ok {
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

// arguments returns the arguments of a function, with types if the dialect wants them.
func (s *sqlText) arguments(typed bool) string {
	list := make([]string, 0, len(s.Features))
	for i, f := range s.Features {
		name := fmt.Sprintf("a%d_%s", i+1, f.Const)
		if !typed {
			list = append(list, name)
			continue
		}
		kind := s.dialect.text
		if f.Numeric {
			kind = s.dialect.double
			if m, ok := s.dialect.moments[f.Unit]; ok && !s.numbered {
				kind = m.typed
			}
		}
		list = append(list, name+" "+kind)
	}
	return strings.Join(list, ", ")
}

// row returns a source of one row: the arguments of a function.
func (s *sqlText) row() string {
	list := make([]string, 0, len(s.Features))
	for i, f := range s.Features {
		list = append(list, fmt.Sprintf("a%d_%s AS %s", i+1, f.Const, s.column(f)))
	}
	return "(SELECT " + strings.Join(list, ", ") + ") AS r"
}

func postgresFunction(s *sqlText) []string {
	var columns []string
	for i, c := range s.results(func(name string) string { return name }) {
		kind := "double precision"
		switch {
		case i == 0 || c.name == s.path:
			kind = "text"
		case c.name == s.leaf || c.name == s.tests:
			kind = "integer"
		}
		columns = append(columns, c.name+" "+kind)
	}
	body := s.query(s.row(), false)
	tag := "$model$"
	for i := 0; strings.Contains(body, tag); i++ {
		tag = fmt.Sprintf("$model%d$", i)
	}
	return []string{
		fmt.Sprintf("CREATE OR REPLACE FUNCTION %s_row(%s)", s.Name, s.arguments(true)),
		"RETURNS TABLE (" + strings.Join(columns, ", ") + ")",
		"LANGUAGE sql STABLE AS " + tag, body, tag + ";",
	}
}

func duckFunction(s *sqlText) []string {
	return []string{
		fmt.Sprintf("CREATE OR REPLACE MACRO %s_row(%s) AS TABLE", s.Name, s.arguments(false)), s.query(s.row(), false) + ";",
	}
}

func bigFunction(s *sqlText) []string {
	body := strings.Replace(s.query(s.row(), false), "\nSELECT\n", "\nSELECT AS STRUCT\n", 1)
	return []string{fmt.Sprintf("CREATE OR REPLACE FUNCTION %s_row(%s) AS ((", s.Name, s.arguments(true)), body, "));"}
}
