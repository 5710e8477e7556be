package pipelines

import (
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// The names of other packages' types by which callers of Train, Evaluate, Predict and
// Synth say what they want and see what they get.
type (
	// Reporter shows progress.
	Reporter = engine.Reporter
	// EngineConfig says how jobs run on an engine.
	EngineConfig = engine.Config
	// StorageConfig says how object stores are read.
	StorageConfig = source.Config

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

// DefaultStorageConfig reads 64 MiB ahead and waits 30 seconds.
func DefaultStorageConfig() StorageConfig { return source.DefaultConfig() }

// DefaultEngineConfig gives a job six hours.
func DefaultEngineConfig() EngineConfig { return engine.DefaultConfig() }

// Runners lists the runners: those of this process, then engines.
func Runners() []string { return engine.Runners() }

// LocalRunners lists the runners that run in this process.
func LocalRunners() []string { return engine.LocalRunners() }
