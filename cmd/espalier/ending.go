package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// ending is how a command line ends: for the shell, for notices, and for the pages of the documentation.
type ending struct {
	code    int
	means   string // as the help and docs/files.md list it
	advice  string // what to do, a word for programs, in notices
	outcome string // what an attempt of retrain or predict has come to, as docs/production.md lists it
	todo    string // what to do, for people, as docs/production.md lists it
}

//nolint:gochecknoglobals // constants
var (
	done        = ending{0, "done", "none", "promoted, backfilled, held, published", "nothing"}
	interrupted = ending{130, "interrupted", "again", "interrupted", "try again"}

	// byNature has the endings of errors, by usage.Nature.
	byNature = [...]ending{
		usage.Internal: {1, "internal error: please report it", "report", "failed: a fault of Espalier", "report it"},
		usage.Usage:    {2, "usage: flags, settings, missing files, unwritable output", "person", "failed: settings", "a person looks"},
		usage.Data: {
			3, "the data broke the contract: damaged, a null label, new values", "wait", "failed: no, stale or damaged files",
			"wait for the files",
		},
		usage.Refused: {
			4, "refused: by the gate of retrain, or by `drift --fail_above`", "person", "refused, overtaken; `drift`",
			"a person looks",
		},
		usage.TryAgain: {
			5, "a temporary failure: a store, the runner, another run at work", "again", "failed: store, runner, other attempt",
			"try again",
		},
	}
)

// endings lists all endings by their codes.
func endings() []ending { return append(append([]ending{done}, byNature[:]...), interrupted) }

// exitCodes returns the exit codes for the help, in lines of at most 80 characters.
func exitCodes() string {
	var list []string
	for _, e := range endings() {
		list = append(list, fmt.Sprintf("%d %s", e.code, strings.ReplaceAll(e.means, "`", "")))
	}
	return textview.Wrapped("Exit codes: "+strings.Join(list, "; ")+".", 80, "")
}

// ended returns how a command line ends, and the text to print at the end. The nature of the error decides, from
// where it arises.
func ended(ctx context.Context, err error) (how ending, text string) {
	var run *engine.InterruptedError
	switch {
	case err == nil:
		return done, "done"
	case ctx.Err() == nil && !errors.Is(err, errGivenUp):
		return byNature[usage.NatureOf(err)], err.Error()
	case errors.As(err, &run):
		return interrupted, fmt.Sprintf("interrupted; checkpoints stay in %s: the same command goes on from there, train with "+
			"--resume", run.Checkpoints)
	default:
		return interrupted, "interrupted; nothing half-written was left"
	}
}
