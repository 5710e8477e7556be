package modelcard

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markdown is text in Markdown. Data in it has passed through name.
type markdown string

// maxName is the greatest number of characters shown of a name.
const maxName = 60

// name returns the name of a column, class or file in a form in which Markdown shows its characters
// unchanged, even in a table: shortened, on a single line, and with Go's escapes for characters
// that are not printable or that change the direction of a text.
func name(s string) markdown { return escape(s, maxName) }

// escape is name for texts of more than maxName characters.
func escape(s string, most int) markdown {
	if s == "" || s != strings.TrimSpace(s) { // shows blanks at the ends
		s = strconv.Quote(s)
	}
	runes := []rune(s)
	var b strings.Builder
	for i, r := range runes[:min(len(runes), most)] {
		before := ' '
		next := ' '
		if i > 0 {
			before = runes[i-1]
		}
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		write(&b, r, before, next)
	}
	if len(runes) > most {
		b.WriteString("...")
	}
	return markdown(b.String())
}

// write writes a character of a name, given its neighbours.
func write(b *strings.Builder, r, before, next rune) {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch {
	case r == utf8.RuneError || !unicode.IsPrint(r):
		b.WriteString(`\` + strings.Trim(strconv.QuoteRuneToASCII(r), "'")) // its backslash is escaped
	case r == '_' && inWord(before) && inWord(next):
		b.WriteByte('_') // reads better, and means nothing there
	case strings.ContainsRune("\\*_[]~#^$", r):
		b.WriteByte('\\')
		b.WriteRune(r)
	case strings.ContainsRune("|<&`@", r), r == ':' && next == '/', r == '.' && unicode.ToLower(before) == 'w':
		fmt.Fprintf(b, "&#%d;", r) // safe in any table and in any dialect: no tag, link or cell
	default:
		b.WriteRune(r)
	}
}

// say formats Markdown. Strings among the arguments are escaped as names.
func say(format string, args ...any) markdown {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = name(s)
		}
	}
	return markdown(fmt.Sprintf(format, args...))
}
