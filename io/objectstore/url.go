package objectstore

import (
	"path"
	"strings"

	"github.com/agnivade/levenshtein"
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

// nearest returns the scheme that differs least from s, "" when none comes
// near.
func nearest(s string, schemes []string) string {
	best, least := "", 3
	for _, c := range schemes {
		if d := levenshtein.ComputeDistance(strings.ToLower(s), c); d < least {
			best, least = c, d
		}
	}
	return best
}
