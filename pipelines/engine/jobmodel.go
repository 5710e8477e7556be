package engine

import (
	"context"
	"os"
	"runtime"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamruntime "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"

	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/worker/protocol"
)

// jobModel is a pipeline in Beam's portable form, ready for a job service.
type jobModel struct {
	pipeline *pipepb.Pipeline
	worker   string              // file that is staged for the workers: their program
	lease    string              // folder of the lease of workers in other processes; empty without a lease
	loopback *extworker.Loopback // serves the workers of this process; nil if workers are other processes
}

// newJobModel translates a pipeline, and starts the workers of this process if the
// environment is LOOPBACK. Call release after the job.
func newJobModel(ctx context.Context, p *beam.Pipeline) (*jobModel, error) {
	worker, err := workerBinary()
	if err != nil {
		return nil, err
	}
	m := &jobModel{worker: worker}
	config := jobopts.GetEnvironmentConfig
	switch {
	case startsItself():
		config = selfAsWorker
	case jobopts.IsLoopback():
		// The workers outlive the context: the engine ends them when it ends the job.
		if m.loopback, err = extworker.StartLoopback(context.WithoutCancel(ctx), 0); err != nil {
			return nil, err
		}
		config = m.loopback.EnvironmentConfig
	}
	if err := m.marshal(ctx, p, config); err != nil {
		m.release(ctx)
		return nil, err
	}
	return m, nil
}

// marshal translates a pipeline for workers of the configured environment.
func (m *jobModel) marshal(ctx context.Context, p *beam.Pipeline, config func(context.Context) string) error {
	edges, _, err := p.Build()
	if err != nil {
		return err
	}
	environment, err := graphx.CreateEnvironment(ctx, jobopts.GetEnvironmentUrn(ctx), config)
	if err != nil {
		return err
	}
	options := &graphx.Options{Environment: environment, PipelineResourceHints: jobopts.GetPipelineResourceHints()}
	m.pipeline, err = graphx.Marshal(edges, options)
	if err != nil {
		return err
	}
	return runnerlib.UpdateGoEnvironmentWorker(m.worker, m.pipeline)
}

// workerBinary returns the file that is staged for workers. Workers that are this program need none, but
// the SDK always stages a file: an empty file is sufficient. The SDK's own client leaves a
// temporary file behind for workers in this process, and compiles the program again for other
// workers.
func workerBinary() (string, error) {
	switch {
	case *jobopts.WorkerBinary != "" && !jobopts.IsLoopback():
		return *jobopts.WorkerBinary, nil
	case jobopts.IsLoopback() || startsItself():
		return os.DevNull, nil
	case runtime.GOOS != "linux":
		return "", usage.Errorf("--environment_type %s needs --worker_binary: "+
			"a build of this program for the workers' Linux", *jobopts.EnvironmentType)
	default:
		return os.Executable()
	}
}

// jobOptions are the pipeline options that a job service reads. The SDK's own options lack the name
// of the job, and engines would then derive one from the name of the app.
type jobOptions struct {
	beamruntime.RawOptionsWrapper

	JobName string `json:"beam:option:job_name:v1"`
}

// request asks a job service to prepare the job.
func (m *jobModel) request(name string) (*jobpb.PrepareJobRequest, error) {
	hooks.SerializeHooksToOptions()
	beam.PipelineOptions.LoadOptionsFromFlags(nil)
	exported := beam.PipelineOptions.Export() // a copy
	if m.lease != "" {
		exported.Options[protocol.LeaseOption] = m.lease
	}
	options, err := tools.OptionsToProto(jobOptions{
		RawOptionsWrapper: beamruntime.RawOptionsWrapper{
			Options: exported, AppName: "espalier", Experiments: append(jobopts.GetExperiments(), "beam_fn_api"),
			RetainDocker: *jobopts.RetainDockerContainers, Parallelism: *jobopts.Parallelism,
		},
		JobName: name,
	})
	return &jobpb.PrepareJobRequest{Pipeline: m.pipeline, PipelineOptions: options, JobName: name}, err
}

// releaseWithin is how long workers in this process may take to end, because a hanging engine keeps
// its connections to the workers.
const releaseWithin = 2 * time.Second

// release ends the workers in this process.
func (m *jobModel) release(ctx context.Context) {
	if m.loopback == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.loopback.Stop(ctx) // returns nil
	}()
	select {
	case <-done:
	case <-time.After(releaseWithin):
	}
}
