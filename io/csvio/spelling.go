package csvio

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Spelling describes how numbers and points in time are written in a file.
type Spelling struct {
	Decimal   rune      // decimal separator; 0: a point
	Thousands rune      // separator of groups of three digits; 0: none
	Formats   []*Format // formats of points in time, in addition to ISO 8601
}

// plain returns a number in the form that strconv reads: without thousands separators, with a
// decimal point.
func (s *Spelling) plain(text string) (string, bool) {
	if s.Thousands != 0 && strings.ContainsRune(text, s.Thousands) {
		whole := text
		rest := ""
		if at := strings.IndexRune(text, s.decimal()); at >= 0 {
			whole = text[:at]
			rest = text[at:]
		}
		if !grouped(whole, s.Thousands) {
			return "", false
		}
		text = strings.ReplaceAll(whole, string(s.Thousands), "") + rest
	}
	if d := s.decimal(); d != '.' {
		if strings.Contains(text, ".") {
			return "", false
		}
		text = strings.Replace(text, string(d), ".", 1)
	}
	return text, plainNumber(text)
}

func (s *Spelling) decimal() rune {
	if s.Decimal == 0 {
		return '.'
	}
	return s.Decimal
}

// grouped reports whether an integer is written in groups of three digits, like 1,234,567.
func grouped(text string, separator rune) bool {
	groups := strings.Split(strings.TrimPrefix(text, "-"), string(separator))
	for i, group := range groups {
		if !isDigits(group) || i > 0 && len(group) != 3 || len(group) > 3 {
			return false
		}
	}
	return len(groups) > 1 && groups[0][0] != '0'
}

// isDigits reports whether a text consists of one decimal digit or more.
func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// kinds lists how a column may be read, in the order in which the kinds are tried. The given
// formats come first, because 20240131 is also an integer.
func (s *Spelling) kinds() []Kind {
	var kinds []Kind
	for _, f := range s.Formats {
		kinds = append(kinds, Kind{Type: f.kind, format: f})
	}
	for t := range Text {
		kinds = append(kinds, Kind{Type: t})
	}
	return kinds
}

// Format is a format of points in time.
type Format struct {
	text    string
	kind    Type
	layouts []string // layouts of package time; one of them fits
}

// codes maps the codes of strftime to the layouts of package time. The layouts of numbers accept
// one or two digits.
var codes = map[byte]string{ //nolint:gochecknoglobals // a table
	'Y': "2006", 'y': "06", 'm': "1", 'd': "2", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday",
	'H': "15", 'I': "3", 'M': "4", 'S': "5", 'p': "PM", 'z': "Z07:00",
}

// ParseFormat parses a format with the codes of strftime, such as %d/%m/%Y %H:%M.
func ParseFormat(text string) (*Format, error) {
	f := &Format{text: text}
	layout := ""
	used := ""
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '%' && len(rest) > 1 && codes[rest[1]] != "":
			layout += codes[rest[1]]
			used += rest[1:2]
			size = 2
		case strings.HasPrefix(rest, "%f") && strings.HasSuffix(used, "S"):
			layout, size = layout[:len(layout)-1], 2 // package time reads what follows seconds and a point
		case r == '%' || r == '_' || r < utf8.RuneSelf && r != 'T' && isWord(byte(r)):
			return nil, fmt.Errorf("%q: want the codes %%Y %%m %%d %%H %%M %%S and so on of strftime, and signs between them, "+
				"such as %%d/%%m/%%Y; got %q", text, rest)
		default:
			layout += rest[:size]
		}
		rest = rest[size:]
	}
	has := func(codes string) bool { return strings.ContainsAny(used, codes) }
	whole := has("Yy") && has("mbB") // without a day it is the first of the month
	date, clock := strings.ContainsAny(used, "YymdbB"), strings.ContainsAny(used, "HIMS")
	switch {
	case date && !whole:
		return nil, fmt.Errorf("%q: want a year and a month in a date, such as %%d/%%m/%%Y", text)
	case clock && !has("H") && (!has("I") || !has("p")):
		return nil, fmt.Errorf("%q: want %%H, or %%I with %%p, in a time, such as %%H:%%M", text)
	case date && clock && strings.Contains(used, "z"):
		f.kind = Timestamp
	case date && clock:
		f.kind = Local
	case date:
		f.kind = Date
	case clock:
		f.kind = Time
	default:
		return nil, fmt.Errorf("%q: want the codes of strftime, such as %%d/%%m/%%Y", text)
	}
	f.layouts = []string{layout}
	for _, other := range [][2]string{{"PM", "pm"}, {"Z07:00", "Z0700"}, {"Z07:00", "Z07"}} {
		for _, layout := range f.layouts {
			if strings.Contains(layout, other[0]) {
				f.layouts = append(f.layouts, strings.Replace(layout, other[0], other[1], 1))
			}
		}
	}
	return f, nil
}

func isWord(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

var ordinal = regexp.MustCompile(`\b([0-9]{1,2})(?:st|nd|rd|th)\b`)

// withoutOrdinal returns a date without the letters behind its day: April 4, 2015 of April 4th, 2015.
func withoutOrdinal(text string) string {
	if !strings.ContainsAny(text, "tndh") {
		return text
	}
	return ordinal.ReplaceAllString(text, "$1")
}

// parseTime reads a point in time by one of the layouts. ok is false if float64 does not hold its microseconds.
func parseTime(t Type, text string, layouts []string) (v Value, ok bool) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			if v.Whole, ok = t.Unit().Of(at); ok {
				_, ok = t.Unit().Exact(v.Whole)
			}
			return v, ok
		}
	}
	return v, false
}
