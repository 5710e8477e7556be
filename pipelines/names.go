package pipelines

import (
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// The names of other packages' types by which callers of Train, Evaluate, Predict and
// Synth say what they want and see what they get.
type (
	// Reporter shows progress.
	Reporter = engine.Reporter

	// UsageError says that a command or its configuration cannot be carried out.
	UsageError = usage.Error
	// RunnerError says that a job failed for other reasons than the data.
	RunnerError = engine.RunnerError
	// InterruptedError says that a run was interrupted and can be resumed.
	InterruptedError = engine.InterruptedError

	// Estimate is what a run takes.
	Estimate = runfolder.Estimate
	// MetricsFile is metrics.json.
	MetricsFile = runfolder.Metrics
	// FrontierFile is frontier.json.
	FrontierFile = runfolder.Frontier
	// Manifest is the manifest.json of a run.
	Manifest = runfolder.Manifest
)

// Runners lists the runners: those of this process, then engines.
func Runners() []string { return engine.Runners() }

// LocalRunners lists the runners that run in this process.
func LocalRunners() []string { return engine.LocalRunners() }
