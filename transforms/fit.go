package transforms

import (
	"encoding/json"
	"math"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// The steps from tallied rows to a tree, by the kernels that package pipelines
// uses, for rows that fit a worker.

// plan says how tallied rows become objects.
type plan struct {
	Encoded []byte   `json:"features"` // see dataset.EncodeFeatures
	Columns []int    `json:"columns"`  // of each feature, in trainSpec.Columns
	Classes []string `json:"classes"`
	Dropped int64    `json:"dropped"` // rows without a label
	Scale   int64    `json:"scale"`   // units in a weight of 1
	Bins    int      `json:"bins"`    // of a numeric feature, at most

	features []dataset.Feature
	layout   dataset.Layout
}

func openPlan(b []byte) (*plan, error) {
	p := new(plan)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, err
	}
	return p, p.open()
}

func (p *plan) open() error {
	var err error
	p.features, err = dataset.DecodeFeatures(p.Encoded)
	p.layout = dataset.NewLayout(p.features)
	return err
}

func classIn(numbers map[string]uint16, name, label string) (uint16, error) {
	k, ok := numbers[name]
	if !ok {
		return 0, &dataset.DataError{
			Column: label, Value: name, Problem: "not one of the classes",
			Hint: "leave such rows out of the input",
		}
	}
	return k, nil
}

// manyRows is the number of rows from which on 512 bins serve better than 128, as
// for `espalier train --bins auto`.
const manyRows = 30_000

// bins returns the number of bins that are fitted to so many rows, those without a
// label among them.
func (c *TrainConfig) bins(rows int64) int {
	switch {
	case c.Bins != 0:
		return c.Bins
	case rows >= manyRows:
		return 512
	default:
		return 128
	}
}

// fit fits the features and the classes.
func (s *trainSpec) fit(sums *rowSums) (*plan, error) {
	c := &s.Config
	p := &plan{Dropped: sums.Dropped, Scale: 1, Bins: c.bins(sums.rows())}
	if sums.Scaled {
		p.Scale = dataset.TallyScale
	}
	if sums.Weight >= jobs.MaxTotalWeight {
		return nil, &dataset.DataError{Column: c.Weight, Problem: "the weights of all rows add up to more than can be " +
			"counted, 2^60 / 1e6 of fractional and 2^60 of whole ones", Hint: "divide them by their mean"}
	}
	var err error
	if p.Classes, err = binning.FitClasses(c.Label, sums.Label, c.MaxClasses); err != nil {
		return nil, dataset.WithHint(err, "raise MaxClasses, or name a column of classes as the Label")
	}
	for i := range s.Columns {
		f, err := s.fitColumn(&s.Columns[i], sums.Columns[i], p.Bins, dataset.Unit(max(sums.Units[i], 0)))
		if err != nil {
			return nil, err
		}
		if f.CodesSeen() > 1 {
			p.features, p.Columns = append(p.features, f), append(p.Columns, i)
		}
	}
	p.Encoded = dataset.EncodeFeatures(p.features)
	return p, p.open()
}

func (s *trainSpec) fitColumn(
	column *jobs.FeatureColumn, sum *binning.Summary, bins int, unit dataset.Unit,
) (dataset.Feature, error) {
	c := &s.Config
	p, _, _ := s.params()                       // checked already
	method, _ := binning.ParseMethod(c.Binning) // likewise
	f, err := binning.FitFeature(column.Name, sum, binning.FeatureConfig{
		Method: method, Bins: []int{bins}, SingleBins: p.Family == split.OneHot || p.Family == split.Both,
		Categories: c.MaxCategories, Unit: unit,
	})
	f.Cost = 1
	if cost, given := c.Costs[column.Name]; given {
		f.Cost = cost
	}
	return f, dataset.WithHint(err, "leave it out with Ignore")
}

// code makes objects of the rows of a tally.
func (s *trainSpec) code(tally []byte, p *plan) (*dataset.Table, error) {
	r, err := newRowsReader(s, tally, ownRows)
	if err != nil {
		return nil, err
	}
	classes, encoders := jobs.ClassCodes(p.Classes), jobs.NewEncoders(p.features)
	t := dataset.NewTable(p.layout, s.weighted())
	stride := p.layout.Stride
	var keys []byte
	var scratch []uint16
	for r.next() {
		keys = jobs.Grown(keys, len(r.all)*stride)
		for i, encoder := range encoders {
			v := &r.columns[p.Columns[i]]
			if v.Type == dataset.Text && p.features[i].Kind == dataset.Numeric {
				return nil, mixed(p.features[i].Name)
			}
			scratch = encoder.Encode(v, keys, p.layout.Offsets[i], stride, scratch)
		}
		for row := range r.all {
			class, err := classIn(classes, r.label.Spell(row), s.Config.Label)
			if err != nil {
				return nil, err
			}
			key := keys[row*stride : (row+1)*stride]
			t.Add(key, dataset.HashKey(key), class, r.weight(row, p.Scale), r.rows[row])
		}
	}
	return t, r.err()
}

// grow grows the tree of objects and returns its JSON and the number of their
// rows.
func (s *trainSpec) grow(t *dataset.Table, p *plan) (encoded []byte, rows int64, err error) {
	o := dataset.NewObjects(p.layout, len(p.Classes), s.weighted(), t.Len())
	if err := o.AppendFrom(t.AppendBlock(nil, 0, t.Len()), p.layout); err != nil {
		return nil, 0, err
	}
	stats := jobs.NewObjectStats(dataset.Train, len(p.Classes), len(p.features))
	stats.Count(o, p.features)
	training := tree.Training{
		Rows: stats.Rows, Objects: stats.Objects, Weight: stats.Weight,
		RelabelledRows: stats.RelabelledRows(&jobs.RowSpec{WeightScale: max(1, p.Scale)}), DroppedNullLabel: p.Dropped,
	}
	if p.Scale > 1 {
		training.WeightScale = p.Scale
	}
	for i := range stats.Missing { // bins may be those of other rows, and summaries count weight
		p.features[i].Missing, p.features[i].Other = stats.Missing[i], stats.Other[i]
	}
	params, algorithm, err := s.params()
	if err != nil {
		return nil, 0, err
	}
	root := memory.Grow(o, split.Columns(p.features), params, training.Weight, memory.Options{Workers: s.Config.Workers})
	root.BestFirst(s.Config.MaxLeaves)
	model, _ := induce.Model(root, p.features)
	model.Label = tree.Label{Column: s.Config.Label, Classes: p.Classes}
	algorithm.Bins = p.Bins
	model.Algorithm, model.Training = algorithm, training
	estimate, err := tree.ParseEstimate(s.Config.LeafEstimate)
	if err != nil {
		return nil, 0, err
	}
	model.Estimate(estimate, p.Scale)
	model.Measure()
	return model.Tested().Encode(), training.Rows, nil
}

// summaryWeights returns the rows' weights in the units in which bins are
// fitted: those of the column's type, whole or not.
func (r *rowsReader) summaryWeights() []int64 {
	if r.spec.Whole || r.tally.Scaled {
		return r.weights
	}
	r.scaled = jobs.Grown(r.scaled, len(r.weights))
	for i, w := range r.weights {
		r.scaled[i] = w
		if w <= math.MaxInt64/dataset.TallyScale {
			r.scaled[i] = w * dataset.TallyScale
		}
	}
	return r.scaled
}

// weight returns a row's weight in units of which scale are a weight of 1.
func (r *rowsReader) weight(row int, scale int64) int64 {
	w := r.weights[row]
	if scale > 1 && !r.tally.Scaled {
		w *= scale
	}
	return w
}
