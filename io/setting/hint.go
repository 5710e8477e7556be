package setting

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/naming"
)

// maxHinted is the number of names that a hint lists.
const maxHinted = 8

// Near proposes the most similar name; empty if no name is similar.
func Near(name string, names []string) string {
	if near := naming.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Hint proposes the most similar name; if no name is similar, it lists all names.
func Hint(name string, names []string) string {
	if near := Near(name, names); near != "" || len(names) == 0 {
		return near
	}
	listed := make([]string, min(maxHinted, len(names)))
	for i := range listed {
		listed[i] = strconv.Quote(names[i])
	}
	if more := len(names) - len(listed); more > 0 {
		listed = append(listed, fmt.Sprintf("%d more", more))
	}
	return "; there are " + strings.Join(listed, ", ")
}
