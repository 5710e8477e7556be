package naming

import (
	"fmt"
	"strconv"
	"strings"
)

// First lists names in a sentence, at most a number of them: "a, b and 3 more".
func First(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Quoted returns names in quotation marks.
func Quoted(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return quoted
}
