package pipelines

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow" // Google Cloud's engine
)

// dataflowRunner is the name of the runner of Google Cloud Dataflow.
const dataflowRunner = "dataflow"

// checkDataflow makes sure that a run on Dataflow has what it needs: its workers
// see object stores only.
func checkDataflow(ctx context.Context, c *TrainConfig) error {
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
		return usagef("--runner %s needs %s", dataflowRunner, strings.Join(missing, ", "))
	}
	for _, url := range append([]string{c.Output}, c.Input...) {
		if !strings.HasPrefix(url, "gs://") && !strings.HasPrefix(url, "s3://") {
			return usagef("--runner %s: %s lies where its workers cannot see it: name a URL such as gs://BUCKET/FOLDER", dataflowRunner, url)
		}
	}
	return nil
}

// translate translates all jobs of a run for Dataflow without submitting any of
// them.
func (t *training) translate(ctx context.Context) error {
	running.Lock()
	defer running.Unlock()
	if err := flag.Set("dry_run", "true"); err != nil {
		return err
	}
	for _, g := range t.graphs() {
		p, err := newPipeline(g.tasks, true, g.build)
		if err == nil {
			*jobopts.JobName = fmt.Sprintf("espalier-dry-run-%s", g.name)
			_, err = beam.Run(ctx, dataflowRunner, p)
		}
		if err != nil {
			return &RunnerError{Job: g.name, Runner: dataflowRunner, Err: err}
		}
	}
	return nil
}
