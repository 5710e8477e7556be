// Package pipelines trains, evaluates and predicts: it joins the jobs of transforms with the
// files of io. It takes configurations and returns results. Flags and terminals belong to cmd.
//
// # How a tree is trained
//
//	fit       row groups -> summaries -> cuts and values of each feature
//	coalesce  row groups -> codes -> objects, in blocks, by part of the split
//	grow      objects -> all trees of the grid: in one job where the objects fit the memory,
//	          else level by level, a job a level, and the small nodes in one job more
//	score     objects of the validation and test parts -> rows at each leaf
//	choose    prunings, folds and limits -> one tree, with its certificate
//	write     the run folder, _SUCCESS last
//
// The first four run Beam pipelines on the chosen engine. The driver process runs them one
// after the other and keeps trees and statistics, never rows. Each stage is a value, made of
// the one before: see run. The page docs/dev/architecture.md describes the whole house.
package pipelines

import (
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// Types of other packages that callers of Train, Evaluate and Predict need.
type (
	// Reporter shows progress.
	Reporter = engine.Reporter

	// TrainConfig is the configuration of a training run.
	TrainConfig = config.Train
	// EvaluateConfig is the configuration of an evaluation, or of a comparison of two trees.
	EvaluateConfig = config.Evaluate
	// PredictConfig is the configuration of a scoring of files.
	PredictConfig = config.Predict
	// PromoteConfig is the configuration of another choice among the trees of a run.
	PromoteConfig = config.Promote
	// DriftConfig is the configuration of a measurement of drift.
	DriftConfig = config.Drift
	// StorageConfig is the configuration of the access to object stores.
	StorageConfig = config.StorageConfig
	// EngineConfig is the configuration of jobs on an engine.
	EngineConfig = config.EngineConfig

	// UsageError is the error of a command or configuration that cannot be carried out.
	UsageError = usage.Error
	// RunnerError is the error of a job that failed for other reasons than the data.
	RunnerError = engine.RunnerError
	// InterruptedError is the error of a run that was interrupted and can be resumed.
	InterruptedError = engine.InterruptedError

	// MetricsFile is metrics.json.
	MetricsFile = runfolder.Metrics
	// FrontierFile is frontier.json.
	FrontierFile = runfolder.Frontier
	// Comparison is the result of Compare.
	Comparison = runfolder.Comparison
	// DriftFound is the result of Drift.
	DriftFound = runfolder.Drift
	// Manifest is the manifest.json of a run.
	Manifest = runfolder.Manifest
)

// DefaultConfig returns the preset "default" of TrainConfig.
func DefaultConfig() TrainConfig { return config.DefaultTrain() }

// Preset returns the configuration of a preset: "default", "accurate" or "paper".
func Preset(name string) (TrainConfig, error) { return config.Preset(name) }

// DefaultEvaluateConfig evaluates on the default runner.
func DefaultEvaluateConfig() EvaluateConfig { return config.DefaultEvaluate() }

// DefaultDriftConfig gives a false alarm once in a hundred measurements.
func DefaultDriftConfig() DriftConfig { return config.DefaultDrift() }

// DefaultPredictConfig only writes predictions, and accepts all values.
func DefaultPredictConfig() PredictConfig { return config.DefaultPredict() }

// DefaultPromoteConfig chooses nothing.
func DefaultPromoteConfig() PromoteConfig { return config.DefaultPromote() }

// DefaultStorageConfig reads 64 MiB ahead and waits 30 seconds.
func DefaultStorageConfig() StorageConfig { return config.DefaultStorageConfig() }

// DefaultEngineConfig gives a job six hours.
func DefaultEngineConfig() EngineConfig { return config.DefaultEngineConfig() }
