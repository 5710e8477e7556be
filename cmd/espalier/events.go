package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// events is the log of a command line, with an event for each phase and one for the end.
type events struct {
	log     *slog.Logger // nil with --log_format text, or while the settings are not known
	started time.Time
}

// eventsKey is the key of the events in the context of a command line.
type eventsKey struct{}

func eventsOf(ctx context.Context) *events {
	e, ok := ctx.Value(eventsKey{}).(*events)
	if !ok {
		return &events{started: time.Now()}
	}
	return e
}

// end reports how the command line has ended: as an event, or as a single sentence for a failure.
func (e *events) end(stderr io.Writer, how ending, text string) {
	if e.log == nil {
		if how != done {
			say(stderr, "espalier: %s\n", text)
		}
		return
	}
	tell := e.log.Error
	if how == done {
		tell = e.log.Info
	}
	tell(text, "exit_code", how.code, "advice", how.advice, "seconds", time.Since(e.started).Seconds())
}

// attempt reports the outcome of an attempt of a retraining.
func (e *events) attempt(a *retraining.Attempt, repeated bool) {
	if e.log == nil {
		return
	}
	about := []any{
		"date", a.Date, "run", a.Run, "mode", a.Mode, "outcome", a.Outcome, "repeated", repeated, "before", a.Before,
		"files", a.Files, "missing", a.Missing, "rows", a.Rows, "seconds", a.Seconds, "refusals", append([]string{}, a.Refusals()...),
	}
	if a.AUC != nil {
		about = append(about, "auc", *a.AUC)
	}
	if a.Cost != nil {
		about = append(about, "expected_cost", *a.Cost)
	}
	e.log.Info("attempt", about...)
}

// logged writes events about the phases of a run.
type logged struct {
	log    *slog.Logger
	phases bool // whether phases and notes are also reported; warnings always are

	now   func() time.Time
	phase string // empty if no phase is running
	total int64
	unit  string
	start time.Time
	told  time.Time
}

func newLogged(log *slog.Logger, phases bool) *logged {
	return &logged{log: log, phases: phases, now: time.Now}
}

// Job implements engine.Reporter.
func (l *logged) Job(name string, total int64, unit string) {
	l.phase, l.total, l.unit, l.start = name, total, unit, l.now()
	l.told = l.start
}

// Step implements engine.Reporter.
func (l *logged) Step(done int64, note string) {
	if l.phase == "" || !l.phases {
		return
	}
	event := "phase"
	now := l.now()
	if done < l.total {
		if now.Sub(l.told) < tellEvery {
			return
		}
		event = "progress"
	}
	l.told = now
	about := []any{
		"phase", l.phase, "done", done, "total", l.total, "unit", l.unit, "seconds", now.Sub(l.start).Seconds(),
	}
	if note != "" {
		about = append(about, "note", note)
	}
	l.log.Info(event, about...)
	if done >= l.total {
		l.phase = ""
	}
}

// Warn implements engine.Reporter.
func (l *logged) Warn(text string) { l.log.Warn(text) }

// Note implements engine.Reporter.
func (l *logged) Note(text string) {
	if l.phases {
		l.log.Info(text)
	}
}

// internalError describes a panic.
func internalError(r any) string {
	return fmt.Sprintf("internal error: %v; please report it with the command line", r)
}
