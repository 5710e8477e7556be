package objectstore

import (
	"path"
	"strings"
)

// splitURL splits a URL into the scheme and the path after it. Plain paths have no scheme.
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

// misspelled returns the URL that a plain path would be with another number of slashes,
// such as gs://bucket/x for gs:/bucket/x. It returns "" for other paths, and for paths
// that begin with ./ .
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
	default: // the colon is part of a name
		return ""
	}
}

// asURL joins a scheme and a path with any number of leading slashes to a URL.
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
