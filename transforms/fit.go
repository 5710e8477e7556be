package transforms

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/weighing"
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
	Bins    []int    `json:"bins"`    // most bins of a numeric feature, by subset
	weighing.Rule
	TrainRows int64 `json:"train_rows,omitempty"` // training rows with weights above 0

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

// fit fits bins and categories of the features, and the classes, to summaries. It
// leaves out features with a single value.
func (s *trainSpec) fit(sums *rowSums) (*plan, error) {
	c := &s.Config
	p := &plan{Dropped: sums.Dropped, Rule: weighing.Rule{Units: sums.Weights}, TrainRows: sums.TrainRows}
	var err error
	if p.Classes, err = binning.FitClasses(c.Label, sums.Label, c.MaxClasses); err != nil {
		return nil, dataset.WithHint(err, "raise MaxClasses, or name a column of classes as the Label")
	}
	p.Bins = c.BinsFor(sums.rows(), len(p.Classes)) // rows without a label count, too
	if err := s.weighClasses(p, sums); err != nil {
		return nil, err
	}
	for i := range s.Columns {
		f, err := s.fitColumn(&s.Columns[i], sums.Columns[i], p.Bins, dataset.Unit(max(sums.Units[i], 0)), p.TrainRows)
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
	column *dataset.FeatureColumn, sum *binning.Summary, bins []int, unit dataset.Unit, rows int64,
) (dataset.Feature, error) {
	c := &s.Config
	zone := dataset.NoZone
	if unit == dataset.Timestamp {
		zone = dataset.UTC // a time.Time is an instant
	}
	f, err := binning.FitFeature(column.Name, sum, binning.FeatureConfig{
		Method: c.Binning, Bins: bins, SingleBins: grid.SingleBins(s.members()), Categories: c.MaxCategories, MinRows: c.MinValueRows,
		Rows: rows, Unit: unit, Zone: zone,
	})
	if err != nil {
		return f, dataset.WithHint(err, "leave it out with Ignore")
	}
	priced := []dataset.Feature{f}
	err = c.Apply(priced)
	if fault := new(settings.ValueError); errors.As(err, &fault) {
		err = &dataset.DataError{Column: f.Name, Value: fault.Value, Problem: fault.Problem, Hint: "correct the ValueCosts"}
	}
	return priced[0], err
}

// partTables are the objects of each part of the rows.
type partTables [dataset.Parts]*dataset.Table

// newTables returns tables without objects.
func (s *trainSpec) newTables(p *plan) (tables partTables) {
	for part := range tables {
		tables[part] = dataset.NewTable(p.layout, s.weighted() || s.weighs())
	}
	if s.weightClasses(p) {
		tables[dataset.Train].KeepGroups(s.foldGroups())
	}
	if most := s.groups(); most > 0 {
		tables[dataset.Train].KeepGroups(most)
		tables[dataset.Validation].KeepGroups(selection.MostMeasured)
		tables[dataset.Test].KeepGroups(selection.MostMeasured)
	}
	return tables
}

// weightClasses reports whether objects keep the classes of their rows' weights: weights are unequal, and rows
// have no keys.
func (s *trainSpec) weightClasses(p *plan) bool {
	return s.Config.Key == "" && s.foldGroups() > 0 && p.Units != nil && p.Units[dataset.Train].Effect > 1
}

// code turns the rows of a tally into objects: it encodes each row and merges rows of
// equal codes.
func (s *trainSpec) code(tally []byte, p *plan) (partTables, error) {
	tables := s.newTables(p)
	for part := range tables {
		if part > 0 && s.Part == "" {
			break
		}
		if err := s.codePart(tally, p, dataset.Part(part), tables[part]); err != nil {
			return tables, err
		}
	}
	return tables, nil
}

// codePart turns the rows of a part into objects.
func (s *trainSpec) codePart(tally []byte, p *plan, part dataset.Part, t *dataset.Table) error {
	r, err := newRowsReader(s, tally, kindOfPart(part), p.Units)
	if err != nil {
		return err
	}
	classes, encoders, rule := dataset.ClassCodes(p.Classes), dataset.NewEncoders(p.features), p.rule(part)
	stride, byWeight := p.layout.Stride, s.weightClasses(p)
	var keys []byte
	var scratch []uint16
	for r.next() {
		keys = jobs.Resized(keys, len(r.positions)*stride)
		for i, encoder := range encoders {
			v := &r.columns[p.Columns[i]]
			if v.Type == dataset.Text && p.features[i].Kind == dataset.Numeric {
				return mixedTypes(p.features[i].Name)
			}
			scratch = encoder.Encode(v, keys, p.layout.Offsets[i], stride, scratch)
		}
		for row := range r.positions {
			class, err := classCode(classes, r.label.Spell(row), s.Config.Label)
			if err != nil {
				return err
			}
			key := keys[row*stride : (row+1)*stride]
			if w := weighed(rule, r.weights[row], r.rows[row], class); w > 0 {
				bucket := r.buckets[row]
				if byWeight {
					bucket = dataset.WeightClass(r.weights[row]/r.rows[row], p.Units[part].Scale)
				}
				t.AddGrouped(key, dataset.HashKey(key), bucket, class, w, r.rows[row])
			}
		}
	}
	return r.err()
}

// rule returns how the rows of a part are weighed.
func (p *plan) rule(part dataset.Part) *weighing.Rule {
	if part == dataset.Train {
		return &p.Rule
	}
	return &weighing.Rule{Units: p.Units}
}

// weighed returns the weight of equal rows of a class, times the factor of the class. Each row is
// rounded for itself.
func weighed(rule *weighing.Rule, weight, rows int64, class uint16) int64 {
	if len(rule.ClassWeights) == 0 {
		return weight
	}
	return rows * rule.Weighed(weight/rows, class)
}

// weighClasses decides by which factors classes are weighed.
func (s *trainSpec) weighClasses(p *plan, sums *rowSums) error {
	c := &s.Config
	if !s.weighs() || sums.ByClass == nil {
		return nil
	}
	if _, err := p.WeighClasses(&c.PerClass, sums.ByClass, p.Classes, false); err != nil {
		return s.classFault(err)
	}
	return nil
}

// grow grows the trees of the grid from objects, and chooses one. It returns the tree.json and the
// number of training rows.
func (s *trainSpec) grow(ctx context.Context, tables *partTables, p *plan) (encoded []byte, rows int64, err error) {
	m := &selection.InMemory{Host: trainHost{ctx}, Keyed: s.Config.Key != "", Options: memory.Options{
		Workers: s.Config.Workers, Stop: func() bool { return ctx.Err() != nil },
	}}
	for part, t := range tables {
		m.Parts[part] = t.Objects(len(p.Classes))
	}
	if train := m.Parts[dataset.Train]; s.weightClasses(p) && train.Grouped() {
		m.Parts[dataset.Train] = train.ByRow(dataset.Buckets, s.Config.Seed)
	}
	stats := dataset.NewObjectCounts(dataset.Train, len(p.Classes), p.features)
	stats.Count(m.Parts[dataset.Train])
	if stats.Objects == 0 {
		return nil, 0, s.noTrainingRows()
	}
	m.Modeller = &grid.Modeller{
		Features: p.features, Scale: p.ScaleOf(dataset.Train), Training: p.Training(stats, p.TrainRows, p.Dropped),
	}
	m.WeightEffect = p.WeightEffect()
	// The features' own counts may be of other rows (WindowConfig.Bins), or of weights.
	stats.SetRare(p.features)
	if m.Modeller.Label, err = s.describeLabel(p.Classes); err != nil {
		return nil, 0, err
	}
	m.Modeller.Estimate, m.Members, m.Settings = s.Config.LeafEstimate, s.members(), s.Config.Selection()
	grid.SetBins(m.Members, p.Bins)
	m.Columns = s.Config.SplitColumns(p.features)
	model, err := m.Train(ctx)
	if err != nil {
		return nil, 0, s.choiceFault(err)
	}
	return model.Encode(), stats.Rows, nil
}
