package engine

import (
	"fmt"
	"slices"
)

// engines is the list of all engines: the local ones first. The first is the default.
var engines = []Engine{direct{}, &prism{}, flink(), spark(), dataflow{}} //nolint:gochecknoglobals // the one list

// Default returns the engine of runs that name no runner, and of rehearsals.
func Default() Engine { return engines[0] }

// DefaultRunner returns the name of the default engine.
func DefaultRunner() string { return Default().Traits().Name }

// Named returns the engine with this name, or an error that lists the names.
func Named(runner string) (Engine, error) {
	for _, e := range engines {
		if e.Traits().Name == runner {
			return e, nil
		}
	}
	return nil, fmt.Errorf("--runner %s: want one of %v", runner, Runners())
}

// Runners lists the names of all engines, which are the values of --runner: the local ones first.
func Runners() []string { return names(func(Traits) bool { return true }) }

// LocalRunners lists the names of the engines whose DoFns run in this process.
func LocalRunners() []string { return names(func(t Traits) bool { return t.Local }) }

// names lists the names of the engines with wanted traits.
func names(wanted func(Traits) bool) []string {
	var list []string
	for _, e := range engines {
		if t := e.Traits(); wanted(t) {
			list = append(list, t.Name)
		}
	}
	return list
}

// Title returns the title of the engine with this name, or the name if there is no such engine.
func Title(runner string) string {
	e, err := Named(runner)
	if err != nil {
		return runner
	}
	return e.Traits().Title
}

// IsLocal reports whether the DoFns of a runner run in this process and see its memory.
func IsLocal(runner string) bool { return slices.Contains(LocalRunners(), runner) }
