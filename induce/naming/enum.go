package naming

import (
	"fmt"
	"slices"
	"strings"
)

// Of returns the name of a value of an enumeration. names lists the names of the values, and begins with that of first.
func Of[T ~uint8](value, first T, names []string) string {
	if value < first || int(value-first) >= len(names) {
		return fmt.Sprintf("unknown(%d)", uint8(value))
	}
	return names[value-first]
}

// Parse returns the value of an enumeration that has a name. what says in the error what has the name.
func Parse[T ~uint8](what, name string, first T, names []string) (T, error) {
	if i := slices.Index(names, name); i >= 0 {
		return first + T(i), nil
	}
	return 0, fmt.Errorf("%s %q: want one of %s", what, name, strings.Join(names, ", "))
}
