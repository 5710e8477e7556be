package engine

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/worker/protocol"
)

// portable is an engine behind a Beam job service, which takes pipelines in Beam's
// portable form. Its workers are other processes, or this one (--environment_type
// LOOPBACK).
type portable struct{ name, title string }

func (e portable) Traits() Traits {
	return Traits{Name: e.name, Title: e.title, Levels: 1}
}

// Check makes sure that the job service answers, and that a program that the engine starts is
// a worker.
func (e portable) Check(ctx context.Context, _ []string) error {
	if *jobopts.Endpoint == "" {
		return usage.Errorf("--runner %s needs --endpoint HOST:PORT of its job service", e.name)
	}
	if *jobopts.JobName != "" || *jobopts.Async {
		return usage.Errorf("--job_name and --async have no place here: a run waits for its jobs, and names them")
	}
	if err := checkInit(e.name); err != nil {
		return err
	}
	s, err := e.open(ctx)
	if err != nil {
		return e.fault(ctx, "connect", err)
	}
	s.close()
	if !startsPrograms() {
		return nil
	}
	if *jobopts.EnvironmentConfig != "" {
		return tryCommand(ctx, *jobopts.EnvironmentConfig)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return tryWorker(ctx, self)
}

// open connects to the engine's job service.
func (e portable) open(ctx context.Context) (*jobService, error) {
	return openJobService(ctx, *jobopts.Endpoint, defaultPatience())
}

// fault makes a runner error, unless it was the user who ended the job.
func (e portable) fault(ctx context.Context, job string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &RunnerError{Job: job, Runner: e.name, Err: err}
}

// Run runs a pipeline as a job of the job service. Workers in other processes hold a lease
// in the scratch folder; those in this process end with it, and count on its own progress.
func (e portable) Run(ctx context.Context, job Submission) error {
	s, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if jobopts.IsLoopback() {
		job.Progress = nil
		return s.run(ctx, job, "")
	}
	if job.Scratch == "" {
		return s.run(ctx, job, "")
	}
	l, err := protocol.Grant(ctx, job.Files.Store, job.Scratch, job.Progress)
	if err != nil {
		return err
	}
	defer l.Revoke(ctx)
	return s.run(ctx, job, l.Folder)
}

// Cancel cancels the jobs that a dead process has left running for a run.
func (e portable) Cancel(ctx context.Context, runID string) error {
	s, err := e.open(ctx)
	if err == nil {
		defer s.close()
		err = s.cancelLeftovers(ctx, runID)
	}
	if err != nil {
		return e.fault(ctx, "cancel leftovers", err)
	}
	return nil
}

// startsItself reports whether the engine starts this program as its worker. The program must be at the same path
// on all hosts of the engine.
func startsItself() bool { return startsPrograms() && *jobopts.EnvironmentConfig == "" }

// startsPrograms reports whether the engine starts a program on its hosts as the worker.
func startsPrograms() bool { return strings.EqualFold(*jobopts.EnvironmentType, "process") }

// selfAsWorker returns the configuration of an environment whose command is this program.
func selfAsWorker(context.Context) string {
	self, err := os.Executable()
	if err != nil {
		panic(err) // Check has found it
	}
	config, err := json.Marshal(map[string]string{"command": self})
	if err != nil {
		panic(err) // it is a string
	}
	return string(config)
}
