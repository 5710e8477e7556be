package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// countStrata adds to the counts of labelled rows their counts in the strata that the training of the tree has found, so that
// they are measured as in the training. Nothing is added if the training has found no strata, if the tree is not the tree of
// its run, or if the input lacks a column of the strata, which a warning says. folder is
// for the results of the job.
func countStrata(
	ctx context.Context, s *session.Session, in *source.Input, folder string, t *tree.Tree, model string, spec *jobs.RowSpec,
	counts *tree.ScoreCounts,
) error {
	run, own := strings.CutSuffix(model, "/"+runfolder.TreeName)
	if !own || !t.HasPresenceTests() {
		return nil
	}
	url := objectstore.Join(run, runfolder.StrataName)
	if _, err := s.Files.Store.Stat(ctx, url); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	counting, err := runfolder.ReadTree(ctx, s.Files.Store, url)
	if err != nil {
		return err
	}
	strata, err := t.StrataBy(counting)
	if err != nil {
		return usage.Errorf("%s: %v: one of the files of the run is damaged or of another run", url, err)
	}
	columns, err := source.ScoringSpec(in, counting, spec.Label, spec.Weight, spec.Count)
	if err != nil {
		s.Reporter.Warn(fmt.Sprintf("the figures do not look at who ordered values; the figures of the training do: %v", err))
		return nil
	}
	rows := *spec
	rows.Features = columns.Features
	c := jobs.EvaluateRowsConfig{
		ScoreConfig: jobs.ScoreConfig{
			Config: s.JobConfig(objectstore.Join(folder, "strata")), Rows: rows.Encode(),
			Trees: jobs.Trees{URLs: []string{url}, Decoded: []*tree.Tree{counting}},
		},
		Parts: []dataset.Part{dataset.Test},
	}
	err = s.RunGroups(ctx, "evaluate rows", in.Tasks, func(scope beam.Scope, tasks beam.PCollection) {
		jobs.EvaluateRows(scope, tasks, c)
	})
	if err != nil {
		return err
	}
	counted, err := jobs.ReadScoreCounts(ctx, &c, dataset.Test, []*tree.Tree{counting})
	if err == nil {
		counts.Plain().Strata = &tree.StrataCounts{Strata: strata, Counts: counted[0].Plain()}
	}
	return err
}
