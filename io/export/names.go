package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// words parts a name into words of ASCII letters and digits, in lower case, for identifiers.
// At most 40 bytes are used; a name without any such word is "value".
func words(name string) []string {
	const most = 40
	var list []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			list = append(list, word.String())
			word.Reset()
		}
	}
	used := 0
	lower := false
	for _, r := range name {
		if used >= most {
			break
		}
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			end()
		}
		lower = unicode.IsLower(r)
		word.WriteRune(unicode.ToLower(r))
		used++
	}
	end()
	if len(list) == 0 {
		list = []string{"value"}
	}
	if list[0][0] >= '0' && list[0][0] <= '9' {
		list[0] = "n" + list[0]
	}
	return list
}

func snake(words []string) string { return strings.Join(words, "_") }

func screaming(words []string) string { return strings.ToUpper(snake(words)) }

func pascal(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func camel(words []string) string {
	all := pascal(words)
	return words[0] + all[len(words[0]):]
}

// isIdentifier reports whether a name can name a package, a class or a function.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r > unicode.MaxASCII || r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != "" && name != "_"
}

// names makes identifiers unique.
type names struct{ taken map[string]bool }

func newNames(keywords []string) *names {
	n := &names{make(map[string]bool)}
	for _, k := range keywords {
		n.taken[k] = true
	}
	return n
}

func (n *names) take(name string) string {
	for i := 2; n.taken[name]; i++ {
		if next := fmt.Sprintf("%s_%d", strings.TrimRight(name, "_"), i); !n.taken[next] {
			name = next
			break
		}
	}
	n.taken[name] = true
	return name
}

// quotedUTF16 returns a text between double quotes, in ASCII, with \u escapes of UTF-16.
func quotedUTF16(s string) string {
	return quotedBy(s, surrogates)
}

// surrogates returns the \u escapes of a character of more than 16 bits.
func surrogates(r rune) string {
	r -= 0x10000
	return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
}

// quotedPython returns a text between double quotes, in ASCII, for Python.
func quotedPython(s string) string {
	return quotedBy(s, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })
}

// quotedBy returns a text between double quotes, in ASCII, with \u escapes. beyond escapes
// characters of more than 16 bits.
func quotedBy(s string, beyond func(r rune) string) string {
	return quotedIn('"', s, func(r rune) string { return escapedBy(r, beyond) })
}

// escapedBy returns a character in ASCII.
func escapedBy(r rune, beyond func(r rune) string) string {
	switch {
	case r >= ' ' && r < unicode.MaxASCII:
		return string(r)
	case r > 0xffff:
		return beyond(r)
	default:
		return fmt.Sprintf(`\u%04x`, r)
	}
}

// quotedIn returns a text between two quotes, with a backslash before quotes and backslashes. other
// returns how any other character is written.
func quotedIn(quote rune, s string, other func(r rune) string) string {
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		if r == quote || r == '\\' {
			b.WriteByte('\\')
			b.WriteRune(r)
		} else {
			b.WriteString(other(r))
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// quotedJava is quotedUTF16, with octal escapes of control characters: Java reads \u000a as
// the end of a line even within a text. Longer texts than a constant of a class holds, 65,535 bytes of its own UTF-8, are
// joined from parts.
func quotedJava(s string) string {
	const most = 32_000 // bytes, which become at most twice as many
	if len(s) > most {
		var parts []string
		for s != "" {
			part := cutTo(s, most)
			parts = append(parts, constantJava(part))
			s = s[len(part):]
		}
		return `String.join("", ` + strings.Join(parts, ", ") + ")"
	}
	return constantJava(s)
}

// constantJava returns a text that a constant holds.
func constantJava(s string) string {
	return quotedIn('"', s, func(r rune) string {
		if r < ' ' {
			return fmt.Sprintf(`\%03o`, r)
		}
		return escapedBy(r, surrogates)
	})
}

// quotedC returns a text between double quotes, in ASCII, with octal escapes of UTF-8.
func quotedC(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '?': // "??" begins a trigraph
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// short returns a name for a comment: in ASCII, between double quotes, which nothing in it ends, and at
// most 60 runes of it.
func short(name string) string {
	const most = 60
	if runes := []rune(name); len(runes) > most {
		return strconv.QuoteToASCII(string(runes[:most])) + "..."
	}
	return strconv.QuoteToASCII(name)
}

// number returns the shortest text that reads as the same double, with a point or an exponent:
// some languages take a number without either for a whole number.
func number(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// each returns the texts of a list, with commas between them.
func each[T any](list []T, text func(T) string) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = text(list[i])
	}
	return strings.Join(texts, ", ")
}

func reserved(lists ...string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, strings.Fields(l)...)
	}
	slices.Sort(all)
	return all
}
