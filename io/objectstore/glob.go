package objectstore

import (
	"path"
	"slices"
	"strings"
)

// glob is a pattern split at its first segment with a wildcard.
type glob struct {
	folder   string   // folder of all matches
	segments []string // the rest of the pattern
}

// Folder returns the URL of the folder of all matches of a pattern: the part before the
// first segment with a wildcard.
func Folder(pattern string) string {
	scheme, rest := splitURL(pattern)
	g, err := parseGlob(rest)
	if err != nil {
		return pattern
	}
	return joinURL(scheme, g.folder)
}

// hasMeta reports whether a name has wildcards.
func hasMeta(name string) bool { return strings.ContainsAny(name, "*?[") }

// parseGlob splits a pattern. A malformed pattern is an error.
func parseGlob(pattern string) (glob, error) {
	segments := strings.Split(pattern, "/")
	fixed := 0
	for fixed < len(segments)-1 && !hasMeta(segments[fixed]) {
		fixed++
	}
	folder := strings.Join(segments[:fixed], "/")
	if folder == "" && strings.HasPrefix(pattern, "/") {
		folder = "/"
	}
	for _, s := range segments[fixed:] {
		if _, err := path.Match(s, ""); err != nil {
			return glob{}, err
		}
	}
	return glob{folder: folder, segments: segments[fixed:]}, nil
}

// depth returns the greatest level of a match below the folder, or -1 for any level.
func (g glob) depth() int {
	if slices.Contains(g.segments, "**") {
		return -1
	}
	return len(g.segments)
}

// match reports whether the pattern matches an object's path. Wildcards do not match
// hidden names, since engines and editors give them to unfinished files. A pattern that
// spells the first character of a hidden name matches it.
func (g glob) match(object string) bool {
	rest := object
	if g.folder != "" {
		below, ok := strings.CutPrefix(object, strings.TrimSuffix(g.folder, "/")+"/")
		if !ok {
			return false
		}
		rest = below
	}
	return matchSegments(g.segments, strings.Split(rest, "/"))
}

func matchSegments(pattern, names []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			return matchAnyDepth(pattern[1:], names)
		}
		if len(names) == 0 || !matchSegment(pattern[0], names[0]) {
			return false
		}
		pattern = pattern[1:]
		names = names[1:]
	}
	return len(names) == 0
}

// matchAnyDepth matches the pattern after a "**". The "**" matches any number of folders; at the
// end of a pattern it matches any name.
func matchAnyDepth(pattern, names []string) bool {
	if len(pattern) == 0 {
		pattern = []string{"*"}
	}
	for {
		if matchSegments(pattern, names) {
			return true
		}
		if len(names) == 0 || Hidden(names[0]) {
			return false
		}
		names = names[1:]
	}
}

func matchSegment(pattern, name string) bool {
	if !hasMeta(pattern) {
		return pattern == name
	}
	if Hidden(name) && pattern[0] != name[0] {
		return false
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Hidden reports whether engines and editors give such a name to what is no data: it
// begins with a dot, or with an underscore and has no "=", by which it would be a
// partition.
func Hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, "=")
}

// climb returns the folders above a path, the nearest first.
func climb(at string) (folders []string) {
	for parent := path.Dir(at); parent != at && parent != "."; parent = path.Dir(at) {
		folders = append(folders, parent)
		at = parent
	}
	return folders
}
