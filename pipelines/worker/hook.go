package worker

import (
	"context"
	"log/slog"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"

	"github.com/espalier-ml/espalier/pipelines/worker/protocol"
)

// registerHook registers the hook of a worker process, which the SDK runs once it has connected
// its log. The hook sends the records of slog to that log, because nobody reads the worker's
// stderr, and ends the process when the job has ended: the SDK never does.
func registerHook(id string) {
	hooks.RegisterHook(protocol.WorkerHook, func([]string) hooks.Hook {
		return hooks.Hook{Init: func(ctx context.Context) (context.Context, error) {
			slog.SetDefault(slog.New(workerLog{}).With("worker", id))
			return ctx, protocol.Hold(ctx, func() {
				slog.WarnContext(ctx, "the job of this worker is over")
				end(ended)
			})
		}}
	})
}
