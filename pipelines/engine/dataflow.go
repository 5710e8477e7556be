package engine

import (
	"context"
	"flag" //nolint:depguard // the SDK's settings for Dataflow are flags only
	"fmt"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow" // Google Cloud's engine
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
	dataflow "google.golang.org/api/dataflow/v1b3" // cancels jobs, which the SDK does not

	"github.com/espalier-ml/espalier/io/usage"
)

// Dataflow is the name of the runner of Google Cloud Dataflow.
const Dataflow = "dataflow"

// CheckDataflow makes sure that a run on Dataflow has what it needs: its workers
// see object stores only.
func CheckDataflow(ctx context.Context, urls ...string) error {
	var missing []string
	if gcpopts.GetProjectFromFlagOrEnvironment(ctx) == "" {
		missing = append(missing, "--project")
	}
	if gcpopts.GetRegion(ctx) == "" {
		missing = append(missing, "--region")
	}
	if staging := flag.Lookup("staging_location"); staging == nil || staging.Value.String() == "" {
		missing = append(missing, "--staging_location gs://BUCKET/FOLDER")
	}
	if len(missing) > 0 {
		return usage.Errorf("--runner %s needs %s", Dataflow, strings.Join(missing, ", "))
	}
	for _, url := range urls {
		if !strings.HasPrefix(url, "gs://") && !strings.HasPrefix(url, "s3://") {
			return usage.Errorf("--runner %s: %s lies where its workers cannot see it: name a URL such as gs://BUCKET/FOLDER", Dataflow, url)
		}
	}
	return nil
}

// onDataflow runs a pipeline as a job on Dataflow, within the time that it has.
// The SDK waits for it; when the context ends the job is cancelled.
func (j *Driver) onDataflow(ctx context.Context, name string, p *beam.Pipeline) error {
	ctx, cancel := j.timeout(ctx)
	defer cancel()
	submitted := JobName(j.ID(), name)
	defer SetJobName(submitted)()
	finished := make(chan error, 1)
	go func() {
		_, err := beam.Run(ctx, Dataflow, p)
		finished <- err
	}()
	select {
	case err := <-finished:
		if ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if err := cancelOnDataflow(context.WithoutCancel(ctx), submitted); err != nil {
		return fmt.Errorf("%w; the job %s may go on: %w", cause, submitted, err)
	}
	return cause
}

// SetJobName sets the SDK's flag of a job's name, and returns how it is put back.
func SetJobName(name string) (restore func()) {
	before := *jobopts.JobName
	*jobopts.JobName = name
	return func() { *jobopts.JobName = before }
}

// cancelWithin is the time that cancelling takes at most.
const cancelWithin = 30 * time.Second

// cancelOnDataflow cancels the active jobs whose names begin with a prefix.
func cancelOnDataflow(ctx context.Context, prefix string) error {
	ctx, cancel := context.WithTimeout(ctx, cancelWithin)
	defer cancel()
	client, err := dataflowlib.NewClient(ctx, flag.Lookup("dataflow_endpoint").Value.String())
	if err != nil {
		return err
	}
	project, region := gcpopts.GetProjectFromFlagOrEnvironment(ctx), gcpopts.GetRegion(ctx)
	service := client.Projects.Locations.Jobs
	return service.List(project, region).Filter("ACTIVE").Pages(ctx, func(page *dataflow.ListJobsResponse) error {
		for _, job := range page.Jobs {
			if !strings.HasPrefix(job.Name, prefix) {
				continue
			}
			if _, err := service.Update(project, region, job.Id, &dataflow.Job{RequestedState: "JOB_STATE_CANCELLED"}).Context(ctx).Do(); err != nil {
				return err
			}
		}
		return nil
	})
}
