package main

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/usage"
)

// renamedVerb returns an error for a verb of version 0.3 that has another name now; nil for other verbs.
func renamedVerb(verb string) error {
	now := map[string][2]string{
		"compare": {"evaluate --against", "espalier evaluate A --against B"},
		"plot":    {"show --picture", "espalier show RUN --picture frontier"},
		"whence":  {"show --origin", "espalier show FILE --origin"},
	}[verb]
	if now[0] == "" {
		return nil
	}
	return usage.Errorf("%s is %s now: %s", verb, now[0], now[1])
}

// renamedFlag returns a description of what replaces a flag of a verb in version 0.3; empty if the verb had no such
// flag.
func renamedFlag(verb, flag string) string {
	now := map[string]string{
		"drift --format": "--format json is --json now; text is the default",
	}
	return now[fmt.Sprintf("%s --%s", verb, flag)]
}
