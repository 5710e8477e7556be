//go:build unix

package worker

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// dialWithin is the time for an engine to accept a connection; the SDK would wait for two
// minutes.
const dialWithin = 5 * time.Second

// Boot does the work of Beam's boot program, which engines start in the environment PROCESS:
// it asks the engine for the endpoints, and replaces this process with the worker. The worker
// keeps the process id, so that the engine can end it. Beam's own boot program starts a second
// process, which may stay behind. Boot returns only if it fails.
func Boot(ctx context.Context, args []string) error {
	dialer := net.Dialer{Timeout: dialWithin}
	c, err := dialer.DialContext(ctx, "tcp", Flag(args, "provision_endpoint"))
	if err != nil {
		return err
	}
	_ = c.Close() // it has shown that something listens
	ctx = grpcx.WriteWorkerID(ctx, Flag(args, "id"))
	info, err := tools.ProvisionInfo(ctx, Flag(args, "provision_endpoint"))
	if err != nil {
		return err
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " ")); err != nil {
		return err
	}
	return syscall.Exec(self, []string{
		self, "--worker=true", "--id=" + Flag(args, "id"),
		"--logging_endpoint=" + info.GetLoggingEndpoint().GetUrl(),
		"--control_endpoint=" + info.GetControlEndpoint().GetUrl(),
		"--options=" + options,
	}, os.Environ())
}
