// Package worker makes a program the worker of its own pipelines on an engine. It is not meant for other programs.
package worker

import (
	"slices"
	"strings"
)

// Flag returns the value of a flag of the form --name=value.
func Flag(args []string, name string) string {
	for _, a := range args {
		if value, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), name+"="); ok && a[0] == '-' {
			return value
		}
	}
	return ""
}

// Is reports whether a runner starts this binary as a worker. Runners do so by flags alone,
// without a verb.
func Is(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--worker" || a == "-worker" || strings.HasPrefix(a, "--worker=") || strings.HasPrefix(a, "-worker=")
	})
}
