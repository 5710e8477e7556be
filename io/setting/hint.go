package setting

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/espalier-ml/espalier/induce/naming"
)

// maxHinted is the number of names that a hint lists.
const maxHinted = 8

// Near proposes the most similar name; empty if no name is similar.
func Near(name string, names []string) string {
	if near := naming.Nearest(name, names); near != "" {
		if strings.ContainsFunc(name, isMark) != strings.ContainsFunc(near, isMark) { // both may look the same
			return fmt.Sprintf("; did you mean %q? It is spelled %+q, not %+q: write both in one form of Unicode, NFC or NFD", near, near,
				name)
		}
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// isMark reports whether a character is an accent or another mark of the character before it.
func isMark(r rune) bool { return unicode.Is(unicode.Mn, r) }

// Hint proposes the most similar name; if no name is similar, it lists all names.
func Hint(name string, names []string) string {
	if near := Near(name, names); near != "" || len(names) == 0 {
		return near
	}
	listed := naming.Quoted(names[:min(maxHinted, len(names))])
	if more := len(names) - len(listed); more > 0 {
		listed = append(listed, fmt.Sprintf("%d more", more))
	}
	return "; there are " + strings.Join(listed, ", ")
}
