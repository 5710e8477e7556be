package main

import (
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/usage"
)

// renamedVerb returns an error for a verb of version 0.3 that has another name now; nil for other verbs. Synthetic rows
// come from a program for developers.
func renamedVerb(verb string) error {
	now := map[string][2]string{
		"compare":      {"evaluate --against", "espalier evaluate A --against B"},
		"infer_schema": {"contract", "espalier contract 'data/*.parquet' --output contract.yaml"},
		"plot":         {"show --picture", "espalier show RUN --picture frontier"},
		"synth":        {"a program of the source repository", "go run ./bench/synth --rows 1000000 --output rows"},
		"use":          {"retrain use", "espalier retrain use models previous"},
		"whence":       {"show --origin", "espalier show FILE --origin"},
	}[verb]
	if now[0] == "" {
		return nil
	}
	return usage.Errorf("%s is %s now: %s", verb, now[0], now[1])
}

// renamedFlag returns the name of a flag or key that had another name in version 0.3; empty for other names.
func renamedFlag(name string, flags *pflag.FlagSet) string {
	now := map[string]string{
		"format": "json", // of compare and drift
		"schema": "contract",
		"key":    "group", // of train, drift and retrain
	}[name]
	if flags.Lookup(now) == nil {
		return ""
	}
	return now
}
