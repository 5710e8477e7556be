package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"

	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/worker/protocol"
)

const (
	trialWithin = 20 * time.Second
	// Beam's boot program waits for the engine, and is not a wrong command: most wrong commands end at once.
	commandWithin = time.Second
)

// tryWorker starts this program as an engine does in the environment PROCESS, and returns an error with the
// program's exit code and message if it ends before it calls worker.Main. An engine would start it several
// times, and then report neither.
func tryWorker(ctx context.Context, self string) error {
	if enabled, _ := hooks.IsEnabled(protocol.WorkerHook); !enabled {
		return usage.Errorf("--environment_type PROCESS: this program does not call worker.Main, by which an engine " +
			"starts the program as a worker: main calls it first")
	}
	how, _, err := try(ctx, self, trialWithin)
	if how != "" {
		err = usage.Errorf("--environment_type PROCESS: started as a worker, this program ended %s: main calls worker.Main first, "+
			"before it reads flags and arguments", how)
	}
	return err
}

// tryCommand starts the command of --environment_config in the same way, if it is on this machine. It returns an error
// if the command ends soon and without an answer.
func tryCommand(ctx context.Context, config string) error {
	var c struct {
		Command string `json:"command"`
	}
	// The engine reports a faulty configuration.
	if err := json.Unmarshal([]byte(config), &c); err != nil || !filepath.IsAbs(c.Command) {
		return nil //nolint:nilerr // likewise
	}
	if _, err := exec.LookPath(c.Command); err != nil {
		return nil //nolint:nilerr // it may be on the hosts of the engine only
	}
	how, running, err := try(ctx, c.Command, commandWithin)
	if how != "" && !running {
		err = usage.Errorf("--environment_config: started as a worker, %s ended %s: want a program that calls worker.Main first, or "+
			"Beam's boot program", c.Command, how)
	}
	return err
}

// try starts a program as an engine does. Without an answer, how says how it ended, and running whether the limit of
// time ended it.
func try(ctx context.Context, program string, within time.Duration) (how string, running bool, err error) {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var stdout, stderr bytes.Buffer
	trial := exec.CommandContext(limited, program, "--id=trial", "--"+protocol.ProvisionFlag+"="+protocol.Trial)
	trial.Stdout = &stdout
	trial.Stderr = &stderr
	trial.WaitDelay = time.Second
	start := time.Now()
	err = trial.Run()
	switch {
	case ctx.Err() != nil:
		return "", false, context.Cause(ctx)
	case strings.HasSuffix(stdout.String(), protocol.Passed):
		return "", false, nil
	}
	how = "exit code 0"
	if err != nil {
		how = err.Error()
	}
	how = fmt.Sprintf("after %v (%s%s)", time.Since(start).Round(time.Millisecond), how, reason(stderr.String()))
	return how, limited.Err() != nil, nil
}

// reason returns the line of a program's stderr that says why it has ended, after a colon: the line of a panic
// or of an unknown flag, or else the last line.
func reason(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "flag provided but") {
			return ": " + line
		}
	}
	if last := lines[len(lines)-1]; last != "" {
		return ": " + last
	}
	return ""
}
