package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/naming"
)

// Unit is the unit of points in time. Whatever the unit in a file, dates are converted to days and
// timestamps to microseconds since 1970-01-01, and times of day to microseconds since midnight. All
// of them are integers, rounded down.
//
// A timestamp is in UTC if its column is declared so. A local timestamp counts as if it were in
// UTC.
type Unit uint8

// The units.
const (
	Plain Unit = iota // plain numbers, not points in time
	Date
	Time
	Timestamp
)

func unitNames() []string { return []string{"", "date", "time", "timestamp"} }

// String returns the unit as tree.json and schema.json spell it; empty: Plain.
func (u Unit) String() string { return naming.Of(u, Plain, unitNames()) }

// Things returns the plural of the unit's name, for messages.
func (u Unit) Things() string {
	if u == Plain {
		return "numbers"
	}
	return u.String() + "s"
}

// Thing returns the singular of Things.
func (u Unit) Thing() string { return strings.TrimSuffix(u.Things(), "s") }

// Example returns an example of a point in time, for messages.
func (u Unit) Example() string {
	return [...]string{"12.5", "2026-11-21", "09:30:00", "2026-11-21T09:30:00"}[u]
}

// ParseUnit reads a unit's name.
func ParseUnit(name string) (Unit, error) {
	if i := slices.Index(unitNames(), name); i >= 0 {
		return Unit(i), nil
	}
	return 0, fmt.Errorf("unit %q: want date, time, timestamp or none", name)
}

const (
	daySeconds   = 24 * 60 * 60
	secondMicros = 1_000_000
	dayMicros    = daySeconds * secondMicros

	// maxDays bounds the days of a calendar date. maxMicros bounds the microseconds of a
	// timestamp; float64 holds every whole number up to it.
	maxDays   = 1 << 31
	maxMicros = 1 << 62
)

// Spell writes a number of the unit in ISO 8601, exactly: Parse returns the same number.
// A fractional number, or one out of the calendar, is written as a plain number.
func (u Unit) Spell(x float64) string {
	if u != Plain && x == math.Trunc(x) && math.Abs(x) < maxMicros {
		return u.SpellCount(int64(x))
	}
	if s := SpellNumber(x); !LosesDigits(s, x) {
		return s
	}
	return strconv.FormatFloat(x, 'g', -1, 64) // 20 digits would be read as an integer that float64 does not hold
}

// SpellCount is Spell for a whole number that may be beyond float64.
func (u Unit) SpellCount(n int64) string {
	switch {
	case u == Date && -maxDays < n && n < maxDays:
		return spellDate(n)
	case u == Time && 0 <= n && n < dayMicros:
		return spellClock(n)
	case u == Timestamp && -maxMicros < n && n < maxMicros:
		days := FloorDiv(n, dayMicros)
		return spellDate(days) + "T" + spellClock(n-days*dayMicros)
	default:
		return strconv.FormatInt(n, 10)
	}
}

// FloorDiv returns a/b rounded down; b is above 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// spellDate writes days since 1970 as a date. A year beyond four digits has a sign and at
// least five digits.
func spellDate(days int64) string {
	t := time.Unix(days*daySeconds, 0).UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return fmt.Sprintf("%+06d-%02d-%02d", y, t.Month(), t.Day())
	}
	return fmt.Sprintf("%04d-%02d-%02d", t.Year(), t.Month(), t.Day())
}

// spellClock spells microseconds of a day.
func spellClock(micros int64) string {
	seconds := micros / secondMicros
	s := fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	if rest := micros % secondMicros; rest > 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", rest), "0")
	}
	return s
}

// Parse reads a point in time as ParseISO does, or a plain number. ok is false for other texts.
func (u Unit) Parse(s string) (x float64, ok bool) {
	if x, ok := u.ParseISO(s); ok {
		return x, true
	}
	x, ok = parseNumber(s)
	return x, ok && x == x
}

// parseNumber reads a number, and turns -0 into 0. ok is false for other texts, and for a whole number that
// float64 cannot hold exactly, as those of Parquet files are refused.
func parseNumber(s string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(s, 64)
	return x + 0, err == nil && !LosesDigits(s, x)
}

// ParseISO reads a point in time in ISO 8601, also as databases write it. Clock, seconds, fraction and offset
// from UTC may be absent; a timestamp may have a space in place of the T, and in front of its offset; month,
// day and hour may have one digit. ok is also false if float64 cannot hold the microseconds.
func (u Unit) ParseISO(s string) (x float64, ok bool) {
	x, _, ok = u.ParseZoned(s)
	return x, ok
}

// ParseZoned is ParseISO that also returns the zone: UTC if the text states an offset from UTC, Local if it
// has a clock without an offset, NoZone for a date or a time of day.
func (u Unit) ParseZoned(s string) (x float64, zone Zone, ok bool) {
	n, zone, ok := u.parseISO(s)
	x, exact := u.Exact(n)
	return x, zone, ok && exact
}

// ParseValue reads a text of a column of numbers: a number or, if the unit is one of time,
// a point in time in ISO 8601. true is 1 and false is 0. An empty text is missing: NaN.
func (u Unit) ParseValue(text string) (x float64, ok bool) {
	switch {
	case text == "":
		return math.NaN(), true
	case u != Plain:
		return u.ParseISO(text)
	case text == "true":
		return 1, true
	case text == "false":
		return 0, true
	default:
		return parseNumber(text)
	}
}

func (u Unit) parseISO(s string) (n int64, zone Zone, ok bool) {
	switch u {
	case Plain:
		return 0, NoZone, false
	case Date:
		n, ok = parseDate(s)
		return n, NoZone, ok
	case Time:
		n, ok = parseClock(s)
		return n, NoZone, ok
	default:
		day, clock, found := cutDay(s)
		days, ok := parseDate(day)
		ok = ok && -maxYears < days && days < maxYears
		if !found {
			return days * dayMicros, NoZone, ok
		}
		clock, offset, zone, ok2 := cutZone(clock)
		micros, ok3 := parseClock(clock)
		return days*dayMicros + micros - offset, zone, ok && ok2 && ok3
	}
}

// cutDay divides a timestamp at its T or space. It spells the basic format of ISO 8601, 20261121T093000, with
// signs.
func cutDay(s string) (day, clock string, found bool) {
	at := strings.IndexAny(s, "T ")
	if at < 0 {
		return s, "", false
	}
	day, clock = s[:at], s[at+1:]
	if _, basic := digits(day); !basic || len(day) != 8 || s[at] != 'T' {
		return day, clock, true
	}
	signed := day[:4] + "-" + day[4:6] + "-" + day[6:]
	switch len(clock) - len(strings.TrimLeft(clock, "0123456789")) {
	case 4:
		return signed, clock[:2] + ":" + clock[2:], true
	case 6:
		return signed, clock[:2] + ":" + clock[2:4] + ":" + clock[4:], true
	default:
		return day, clock, true
	}
}

// maxYears bounds the number of days, so their microseconds do not overflow.
const maxYears = maxMicros / dayMicros

// parseDate reads year, month and day. Years have four digits, or a sign and more.
func parseDate(s string) (days int64, ok bool) {
	unsigned := strings.TrimLeft(s, "+-")
	year, rest, _ := strings.Cut(unsigned, "-")
	month, day, _ := strings.Cut(rest, "-")
	signed := len(s) - len(unsigned)
	if signed > 1 || signed == 0 && len(year) != 4 || len(year) > 7 || len(month) > 2 || len(day) > 2 {
		return 0, false
	}
	y, ok1 := digits(year)
	m, ok2 := digits(month)
	d, ok3 := digits(day)
	if signed > 0 && s[0] == '-' {
		y = -y
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	exists := t.Year() == y && int(t.Month()) == m && t.Day() == d
	return FloorDiv(t.Unix(), daySeconds), ok1 && ok2 && ok3 && exists
}

// parseClock reads hours, minutes and optional seconds with a fraction, rounded down to
// microseconds.
func parseClock(s string) (micros int64, ok bool) {
	s, fraction, fractional := strings.Cut(s, ".")
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 || fractional && (len(parts) < 3 || fraction == "") {
		return 0, false
	}
	limits := [...]int{24, 60, 60}
	seconds := 0
	for i, limit := range limits {
		n := 0
		if i < len(parts) {
			if n, ok = digits(parts[i]); !ok || len(parts[i]) > 2 || len(parts[i]) < 2 && i > 0 || n >= limit {
				return 0, false
			}
		}
		seconds = 60*seconds + n
	}
	part, ok := digits((fraction + "000000")[:6])
	if _, all := digits("0" + fraction); !all {
		return 0, false
	}
	return int64(seconds)*secondMicros + int64(part), ok
}

// cutZone cuts the offset from UTC off a clock and returns it in microseconds.
func cutZone(s string) (clock string, offset int64, zone Zone, ok bool) {
	for _, name := range [...]string{"Z", "UTC", "GMT"} {
		if clock, found := strings.CutSuffix(s, name); found {
			return strings.TrimSuffix(clock, " "), 0, UTC, true
		}
	}
	at := strings.LastIndexAny(s, "+-")
	if at < 0 {
		return s, 0, Local, true
	}
	hours, minutes, colon := strings.Cut(s[at+1:], ":")
	switch {
	case colon:
	case len(hours) == 4:
		hours, minutes = hours[:2], hours[2:]
	default:
		minutes = "00"
	}
	offset, ok = parseClock(hours + ":" + minutes)
	if s[at] == '-' {
		offset = -offset
	}
	return strings.TrimSuffix(s[:at], " "), offset, UTC, ok && len(hours) == 2 && len(minutes) == 2
}

// digits reads a number that consists of decimal digits only.
func digits(s string) (int, bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// Of returns a point in time in the unit, in UTC, rounded down. ok is false if 64 bits
// cannot hold it.
func (u Unit) Of(t time.Time) (n int64, ok bool) {
	seconds := t.Unix()
	switch u {
	case Date:
		return FloorDiv(seconds, daySeconds), true
	case Time:
		return (seconds-FloorDiv(seconds, daySeconds)*daySeconds)*secondMicros + int64(t.Nanosecond()/1000), true
	default:
		return seconds*secondMicros + int64(t.Nanosecond()/1000), math.Abs(float64(seconds)) < maxMicros/secondMicros
	}
}

// Exact returns a count of the unit as a number. ok is false if float64 cannot hold the
// count exactly: some counts beyond 2^53, for microseconds before 1684-07-28 or after
// 2255-06-05.
func (u Unit) Exact(n int64) (x float64, ok bool) {
	x = float64(n)
	return x, x < math.MaxInt64 && int64(x) == n // as a float64, math.MaxInt64 is 2^63
}

// LosesDigits reports whether a text is an integer, written only with digits, that differs from x,
// which was read from it: beyond 2^53 float64 does not hold every integer.
func LosesDigits(text string, x float64) bool {
	if math.Abs(x) < 1<<53 {
		return false
	}
	digits := strings.TrimLeft(text, "+-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" &&
		strconv.FormatFloat(math.Abs(x), 'f', 0, 64) != strings.TrimLeft(digits, "0")
}

// Inexact returns the error of a count that Exact refuses.
func (u Unit) Inexact(value string) *DataError {
	if u == Plain {
		return &DataError{
			Value:   value,
			Problem: "a whole number beyond 2^53 that floating point cannot hold exactly",
			Hint: "if the column holds codes, name it with --categorical, which keeps their digits; else write it as " +
				"DOUBLE, or leave the column out of training with --ignore",
		}
	}
	return &DataError{
		Value: value,
		Problem: fmt.Sprintf("a %s of more microseconds than floating point can hold exactly (2^53, some 285 years "+
			"from 1970)", u),
		Hint: "write null where it stands for none, round such values to seconds, or leave the column out",
	}
}
