package objectstore

import (
	"path"
	"strings"
)

// splitURL splits a URL into the scheme and the path behind it. Plain paths
// have no scheme.
func splitURL(url string) (scheme, rest string) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || !isScheme(scheme) {
		return "", url
	}
	return scheme, rest
}

func isScheme(s string) bool {
	for i, c := range s {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		other := '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != ""
}

// joinURL is the inverse of splitURL.
func joinURL(scheme, rest string) string {
	if scheme == "" {
		return rest
	}
	return scheme + "://" + rest
}

// Join appends path elements to a URL or plain path, with one slash between
// each two. Empty elements are left out.
func Join(base string, elem ...string) string {
	scheme, rest := splitURL(base)
	return joinURL(scheme, path.Join(append([]string{rest}, elem...)...))
}

// nearest returns the candidate with the smallest edit distance to s, or ""
// when none is within two edits.
func nearest(s string, candidates []string) string {
	best, least := "", 3
	for _, c := range candidates {
		if d := editDistance(s, c); d < least {
			best, least = c, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
