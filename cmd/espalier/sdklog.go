package main

import (
	"context"
	"log/slog"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

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
