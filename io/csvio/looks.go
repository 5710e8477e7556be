package csvio

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// shape is what a text looks like.
type shape uint8

const (
	number  shape = iota // a number
	moments              // a point in time in ISO 8601
	spelled              // a number in one of the other spellings
	marked               // a number with a sign such as % or $
	spaced               // a number or point in time between spaces
	day                  // a date in another format
	lasting              // a duration: 36:15:00, 1 days 02:03:04, PT3M
	code                 // digits that are no number: 007, beyond 2^53
	plus                 // an integer with a plus: +41, which is a code where no number is negative
	strange              // a number that no setting reads: 12.5-, 1,23,456, and minus signs beyond ASCII
	undated              // a date or time that no setting reads
	shapes
)

// Indexes of spellings.
const (
	groupComma   = 0
	decimalComma = 6
)

// spellings are other spellings of numbers, with the settings of import that read them. If several read as many
// values, the first one counts.
var spellings = [...]struct { //nolint:gochecknoglobals // a table
	Spelling

	what, settings string
}{
	groupComma: {Spelling{Thousands: ','}, "numbers with separators of thousands", "--thousands ,"},
	{Spelling{Thousands: ' '}, "numbers with spaces between thousands", "--thousands ' '"},
	{Spelling{Thousands: '\''}, "numbers with separators of thousands", `--thousands "'"`},
	{Spelling{Thousands: '\u2019'}, "numbers with separators of thousands", `--thousands $'\u2019'`},
	{Spelling{Thousands: '\u00a0'}, "numbers with spaces between thousands", `--thousands $'\u00a0'`},
	{Spelling{Thousands: '\u202f'}, "numbers with spaces between thousands", `--thousands $'\u202f'`},
	decimalComma: {Spelling{Decimal: ','}, "numbers with a decimal comma", "--decimal ,"},
	{Spelling{Decimal: ',', Thousands: '.'}, "numbers with a decimal comma", "--decimal , --thousands ."},
	{Spelling{Decimal: ',', Thousands: ' '}, "numbers with a decimal comma", "--decimal , --thousands ' '"},
	{Spelling{Decimal: ',', Thousands: '\u00a0'}, "numbers with a decimal comma", `--decimal , --thousands $'\u00a0'`},
	{Spelling{Decimal: ',', Thousands: '\u202f'}, "numbers with a decimal comma", `--decimal , --thousands $'\u202f'`},
}

// dates are the formats of dates that spreadsheets and people write; the last one is of a time without a date. A weekday
// may precede them, and a time may follow: see around.
var dates = [...]string{ //nolint:gochecknoglobals // a table
	"%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d", "%Y%m%d",
	"%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y", "%m-%d-%y", "%d %m %Y", "%m %d %Y",
	"%d-%b-%Y", "%d-%B-%Y", "%d-%b-%y", "%d/%b/%Y", "%d%b%Y", "%d %b %Y", "%d %B %Y", "%d %b %y", "%d %b, %Y", "%d %B, %Y",
	"%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%b/%d/%Y", "%Y-%b-%d", "%Y %b %d", "%b %d %H:%M:%S %Y",
	"%Y-%m", "%Y/%m", "%m/%Y", "%b %Y", "%B %Y", "%b-%Y", "%B-%Y", "%b-%y", "%Y %b", "%Y %B", "%Y-%b",
	"",
}

// patternSet are the expressions by which texts are told apart.
type patternSet struct {
	weekday, clock            *regexp.Regexp // before and behind a date
	duration                  *regexp.Regexp // hours, minutes and seconds, as spreadsheets and pandas write them, and ISO 8601
	plusNumber, strangeNumber *regexp.Regexp

	// A moment that no format reads has the name of a month in some language, a week or quarter of a year, or a date with
	// something other than a time behind it. isoMoment is of moments beyond the range.
	monthName, dateFiller, isoMoment, otherDate, zoneName, word, figures *regexp.Regexp
}

// patterns compiles the expressions at its first call, as most commands read no texts.
var patterns = sync.OnceValue(func() *patternSet { //nolint:gochecknoglobals // compiled once
	return &patternSet{
		weekday: regexp.MustCompile(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)([a-z]*day)?(,? )`),
		clock:   regexp.MustCompile(`(^|,? |T|:)\d{1,2}:\d\d(?:(:\d\d)(?:[.,]\d+)?)?( ?[AP]M| ?[ap]m)?( ?)([+-]\d\d(?::?\d\d)?|Z)?$`),
		duration: regexp.MustCompile(`^-?(\d+ days?,? )?[+-]?\d{1,4}:\d\d(:\d\d)?(\.\d+)?$|^-?\d+ days?$|` +
			`^-?P(\d+[YMWD])+(T(\d+(\.\d+)?[HMS])+)?$|^-?PT(\d+(\.\d+)?[HMS])+$`),
		plusNumber:    regexp.MustCompile(`^\+(0|[1-9]\d{0,14})$`),
		strangeNumber: regexp.MustCompile(`^[-+]?\d{1,2}(,\d\d)+,\d{3}(\.\d+)?$|^\d[\d.,]*-$|^[\x{2212}\x{2013}]\d[\d.,]*$`),
		monthName: regexp.MustCompile(`(?i)^(jan(uary?|uar|vier|eiro)?|gen(naio)?|ene(ro)?|f[eé]v(rier|ereiro)?|feb(ruary?|ruar|rero|braio|ruari)?|` +
			`mar(ch|s|zo|ço|et)?|m[aä]r|märz|maart|mrt|a[pb]r(il|ile)?|avr(il)?|may|mai|mei|mayo|maggio|maio|mag|jun[eio]?|juin|junho|giu(gno)?|` +
			`jul[yi]?|juil(let)?|julio|julho|lug(lio)?|aug(ust|ustus)?|ao[uû]t|ago(sto)?|sept?(ember|embre|tembre|tiembre)?|set(tembre|embro)?|` +
			`o[ck]t(ober|obre)?|ott(obre)?|out(ubro)?|nov(ember|embre|iembre|embro)?|dec(ember)?|dez(ember|embro)?|d[eé]c(embre)?|dic(embre|iembre)?)$`),
		dateFiller: regexp.MustCompile(`(?i)^(mon|tue|wed|thu|fri|sat|sun)([a-z]*day)?$|^([tzwq]|[ap]m?|m|utc|gmt|[a-z]{1,3}t|de|of|at|um|uhr|st|nd|rd|th)$`),
		isoMoment:  regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?$`),
		otherDate: regexp.MustCompile(`^\d{4}[-/_ ]?[WwQq]\d|^[WwQq]\d\d?[-/_ ]?(19|20)\d\d$|^[1-4][Qq][-/ ]?(19|20)\d\d$|^(19|20)\d{6}[_ Tt]\d{4,6}$|` +
			`^(\d{4}[-/.:]\d\d?[-/.:]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4})[ Tt,_]+\d`),
		zoneName: regexp.MustCompile(`\[\w+/\w+\]$`),
		word:     regexp.MustCompile(`\pL+`),
		figures:  regexp.MustCompile(`\d+`),
	}
})

// around returns the formats of the weekday before a date, and of the time behind it; empty if absent.
func around(text string) (before, after string) {
	if m := patterns().weekday.FindStringSubmatch(text); m != nil {
		before = map[bool]string{false: "%A", true: "%a"}[m[1] == ""] + m[2]
	}
	m := patterns().clock.FindStringSubmatch(text)
	if m == nil {
		return before, ""
	}
	after = m[1] + map[bool]string{false: "%I", true: "%H"}[m[3] == ""] + ":%M"
	if m[2] != "" {
		after += ":%S"
	}
	if m[3] != "" {
		after += m[3][:len(m[3])-2] + "%p"
	}
	if m[5] != "" {
		after += m[4] + "%z"
	}
	return before, after
}

const (
	// mostLooks is how many texts of a column Looks examines, because more would hardly change the result.
	mostLooks = 1000
	// mostOdd is how many different texts may stand for missing values.
	mostOdd = 3
	// severalValues is how many different values show that a column is not one of a few categories, however frequent
	// the texts for missing values are.
	severalValues = 10
)

// Looks counts what the texts of a column look like, to suggest how they may be read.
type Looks struct {
	spelling *Spelling // nil: the usual spelling
	seen     int64
	counts   [shapes]int64
	reads    [len(spellings)]int64 // by spelling: numbers in it
	formats  uint64                // of dates: bit i is set if a date does not have format i
	around   [2]string             // what the first date has around it
	usual    map[[2]string][]*Format
	odd      []string // the first different texts that are nothing of this
	odds     int64    // their rows
	negative bool     // some number has a minus
	values   []string // the first different texts that are something of this
	looked   int
}

// known adds texts whose type is known: plain numbers with or without a point, or points in time.
func (l *Looks) known(t Type, n int64) {
	l.seen += n
	switch t {
	case Integer, Float:
		l.counts[number] += n
		for i := range spellings {
			if t == Integer || spellings[i].Decimal == 0 {
				l.reads[i] += n
			}
		}
	case Date, Time, Timestamp, Local:
		l.counts[moments] += n
		if t == Time {
			l.counts[lasting] += n
		}
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
	inOther := false
	for i := range spellings {
		if isNumber(&spellings[i].Spelling, text) {
			l.reads[i] += n
			inOther = true
		}
	}
	plain := isNumber(l.spelling, text)
	l.negative = l.negative || plain && text[0] == '-'
	trimmed := strings.TrimSpace(text)
	bare := strings.TrimSpace(strings.TrimFunc(trimmed, isMark))
	found := false
	for s, is := range [shapes]bool{
		number:  plain,
		moments: isMoment(text),
		spelled: inOther && !plain,
		marked: bare != trimmed && (isNumber(l.spelling, bare) || isNumber(&Spelling{Thousands: ','}, bare) ||
			isNumber(&Spelling{Decimal: ',', Thousands: '.'}, bare)),
		spaced:  trimmed != text && (isNumber(l.spelling, trimmed) || isMoment(trimmed)),
		day:     l.date(text),
		lasting: patterns().duration.MatchString(text),
		code:    isDigits(strings.TrimLeft(text, "+-")) && !plain && !patterns().plusNumber.MatchString(text),
		plus:    patterns().plusNumber.MatchString(text),
		strange: !inOther && !plain && patterns().strangeNumber.MatchString(text),
		undated: isUndated(text),
	} {
		if is {
			l.counts[s] += n
			found = true
		}
	}
	if found {
		if len(l.values) < severalValues && !slices.Contains(l.values, text) {
			l.values = append(l.values, strings.Clone(text))
		}
		return
	}
	l.odds += n
	if len(l.odd) <= mostOdd && !slices.Contains(l.odd, text) {
		l.odd = append(l.odd, strings.Clone(text))
	}
}

// isUndated reports whether a text seems to be a date or time, though no format of dates reads it.
func isUndated(text string) bool {
	const longest = 50
	if len(text) > longest || patterns().isoMoment.MatchString(text) {
		return false
	}
	text = patterns().zoneName.ReplaceAllString(text, "")
	months := 0
	for _, w := range patterns().word.FindAllString(text, -1) {
		switch {
		case patterns().monthName.MatchString(w):
			months++
		case !patterns().dateFiller.MatchString(w):
			return false
		}
	}
	if strings.Trim(patterns().word.ReplaceAllString(text, ""), "0123456789 .,:/+-_") != "" {
		return false
	}
	numbers := patterns().figures.FindAllString(text, -1)
	hasYear := slices.ContainsFunc(numbers, func(n string) bool { return len(n) == len("2024") })
	return months == 1 && len(numbers) > 0 && (hasYear || len(numbers) > 2) || months == 0 && patterns().otherDate.MatchString(text)
}

// isMark reports whether a character may stand next to a number: % $ € ( ) '.
func isMark(r rune) bool { return strings.ContainsRune("%()'", r) || unicode.Is(unicode.Sc, r) }

func isNumber(s *Spelling, text string) bool {
	_, ok := s.Parse(Kind{Type: Float}, text)
	return ok
}

func isMoment(text string) bool {
	return slices.ContainsFunc([]Type{Date, Time, Timestamp, Local}, func(t Type) bool {
		_, ok := new(Spelling).Parse(Kind{Type: t}, text)
		return ok
	})
}

// date reports whether a text is a date in a usual format, and excludes the formats that it does not have.
func (l *Looks) date(text string) bool {
	text = withoutOrdinal(text)
	if len(text) < len("1/2/24") || len(text) > len("Wednesday, September 30, 2024 10:05:59 PM") || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	before, after := around(text)
	formats := l.formatsAround(before, after)
	var not uint64
	for i, f := range formats {
		if f == nil {
			not |= 1 << i
		} else if _, ok := parseTime(f.kind, text, f.layouts); !ok {
			not |= 1 << i
		}
	}
	const none = uint64(1)<<len(dates) - 1
	if not == none {
		return false
	}
	if l.counts[day] == 0 {
		l.around = [2]string{before, after}
	} else if l.around != [2]string{before, after} {
		not = none
	}
	l.formats |= not
	return true
}

// formatsAround returns the formats of dates with a weekday and a time around them; nil where they make no format.
func (l *Looks) formatsAround(before, after string) []*Format {
	formats, found := l.usual[[2]string{before, after}]
	if found {
		return formats
	}
	formats = make([]*Format, len(dates))
	for i, date := range dates {
		formats[i], _ = ParseFormat(before + date + after) // an error: no format
	}
	if l.usual == nil {
		l.usual = make(map[[2]string][]*Format)
	}
	l.usual[[2]string{before, after}] = formats
	return formats
}

// Mostly describes what most of the texts look like, and which settings of import read them so.
// what is empty if most texts are plain texts, or if some are codes.
func (l *Looks) Mostly() (what, settings string) {
	most := l.counts[number]
	for i := range spellings {
		if l.counts[spelled] > 0 && l.reads[i] > most {
			most = l.reads[i]
			what = spellings[i].what
			settings = spellings[i].settings
		}
	}
	if what != "" && l.reads[groupComma] == most && l.reads[decimalComma] == most {
		what = "numbers with commas"
		settings = "--thousands , or --decimal ,"
	}
	if what != "" && l.spelling != nil && !l.fits(settings) {
		what = "numbers in a spelling that does not go with --decimal"
		settings = ""
	}
	codes := l.counts[code]
	others := l.counts[strange]
	if l.negative {
		others += l.counts[plus]
	} else {
		codes += l.counts[plus]
	}
	if others > 0 {
		most = l.counts[number] + l.counts[spelled] + others
		what = "numbers in a spelling that import does not read, which are to be written as -1234.5"
		settings = ""
	}
	best := number
	for s := range shapes {
		if s != spelled && s != plus && s != strange && l.counts[s] > max(most, l.counts[best]) {
			best = s
		}
	}
	most = max(most, l.counts[best])
	if l.seen == 0 || codes > 0 || most*2 < l.seen && (most == 0 || most+l.odds < l.seen || !l.placeholders()) {
		return "", ""
	}
	switch {
	case best == number && what == "":
		what = "numbers"
	case best == marked:
		what = "numbers with signs such as % or $, which are to be removed"
		settings = ""
	case best == spaced:
		what = "numbers or dates between spaces"
		settings = "--trim"
	case best == day:
		what = "dates"
		settings = ""
		if most == l.seen || l.placeholders() { // otherwise no format reads the column
			settings = l.fitting()
		}
	case best == undated:
		what = "dates or times in a spelling that import does not read, which are to be written as 2024-01-31 13:05:59, for example"
	case best == moments:
		what = "dates or times"
		settings = ""
	case best == lasting:
		what = "durations, which are to be written as numbers of minutes, for example"
		settings = ""
	default: // a spelling of numbers
	}
	if settings == "" && most+l.odds == l.seen && best != marked && best != lasting {
		settings = l.missing(best == number)
	}
	return what, settings
}

// fits reports whether the settings of a spelling go with the decimal separator by which the file is read. A comma leaves
// none that read numbers with a decimal point.
func (l *Looks) fits(settings string) bool {
	decimal := l.spelling.decimal()
	fits := decimal == '.'
	for i, s := range spellings {
		for k := range spellings {
			other := &spellings[k]
			fits = fits || s.settings == settings && other.Decimal == decimal && other.Thousands == s.Thousands && l.reads[k] >= l.reads[i]
		}
	}
	return fits
}

// placeholders reports whether the odd texts may stand for missing values, however frequent they are: there are few, and
// they are signs without letters and digits, or the other values are many.
func (l *Looks) placeholders() bool {
	signs := func(text string) bool {
		return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	}
	return len(l.odd) <= mostOdd && (len(l.values) == severalValues || !slices.ContainsFunc(l.odd, func(o string) bool { return !signs(o) }))
}

// missing names a setting that takes the odd texts for missing values; empty if there are too many different ones, or if one
// may be a value: 136A, or 01.5 among numbers.
func (l *Looks) missing(ofNumbers bool) string {
	odd := l.odd
	if slices.Contains(odd, "none") { // which in front means: instead of the usual texts
		odd = append(slices.DeleteFunc(slices.Clone(odd), func(o string) bool { return o == "none" }), "none")
		if len(odd) == 1 {
			odd = []string{"NA", "none"} // NA is a usual text
		}
	}
	list := strings.Join(odd, ",")
	if len(l.odd) == 0 || len(l.odd) > mostOdd || strings.Count(list, ",") >= len(odd) || strings.ContainsAny(list, "\"'") ||
		slices.ContainsFunc(l.odd, func(o string) bool {
			return strings.ContainsAny(o, "0123456789") && (ofNumbers || strings.ContainsFunc(o, unicode.IsLetter))
		}) {
		return ""
	}
	if len(l.odd) == 1 {
		return fmt.Sprintf("--missing %s if that is a missing value", quoted(list))
	}
	return fmt.Sprintf("--missing %s if those are missing values", strconv.Quote(list))
}

// fitting names the formats that all dates have.
func (l *Looks) fitting() string {
	var fit []string
	for i, f := range l.formatsAround(l.around[0], l.around[1]) {
		if l.formats&(1<<i) == 0 {
			text := f.text
			if strings.Contains(text, ",") { // which separates formats
				text = `"` + text + `"`
			}
			fit = append(fit, "--date_format '"+text+"'")
		}
	}
	return strings.Join(fit, " or ")
}
