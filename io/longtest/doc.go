// Package longtest decides whether tests run all of many similar cases, or only some of them: with
// the build tag long they run all. It is not meant for other programs.
package longtest

// Enabled reports whether tests go through all cases.
func Enabled() bool { return enabled }
