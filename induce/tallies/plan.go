package tallies

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/weighing"
)

// Plan describes how tallied rows become objects.
type Plan struct {
	Encoded []byte   `json:"features"` // see dataset.EncodeFeatures
	Columns []int    `json:"columns"`  // by feature: its position in Spec.Columns
	Classes []string `json:"classes"`
	Dropped int64    `json:"dropped"` // rows without a label
	Bins    int      `json:"bins"`    // greatest number of bins of a numeric feature
	weighing.Rule
	TrainRows int64    `json:"train_rows,omitempty"` // training rows with weights above 0
	LeftOut   []string `json:"left_out,omitempty"`   // why features are left out, see Spec.LeaveOut

	features []dataset.Feature
	layout   dataset.Layout
}

// OpenPlan decodes a plan.
func OpenPlan(b []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, err
	}
	return p, p.open()
}

// open derives the features and their layout from the encoded fields.
func (p *Plan) open() error {
	var err error
	p.features, err = dataset.DecodeFeatures(p.Encoded)
	p.layout = dataset.NewLayout(p.features)
	return err
}

// Fit fits bins and categories of the features, and the classes, to summaries. It leaves out
// features with a single value.
func (s *Spec) Fit(sums *Sums) (*Plan, error) {
	if slices.Contains(sums.Columns, nil) {
		return nil, s.NoTrainingRows()
	}
	c := &s.Settings
	p := &Plan{Dropped: sums.Dropped, Rule: weighing.Rule{Units: sums.Weights}, TrainRows: sums.TrainRows}
	var err error
	if p.Classes = s.Classes; len(p.Classes) == 0 {
		p.Classes, err = binning.FitClasses(c.Label, sums.Label, c.MaxClasses)
	}
	if err != nil {
		return nil, dataset.WithHint(err, "raise MaxClasses, or name a column of classes as the Label")
	}
	p.Bins = c.BinsFor(sums.rows(), len(p.Classes)) // rows without a label also count
	if err := s.weighClasses(p, sums); err != nil {
		return nil, err
	}
	contents := make([]uint64, len(s.Columns))
	for i := range contents {
		b, _ := sums.Columns[i].AppendBinary(nil) // never fails
		contents[i] = dataset.HashContent(b)
	}
	for _, i := range c.TestOrder(s.Columns, contents) {
		f, err := s.fitColumn(&s.Columns[i], sums.Columns[i], p.Bins, dataset.Unit(max(sums.Units[i], 0)), p.TrainRows)
		if sum := sums.Columns[i]; err != nil && s.LeaveOut && sum.Kind() == dataset.Categorical && sum.Overflow() {
			p.LeftOut = append(p.LeftOut, err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		if f.CodesSeen() > 1 {
			p.features = append(p.features, f)
			p.Columns = append(p.Columns, i)
		}
	}
	weight := int64(0)
	if len(sums.Columns) > 0 {
		weight = sums.Columns[0].Weight() + sums.Columns[0].Missing()
	}
	if err := c.Apply(p.features, weight); err != nil {
		return nil, dataset.WithHint(err, "correct the ValueCosts")
	}
	if unseen := c.Unseen(p.features); len(unseen) > 0 && len(p.LeftOut) == 0 {
		return nil, &dataset.DataError{
			Problem: fmt.Sprintf("the training rows lack the values %s, which have prices", strings.Join(unseen, ", ")),
			Hint:    "correct the ValueCosts",
		}
	}
	p.Encoded = dataset.EncodeFeatures(p.features)
	return p, p.open()
}

// fitColumn fits the bins or the categories of one feature to its summary.
func (s *Spec) fitColumn(
	column *dataset.FeatureColumn, sum *binning.Summary, bins int, unit dataset.Unit, rows int64,
) (dataset.Feature, error) {
	c := &s.Settings
	zone := dataset.NoZone
	if unit == dataset.Timestamp {
		zone = dataset.UTC // a time.Time is an instant
	}
	f, err := binning.FitFeature(column.Name, sum, binning.FeatureConfig{
		Method: c.Binning, Bins: bins, SingleBins: grid.SingleBins(s.members()), Categories: c.MaxCategories, MinRows: c.MinValueRows,
		Rows: rows, Unit: unit, Zone: zone, Order: c.Ordered[column.Name], Cuts: c.Cuts[column.Name],
	})
	return f, dataset.WithHint(err, "leave it out with Ignore")
}

// weighClasses determines the factors of the classes.
func (s *Spec) weighClasses(p *Plan, sums *Sums) error {
	c := &s.Settings
	if !s.weighs() || sums.ByClass == nil {
		return nil
	}
	if _, err := p.WeighClasses(&c.PerClass, sums.ByClass, p.Classes); err != nil {
		return s.classFault(err)
	}
	return nil
}

// Features returns the fitted features.
func (p *Plan) Features() []dataset.Feature { return p.features }

// Stride returns how many bytes the codes of a row take.
func (p *Plan) Stride() int { return p.layout.Stride }

// rule returns how the rows of a part are weighed.
func (p *Plan) rule(part dataset.Part) *weighing.Rule {
	if part == dataset.Train {
		return &p.Rule
	}
	return &weighing.Rule{Units: p.Units}
}
