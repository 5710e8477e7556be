package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/pipelines/engine"
)

// workerHook is the name of the SDK's hook that sets workers up.
const workerHook = "espalier_worker"

// enableWorkers makes worker processes run the hook of registerWorker. Workers in the driver's own
// process need no hook: they log like the driver, and end with it.
func enableWorkers() error {
	hooks.RegisterHook(workerHook, func([]string) hooks.Hook { return hooks.Hook{} })
	return hooks.EnableHook(workerHook)
}

// registerWorker registers the hook of a worker process, which the SDK runs once it has connected
// its log. The hook sends the records of slog to that log, because nobody reads the worker's
// stderr, and calls end when the job has ended.
func registerWorker(id string, end func()) {
	hooks.RegisterHook(workerHook, func([]string) hooks.Hook {
		return hooks.Hook{Init: func(ctx context.Context) (context.Context, error) {
			slog.SetDefault(slog.New(workerLog{}).With("worker", id))
			return ctx, engine.HoldLease(ctx, func() {
				slog.WarnContext(ctx, "the job of this worker is over")
				end()
			})
		}}
	})
}

// workerLog is a slog.Handler that hands records to the SDK's log, with their level.
type workerLog struct {
	dress []func(slog.Handler) slog.Handler // attributes and groups
}

func (h workerLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (h workerLog) Handle(ctx context.Context, r slog.Record) error {
	var b bytes.Buffer
	var text slog.Handler = slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: dropTold})
	for _, dress := range h.dress {
		text = dress(text)
	}
	if err := text.Handle(ctx, r); err != nil {
		return err
	}
	beamlog.Output(ctx, severityOf(r.Level), 1, strings.TrimSpace(b.String()))
	return nil
}

// dropTold drops time and level, which the SDK's log adds.
func dropTold(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
		return slog.Attr{}
	}
	return a
}

func (h workerLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.dressed(func(text slog.Handler) slog.Handler { return text.WithAttrs(attrs) })
}

func (h workerLog) WithGroup(name string) slog.Handler {
	return h.dressed(func(text slog.Handler) slog.Handler { return text.WithGroup(name) })
}

func (h workerLog) dressed(dress func(slog.Handler) slog.Handler) slog.Handler {
	return workerLog{append(h.dress[:len(h.dress):len(h.dress)], dress)}
}

// severityOf returns the SDK's severity of a level of slog.
func severityOf(level slog.Level) beamlog.Severity {
	switch {
	case level >= slog.LevelError:
		return beamlog.SevError
	case level >= slog.LevelWarn:
		return beamlog.SevWarn
	case level >= slog.LevelInfo:
		return beamlog.SevInfo
	default:
		return beamlog.SevDebug
	}
}

// sdkLog hands the records of the SDK's log to slog.
type sdkLog struct{}

func (sdkLog) Log(ctx context.Context, severity beamlog.Severity, _ int, text string) {
	level := slog.LevelInfo
	switch severity {
	case beamlog.SevDebug:
		level = slog.LevelDebug
	case beamlog.SevWarn:
		level = slog.LevelWarn
	case beamlog.SevError, beamlog.SevFatal:
		level = slog.LevelError
	default: // no severity
	}
	slog.Log(ctx, level, text)
}
