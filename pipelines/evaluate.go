package pipelines

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/slicing"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// newPredictedMetrics measures a tree on scored rows, as the part "test".
func newPredictedMetrics(t *tree.Tree, counted *jobs.Predicted, spec *jobs.RowSpec) *runfolder.Metrics {
	m := &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1, Key: spec.Key, CopiesBy: spec.Content}
	if t.Label.Thresholded() {
		m.Decision = t.Label.Decision
	}
	if one := metric.OfScores(t, counted.Scores, metric.FactorsOf(t, counted.Scores), spec.ScaleOf(dataset.Test)); one.Rows > 0 {
		m.Set(dataset.Test, one)
	}
	return m
}

// measuredRows returns the number of rows of the part "test".
func measuredRows(m *runfolder.Metrics) int64 {
	if m.Test == nil {
		return 0
	}
	return m.Test.Rows
}

// warnOfOtherClasses warns of n labels that are none of the tree's classes, next to the rows that are measured. It returns an
// error if no row is measured.
func warnOfOtherClasses(warn func(text string), n, measured int64, label string, t *tree.Tree) error {
	switch {
	case n == 0:
		return nil
	case measured == 0:
		return &dataset.DataError{
			Column: label, Problem: fmt.Sprintf("none of the labels is one of the tree's classes %q", t.Label.Classes),
			Hint: "name the column of the classes by --label, train again, or predict with --label none",
		}
	default:
		warn(fmt.Sprintf("%d of %d labels in column %q are none of the tree's classes, and are not measured", n, n+measured, label))
		return nil
	}
}

// unfoundedTold is the share of rows whose figures rest on the training rows from which it is told.
const unfoundedTold = 0.05

// warnOfUnfounded warns if many rows lack values that nobody ordered, and no row of their class has these values: their
// figures do not depend on the rows.
func warnOfUnfounded(warn func(text string), t *tree.Tree, counts *tree.ScoreCounts) {
	if !t.HasPresenceTests() {
		return
	}
	if share, feature := t.Unfounded(counts.ByLeaf()); share >= unfoundedTold {
		warn(fmt.Sprintf("the figures say nothing about %s of the rows: the tree asks them for a value that nobody ordered, mostly %q, "+
			"and no row of their class has one, so that they are divided among the leaves as the training rows were (espalier help unordered)",
			textview.Percent(share), t.Features[feature].Name))
	}
}

// Evaluate measures a tree on rows. It returns the metrics as the part "test".
func Evaluate(
	ctx context.Context, c config.Evaluate, reporter engine.Reporter,
) (t *tree.Tree, m *runfolder.Metrics, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		file, err := output.Open(ctx, s.Files.Store, c.Output, c.Overwrite, output.Metrics())
		if err != nil {
			return err
		}
		if t, m, err = measureRows(ctx, s, &c); err != nil {
			return err
		}
		return file.Encode(ctx, m.Encode)
	})
	return t, m, err
}

// measureRows scores the rows, and measures the tree by their labels.
func measureRows(ctx context.Context, s *session.Session, c *config.Evaluate) (*tree.Tree, *runfolder.Metrics, error) {
	t, model, err := runfolder.ReadModel(ctx, s.Files.Store, c.Model)
	if err != nil {
		return nil, nil, err
	}
	if c.ErrorCostsFile != "" {
		costs, err := tables.ReadErrorCosts(ctx, s.Files, c.ErrorCostsFile, t.Label.Classes)
		if err != nil {
			return nil, nil, err
		}
		t = t.WithErrorCosts(costs)
	}
	if t, err = c.Of(t); err != nil {
		return nil, nil, err
	}
	in, err := s.Input(ctx, c.Input)
	if err != nil {
		return nil, nil, err
	}
	k := contracts.Checker{
		Settings: &c.Contract, Driver: s.Driver, Scratch: s.Temporary, Lax: []string{contract.RoleKey, contract.RoleWeight, contract.RoleCount},
	}
	if in, err = k.Enforce(ctx, in); err != nil {
		return nil, nil, err
	}
	spec, err := source.ScoringSpec(in, t, cmp.Or(c.Label, t.Label.Column), c.Weight, countColumn(ctx, s, in, c.Count, model))
	if err != nil {
		return nil, nil, err
	}
	if err := source.WarnOfColumns(ctx, s.Files, s.Reporter.Warn, in, t); err != nil {
		return nil, nil, err
	}
	spec.DropNullLabels = c.DropNullLabels
	if err := setGroups(ctx, s, in, c.Group, spec, model); err != nil {
		return nil, nil, err
	}
	if err := source.CheckCount(spec.Count, source.Use{Flag: "group", Column: spec.Key}); err != nil {
		return nil, nil, err
	}
	if _, err := s.CountRows(ctx, in.Tasks, s.Temporary, spec.Count); err != nil {
		return nil, nil, err
	}
	if err := s.CountWeights(ctx, in.Tasks, s.Temporary, spec); err != nil {
		return nil, nil, err
	}
	spec.CountGroups()
	columns, err := slicing.Columns(in, c.Slice, spec.Label, slicing.KindFor(t))
	if err != nil {
		return nil, nil, err
	}
	slicer, err := scoringSlicer(ctx, s.Driver, in, s.Temporary, columns, spec)
	if err != nil {
		return nil, nil, err
	}
	predicted, err := predictJob(ctx, s.Driver, in.Tasks, "evaluate", jobs.PredictConfig{ScoreConfig: jobs.ScoreConfig{
		Config: s.JobConfig(s.Temporary), Rows: spec.Encode(),
		Trees:  jobs.Trees{URLs: []string{model}, Decoded: []*tree.Tree{t}, Decision: t.Label.Decision},
		Pieces: engine.Pieces(s.Workers(), len(in.Tasks)),
	}})
	if err != nil {
		return nil, nil, err
	}
	counted := predicted[0]
	if err := countStrata(ctx, s, in, s.Temporary, t, model, spec, counted.Scores); err != nil {
		return nil, nil, err
	}
	source.WarnOfNovelty(s.Reporter.Warn, t, source.Novelties(t, counted.Novelty, counted.Rows), counted.Rows)
	m := newPredictedMetrics(t, counted, spec)
	warnOfUnfounded(s.Reporter.Warn, t, counted.Scores)
	if c.ErrorCostsFile != "" {
		m.ErrorCosts = t.Label.ErrorCosts
	}
	if err := warnOfOtherClasses(s.Reporter.Warn, counted.OtherClass, measuredRows(m), spec.Label, t); err != nil {
		return nil, nil, err
	}
	if m.Test == nil {
		return nil, nil, &dataset.DataError{
			File: in.Files[0].URL, Problem: "no row has a label", Hint: "check --input and --label",
		}
	}
	warnOfTraining(ctx, s, model, in)
	if slicer != nil {
		err = slicer.Measure(ctx, t, spec, m)
	}
	return t, m, err
}

// warnOfTraining warns if a tree was trained on the files that it is measured on.
func warnOfTraining(ctx context.Context, s *session.Session, model string, in *source.Input) {
	run := strings.TrimSuffix(model, "/"+runfolder.TreeName)
	m, err := runfolder.ReadManifest(ctx, s.Files.Store, run)
	if err != nil {
		return // the tree is not in a run folder
	}
	trained := make(map[string]bool, len(m.Inputs))
	for i := range m.Inputs {
		trained[m.Inputs[i].FooterDigest] = true
	}
	known := 0
	inputs := in.Manifest()
	for i := range inputs {
		if trained[inputs[i].FooterDigest] {
			known++
		}
	}
	files := "these files"
	if known < len(inputs) {
		files = fmt.Sprintf("%d of these %d files", known, len(inputs))
	}
	if known > 0 {
		s.Reporter.Warn(fmt.Sprintf("the training has read %s: on new rows the tree is worse than these figures if it was trained on some of "+
			"the rows; for its figures on test rows: espalier show %s --figures", files, run))
	}
}

// scoringSlicer returns the slicer that measures a tree by --slice on scored rows. The slices depend on
// all of these rows. It is nil without columns.
func scoringSlicer(
	ctx context.Context, d *engine.Driver, in *source.Input, folder string, columns []dataset.FeatureColumn,
	spec *jobs.RowSpec,
) (*slicing.Slicer, error) {
	if len(columns) == 0 {
		return nil, nil //nolint:nilnil // no slices are asked for
	}
	all := *spec
	if spec.Units != nil {
		all.Units = &[dataset.Parts]dataset.WeightUnit{dataset.Train: spec.Units[dataset.Test]}
	}
	return slicing.New(ctx, d, in.Tasks, folder, columns, &all, 0)
}

// ReadTree reads a tree from a run folder or a tree.json.
func ReadTree(ctx context.Context, model string) (*tree.Tree, error) {
	return runfolder.ReadTree(ctx, source.Process.Store, model)
}

// ReadFigures reads the tree of a run folder, or of the run that LATEST.json names, its metrics, its frontier and
// the importance of its features.
func ReadFigures(ctx context.Context, run string) (*runfolder.Run, error) {
	s := source.Process.Store
	run, _, err := runfolder.FindRun(ctx, s, run)
	if err != nil {
		return nil, err
	}
	return runfolder.Read(ctx, s, run, runfolder.Training, runfolder.TreeName, runfolder.MetricsName,
		runfolder.FrontierName, runfolder.ImportanceName)
}
