// Command espalier trains, evaluates and shows small classification trees that
// are cheap to use. Run `espalier help` for its manual.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if isWorker(os.Args[1:]) {
		context.AfterFunc(ctx, endWorker) // the SDK does not end a worker by itself
	}
	code := start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// endWorker ends a worker process, even while its DoFns are at work.
func endWorker() { os.Exit(exitInterrupted) }
