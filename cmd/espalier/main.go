// Command espalier trains, evaluates and shows small classification trees that
// are cheap to use. Run `espalier help` for its manual.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/espalier-ml/espalier/io/objectstore/gcsstore" // gs://
	_ "github.com/espalier-ml/espalier/io/objectstore/s3store"  // s3://
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/worker"
)

func main() {
	worker.Main()
	ctx, interrupt := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go obey(signals, interrupt)
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// How long a command may take to end after a signal, while it cancels jobs and removes incomplete
// files.
const (
	localEnd  = 10 * time.Second
	engineEnd = time.Minute // twice the time that an engine has to cancel a job
)

// obey interrupts the command at the first signal. It ends the process at the second signal, or if
// the command has not ended in time.
func obey(signals <-chan os.Signal, interrupt func()) {
	<-signals
	interrupt()
	patience := localEnd
	if engine.IsRemote() {
		patience = engineEnd
	}
	select {
	case <-signals:
	case <-time.After(patience):
	}
	say(os.Stderr, "espalier: interrupted before the command could end: it may have left half-written files\n")
	os.Exit(interrupted.code)
}
