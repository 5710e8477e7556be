package pipelines

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/transforms"
)

// MetricsFile is metrics.json: the metrics of each part that has rows.
type MetricsFile struct {
	Format     string          `json:"format"`
	Version    int             `json:"version"`
	Train      *metric.Metrics `json:"train,omitempty"`
	Validation *metric.Metrics `json:"validation,omitempty"`
	Test       *metric.Metrics `json:"test,omitempty"`
}

// metricsFormat identifies metrics.json.
const metricsFormat = "espalier/metrics"

// Best returns the metrics to quote, with the name of their part: of the test
// part, else of validation, else of training.
func (m *MetricsFile) Best() (string, *metric.Metrics) {
	switch {
	case m.Test != nil:
		return dataset.Test.String(), m.Test
	case m.Validation != nil:
		return dataset.Validation.String(), m.Validation
	default:
		return dataset.Train.String(), m.Train
	}
}

// Parts returns the parts that have rows, in order.
func (m *MetricsFile) Parts() []report.Part {
	var parts []report.Part
	for _, p := range []report.Part{
		{Name: dataset.Train.String(), Metrics: m.Train},
		{Name: dataset.Validation.String(), Metrics: m.Validation},
		{Name: dataset.Test.String(), Metrics: m.Test},
	} {
		if p.Metrics != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

func (m *MetricsFile) set(part dataset.Part, x *metric.Metrics) {
	switch part {
	case dataset.Train:
		m.Train = x
	case dataset.Validation:
		m.Validation = x
	default:
		m.Test = x
	}
}

// evaluate measures the tree on all parts: on the training rows by the class
// weights of its leaves, on the others by a job.
func (t *training) evaluate(ctx context.Context) error {
	t.metrics = &MetricsFile{Format: metricsFormat, Version: 1}
	counts := t.tree.NewLeafCounts()
	for i := range t.tree.Nodes {
		if n := &t.tree.Nodes[i]; n.Leaf() {
			counts.Weights[i], counts.Rows[i] = n.RawClassWeights, n.Rows
		}
	}
	t.metrics.Train = measure(t.tree, counts, t.spec.ScaleOf(dataset.Train))
	if t.tree.Training.Weights != "" {
		defer t.metrics.describeWeights()
	}
	tasks := slices.Concat(t.blockTasks(dataset.Validation), t.blockTasks(dataset.Test))
	if len(tasks) == 0 {
		return nil
	}
	config := t.evaluateConfig()
	config.Tree = objectstore.Join(config.Out, treeFile)
	if err := t.files.Write(ctx, config.Tree, t.encoded); err != nil {
		return err
	}
	return evaluateJob(ctx, t.jobs, t.metrics, t.tree, tasks, "blocks", config, t.spec.WeightScale)
}

func (t *training) evaluateConfig() transforms.EvaluateConfig {
	grow := t.growConfig()
	return transforms.EvaluateConfig{
		Decoded: t.tree, Widths: grow.Widths, Weights: grow.Weighted, Workers: grow.Workers, Out: t.newFolder("evaluate"),
	}
}

// evaluateJob counts the rows of tasks by leaf and measures the parts that have
// some.
func evaluateJob(ctx context.Context, j *jobs, m *MetricsFile, t *tree.Tree, tasks []transforms.Task, unit string, config transforms.EvaluateConfig, scale int64) error {
	what := job{"evaluate", int64(len(tasks)), unit, tasksDone}
	err := j.run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
		transforms.Evaluate(s, tasks, config)
	})
	if err != nil {
		return err
	}
	for part := range dataset.Part(dataset.Parts) {
		counts, err := transforms.ReadLeafCounts(ctx, config.Out, part, t)
		if err != nil {
			return err
		}
		if rows := sum(counts.Rows); rows > 0 {
			m.set(part, measure(t, counts, scale))
		}
	}
	return nil
}

func sum(xs []int64) int64 {
	total := int64(0)
	for _, x := range xs {
		total += x
	}
	return total
}

// measure computes the metrics of leaf counts.
func measure(t *tree.Tree, counts *tree.LeafCounts, scale int64) *metric.Metrics {
	tests, costs := t.Path()
	var leaves []metric.Leaf
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() {
			leaves = append(leaves, metric.Leaf{
				Probabilities: n.Probabilities, Class: n.Class, Weights: counts.Weights[i], Rows: counts.Rows[i],
				Cost: costs[i], Billed: costs[i], Tests: tests[i],
			})
		}
	}
	m := metric.Evaluate(leaves, t.Label.Classes, scale)
	if t.Label.ErrorCosts != nil {
		m.SetErrorCosts(t.Label.ErrorCosts)
	}
	return &m
}

// EvaluateConfig is the configuration of an evaluation.
type EvaluateConfig struct {
	Model          string   `json:"model"` // run folder or tree.json; required
	Input          []string `json:"input"` // URLs or globs of Parquet files; required
	Label          string   `json:"label"` // class column; empty: the tree's
	Weight         string   `json:"weight"`
	DropNullLabels bool     `json:"drop_null_labels"`
	Runner         string   `json:"runner"`

	StorageConfig
}

// Evaluate measures a tree on rows. The metrics stand under the part "test".
func Evaluate(ctx context.Context, c EvaluateConfig, reporter Reporter) (*tree.Tree, *MetricsFile, error) {
	if c.Model == "" || len(c.Input) == 0 {
		return nil, nil, usagef("--model and --input are required")
	}
	if err := c.Validate(); err != nil {
		return nil, nil, allFaults([]error{err})
	}
	if !isLocal(c.Runner) {
		return nil, nil, usagef("--runner %s: want one of %v", c.Runner, LocalRunners())
	}
	process.configure(c.StorageConfig)
	t, err := ReadTree(ctx, c.Model)
	if err != nil {
		return nil, nil, err
	}
	in, err := openInput(ctx, process, c.Input)
	if err != nil {
		return nil, nil, err
	}
	if len(in.tasks) == 0 {
		return nil, nil, &dataset.DataError{File: in.files[0].URL, Problem: "no input file has a row", Hint: "check --input"}
	}
	spec, err := evaluateSpec(in, t, &c)
	if err != nil {
		return nil, nil, err
	}
	j := &jobs{runner: c.Runner, reporter: reporter}
	scratch := "mem://espalier-" + uuid.NewString()
	defer process.store.RemoveAll(context.WithoutCancel(ctx), scratch) //nolint:errcheck // scratch in memory
	config := transforms.EvaluateConfig{Tree: treeURL(c.Model), Decoded: t, Rows: spec.Encode(), Workers: j.workers(), Pieces: pieces(j.workers(), len(in.tasks)), Out: scratch}
	m := &MetricsFile{Format: metricsFormat, Version: 1}
	err = evaluateJob(ctx, j, m, t, in.tasks, "row groups", config, spec.WeightScale)
	if err == nil && m.Test == nil {
		err = &dataset.DataError{File: in.files[0].URL, Problem: "no row has a label", Hint: "check --input and --label"}
	}
	return t, m, err
}

// evaluateSpec reads the columns by the tree's names; all rows are of the part
// "test".
func evaluateSpec(in *input, t *tree.Tree, c *EvaluateConfig) (*transforms.RowSpec, error) {
	spec := &transforms.RowSpec{
		Label: c.Label, Weight: c.Weight, WeightScale: 1, DropNullLabels: c.DropNullLabels, Shares: dataset.Shares{dataset.Test: 1},
	}
	if spec.Label == "" {
		spec.Label = t.Label.Column
	}
	columns := make(map[string]int, len(in.columns))
	for i := range in.columns {
		columns[in.columns[i].Name] = i
	}
	for i := range t.Features {
		f := &t.Features[i]
		at, ok := columns[f.Name]
		if !ok {
			return nil, &dataset.DataError{File: in.files[0].URL, Column: f.Name, Problem: "the tree needs this column and the input lacks it", Hint: "add the column, or evaluate a tree that does without"}
		}
		if err := in.check(&in.columns[at]); err != nil {
			return nil, err
		}
		spec.Features = append(spec.Features, transforms.FeatureColumn{Name: f.Name, Kind: f.Kind, Type: in.columns[at].Type})
	}
	for _, use := range []struct{ flag, name string }{{"label", spec.Label}, {"weight", spec.Weight}} {
		if use.name == "" {
			continue
		}
		at, ok := columns[use.name]
		if !ok {
			return nil, unknownColumn(use.flag, use.name, in.names())
		}
		if err := in.check(&in.columns[at]); err != nil {
			return nil, err
		}
		if use.flag == "weight" && !in.columns[at].Integer {
			spec.WeightScale = transforms.FractionScale
		}
	}
	return spec, nil
}

// maxModel bounds a tree.json that is read.
const maxModel = 1 << 30

// treeURL returns the URL of the tree.json that a model's name stands for.
func treeURL(model string) string {
	if strings.HasSuffix(model, ".json") {
		return model
	}
	return objectstore.Join(model, treeFile)
}

// ReadTree reads a tree from a run folder or a tree.json.
func ReadTree(ctx context.Context, model string) (*tree.Tree, error) {
	url := treeURL(model)
	b, err := process.store.ReadAll(ctx, url, maxModel)
	if err != nil {
		return nil, usagef("--model: %v", err)
	}
	t, err := tree.Decode(b)
	if err != nil {
		return nil, &dataset.DataError{File: url, Problem: fmt.Sprintf("not a tree that can be used: %v", err), Hint: "name a run folder or a tree.json"}
	}
	return t, nil
}
