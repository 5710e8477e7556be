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
// its run, or if the strata or a column of the strata cannot be read, which a warning says. folder is for the results of the
// job.
func countStrata(
	ctx context.Context, s *session.Session, in *source.Input, folder string, t *tree.Tree, model string, spec *jobs.RowSpec,
	counts *tree.ScoreCounts,
) error {
	strata, err := strataOf(ctx, s, in, folder, t, model, spec)
	if nature := usage.NatureOf(err); err != nil && (nature == usage.Usage || nature == usage.Data) {
		s.Reporter.Warn(fmt.Sprintf("the figures of the training are corrected for who ordered values, and these figures are not: %v", err))
		return nil
	}
	if strata != nil {
		counts.Plain().Strata = strata
	}
	return err
}

// strataOf returns the counts of countStrata; nil if there are no strata.
func strataOf(
	ctx context.Context, s *session.Session, in *source.Input, folder string, t *tree.Tree, model string, spec *jobs.RowSpec,
) (*tree.StrataCounts, error) {
	run, own := strings.CutSuffix(model, "/"+runfolder.TreeName)
	if !own || !t.HasPresenceTests() {
		return nil, nil //nolint:nilnil // no strata
	}
	url := objectstore.Join(run, runfolder.StrataName)
	data, err := s.Files.Store.ReadAll(ctx, url, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // the training has found no strata
	}
	if err != nil {
		return nil, err
	}
	counting, err := tree.Decode(data)
	var strata *tree.Strata
	if err == nil {
		strata, err = t.StrataBy(counting)
	}
	if err != nil {
		return nil, usage.Errorf("%s: %v: a file of the run is damaged or of another run", url, err)
	}
	columns, err := source.ScoringSpec(in, counting, spec.Label, spec.Weight, spec.Count)
	if err != nil {
		return nil, err
	}
	rows := *spec
	rows.Features = columns.Features
	c := jobs.EvaluateRowsConfig{
		ScoreConfig: jobs.ScoreConfig{
			Config: s.JobConfig(objectstore.Join(folder, "strata")), Rows: rows.Encode(),
			Trees: jobs.Trees{URLs: []string{url}, Decoded: []*tree.Tree{counting}},
		},
		Parts: []dataset.Part{dataset.Test}, Lax: true,
	}
	err = s.RunGroups(ctx, "evaluate rows", in.Tasks, func(scope beam.Scope, tasks beam.PCollection) {
		jobs.EvaluateRows(scope, tasks, c)
	})
	if err != nil {
		return nil, err
	}
	counted, err := jobs.ReadScoreCounts(ctx, &c, dataset.Test, []*tree.Tree{counting})
	if err != nil {
		return nil, err
	}
	return &tree.StrataCounts{Strata: strata, Counts: counted[0].Plain()}, nil
}
