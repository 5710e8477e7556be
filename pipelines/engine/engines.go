package engine

import (
	"fmt"
	"strings"
)

// engines is the list of all engines: the first is the default.
var engines = []Engine{direct{}, flink(), spark(), dataflow{}, prism()} //nolint:gochecknoglobals // the one list

// Default returns the engine of runs that name no runner.
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

// Runners lists the names of all engines, which are the values of --runner.
func Runners() []string {
	list := make([]string, len(engines))
	for i, e := range engines {
		list[i] = e.Traits().Name
	}
	return list
}

// DefaultLevels describes the defaults of the number of levels that a job grows.
func DefaultLevels() string {
	var texts []string
	for _, e := range engines {
		if t := e.Traits(); t.Levels > 1 {
			texts = append(texts, fmt.Sprintf("%d on %s", t.Levels, t.Title))
		}
	}
	return strings.Join(append(texts, "1 on other runners"), ", ")
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
func IsLocal(runner string) bool {
	e, err := Named(runner)
	return err == nil && e.Traits().Local
}
