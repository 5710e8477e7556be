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

// misspelled returns what a plain path looks like that would be a URL with another
// number of slashes, such as gs:/bucket/x; empty if it looks like none. A path that
// has such a name is written with ./ before it.
func misspelled(plain string, known func(scheme string) bool) (url string) {
	scheme, rest, ok := strings.Cut(plain, ":")
	if !ok {
		scheme, rest, ok = strings.Cut(plain, "//")
		if ok && scheme != "" && known(scheme) { // gs//bucket/x
			return asURL(scheme, rest)
		}
		return ""
	}
	const drive = 1 // letter of C:/x
	switch {
	case !isScheme(scheme) || len(scheme) == drive:
		return ""
	case known(strings.ToLower(scheme)) || rest == "" || strings.HasPrefix(rest, "/"):
		return asURL(strings.ToLower(scheme), rest)
	default: // a colon in a name
		return ""
	}
}

// asURL returns the URL that a scheme and a path with any number of slashes stand for.
func asURL(scheme, rest string) string {
	rest = strings.TrimLeft(rest, "/")
	if scheme == "file" {
		rest = "/" + rest
	}
	return joinURL(scheme, rest)
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
	joined := path.Join(append([]string{rest}, elem...)...)
	if first, _, _ := strings.Cut(joined, "/"); scheme == "" && strings.HasPrefix(base, "./") &&
		strings.Contains(first, ":") {
		joined = "./" + joined // or it would look like a URL
	}
	return joinURL(scheme, joined)
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
