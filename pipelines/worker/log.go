package worker

import (
	"bytes"
	"context"
	"log/slog"
	"strings"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

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
