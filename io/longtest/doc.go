// Package longtest says whether tests go through all of many like cases, or through a part of them: with the
// build tag long they go through all. It is not meant for other programs.
package longtest

// Enabled reports whether tests go through all cases.
func Enabled() bool { return enabled }
