package engine

import (
	"context"
	"flag" //nolint:depguard // the SDK's settings for Dataflow are flags only
	"fmt"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow" // Google Cloud's engine
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
	dataflowapi "google.golang.org/api/dataflow/v1b3" // cancels jobs; the SDK does not

	"github.com/espalier-ml/espalier/io/usage"
)

// dataflowName is the name of Dataflow in the SDK.
const dataflowName = "dataflow"

// levelsOnDataflow makes a training of 30 levels wait for the start of a job, about 4 minutes, 2 times instead of 30.
// A level without a large node costs a step that has nothing to do.
const levelsOnDataflow = 16

// dataflow is Google Cloud Dataflow. Its workers reach object stores only.
type dataflow struct{}

func (dataflow) Traits() Traits {
	return Traits{Name: dataflowName, Title: "Dataflow", Levels: levelsOnDataflow}
}

// Check checks that project, region and a staging folder are known, and that all URLs belong to an
// object store.
func (dataflow) Check(ctx context.Context, urls []string) error {
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
		return usage.Errorf("--runner %s needs %s", dataflowName, strings.Join(missing, ", "))
	}
	if flag.Lookup("template_location").Value.String() != "" {
		return usage.Errorf("--template_location: a template has one job, but a run has several, " +
			"each of which needs the results of the job before")
	}
	for _, url := range urls {
		if !strings.HasPrefix(url, "gs://") && !strings.HasPrefix(url, "s3://") {
			return usage.Errorf("--runner %s: %s lies where its workers cannot see it: name a URL such as gs://BUCKET/FOLDER",
				dataflowName, url)
		}
	}
	return checkInit(dataflowName)
}

// Run runs a pipeline as a job on Dataflow. The SDK waits for the job; when the context
// ends the job is cancelled.
func (dataflow) Run(ctx context.Context, job Submission) error {
	defer setJobName(job.Name)()
	finished := make(chan error, 1)
	go func() {
		_, err := beam.Run(ctx, dataflowName, job.Pipeline)
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
	if err := cancelOnDataflow(context.WithoutCancel(ctx), job.Name); err != nil {
		return fmt.Errorf("%w; the job %s may go on: %w", cause, job.Name, err)
	}
	return cause
}

// Cancel cancels the active jobs of a run.
func (dataflow) Cancel(ctx context.Context, runID string) error {
	return cancelOnDataflow(ctx, jobName(runID, ""))
}

// Translate translates a job by the SDK's own dry run.
func (dataflow) Translate(ctx context.Context, job Submission) error {
	dry := flag.Lookup("dry_run")
	before := dry.Value.String()
	if err := dry.Value.Set("true"); err != nil {
		return err
	}
	defer dry.Value.Set(before) //nolint:errcheck // the flag had this value before
	defer setJobName(job.Name)()
	_, err := beam.Run(ctx, dataflowName, job.Pipeline)
	return err
}

// cancelWithin is the longest time that an order to cancel jobs may take.
const cancelWithin = 30 * time.Second

// cancelOnDataflow cancels the active jobs whose names begin with a prefix.
func cancelOnDataflow(ctx context.Context, prefix string) error {
	ctx, cancel := context.WithTimeout(ctx, cancelWithin)
	defer cancel()
	client, err := dataflowlib.NewClient(ctx, flag.Lookup("dataflow_endpoint").Value.String())
	if err != nil {
		return err
	}
	project := gcpopts.GetProjectFromFlagOrEnvironment(ctx)
	region := gcpopts.GetRegion(ctx)
	service := client.Projects.Locations.Jobs
	cancelled := &dataflowapi.Job{RequestedState: "JOB_STATE_CANCELLED"}
	return service.List(project, region).Filter("ACTIVE").Pages(ctx, func(page *dataflowapi.ListJobsResponse) error {
		for _, job := range page.Jobs {
			if !strings.HasPrefix(job.Name, prefix) {
				continue
			}
			if _, err := service.Update(project, region, job.Id, cancelled).Context(ctx).Do(); err != nil {
				return err
			}
		}
		return nil
	})
}
