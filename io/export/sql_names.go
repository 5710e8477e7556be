package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// doubled returns an identifier between double quotes.
func doubled(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// backticks returns an identifier for Spark.
func backticks(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// backslashTicks returns an identifier for BigQuery, in which a backslash begins an escape.
func backslashTicks(name string) string {
	quoted := quotedBackslash(name)
	return "`" + strings.ReplaceAll(quoted[1:len(quoted)-1], "`", "\\`") + "`"
}

// cutTo returns the longest prefix of whole characters with at most most bytes; 0: all.
func cutTo(s string, most int) string {
	if most == 0 || len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// hidden reports whether a character is invisible, or changes how other characters are displayed.
func hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0x61c, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0xfeff:
		return true
	default:
		return false
	}
}

// quotedByParts returns literals in which hidden characters are calls of a function.
func quotedByParts(char string) func(string) string {
	return func(s string) string {
		var parts []string
		from := 0
		plain := func(to int) {
			if to > from {
				parts = append(parts, "'"+strings.ReplaceAll(s[from:to], "'", "''")+"'")
			}
		}
		for at, r := range s {
			if hidden(r) {
				plain(at)
				parts = append(parts, fmt.Sprintf("%s(%d)", char, r))
				from = at + utf8.RuneLen(r)
			}
		}
		plain(len(s))
		switch len(parts) {
		case 0:
			return "''"
		case 1:
			return parts[0]
		default:
			return "(" + strings.Join(parts, " || ") + ")"
		}
	}
}

// quotedBackslash returns a literal of Spark and BigQuery. Spark replaces ${NAME}, even within texts.
func quotedBackslash(s string) string {
	return quotedIn('\'', s, func(r rune) string {
		if hidden(r) || r == '$' {
			return fmt.Sprintf(`\u%04x`, r)
		}
		return string(r)
	})
}

// suffixed returns a function that formats numbers with a suffix, which makes them doubles.
func suffixed(by string) func(float64) string {
	return func(x float64) string { return number(x) + by }
}

// digits is how many digits a number has in its shortest text.
func digits(x float64) int {
	mantissa, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
	return len(mantissa)
}

// exactDigits is how many digits of a mantissa every reader of numbers reads exactly.
const exactDigits = 15

// duckNumber returns a double. DuckDB has its own rounding for literals with many digits, but
// converts texts like all other programs.
func duckNumber(x float64) string {
	if digits(x) <= exactDigits && math.Abs(x) < 1e15 && math.Abs(x) > 1e-15 || x == 0 {
		return strconv.FormatFloat(x, 'f', -1, 64) + "e0"
	}
	return "CAST('" + number(x) + "' AS DOUBLE)"
}

// sqliteNumber returns a double. SQLite reads numbers with many digits inexactly, so they are
// written as integers divided by a power of two.
func sqliteNumber(x float64) string {
	if digits(x) <= exactDigits && math.Abs(x) < 1e15 && math.Abs(x) > 1e-7 || x == 0 {
		return number(x)
	}
	fraction, exponent := math.Frexp(x)
	const bits = 53
	whole := int64(math.Ldexp(fraction, bits))
	exponent -= bits
	for whole%2 == 0 && exponent < 0 {
		whole /= 2
		exponent++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(CAST(%d AS REAL)", whole)
	const most = 62 // integers of 64 bits
	for ; exponent < -most; exponent += most {
		fmt.Fprintf(&b, " / %d.0", int64(1)<<most)
	}
	for ; exponent > most; exponent -= most {
		fmt.Fprintf(&b, " * %d.0", int64(1)<<most)
	}
	if exponent < 0 {
		fmt.Fprintf(&b, " / %d.0)", int64(1)<<-exponent)
	} else {
		fmt.Fprintf(&b, " * %d.0)", int64(1)<<exponent)
	}
	return b.String()
}
