package importing

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/csvio"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// found is what the first reading finds out about a column.
type found struct {
	*csvio.Column

	spelled map[string]int64 // missing values by their texts, without empty fields
	spaced  int64            // number of values that begin or end with a space
	bytes   int64            // bytes of all values
	returns bool             // a value has a carriage return, which may have been the end of a line
	longest int              // bytes of the longest value
	named   bool             // a value is the name of the column
}

func newFound(s *csvio.Spelling) *found {
	return &found{Column: csvio.NewColumn(s), spelled: make(map[string]int64)}
}

// none counts a missing value.
func (f *found) none(text string) {
	f.Missing++
	if text != "" {
		f.spelled[text]++
	}
}

func (f *found) add(text, name string, line int) {
	f.Add(text, line)
	f.named = f.named || text == name
	f.bytes += int64(len(text))
	f.returns = f.returns || strings.IndexByte(text, '\r') >= 0
	f.longest = max(f.longest, len(text))
	if text[0] == ' ' || text[len(text)-1] == ' ' {
		f.spaced++
	}
}

// isLong reports whether the values are too long, on average, to be held in a dictionary.
func (f *found) isLong() bool {
	const most = 256 // bytes
	return f.bytes > most*f.Values
}

// blanks counts the records without any value, and remembers the record before.
type blanks struct {
	rows  int64
	first string // line of the first such record
	last  string // first field of the last row
}

func isBlank(fields []string) bool {
	return len(fields) > 1 && !slices.ContainsFunc(fields, func(text string) bool { return text != "" })
}

func (b *blanks) add(in *input, r *csvio.Reader) {
	if b.rows++; b.first == "" {
		b.first = fmt.Sprintf("line %d of %s", r.Line(0), in.name)
	}
}

// total is how a row of sums begins.
var total = regexp.MustCompile(`(?i)^\s*(grand |sub)?(total|sum|summe|gesamt|totaal|suma|somme|totale)s?:?\s*$`)

// remark warns of what may be read otherwise than it was meant.
func (im *importing) remark() {
	warn := func(format string, args ...any) { im.reporter.Warn(fmt.Sprintf(format, args...)) }
	file := im.inputs[0].name
	for _, note := range im.remarks {
		warn("%s: %s", file, note)
	}
	if len(im.header) == 1 && im.config.Delimiter == "auto" {
		warn("%s has one column, %q: --delimiter names another character between fields", file, im.header[0])
	}
	if names := im.valueNames(); len(names) > 0 && im.config.Names == nil {
		warn("the first line of %s looks like a row, it has %s: --names names the columns of files without a line of names",
			file, list(names))
	}
	if im.blank.rows > 0 {
		warn("left out: rows without any value (%d), the first is %s", im.blank.rows, im.blank.first)
	}
	dropped := len(im.header) - len(im.written)
	if im.index {
		dropped--
		warn("left out: column 1, which has no name, as pandas and R write the index of rows; name it in the first line to keep it")
	}
	if dropped > 0 {
		warn("left out: columns without a name and without any value (%d)", dropped)
	}
	if total.MatchString(im.blank.last) {
		warn("the last row begins with %q: remove it if it has sums", im.blank.last)
	}
	im.remarkOnColumns(warn)
}

// remarkOnColumns warns of values that may be read otherwise than they were meant.
func (im *importing) remarkOnColumns(warn func(format string, args ...any)) {
	var spaced, grouped, returns []string
	for _, c := range im.written {
		f := im.found[c.field]
		what, settings := f.Looks.Mostly()
		if what != "" && c.kind.Type == csvio.Text && !slices.Contains(im.config.Text, c.name) {
			if settings != "" {
				what += " (" + settings + ")"
			}
			warn("column %q is a text because of %s, but most of its values are %s", c.name, f.Reason(), what)
		}
		if f.spaced > 0 && c.kind.Type == csvio.Text || strings.TrimSpace(c.name) != c.name {
			spaced = append(spaced, c.name)
		}
		if f.returns || strings.Contains(c.name, "\r") {
			returns = append(returns, c.name)
		}
		if f.longest > parquetio.MaxText {
			warn("column %q has a value of %d bytes, training takes at most %d: leave the column out there by --ignore",
				c.name, f.longest, parquetio.MaxText)
		}
		if f.Grouped() && im.semicolons {
			grouped = append(grouped, c.name)
		}
	}
	if len(spaced) > 0 {
		warn("names or values begin or end with spaces in %s: --trim leaves the spaces out", list(spaced))
	}
	if len(returns) > 0 {
		warn(`names or values have carriage returns in %s: if lines end in them, write tr '\r' '\n' < FILE | espalier import - --output FOLDER`,
			list(returns))
	}
	if len(grouped) > 0 {
		warn("the points in %s were read as decimal points: --thousands . --decimal , reads 1.234 as 1234", list(grouped))
	}
}

// valueNames returns the names of columns that look like values of their columns.
func (im *importing) valueNames() (names []string) {
	var texts []string
	for _, c := range im.written {
		f := im.found[c.field]
		if c.kind.Type != csvio.Text {
			if _, is := im.spell.Parse(c.kind, c.name); is {
				names = append(names, c.name)
			}
		} else if f.named {
			texts = append(texts, c.name)
		}
	}
	if len(names) > 0 || len(texts)*2 < len(im.written) {
		return names
	}
	return texts
}

// notes describes for each column which value made it a text, and which texts were taken for
// missing values.
func (im *importing) notes() []string {
	notes := make([]string, len(im.written))
	for i, c := range im.written {
		f := im.found[c.field]
		var parts []string
		switch reason := f.Reason(); {
		case slices.Contains(im.config.Text, c.name):
			parts = append(parts, "by --text")
		case reason != "":
			parts = append(parts, "because of "+reason)
		case f.Values == 0:
			parts = append(parts, "no value")
		}
		if len(f.spelled) > 0 {
			parts = append(parts, "missing: "+list(slices.Sorted(maps.Keys(f.spelled))))
		}
		notes[i] = strings.Join(parts, "; ")
	}
	return notes
}

// list lists names in a sentence.
func list(names []string) string { return naming.First(naming.Quoted(names), 5) }
