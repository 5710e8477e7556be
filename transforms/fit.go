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

// This file has the steps from tallied rows to a tree. They call the same kernels as
// package pipelines, and hold all rows in the memory of one worker.

// plan says how tallied rows become objects.
type plan struct {
	Encoded []byte   `json:"features"` // see dataset.EncodeFeatures
	Columns []int    `json:"columns"`  // by feature: its position in trainSpec.Columns
	Classes []string `json:"classes"`
	Dropped int64    `json:"dropped"` // rows without a label
	Scale   int64    `json:"scale"`   // fixed-point units in a weight of 1
	Bins    int      `json:"bins"`    // most bins of a numeric feature

	features []dataset.Feature
	layout   dataset.Layout
}

// openPlan decodes a plan.
func openPlan(b []byte) (*plan, error) {
	p := new(plan)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, err
	}
	return p, p.open()
}

// open derives the features and their layout from the encoded fields.
func (p *plan) open() error {
	var err error
	p.features, err = dataset.DecodeFeatures(p.Encoded)
	p.layout = dataset.NewLayout(p.features)
	return err
}

// classCode returns the code of a class. label is the column, for the error.
func classCode(codes map[string]uint16, name, label string) (uint16, error) {
	k, ok := codes[name]
	if !ok {
		return 0, &dataset.DataError{
			Column: label, Value: name, Problem: "not one of the classes",
			Hint: "filter such rows out before",
		}
	}
	return k, nil
}

// manyRows is the number of rows at which the default changes from 128 to 512 bins, as
// for `espalier train --bins auto`: with fewer rows finer bins are mostly noise.
const manyRows = 30_000

// bins returns the number of bins for a number of rows. Rows without a label count too.
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

// fit fits bins and categories of the features, and the classes, to summaries. It
// leaves out features with a single value.
func (s *trainSpec) fit(sums *rowSums) (*plan, error) {
	c := &s.Config
	p := &plan{Dropped: sums.Dropped, Scale: 1, Bins: c.bins(sums.rows())}
	if sums.Scaled {
		p.Scale = dataset.TallyScale
	}
	if sums.Weight >= jobs.MaxTotalWeight {
		return nil, &dataset.DataError{Column: c.Weight, Problem: "the weights of all rows add up to more than can be " +
			"counted: at most 2^60 where they are whole numbers, else 2^60 / 1e6", Hint: "divide the weights by their mean"}
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

// fitColumn fits the bins or the categories of one feature to its summary.
func (s *trainSpec) fitColumn(
	column *jobs.FeatureColumn, sum *binning.Summary, bins int, unit dataset.Unit,
) (dataset.Feature, error) {
	c := &s.Config
	p, _, _ := s.params()                       // newTrainSpec has checked them
	method, _ := binning.ParseMethod(c.Binning) // the same
	f, err := binning.FitFeature(column.Name, sum, binning.FeatureConfig{
		Method: method, Bins: []int{bins}, SingleBins: p.Family == split.OneHot || p.Family == split.Both,
		Categories: c.MaxCategories, Unit: unit,
	})
	c.price(&f)
	return f, dataset.WithHint(err, "leave it out with Ignore")
}

// code turns the rows of a tally into objects: it encodes each row and merges rows of
// equal codes.
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
		keys = jobs.Resized(keys, len(r.positions)*stride)
		for i, encoder := range encoders {
			v := &r.columns[p.Columns[i]]
			if v.Type == dataset.Text && p.features[i].Kind == dataset.Numeric {
				return nil, mixedTypes(p.features[i].Name)
			}
			scratch = encoder.Encode(v, keys, p.layout.Offsets[i], stride, scratch)
		}
		for row := range r.positions {
			class, err := classCode(classes, r.label.Spell(row), s.Config.Label)
			if err != nil {
				return nil, err
			}
			key := keys[row*stride : (row+1)*stride]
			t.Add(key, dataset.HashKey(key), class, r.weight(row, p.Scale), r.rows[row])
		}
	}
	return t, r.err()
}

// grow grows a tree from objects. It returns the tree.json and the number of rows.
func (s *trainSpec) grow(t *dataset.Table, p *plan) (encoded []byte, rows int64, err error) {
	o := dataset.NewObjects(p.layout, len(p.Classes), s.weighted(), t.Len())
	if err := o.AppendFrom(t.AppendBlock(nil, 0, t.Len()), p.layout); err != nil {
		return nil, 0, err
	}
	stats := jobs.NewObjectStats(dataset.Train, len(p.Classes), p.features)
	stats.Count(o)
	training := tree.Training{
		Rows: stats.Rows, Objects: stats.Objects, Weight: stats.Weight,
		RelabelledRows: stats.RelabelledRows(&jobs.RowSpec{WeightScale: max(1, p.Scale)}), DroppedNullLabel: p.Dropped,
	}
	if p.Scale > 1 {
		training.WeightScale = p.Scale
	}
	// The features' own counts may be of other rows (WindowConfig.Bins), or of weights.
	stats.SetRare(p.features)
	params, algorithm, err := s.params()
	if err != nil {
		return nil, 0, err
	}
	label, err := s.describeLabel(p.Classes)
	if err != nil {
		return nil, 0, err
	}
	root := memory.Grow(o, s.splitColumns(p.features), params, training.Weight, memory.Options{Workers: s.Config.Workers})
	root.BestFirst(s.Config.MaxLeaves)
	model, _ := induce.Model(root, p.features)
	model.Label = label
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

// summaryWeights returns the weights of the rows for fitting bins: whole numbers where
// the column's type has only these, else multiples of 1/dataset.TallyScale.
func (r *rowsReader) summaryWeights() []int64 {
	if r.spec.Whole || r.tally.Scaled {
		return r.weights
	}
	r.scaled = jobs.Resized(r.scaled, len(r.weights))
	for i, w := range r.weights {
		r.scaled[i] = w
		if w <= math.MaxInt64/dataset.TallyScale {
			r.scaled[i] = w * dataset.TallyScale
		}
	}
	return r.scaled
}

// weight returns the weight of a row in fixed-point units. scale is the number of
// units in a weight of 1.
func (r *rowsReader) weight(row int, scale int64) int64 {
	w := r.weights[row]
	if scale > 1 && !r.tally.Scaled {
		w *= scale
	}
	return w
}
