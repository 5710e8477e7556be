package naming

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// secrets matches the password of a URL, and the values of its parameters that sign or authorise it.
var secrets = regexp.MustCompile(`(?i)(://[^/\s:@"']*:)[^\s@"']+(@)` +
	`|([?&](?:x-(?:amz|goog)-(?:signature|credential|security-token)|sig|signature|token|access_token|password|secret)=)[^&\s"']+`)

// WithoutSecrets returns a text in which passwords in URLs are replaced by stars.
func WithoutSecrets(text string) string { return secrets.ReplaceAllString(text, "${1}${3}***${2}") }

// Printable returns a text of names, paths and messages in a form that is safe for a terminal:
// control characters, and characters that change the direction of writing, are escaped, and
// passwords in URLs are replaced by stars. Line breaks and tabs stay. In JSON, where such
// characters are in strings, the escapes are JSON's.
func Printable(text string) string {
	text = WithoutSecrets(text)
	if !strings.ContainsFunc(text, obeyed) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !obeyed(r):
			b.WriteString(text[:n])
		case r < ' ':
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[n:]
	}
	return b.String()
}

// obeyed reports whether terminals obey a character instead of showing it: controls, marks of direction, line
// and paragraph separators, and bytes that are no text.
func obeyed(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
		r == '\u2028' || r == '\u2029'
}
