// Package protocol has what a driver and the workers that an engine starts in other processes agree on: the lease of a job,
// the hook of workers, and the trial of a program. It is not meant for other programs, which call package worker.
package protocol

import (
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
)

// WorkerHook is the name of the SDK's hook that sets up workers in other processes.
const WorkerHook = "espalier_worker"

// EnableWorkers makes worker processes run the hook named WorkerHook. Workers in the driver's own
// process need no hook: they log like the driver, and end with it.
func EnableWorkers() error {
	hooks.RegisterHook(WorkerHook, func([]string) hooks.Hook { return hooks.Hook{} })
	return hooks.EnableHook(WorkerHook)
}

// The trial of a worker: the driver starts its own program as an engine does, with an endpoint that says
// that there is no engine, and the program answers by a line.
const (
	ProvisionFlag = "provision_endpoint"
	Trial         = "trial"
	Passed        = "this program serves engines\n"
)

// PassTrial writes the answer to a trial.
func PassTrial(w io.Writer) { _, _ = io.WriteString(w, Passed) } // the driver tells a missing answer
