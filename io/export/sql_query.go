package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/io/textview"
)

// sqlText writes a file of SQL.
type sqlText struct {
	*program

	dialect *dialect
	options Options

	taken         *names // by columns within the query
	step          []string
	outputs       []string // prediction, then the probabilities
	leaf          string
	tests, cost   string
	path          string
	model, booted string // model and booster of a row's leaf
	numbered      bool   // whether moments already are numbers, see verify
}

// name names the columns.
func (s *sqlText) name() {
	s.taken = newNames(s.language.keywords)
	for _, f := range s.Features {
		s.taken.take(f.Const)
	}
	for i := range s.levels() {
		s.step = append(s.step, s.taken.take(fmt.Sprintf("step_%d", i+1)))
	}
	s.model, s.booted = s.taken.take("leaf_model"), s.taken.take("leaf_booster")
	outer := newNames(nil) // the columns of the table are next to these
	for _, f := range s.Features {
		outer.take(strings.ToLower(f.Name))
	}
	s.outputs = []string{outer.take("prediction")}
	for _, class := range s.Label.Classes {
		s.outputs = append(s.outputs, outer.take("probability_"+snake(words(class))))
	}
	s.leaf, s.tests, s.cost, s.path = outer.take("leaf"), outer.take("tests"), outer.take("cost"), outer.take("path")
}

// levels returns the functions of the walk, grouped by how many other functions call them in turn.
func (s *sqlText) levels() [][]function {
	level := make([]int, len(s.Walk))
	var all [][]function
	for i, f := range s.Walk { // a function comes after its caller
		if level[i] == len(all) {
			all = append(all, nil)
		}
		all[level[i]] = append(all[level[i]], f)
		for _, called := range f.Calls {
			level[called] = level[i] + 1
		}
	}
	return all
}

// stage is a table of a query, with the columns that it adds to the previous stage.
type stage struct {
	name    string
	columns []column
	join    string
}

type column struct{ name, text string }

// column returns the column of a feature in the spelling of the database.
func (s *sqlText) column(f feature) string {
	return s.dialect.identifier(cutTo(f.Name, s.dialect.longest))
}

// value returns the expression for a feature's value.
func (s *sqlText) value(f feature) string {
	at := "r." + s.column(f)
	d := s.dialect
	fill := func(how, value string) string { return strings.NewReplacer("%[1]s", value, "%s", value).Replace(how) }
	m, dated := s.moment(f)
	switch {
	case f.Numeric && dated:
		return fill(m.number, at)
	case f.Numeric:
		return fill(d.number, at)
	case dated: // the categories are counts
		return fill(d.textual, "CAST("+fill(m.number, at)+" AS "+d.whole+")")
	default:
		return fill(d.textual, at)
	}
}

// steps returns the stages up to the leaf.
func (s *sqlText) steps() []stage {
	inputs := stage{name: s.Name + "_inputs"}
	for _, f := range s.Features {
		inputs.columns = append(inputs.columns, column{f.Const, s.value(f)})
	}
	if len(s.Features) == 0 { // a single leaf asks for nothing, but a table must have a column
		inputs.columns = []column{{"no_value", "0"}}
	}
	stages := []stage{inputs}
	for i, functions := range s.levels() {
		text := "\n" + functions[0].Body()
		if i > 0 {
			lines := []string{"", "  CASE " + s.step[i-1]}
			for _, f := range functions {
				lines = append(lines, fmt.Sprintf("    WHEN -%d THEN\n%s", f.Number, f.Indented("    ")))
			}
			text = strings.Join(append(lines, "    ELSE "+s.step[i-1], "  END"), "\n")
		}
		stages = append(stages, stage{fmt.Sprintf("%s_step_%d", s.Name, i+1), []column{{s.step[i], text + "\n "}}, ""})
	}
	return stages
}

// leaves returns the table of the leaves.
func (s *sqlText) leaves() string {
	names := slices.Concat([]string{"at_leaf"}, s.outputs)
	names = slices.Concat(names, s.extras())
	if len(s.Models) > 0 {
		names = append(names, "model", "booster")
	}
	paths := textview.Paths(s.tree)
	var rows []string
	for i := range s.Leaves {
		cells := s.cells(&s.Leaves[i], paths)
		if s.dialect.name != "bigquery" {
			rows = append(rows, "("+strings.Join(cells, ", ")+")")
			continue
		}
		for k := range cells {
			if i == 0 {
				cells[k] += " AS " + names[k]
			}
		}
		rows = append(rows, "STRUCT("+strings.Join(cells, ", ")+")")
	}
	list := strings.Join(rows, ",\n  ")
	if s.dialect.name == "bigquery" {
		return fmt.Sprintf("%s_leaves AS (SELECT * FROM UNNEST([\n  %s\n]))", s.Name, list)
	}
	return fmt.Sprintf("%s_leaves (%s) AS (VALUES\n  %s\n)", s.Name, strings.Join(names, ", "), list)
}

// cells returns the row of a leaf.
func (s *sqlText) cells(l *leaf, paths []string) []string {
	cells := []string{strconv.Itoa(l.Index), s.Text(s.Label.Classes[l.Class])}
	for _, p := range l.Probabilities {
		cells = append(cells, s.Number(p))
	}
	if s.With.Leaf {
		cells = append(cells, strconv.Itoa(l.Node))
	}
	if s.With.Cost {
		cells = append(cells, strconv.Itoa(l.Tests), s.Number(l.Cost))
	}
	if s.With.Path {
		cells = append(cells, s.Text(paths[l.Index]))
	}
	if len(s.Models) > 0 {
		booster := -1
		if l.Model >= 0 {
			booster = s.Models[l.Model].Booster
		}
		cells = append(cells, strconv.Itoa(l.Model), strconv.Itoa(booster))
	}
	return cells
}

// extras returns the optional columns.
func (s *sqlText) extras() []string {
	var names []string
	if s.With.Leaf {
		names = append(names, s.leaf)
	}
	if s.With.Cost {
		names = append(names, s.tests, s.cost)
	}
	if s.With.Path {
		names = append(names, s.path)
	}
	return names
}

// query returns the query of rows r of a source. If whole is true, it includes all columns of the
// source.
func (s *sqlText) query(source string, whole bool) string {
	stages := s.steps()
	if s.dialect.row == "" {
		return s.scalars(stages, source)
	}
	last := s.step[len(s.step)-1]
	joined := fmt.Sprintf("%s AS p\nJOIN %s_leaves AS l ON l.at_leaf = p.%s", stages[len(stages)-1].name, s.Name, last)
	if len(s.Models) > 0 {
		stages = append(stages, s.modelStages(last)...)
		joined = fmt.Sprintf("%s AS p\nJOIN %s_leaves AS l ON l.at_leaf = p.%s", stages[len(stages)-1].name, s.Name, last)
	}
	if whole {
		stages[0].columns = slices.Insert(stages[0].columns, 0, column{"source_row", s.dialect.row})
		source += s.own()
	}
	text := "WITH " + s.leaves() + ",\n" + s.tables(stages, source) + "\nSELECT\n"
	if whole {
		text += "  " + s.dialect.columns + ",\n"
	}
	var results []string
	for _, c := range s.results(func(name string) string { return "p." + name }) {
		results = append(results, "  "+c.text+" AS "+c.name)
	}
	return text + strings.Join(results, ",\n") + "\nFROM " + joined
}

// own returns columns that make the query fail if the database would otherwise silently take a
// column of the table for one of ours with the same name.
func (s *sqlText) own() string {
	if s.dialect.name != "duckdb" {
		return ""
	}
	var columns, used []string
	for _, name := range slices.Concat(s.outputs, s.extras()) {
		columns = append(columns, "1 AS "+name)
		used = append(used, name+" = 1")
	}
	return "\nCROSS JOIN (SELECT " + strings.Join(columns, ", ") + ") AS own -- ambiguous if the table has such columns\nWHERE " +
		strings.Join(used, " AND ")
}

// tables returns the stages as tables of a WITH.
func (s *sqlText) tables(stages []stage, source string) string {
	list := make([]string, len(stages))
	for i, g := range stages {
		from := source
		all := ""
		if i > 0 {
			from = stages[i-1].name
			all = "p.*,\n  "
			from += " AS p"
			if g.join != "" {
				from += "\n" + g.join
			}
		}
		columns := make([]string, len(g.columns))
		for k, c := range g.columns {
			text := c.text
			if s.dialect.row == "" && i > 0 && len(stages) > 2 { // an aggregate is not copied into the next step
				text = "MAX(" + text + ")"
			}
			columns[k] = text + " AS " + c.name
		}
		if from != "" {
			from = "\nFROM " + from
		}
		fence := ""
		if i > 0 && len(stages) > 2 {
			fence = s.dialect.fence
		}
		list[i] = fmt.Sprintf("%s AS (SELECT\n  %s%s%s%s)", g.name, all, strings.Join(columns, ",\n  "), from, fence)
	}
	return strings.Join(list, ",\n")
}

// results returns the columns of a prediction; of returns a column of the models' last stage.
func (s *sqlText) results(of func(name string) string) []column {
	var list []column
	for i, name := range slices.Concat(s.outputs, s.extras()) {
		text := "l." + name
		if s.dialect.row == "" { // SQLite: ambiguous if the table has a column of this name
			text = name
		}
		if i < len(s.outputs) && len(s.Models) > 0 {
			text = fmt.Sprintf("CASE WHEN l.model >= 0 THEN %s ELSE %s END", of(s.modelled(i)), text)
		}
		if s.dialect.name == "postgresql" && (i > 0 && i < len(s.outputs) || name == s.cost) {
			text = "CAST(" + text + " AS double precision)"
		}
		list = append(list, column{name, text})
	}
	return list
}

// scalars returns the query for a database in which rows are not values: each column that a model
// gives is its own query.
func (s *sqlText) scalars(stages []stage, source string) string {
	last := s.step[len(s.step)-1]
	find := "(WITH " + s.tables(stages, "") + "\nSELECT " + last + " FROM " + stages[len(stages)-1].name + ")"
	var results []string
	of := func(string) string { return "" }
	if len(s.Models) > 0 {
		of = func(name string) string {
			g := slices.Concat(stages[:1], s.modelStages(last))
			return "(WITH " + s.tables(g, "") + "\nSELECT " + name + " FROM " + g[len(g)-1].name + ")"
		}
	}
	for _, c := range s.results(of) {
		results = append(results, "  "+c.text+" AS "+c.name)
	}
	return "WITH " + s.leaves() + "\nSELECT\n  r.*,\n" + strings.Join(results, ",\n") + "\nFROM " + source +
		"\nCROSS JOIN " + s.Name + "_leaves AS l\nON l.at_leaf = " + find
}
