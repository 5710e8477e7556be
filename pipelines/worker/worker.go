// Package worker makes a program the worker of its own pipelines: an engine starts the program again,
// and it then serves the engine.
//
//	func main() {
//		worker.Main()
//		flag.Parse()
//		beam.Init()
//		..
//	}
//
// The program can be the command of the environment PROCESS, and the entrypoint of the image of the
// environment DOCKER: it takes the place of Beam's own boot program. It must be on each host of the engine.
package worker

import (
	"cmp"
	"context"
	"errors"
	"flag" //nolint:depguard // the SDK takes the settings of a worker from its flags only
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness/init" // serves the engine
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/espalier-ml/espalier/pipelines/worker/protocol"
)

// Main serves an engine if the engine has started this program as a worker. It then ends the process.
// Otherwise it returns immediately. Call it first in main, before flags are parsed, because engines start
// a program with flags of their own.
func Main() {
	if err := serve(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: cannot start as a worker: %v\n", filepath.Base(os.Args[0]), err)
		end(1)
	}
}

// end ends this process.
func end(code int) { os.Exit(code) } //nolint:forbidigo // Main is the main function of a worker

// ended is the exit code of a worker whose job has ended.
const ended = 130

// serve is Main with the arguments of the program. It returns nil if the program is no worker.
func serve(ctx context.Context, args []string) error {
	switch {
	case flagOf(args, protocol.ProvisionFlag) == protocol.Trial:
		protocol.PassTrial(os.Stdout)
		end(0)
	case flagOf(args, protocol.ProvisionFlag) != "":
		go endAfter(os.Getppid())
		if err := boot(ctx, args); err != nil {
			return err
		}
	case isWorker(args):
		if err := flag.CommandLine.Parse(args); err != nil {
			return err
		}
	default:
		return protocol.EnableWorkers()
	}
	registerHook(flagOf(args, "id"))
	beam.Init() // does not return: it serves the engine
	return errors.New("the SDK does not serve the engine")
}

// endAfter ends this process when the process that has started it has ended: the engine was killed. The SDK would
// wait for it.
func endAfter(parent int) {
	for os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	end(ended)
}

// flagOf returns the value of a flag of the form --name=value.
func flagOf(args []string, name string) string {
	for _, a := range args {
		if value, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), name+"="); ok && a[0] == '-' {
			return value
		}
	}
	return ""
}

// isWorker reports whether a runner starts this program as a worker whose endpoints it knows, as prism and
// Beam's boot program do.
func isWorker(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--worker" || a == "-worker" || strings.HasPrefix(a, "--worker=") || strings.HasPrefix(a, "-worker=")
	})
}

// dialWithin is the time for an engine to accept a connection; the SDK would wait for two
// minutes.
const dialWithin = 5 * time.Second

// boot does the work of Beam's boot program, which engines start in the environments PROCESS and DOCKER:
// it asks the engine for the endpoints and the options of the pipeline, and sets the SDK's flags to them.
// Beam's own boot program starts a second process, which may stay behind when the engine ends the first.
func boot(ctx context.Context, args []string) error {
	provision := flagOf(args, protocol.ProvisionFlag)
	id := flagOf(args, "id")
	dialer := net.Dialer{Timeout: dialWithin}
	c, err := dialer.DialContext(ctx, "tcp", provision)
	if err != nil {
		return err
	}
	_ = c.Close() // it has shown that something listens
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, id), provision)
	if err != nil {
		return err
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return err
	}
	return errors.Join(
		flag.Set("worker", "true"), flag.Set("id", id), flag.Set("options", options),
		flag.Set("logging_endpoint", cmp.Or(info.GetLoggingEndpoint().GetUrl(), flagOf(args, "logging_endpoint"))),
		flag.Set("control_endpoint", cmp.Or(info.GetControlEndpoint().GetUrl(), flagOf(args, "control_endpoint"))),
		os.Setenv("STATUS_ENDPOINT", info.GetStatusEndpoint().GetUrl()),
		os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " ")),
	)
}
