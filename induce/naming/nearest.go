package naming

import "strings"

// minBeginning is the least number of characters with which the beginning of a name identifies it.
const minBeginning = 3

// Nearest returns the name that differs least from the given one, else the shortest
// that begins with it, "" when none comes near.
func Nearest(name string, names []string) string {
	best := ""
	least := 1 + max(2, len(name)/3)
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < least {
			best = n
			least = d
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

// distance returns the Levenshtein distance of two texts: the least number of characters to insert, to
// remove or to replace that makes the texts equal.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	distances := make([]int, len(to)+1) // from the characters of a so far to each beginning of b
	for j := range distances {
		distances[j] = j
	}
	for i, r := range from {
		replaced := distances[0]
		distances[0] = i + 1
		for j, s := range to {
			if r != s {
				replaced++
			}
			least := min(replaced, distances[j]+1, distances[j+1]+1)
			replaced = distances[j+1]
			distances[j+1] = least
		}
	}
	return distances[len(to)]
}
