package csvio

import (
	"fmt"
	"strings"
	"unicode"
)

// shape is what a text looks like.
type shape uint8

const (
	number  shape = iota // a number
	moments              // a point in time in ISO 8601
	groups               // a number with separators of thousands
	comma                // a number with a decimal comma
	both                 // a number with points between groups and a decimal comma
	marked               // a number with a sign such as % or $
	spaced               // a number or point in time between spaces
	day                  // a date in another format
	code                 // digits that are no number: 007, +41, beyond 2^53
	shapes
)

// usual are the formats of dates that spreadsheets write.
var usual = mustFormats( //nolint:gochecknoglobals // a table
	"%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y",
	"%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y",
	"%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d.%m.%Y %H:%M", "%Y/%m/%d %H:%M",
	"%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S",
	"%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%I:%M %p", "%I:%M:%S %p",
)

// mostLooks is how many texts of a column Looks examines, because more would hardly change the
// result.
const mostLooks = 1000

// Looks counts what the texts of a column look like, to suggest how they may be read.
type Looks struct {
	spelling *Spelling // nil: the usual spelling
	seen     int64
	counts   [shapes]int64
	formats  uint64 // of usual: bit i is set if a date does not have format i
	odd      string // the first text that is nothing of this
	looked   int
}

// known counts texts whose type is known.
func (l *Looks) known(t Type, n int64) {
	l.seen += n
	switch t {
	case Integer, Float:
		l.counts[number] += n
	case Date, Time, Timestamp, Local:
		l.counts[moments] += n
	default: // nothing is known of texts
	}
}

// Add looks at a text that n rows have.
func (l *Looks) Add(text string, n int64) {
	if l.looked == mostLooks {
		return
	}
	l.looked++
	l.seen += n
	if l.spelling == nil {
		l.spelling = new(Spelling)
	}
	trimmed := strings.TrimSpace(text)
	bare := strings.TrimSpace(strings.TrimFunc(trimmed, isMark))
	found := false
	for s, is := range [shapes]bool{
		number:  isNumber(l.spelling, text),
		moments: isMoment(text),
		groups:  isNumber(&Spelling{Thousands: ','}, text) || isNumber(&Spelling{Thousands: ' '}, text),
		comma:   isNumber(&Spelling{Decimal: ','}, text) && strings.Contains(text, ","),
		both:    isNumber(&Spelling{Decimal: ',', Thousands: '.'}, text) && strings.Contains(text, "."),
		marked: bare != trimmed && (isNumber(l.spelling, bare) || isNumber(&Spelling{Thousands: ','}, bare) ||
			isNumber(&Spelling{Decimal: ',', Thousands: '.'}, bare)),
		spaced: trimmed != text && (isNumber(l.spelling, trimmed) || isMoment(trimmed)),
		day:    l.date(text),
		code:   isDigits(strings.TrimLeft(text, "+-")) && !isNumber(l.spelling, text),
	} {
		if is {
			l.counts[s] += n
			found = true
		}
	}
	if !found && l.odd == "" {
		l.odd = strings.Clone(text)
	}
}

// isMark reports whether a character may stand next to a number: % $ € ( ) '.
func isMark(r rune) bool { return strings.ContainsRune("%()'", r) || unicode.Is(unicode.Sc, r) }

func isNumber(s *Spelling, text string) bool {
	_, ok := s.Parse(Kind{Type: Float}, text)
	return ok
}

func isMoment(text string) bool {
	for _, t := range []Type{Date, Time, Timestamp, Local} {
		if _, ok := new(Spelling).Parse(Kind{Type: t}, text); ok {
			return true
		}
	}
	return false
}

// date reports whether a text is a date in a usual format, and excludes the formats that it does not have.
func (l *Looks) date(text string) bool {
	if len(text) < len("1/2/24") || len(text) > len("September 30, 2024") || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	var not uint64
	for i, f := range usual {
		if _, ok := parseTime(f.kind, text, f.layouts); !ok {
			not |= 1 << i
		}
	}
	if not == uint64(1)<<len(usual)-1 {
		return false
	}
	l.formats |= not
	return true
}

// Mostly describes what most of the texts look like, and which settings of import read them so.
// what is empty if most texts are plain texts, or if some are codes.
func (l *Looks) Mostly() (what, settings string) {
	best := number
	for s := range shapes {
		if l.counts[s] > l.counts[best] {
			best = s
		}
	}
	if l.seen == 0 || l.counts[best]*2 < l.seen || l.counts[code] > 0 {
		return "", ""
	}
	switch best {
	case groups:
		what, settings = "numbers with separators of thousands", "--thousands ,"
		if l.counts[comma] == l.counts[groups] {
			what, settings = "numbers with commas", "--thousands , or --decimal ,"
		}
	case comma:
		what, settings = "numbers with a decimal comma", "--decimal ,"
		if l.counts[both] > 0 {
			settings += " --thousands ."
		}
	case both:
		what, settings = "numbers with a decimal comma", "--decimal , --thousands ."
	case marked:
		what = "numbers with signs such as % or $, which are to be removed"
	case spaced:
		what, settings = "numbers or dates between spaces", "--trim"
	case day:
		what, settings = "dates", l.fitting()
	case moments:
		what = "dates or times"
	default:
		what = "numbers"
	}
	if l.odd != "" && settings == "" && best != marked {
		settings = fmt.Sprintf("--missing %s if that is a missing value", quoted(l.odd))
	}
	return what, settings
}

// fitting names the formats that all dates have.
func (l *Looks) fitting() string {
	var fit []string
	for i, f := range usual {
		if l.formats&(1<<i) == 0 {
			fit = append(fit, "--date_format '"+f.text+"'")
		}
	}
	return strings.Join(fit, " or ")
}
