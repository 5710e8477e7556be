package engine

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/elements"
)

// Engine is where the jobs of a run are carried out. Each engine has a file of its own,
// and stands in the list of engines.go.
//
// Check, Run, Cancel and Translate may read and set the SDK's flags: while one of them runs
// this process admits no other pipeline. Two methods run at any time and touch no flag:
// Traits, and Check of a local engine.
type Engine interface {
	// Traits returns what holds for every run on this engine.
	Traits() Traits
	// Check returns an error if a run lacks what it needs on this engine. The workers
	// must reach the URLs: they are the run's input and output.
	Check(ctx context.Context, urls []string) error
	// Run runs a pipeline as a job and waits until the job has ended. The job is
	// cancelled when the context ends.
	Run(ctx context.Context, job Submission) error
	// Cancel cancels the jobs that a dead process has left running for a run, and waits
	// until they have ended.
	Cancel(ctx context.Context, runID string) error
}

// Translator is an Engine that can translate a job without submitting it, for dry runs.
type Translator interface {
	Engine
	// Translate translates a job. The error describes what the engine refuses in the job.
	Translate(ctx context.Context, job Submission) error
}

// Traits are what holds for every run on an engine.
type Traits struct {
	// Name is the value of --runner.
	Name string
	// Title is the name by which people call the engine.
	Title string
	// Local means that DoFns run in this process and see its memory: elements are handed over as Go values. Other
	// engines encode DoFns and elements between the steps of a job, and spread its tasks over workers.
	Local bool
	// Levels is the number of levels that a job grows by default. It is above 1 if a job takes minutes to start.
	Levels int
}

// Submission is a pipeline that is to run as a job.
type Submission struct {
	Name     string // the engine lists the job by this name
	Pipeline *beam.Pipeline
	Progress *elements.Progress // is set to the counts of the job's workers
	Files    *source.Files      // files of the run
	Scratch  string             // folder for small files that driver and workers exchange; optional
}
