package worker

import (
	"context"
	"log/slog"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"

	"github.com/espalier-ml/espalier/pipelines/engine"
)

// workerHook is the name of the SDK's hook that sets workers up.
const workerHook = "espalier_worker"

// Enable makes worker processes run the hook of Register. Workers in the driver's own
// process need no hook: they log like the driver, and end with it.
func Enable() error {
	hooks.RegisterHook(workerHook, func([]string) hooks.Hook { return hooks.Hook{} })
	return hooks.EnableHook(workerHook)
}

// Register registers the hook of a worker process, which the SDK runs once it has connected
// its log. The hook sends the records of slog to that log, because nobody reads the worker's
// stderr, and calls end when the job has ended.
func Register(id string, end func()) {
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
