// Command service is an example: it scores rows by HTTP, and takes a replaced model without
// a restart.
//
//	go run ./cmd/espalier/example/service -model runs/first -listen localhost:8080
//	curl -d '{"age": 42, "smoker": true}' localhost:8080/score
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/espalier-ml/espalier/io/models"
	"github.com/espalier-ml/espalier/io/objectstore"
)

func main() {
	model := flag.String("model", "", "run folder or tree.json: a path or a URL; required")
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	every := flag.Duration("every", 10*time.Second, "interval at which the model is read again")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *model, *listen, *every)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

// The limits of a request and of its answer.
const (
	maxBody     = 64 << 10 // bytes
	maxHeader   = 16 << 10 // bytes
	requestTime = 5 * time.Second
	idleTime    = time.Minute
)

// run serves until the context ends, and then lets the open requests finish.
func run(ctx context.Context, model, listen string, every time.Duration) error {
	store := objectstore.New() // for gs:// URLs: objectstore.Open, and an import of package gcsstore
	live, err := models.NewLive(ctx, store, model, prepare)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	go live.Follow(ctx, every, func(err error) {
		now, _ := live.Current()
		slog.Info("reloaded the model", "model", now.ID, "error", err)
	})
	server := newServer(live)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	now, _ := live.Current()
	slog.Info("listening", "address", listener.Addr().String(), "model", now.ID)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if err := end(context.WithoutCancel(ctx), server, requestTime); err != nil {
		return err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// end lets the open requests finish. After some time it closes the connections that are left: a
// client may have opened one, and have sent no request.
func end(ctx context.Context, server *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}
