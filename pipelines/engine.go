package pipelines

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink" // engines with a job service
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
)

// Runners lists the runners there are: those of this process, then engines.
func Runners() []string { return append(LocalRunners(), "flink", "spark") }

// LocalRunners lists the runners that run in this process.
func LocalRunners() []string { return []string{"direct", "prism"} }

// isLocal reports whether a runner's DoFns run in this process and see its
// memory.
func isLocal(runner string) bool { return runner == "direct" || runner == "prism" }

// readyWithin is the time in which an engine's job service must answer: the SDK
// itself would wait for two minutes.
const readyWithin = 5 * time.Second

// checkEngine makes sure that an engine can be reached, and that it starts this
// program as its own worker.
func checkEngine(ctx context.Context, runner string) error {
	if isLocal(runner) {
		return nil
	}
	if *jobopts.Endpoint == "" {
		return usagef("--runner %s needs --endpoint HOST:PORT, that of its job service", runner)
	}
	dialer := net.Dialer{Timeout: readyWithin}
	c, err := dialer.DialContext(ctx, "tcp", *jobopts.Endpoint)
	if err != nil {
		return &RunnerError{Job: "connect", Runner: runner, Err: err}
	}
	_ = c.Close() // only a look
	if strings.EqualFold(*jobopts.EnvironmentType, "process") && *jobopts.EnvironmentConfig == "" {
		return selfAsWorker()
	}
	return nil
}

// selfAsWorker tells the engine to start this program, which must lie at the
// same path on all its hosts. The SDK stages a worker's binary all the same:
// the smallest file that there is will do.
func selfAsWorker() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]string{"command": self})
	if err != nil {
		return err
	}
	*jobopts.EnvironmentConfig = string(config)
	if *jobopts.WorkerBinary == "" {
		*jobopts.WorkerBinary = os.DevNull
	}
	return nil
}

// absolute returns paths that mean the same in other processes.
func absolute(urls ...string) ([]string, error) {
	list := make([]string, len(urls))
	for i, url := range urls {
		list[i] = url
		if strings.Contains(url, "://") || filepath.IsAbs(url) {
			continue
		}
		abs, err := filepath.Abs(url)
		if err != nil {
			return nil, err
		}
		list[i] = abs
	}
	return list, nil
}
