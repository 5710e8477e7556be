package source

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/csvio"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

const (
	sampledGroups = 4    // row groups
	sampledRows   = 1000 // rows of each
	mostLooked    = 100  // different texts of a column of texts by which it is judged whether they look like something else
)

// ReadTexts reads columns of texts as numbers or points in time, if import would read the rows of a sample so, and
// columns of paths as points in time, if all their values are such. wanted returns whether a column may be read so.
// Every later pass over the rows returns a *dataset.DataError that names the column if another text is of another
// kind: see Reread. Input.Texts names the columns that remain texts although most texts of the sample are numbers or
// points in time, or would be in another spelling.
func (in *Input) ReadTexts(ctx context.Context, f *Files, wanted func(column string) bool) error {
	var names []string
	for i := range in.Columns {
		if name := in.Columns[i].Name; wanted(name) && in.plainTexts(name) {
			names = append(names, name)
		}
	}
	sampled := make(map[string]*sampledTexts, len(names))
	for _, name := range names {
		sampled[name] = &sampledTexts{column: csvio.NewColumn(new(csvio.Spelling))}
	}
	for _, path := range in.Paths {
		for _, c := range path {
			if s := sampled[c.Name]; s != nil && !c.Null {
				s.column.Add(c.Text, 0)
			}
		}
	}
	last := -1
	for i := range min(sampledGroups, len(in.Tasks)) {
		at := i * (len(in.Tasks) - 1) / max(1, min(sampledGroups, len(in.Tasks))-1)
		if at == last || len(names) == 0 {
			continue
		}
		last = at
		if err := in.sample(ctx, f, in.Tasks[at], names, sampled); err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			s := sampled[name]
			_, ok := s.kind()
			if what, _ := s.column.Looks.Mostly(); what != "" {
				in.Texts = append(in.Texts, fmt.Sprintf("column %q is read as texts because of %q, but most of its values are %s: "+
					"write numbers, dates or times, and null for missing values; --categorical keeps the texts", name, s.column.Because, what))
			}
			return s.column.Values > 0 && !ok
		})
	}
	var texts []jobs.TextColumn
	for _, name := range names {
		c, ok := sampled[name].kind()
		if c.Unit == dataset.Plain && in.inPath(name) { // pathKind knows better
			continue
		}
		if ok && in.agree(name, c.Unit) {
			c.Name = name
			texts = append(texts, c)
		}
	}
	in.readAs(texts)
	in.Texts = append(in.Texts, in.mixedZones(func(column string) bool { return slices.Contains(names, column) })...)
	return nil
}

// Declare reads columns of texts in the given units, whatever a sample has. Points in time have the zone of the
// sample. It returns a new input, and how the columns with texts are read.
func (in *Input) Declare(
	ctx context.Context, f *Files, units map[string]dataset.Unit,
) (own *Input, texts map[string]*jobs.TextColumn, err error) {
	in = in.clone()
	declared := func(name string) bool { _, ok := units[name]; return ok }
	if err := in.ReadTexts(ctx, f, declared); err != nil {
		return nil, nil, err
	}
	texts = make(map[string]*jobs.TextColumn)
	for _, name := range slices.Sorted(maps.Keys(units)) {
		c := jobs.TextColumn{Name: name, Unit: units[name]}
		at := slices.IndexFunc(in.texts, func(t jobs.TextColumn) bool { return t.Name == name && t.Order == nil })
		switch {
		case at >= 0 && in.texts[at].Unit == c.Unit:
			c = in.texts[at]
		case at >= 0:
			in.texts = slices.Delete(slices.Clone(in.texts), at, at+1)
			in.readAs([]jobs.TextColumn{c})
		case in.plainTexts(name) && in.agree(name, c.Unit) && !in.inPath(name):
			in.readAs([]jobs.TextColumn{c})
		default:
			continue
		}
		texts[name] = &c
	}
	return in, texts, nil
}

// Raw returns the input with the texts of columns as they are.
func (in *Input) Raw(columns map[string]*jobs.TextColumn) *Input {
	return in.withTexts(slices.DeleteFunc(slices.Clone(in.texts), func(c jobs.TextColumn) bool { return columns[c.Name] != nil }))
}

// Checked returns the input for use after a contract has judged the rows: texts of columns that are no values of
// their units are missing values.
func (in *Input) Checked(columns map[string]*jobs.TextColumn) *Input {
	texts := slices.Clone(in.texts)
	for i := range texts {
		texts[i].Checked = texts[i].Checked || columns[texts[i].Name] != nil
	}
	return in.withTexts(texts)
}

// withTexts returns the input with other texts.
func (in *Input) withTexts(texts []jobs.TextColumn) *Input {
	own := *in
	own.texts = texts
	own.Tasks = slices.Clone(in.Tasks)
	for i := range own.Tasks {
		own.Tasks[i].Texts = texts
	}
	return &own
}

// clone returns a copy of the input whose columns may be read in another way.
func (in *Input) clone() *Input {
	own := in.withTexts(in.texts)
	own.Columns = slices.Clone(in.Columns)
	own.ByName = make([]map[string]parquetio.Column, len(in.ByName))
	for i, byName := range in.ByName {
		own.ByName[i] = maps.Clone(byName)
	}
	return own
}

// plainTexts reports whether some file has texts in a column, and no file has anything but texts and numbers.
func (in *Input) plainTexts(column string) bool {
	found := false
	for _, byName := range in.ByName {
		c, ok := byName[column]
		switch {
		case !ok || c.Null:
		case c.Nested || c.Unsupported != "" || c.Wide:
			return false
		case c.Type == dataset.Text && c.Physical != "BYTE_ARRAY" && c.Physical != InPath: // booleans, UUIDs
			return false
		default:
			found = found || c.Type == dataset.Text
		}
	}
	return found
}

// agree reports whether all files with numbers in a column have numbers of a unit.
func (in *Input) agree(column string, unit dataset.Unit) bool {
	for _, byName := range in.ByName {
		if c, ok := byName[column]; ok && !c.Null && c.Type == dataset.Number && c.Unit != unit {
			return false
		}
	}
	return true
}

// withNumbers reports whether some files have texts in a column, and the remaining files numbers of a unit.
func (in *Input) withNumbers(column string, unit dataset.Unit) bool {
	return in.plainTexts(column) && in.agree(column, unit) &&
		slices.ContainsFunc(in.ByName, func(byName map[string]parquetio.Column) bool {
			c, ok := byName[column]
			return ok && !c.Null && c.Type == dataset.Number
		})
}

// sampledTexts are the texts of a column that were sampled.
type sampledTexts struct {
	column *csvio.Column
	nan    bool // a missing value is spelled NaN, which only numbers are
	looked int  // texts since one made the column a text
}

// kind returns how the texts are read. ok is false if they remain texts.
func (s *sampledTexts) kind() (c jobs.TextColumn, ok bool) {
	kind := s.column.Kind().Type
	c.Unit = kind.Unit()
	switch kind {
	case csvio.Timestamp:
		c.Zone = dataset.UTC
	case csvio.Local:
		c.Zone = dataset.Local
	case csvio.Boolean, csvio.Text:
		return c, false
	default:
	}
	return c, c.Unit == dataset.Plain || !s.nan
}

// sample adds texts of a row group to the sample. Columns that cannot be read remain texts: training names the
// fault.
func (in *Input) sample(
	ctx context.Context, f *Files, task jobs.Task, names []string, sampled map[string]*sampledTexts,
) error {
	var there []string
	at := slices.IndexFunc(in.Files, func(file *parquetio.File) bool { return file.URL == task.File })
	for _, name := range names {
		if c, ok := in.ByName[at][name]; ok && c.Type == dataset.Text && !c.Null && c.Physical != InPath {
			there = append(there, name)
		}
	}
	if len(there) == 0 {
		return nil
	}
	g, err := f.RowGroup(ctx, task, there)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
	var v dataset.Vector
	for i, name := range there {
		if err := g.ReadRows(i, 0, min(g.Rows(), sampledRows), &v); err != nil {
			continue
		}
		sampled[name].add(&v)
	}
	return ctx.Err()
}

// add adds the texts of rows, each text once.
func (s *sampledTexts) add(v *dataset.Vector) {
	seen := make([]bool, len(v.Texts))
	for _, at := range v.Index {
		if at < 0 || seen[at] {
			continue
		}
		seen[at] = true
		text := v.Texts[at]
		x, ok := dataset.Plain.ParseValue(text)
		if missing := ok && x != x; !missing {
			s.column.Add(text, 0)
		} else if text != "" {
			s.nan = true
		}
		if s.column.Kind().Type == csvio.Text && s.column.Values > 0 {
			if s.looked++; s.looked == mostLooked {
				return
			}
		}
	}
}

// readAs reads columns of texts as numbers or points in time.
func (in *Input) readAs(texts []jobs.TextColumn) {
	in.texts = append(slices.Clone(in.texts), texts...)
	for _, c := range texts {
		set := func(column *parquetio.Column) {
			column.Type = dataset.Number
			column.Unit = c.Unit
			column.Zone = c.Zone
		}
		in.change(c.Name, set)
	}
	for i := range in.Tasks {
		in.Tasks[i].Texts = in.texts
	}
}

// change changes the descriptions of a column of texts.
func (in *Input) change(name string, set func(column *parquetio.Column)) {
	for i := range in.Columns {
		if in.Columns[i].Name == name {
			set(&in.Columns[i])
		}
	}
	for i, file := range in.Files {
		c, ok := in.ByName[i][name]
		ofTexts := func(c parquetio.Column) bool { return c.Name == name && c.Type == dataset.Text }
		if ok && (c.Physical == InPath || slices.ContainsFunc(file.Columns(), ofTexts)) {
			set(&c)
			in.ByName[i][name] = c
		}
	}
}

// Order makes texts of columns other than the given ones an error, in every later pass over the rows.
func (in *Input) Order(texts map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		in.texts = append(slices.Clone(in.texts), jobs.TextColumn{Name: name, Order: texts[name]})
	}
	for i := range in.Tasks {
		in.Tasks[i].Texts = in.texts
	}
}

// Reread changes how a column is read that ReadTexts reads as something else, because of a text of another kind. Dates
// and local timestamps together are local timestamps, as in import; otherwise the column is one of texts. It reports
// whether there is such a column.
func (in *Input) Reread(name, text string) bool {
	at := slices.IndexFunc(in.texts, func(c jobs.TextColumn) bool { return c.Name == name && c.Order == nil })
	if at < 0 {
		return false
	}
	in.texts = slices.Clone(in.texts)
	c := &in.texts[at]
	moments := jobs.TextColumn{Name: name, Unit: dataset.Timestamp, Zone: dataset.Local}
	_, isMoment := moments.Parse(text)
	dates := slices.ContainsFunc(in.Files, func(f *parquetio.File) bool { // in other files, which are no texts
		return slices.ContainsFunc(f.Columns(), func(c parquetio.Column) bool { return c.Name == name && c.Type == dataset.Number && !c.Null })
	})
	typ := dataset.Text
	if c.Unit == dataset.Date && isMoment && !dates {
		*c = moments
		typ = dataset.Number
	} else {
		moments = jobs.TextColumn{}
		in.texts = slices.Delete(in.texts, at, at+1)
	}
	in.change(name, func(column *parquetio.Column) {
		column.Type = typ
		column.Unit = moments.Unit
		column.Zone = moments.Zone
	})
	for i := range in.Tasks {
		in.Tasks[i].Texts = in.texts
	}
	return true
}

// NoteTexts returns a line about the columns of texts that are read as points in time; empty without such columns.
func (in *Input) NoteTexts() string {
	byUnit := make(map[dataset.Unit][]string)
	for _, c := range in.texts {
		if c.Order == nil {
			byUnit[c.Unit] = append(byUnit[c.Unit], strconv.Quote(c.Name))
		}
	}
	var parts []string
	for unit := dataset.Date; unit <= dataset.Timestamp; unit++ {
		if names := byUnit[unit]; len(names) > 0 {
			parts = append(parts, fmt.Sprintf("as %s %s", unit.Things(), naming.First(names, 5)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "columns of texts are read " + strings.Join(parts, "; ") + "; --categorical keeps texts"
}

// WarnTexts returns a warning of the columns of texts that are read as numbers and that unnamed reports, as they may be codes;
// empty without such columns.
func (in *Input) WarnTexts(unnamed func(column string) bool) string {
	var names []string
	for _, c := range in.texts {
		if c.Order == nil && c.Unit == dataset.Plain && unnamed(c.Name) {
			names = append(names, c.Name)
		}
	}
	for i := range in.Columns { // folders such as zip=01001
		if c := &in.Columns[i]; c.Physical == InPath && c.Wide && unnamed(c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	const shown = 5
	list := ""
	if len(names) <= shown && !strings.ContainsFunc(strings.Join(names, ""), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' // a shell, or the flag, takes it for something else
	}) {
		list = " " + setting.Join(names)
	}
	return fmt.Sprintf("the texts of %s are read as numbers; --categorical%s keeps them as texts, --numeric%s takes them for numbers "+
		"without this warning", naming.First(naming.Quoted(names), shown), list, list)
}
