package pipelines

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Compare measures the trees c.Model and c.Against on the same rows, and finds their differences: metrics with
// paired intervals, rows whose predicted class differs, nodes. It writes the file of --output.
func Compare(ctx context.Context, c config.Evaluate, reporter engine.Reporter) (r *runfolder.Comparison, err error) {
	if c.Against == "" {
		return nil, usage.Errorf("--against is required: the tree to compare --model with")
	}
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		kind := output.Kind{Own: runfolder.IsComparison, Is: "comparison of Espalier", Another: "another comparison"}
		file, err := output.Open(ctx, s.Files.Store, c.Output, c.Overwrite, kind)
		if err != nil {
			return err
		}
		w := &comparing{Session: s, config: &c}
		if r, err = w.run(ctx); err != nil {
			return err
		}
		return file.Encode(ctx, r.Encode)
	})
	return r, err
}

// comparing is one comparison.
type comparing struct {
	*session.Session

	config *config.Evaluate
	trees  [2]*tree.Tree
	urls   [2]string // URLs of the two tree.json
	input  *source.Input
	label  string // column; empty: none
	note   string // reason why there are no metrics
	spec   *jobs.RowSpec
}

func (w *comparing) run(ctx context.Context) (*runfolder.Comparison, error) {
	var err error
	for i, model := range w.models() {
		if w.trees[i], w.urls[i], err = runfolder.ReadModel(ctx, w.Files.Store, model); err != nil {
			return nil, err
		}
	}
	if w.input, err = w.Input(ctx, w.config.Input); err != nil {
		return nil, err
	}
	k := contracts.Checker{
		Settings: &w.config.Contract, Driver: w.Driver, Scratch: w.Temporary,
		Lax: []string{contract.RoleLabel, contract.RoleWeight, contract.RoleCount, contract.RoleKey},
	}
	if w.input, err = k.Enforce(ctx, w.input); err != nil {
		return nil, err
	}
	if err := w.chooseLabel(); err != nil {
		return nil, err
	}
	if err := w.specify(ctx); err != nil {
		return nil, err
	}
	counted, err := w.count(ctx)
	if err != nil {
		return nil, err
	}
	for i, t := range w.trees {
		source.WarnOfNovelty(func(text string) {
			w.Reporter.Warn(text + " of " + cmp.Or(w.config.Titles[i], string("AB"[i])))
		}, t, source.Novelties(t, counted.Novelty[i], counted.Rows), counted.Rows)
	}
	if w.label != "" && slices.ContainsFunc(w.trees[:], (*tree.Tree).HasPresenceTests) {
		w.Reporter.Warn("the trees are compared on the rows as they are, also on rows whose values nobody ordered: run espalier " +
			"evaluate on each tree alone for figures as if its tests were always done")
	}
	r, err := w.compare(counted)
	if err != nil {
		return nil, err
	}
	return r, warnOfOtherClasses(w.Reporter.Warn, counted.OtherClass, r.Metrics.Rows, w.label, w.trees[0])
}

func (w *comparing) models() [2]string { return [2]string{w.config.Model, w.config.Against} }

// chooseLabel decides on the column of the classes. Trees of other classes have no metrics in common:
// their predictions are compared without a label, unless one was asked for.
func (w *comparing) chooseLabel() error {
	a, b := w.trees[0], w.trees[1]
	names := w.input.Names()
	switch {
	case w.config.Label == config.LabelNone:
		return nil
	case w.config.Label != "":
		w.label = w.config.Label
	case a.Label.Column != b.Label.Column && slices.Contains(names, a.Label.Column) &&
		slices.Contains(names, b.Label.Column):
		return usage.Errorf("A predicts the column %q and B the column %q: say by --label which one has the true classes",
			a.Label.Column, b.Label.Column)
	case slices.Contains(names, b.Label.Column):
		w.label = b.Label.Column
	case slices.Contains(names, a.Label.Column):
		w.label = a.Label.Column
	default:
		return nil
	}
	if comparison.SameClasses(a, b) {
		return nil
	}
	var parts []string
	for _, side := range []struct {
		name  string
		alone []string
	}{{"A", comparison.Missing(a, b)}, {"B", comparison.Missing(b, a)}} {
		if len(side.alone) > 0 {
			parts = append(parts, side.name+" alone has "+listedClasses(side.alone))
		}
	}
	w.note = "the trees have other classes (" + strings.Join(parts, "; ") + "): no metrics are compared"
	if w.config.Label != "" {
		return usage.Errorf("--label: %s; --label none compares predictions, costs and nodes", w.note)
	}
	w.label = ""
	w.Reporter.Warn(w.note)
	return nil
}

// listedClasses returns a text that names classes. If there are many, it names the first ones.
func listedClasses(names []string) string {
	const most = 5
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d others", len(names)-most)
	}
	return fmt.Sprintf("%q", names) + more
}

// specify sets how the rows are read: the columns of both trees' tests.
func (w *comparing) specify(ctx context.Context) error {
	var err error
	count := countColumn(ctx, w.Session, w.input, w.config.Count, w.urls[1], w.urls[0])
	if w.spec, err = source.ScoringSpec(w.input, w.trees[0], w.label, w.config.Weight, count, w.trees[1]); err != nil {
		return err
	}
	for _, t := range w.trees {
		if err := source.WarnOfColumns(ctx, w.Files, w.Reporter.Warn, w.input, t); err != nil {
			return err
		}
	}
	w.spec.DropNullLabels = w.config.DropNullLabels
	if held := w.config.Held; held != nil {
		w.spec.Parting = *held
		return nil
	}
	return setGroups(ctx, w.Session, w.input, w.config.Group, w.spec, w.urls[1], w.urls[0])
}

// count scores the rows by both trees.
func (w *comparing) count(ctx context.Context) (*jobs.Compared, error) {
	if err := source.CheckCount(w.spec.Count, source.Use{Flag: "group", Column: w.spec.Key}); err != nil {
		return nil, err
	}
	if _, err := w.CountRows(ctx, w.input.Tasks, w.Temporary, w.spec.Count); err != nil {
		return nil, err
	}
	if err := w.CountWeights(ctx, w.input.Tasks, w.Temporary, w.spec); err != nil {
		return nil, err
	}
	w.spec.CountGroups()
	c := jobs.ScoreConfig{
		Config: w.JobConfig(w.Temporary), Trees: jobs.Trees{URLs: w.urls[:], Decoded: w.trees[:]}, Rows: w.spec.Encode(),
	}
	err := w.RunGroups(ctx, "compare", w.input.Tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Compare(s, tasks, c) })
	if err != nil {
		return nil, err
	}
	return jobs.ReadCompared(ctx, w.Temporary, w.trees, w.label != "")
}

// compare computes all figures from the counts.
func (w *comparing) compare(counted *jobs.Compared) (*runfolder.Comparison, error) {
	a := w.trees[0]
	b := w.trees[1]
	counts := counted.Counts
	rows := counts.List()
	if len(rows) == 0 {
		if err := warnOfOtherClasses(w.Reporter.Warn, counted.OtherClass, 0, w.label, a); err != nil {
			return nil, err
		}
		return nil, &dataset.DataError{
			File: w.input.Files[0].URL, Problem: "no row has a label and a weight", Hint: "check --input, --label and --weight",
		}
	}
	classes := 0
	costs := a.Label.ErrorCosts
	if w.label != "" {
		classes = len(a.Label.Classes)
		costs = comparison.ErrorCosts(a, b)
	}
	pairs := metric.PairRows(a, b, rows)
	unit := 1.0
	if classes > 0 {
		unit = metric.JudgePairs(a, b, pairs)
	}
	m := metric.Compare(pairs, classes, unit*w.spec.ScaleOf(dataset.Test), costs, w.spec.Keyed())
	r := &runfolder.Comparison{
		Format: runfolder.ComparisonFormat, Version: 1, Label: w.label, Weight: w.config.Weight, Count: w.spec.Count, Key: w.spec.Key,
		CopiesBy: w.spec.Content, Note: w.note, LostBits: counts.LostBits(), Metrics: m, Flips: comparison.NewFlips(a, b, rows, w.label != ""),
		Predicted: comparison.PredictedClasses(a, b, rows),
		Nodes:     textview.CompareNodes(a, b, comparison.Match(a, b, rows), int64(math.RoundToEven(float64(m.Weight)/unit))),
	}
	if w.spec.Keyed() {
		r.Flips.PValue = nil // the test is about independent rows
	}
	leavesA, leavesB := comparison.Leaves(a, b, rows)
	r.A, r.B = comparedTree(w.config.Model, a, leavesA), comparedTree(w.config.Against, b, leavesB)
	return r, nil
}

func comparedTree(model string, t *tree.Tree, leaves []comparison.Leaf) runfolder.ComparedTree {
	return runfolder.ComparedTree{
		Model: model, Digest: tree.Digest(t.Encode()), Nodes: len(t.Nodes), Depth: t.Complexity.Depth, Leaves: leaves,
	}
}
