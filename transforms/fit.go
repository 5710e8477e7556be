package transforms

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
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

func (p *plan) classNumbers() map[string]uint16 {
	numbers := make(map[string]uint16, len(p.Classes))
	for k, name := range p.Classes {
		numbers[name] = uint16(k)
	}
	return numbers
}

func classIn(numbers map[string]uint16, name, label string) (uint16, error) {
	k, ok := numbers[name]
	if !ok {
		return 0, &dataset.DataError{Column: label, Value: name, Problem: "not one of the classes", Hint: "leave such rows out of the input"}
	}
	return k, nil
}

func (p *plan) encoders() []*dataset.Encoder {
	encoders := make([]*dataset.Encoder, len(p.features))
	for i := range p.features {
		encoders[i] = dataset.NewEncoder(&p.features[i])
	}
	return encoders
}

// rowSums are the summaries of tallied rows.
type rowSums struct {
	Columns []*binning.Summary // per feature; nil: no value
	Label   *binning.Summary

	Dropped int64   // rows without a label
	Scaled  bool    // some weight is not whole
	Weight  float64 // of all rows: only its size matters
}

// summarise summarises the rows of one kind in a tally.
func (s *trainSpec) summarise(tally []byte, kind byte) (*rowSums, error) {
	r, err := newRowsReader(s, tally, kind)
	if err != nil {
		return nil, err
	}
	sums := &rowSums{Columns: make([]*binning.Summary, len(s.Columns)), Dropped: r.tally.Dropped, Scaled: r.tally.Scaled}
	limits := binning.Limits{Values: s.Config.MaxValues, Categories: 1 << 16}
	for r.next() {
		weights := r.rows
		if s.weighted() {
			weights = r.summaryWeights()
		}
		for i := range r.columns {
			v := &r.columns[i]
			if sums.Columns[i] == nil {
				sums.Columns[i] = binning.New(r.kindOf(i), v.Type, limits)
			}
			sums.Columns[i].AddVector(v, r.all, weights)
		}
		if sums.Label == nil {
			sums.Label = binning.New(dataset.Categorical, r.label.Type, limits)
		}
		sums.Label.AddVector(&r.label, r.all, r.rows)
		for _, w := range weights {
			sums.Weight += float64(w)
		}
	}
	return sums, r.err()
}

// fit fits the features and the classes.
func (s *trainSpec) fit(sums *rowSums) (*plan, error) {
	c := &s.Config
	p := &plan{Dropped: sums.Dropped, Scale: 1}
	if sums.Scaled {
		p.Scale = dataset.TallyScale
	}
	if sums.Weight >= MaxTotalWeight {
		return nil, &dataset.DataError{Column: c.Weight, Problem: "the weights of all rows add up to more than can be counted, 2^60 / 1e6 of fractional and 2^60 of whole ones", Hint: "divide them by their mean"}
	}
	var tail int64
	var err error
	overflow := sums.Label.Overflow()
	if !overflow {
		p.Classes, tail, err = binning.FitCategorical(sums.Label, c.MaxClasses)
	}
	if err != nil {
		return nil, err
	}
	if overflow || tail > 0 {
		return nil, &dataset.DataError{Column: c.Label, Problem: fmt.Sprintf("the label has more than %d classes", c.MaxClasses), Hint: "raise MaxClasses, or name a column of classes as the Label"}
	}
	for i := range s.Columns {
		f, err := s.fitColumn(&s.Columns[i], sums.Columns[i])
		if err != nil {
			return nil, err
		}
		if codesSeen(&f) > 1 {
			p.features, p.Columns = append(p.features, f), append(p.Columns, i)
		}
	}
	p.Encoded = dataset.EncodeFeatures(p.features)
	return p, p.open()
}

// codesSeen returns the number of codes that rows have.
func codesSeen(f *dataset.Feature) int {
	n := f.Bins()
	if f.Kind == dataset.Numeric && f.Cuts == nil {
		n = 0 // no value at all
	}
	if f.Missing > 0 {
		n++
	}
	if f.Other > 0 {
		n++
	}
	return n
}

func (s *trainSpec) fitColumn(column *FeatureColumn, sum *binning.Summary) (dataset.Feature, error) {
	c := &s.Config
	f := dataset.Feature{Name: column.Name, Kind: sum.Kind(), Type: sum.Type(), Missing: sum.Missing(), Cost: 1}
	if cost, ok := c.Costs[column.Name]; ok {
		f.Cost = cost
	}
	if f.Kind == dataset.Numeric {
		s.fitNumeric(&f, sum)
		return f, nil
	}
	if sum.Overflow() {
		return f, &dataset.DataError{
			Column: column.Name, Problem: fmt.Sprintf("a categorical column with more than %d distinct values, most likely an identifier", sum.Limits().Categories),
			Hint: "leave it out with Ignore",
		}
	}
	var err error
	f.Values, f.Other, err = binning.FitCategorical(sum, c.MaxCategories)
	return f, err
}

// fitNumeric cuts the bins of a numeric feature. With a single value beside
// nulls its only bin would be the whole line, for which tree.json has no
// condition: the value becomes a category instead, with the same outcomes.
func (s *trainSpec) fitNumeric(f *dataset.Feature, sum *binning.Summary) {
	p, _, _ := s.params() // checked already
	if sum.Distinct() == 1 && f.Missing > 0 && (p.Family == split.OneHot || p.Family == split.Both) {
		values, _ := sum.Numbers()
		f.Kind, f.Values = dataset.Categorical, []string{dataset.SpellNumber(values[0])}
		return
	}
	if sum.Distinct() > 0 {
		method, _ := binning.ParseMethod(s.Config.Binning) // checked already
		f.Cuts, f.Range = append([]float64{}, binning.FitNumeric(sum, method, s.Config.Bins)...), sum.Range()
	}
}

// code makes objects of the rows of a tally.
func (s *trainSpec) code(tally []byte, p *plan) (*dataset.Table, error) {
	r, err := newRowsReader(s, tally, ownRows)
	if err != nil {
		return nil, err
	}
	classes, encoders := p.classNumbers(), p.encoders()
	t := dataset.NewTable(p.layout, s.weighted())
	stride := p.layout.Stride
	var keys []byte
	var scratch []uint16
	for r.next() {
		keys = grown(keys, len(r.all)*stride)
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
	training := tree.Training{Objects: int64(o.Len()), DroppedNullLabel: p.Dropped}
	for i := range o.Len() {
		training.Rows += o.RowsOf(i)
		training.Weight += o.Weight[i]
		training.RelabelledRows += o.Weight[i]
		for _, cw := range o.Raw(i) {
			if cw.Class == o.Class[i] {
				training.RelabelledRows -= cw.Weight
			}
		}
	}
	if p.Scale > 1 {
		training.WeightScale = p.Scale
	}
	for i := range p.features { // bins may be those of other rows, and summaries count weight
		f := &p.features[i]
		f.Missing, f.Other = 0, 0
		for j := range o.Len() {
			switch o.Codes[i].At(j) {
			case f.MissingCode():
				f.Missing += o.RowsOf(j)
			case f.OtherCode():
				f.Other += o.RowsOf(j)
			}
		}
	}
	params, algorithm, err := s.params()
	if err != nil {
		return nil, 0, err
	}
	root := induce.Grow(o, split.Columns(p.features), params, training.Weight, 0, induce.Options{Workers: s.Config.Workers})
	root.BestFirst(s.Config.MaxLeaves)
	model, _ := induce.Model(root, p.features)
	model.Label = tree.Label{Column: s.Config.Label, Classes: p.Classes}
	model.Algorithm, model.Training = algorithm, training
	estimate, err := tree.ParseEstimate(s.Config.LeafEstimate)
	if err != nil {
		return nil, 0, err
	}
	model.Estimate(estimate, p.Scale)
	model.Measure()
	return model.Encode(), training.Rows, nil
}

// summaryWeights returns the rows' weights in the units in which bins are
// fitted: those of the column's type, whole or not.
func (r *rowsReader) summaryWeights() []int64 {
	if r.spec.Whole || r.tally.Scaled {
		return r.weights
	}
	r.scaled = grown(r.scaled, len(r.weights))
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
