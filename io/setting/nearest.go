package setting

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// minBeginning is the number of characters from which the beginning of a name tells
// it.
const minBeginning = 3

// Nearest returns the name that differs least from the given one, else the shortest
// that begins with it, "" when none comes near.
func Nearest(name string, names []string) string {
	best, least := "", 1+max(2, len(name)/3)
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	if best != "" || len(name) < minBeginning {
		return best
	}
	for _, n := range names {
		if strings.HasPrefix(strings.ToLower(n), strings.ToLower(name)) && (best == "" || len(n) < len(best)) {
			best = n
		}
	}
	return best
}
