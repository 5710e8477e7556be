package slicing

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// A column with at most MostNumbers distinct numbers or points in time has a slice for each; a
// column with more is divided into Ranges of about the same weight. For texts and categories, the
// MostValues values with the greatest weight have a slice each, and all other values share a slice.
const (
	MostNumbers = 10
	Ranges      = 4
	MostValues  = 50
)

// Slicer measures trees on slices of the rows of an input.
type Slicer struct {
	driver   *engine.Driver
	tasks    []jobs.Task // one per row group
	folder   string      // folder for the results of jobs
	columns  []dataset.FeatureColumn
	features []dataset.Feature // by column: its codes are the slices
}

// New determines the slices from the values of the rows of all parts; spec.Features has no
// effect. A text in fewer than minRows rows has no slice of its own. For a column with too many
// distinct texts New returns a *dataset.DataError.
func New(
	ctx context.Context, d *engine.Driver, tasks []jobs.Task, folder string, columns []dataset.FeatureColumn,
	spec *jobs.RowSpec, minRows int64,
) (*Slicer, error) {
	s := &Slicer{driver: d, tasks: tasks, folder: folder, columns: columns}
	rows := *spec.OfLabels()
	rows.Features = columns
	rows.Parting = dataset.Parting{Shares: dataset.Shares{dataset.Train: 1}} // values of every part: a part may have others
	_, found, err := d.Summarise(ctx, "slice values", tasks, len(columns), jobs.SummariseConfig{
		Config: d.JobConfig(folder + "/slice_values"), Rows: rows.Encode(), Limits: binning.DefaultLimits(), Pieces: len(columns),
	})
	if err != nil {
		return nil, err
	}
	for i := range columns {
		f, err := fit(&columns[i], found[i], minRows)
		if err != nil {
			return nil, err
		}
		s.features = append(s.features, f)
	}
	return s, nil
}

// fit returns a feature whose codes are the slices of a column.
func fit(column *dataset.FeatureColumn, summary []byte, minRows int64) (dataset.Feature, error) {
	none := dataset.Feature{Name: column.Name, Kind: dataset.Categorical, Type: column.Type, Unit: column.Unit}
	if len(summary) == 0 { // no row to look at
		return none, nil
	}
	s, _, err := binning.Decode(summary)
	if err != nil {
		return none, err
	}
	c := binning.FeatureConfig{Method: binning.Quantile, Bins: Ranges, Categories: MostValues, MinRows: minRows, Unit: column.Unit}
	if s.Kind() == dataset.Numeric && s.Exact() && s.Distinct() <= MostNumbers {
		none.Type = dataset.Number
		none.Values, _ = s.Spelled()
		return none, nil
	}
	f, err := binning.FitFeature(column.Name, s, c)
	return f, dataset.WithHint(err, "leave it out of --slice, or group its values first")
}

// Measure sets the slices of each part that has metrics. spec describes how the rows are read; it
// must have all features of the tree.
func (s *Slicer) Measure(ctx context.Context, t *tree.Tree, spec *jobs.RowSpec, m *runfolder.Metrics) error {
	for from := 0; from < len(s.columns); {
		to := s.pass(t, spec, from)
		if err := s.measure(ctx, t, spec, m, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// passBytes is roughly the greatest memory of a pass over the rows. A pass takes at least one
// column.
const passBytes = 256 << 20

// pass returns the end of the columns, starting at from, that a pass over the rows takes.
func (s *Slicer) pass(t *tree.Tree, spec *jobs.RowSpec, from int) int {
	const header, word = 32, 8 // bytes of a node or an entry without classes, and of a number
	classes := len(t.Label.Classes)
	table := int64(len(t.Nodes)*header + t.CountLeaves()*classes*word)
	if t.Modelled() {
		table += int64(2 * mostDistinct * (header + 3*classes*word)) // there may temporarily be twice as many entries
	}
	if spec.Groups != [dataset.Parts]int64{} {
		const group = 8 * word // bytes of an entry of the groups, of which a class of a leaf has several
		table += int64(4 * t.CountLeaves() * classes * group)
	}
	table *= int64(dataset.Parts)
	to := from
	bytes := int64(0)
	for to < len(s.features) && (to == from || bytes+int64(s.features[to].Codes())*table <= passBytes) {
		bytes += int64(s.features[to].Codes()) * table
		to++
	}
	return to
}

// mostDistinct is the greatest number of distinct predictions of a slice that are counted exactly,
// if the tree has leaf models: see tree.ScoreCounts.
const mostDistinct = 1 << 14

// measure counts the rows by the slices of the columns [from, to), and adds them to the metrics.
func (s *Slicer) measure(
	ctx context.Context, t *tree.Tree, spec *jobs.RowSpec, m *runfolder.Metrics, from, to int,
) error {
	features := s.features[from:to]
	groups := 0
	for i := range features {
		groups += features[i].Codes()
	}
	out := fmt.Sprintf("%s/slices-%d", s.folder, len(s.driver.Timings))
	trees, err := s.driver.Trees(ctx, out, t)
	if err != nil {
		return err
	}
	c := jobs.EvaluateRowsConfig{
		ScoreConfig: jobs.ScoreConfig{Config: s.driver.JobConfig(out), Trees: trees, Rows: spec.OfLabels().Encode()},
		Slices:      &jobs.Slices{Columns: s.columns[from:to], Features: dataset.EncodeFeatures(features)},
		Distinct:    mostDistinct,
	}
	parts := m.Parts()
	for i := range parts {
		part, _ := dataset.ParsePart(parts[i].Name)
		c.Parts = append(c.Parts, part)
	}
	err = s.driver.RunGroups(ctx, "slices", s.tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.EvaluateRows(s, tasks, c) })
	if err != nil {
		return err
	}
	for i, part := range c.Parts {
		counts, err := jobs.ReadScoreCounts(ctx, &c, part, slices.Repeat([]*tree.Tree{t}, groups))
		if err != nil {
			return err
		}
		whole := parts[i].Metrics
		whole.Slices = append(whole.Slices, slicesOf(t, features, counts, whole.Weight, spec.ScaleOf(part))...)
	}
	return s.driver.Files.Store.RemoveAll(ctx, c.Out)
}

// slicesOf measures a tree on each slice with rows.
func slicesOf(
	t *tree.Tree, features []dataset.Feature, counts []*tree.ScoreCounts, whole int64, scale float64,
) []metric.Slice {
	var rows []metric.SliceRows
	for i := range features {
		for code := range features[i].Codes() {
			rows = append(rows, metric.RowsOf(&features[i], code))
		}
	}
	factors := metric.FactorsOf(t, counts[:features[0].Codes()]...) // each row is in one slice of the first column
	measured := make([]*metric.Metrics, len(rows))
	parallel.Each(len(rows), runtime.GOMAXPROCS(0), func(i int) {
		if one := metric.OfScores(t, counts[i], factors, scale); one.Rows > 0 {
			measured[i] = one
		}
	})
	var list []metric.Slice
	for i, one := range measured {
		if one != nil {
			list = append(list, metric.NewSlice(rows[i], one, whole))
		}
	}
	return list
}
