package runfolder

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Metrics is metrics.json: the metrics of each part that has rows, and the metrics of the
// cross-validation if there was one.
type Metrics struct {
	Format  string `json:"format" jsonschema:"enum=espalier/metrics"`
	Version int    `json:"version" jsonschema:"enum=1"`
	// Key is the column of the keys of groups, which the intervals of an evaluation count; absent: rows are independent.
	Key string `json:"key,omitempty"`
	// CopiesBy are the features in which rows are equal that the intervals of an evaluation count as one; absent: none.
	CopiesBy []string `json:"copies_by,omitempty"`
	// Decision is the threshold by which rows that were scored got their classes; absent: none, or see tree.json.
	Decision *tree.Decision `json:"decision,omitempty"`
	// ErrorCosts are the costs of predictions, by actual and then by predicted class, that an evaluation was given; absent:
	// those in tree.json.
	ErrorCosts [][]float64     `json:"error_costs,omitempty"`
	Train      *metric.Metrics `json:"train,omitempty"`
	Validation *metric.Metrics `json:"validation,omitempty"`
	Test       *metric.Metrics `json:"test,omitempty"`
	Folds      *Folds          `json:"folds,omitempty"` // there if the tree was chosen by cross-validation too
}

// MetricsFormat identifies metrics.json.
const MetricsFormat = "espalier/metrics"

// Best returns the metrics to quote, with the name of their part: the test part if it has rows,
// otherwise validation, otherwise training.
func (m *Metrics) Best() (string, *metric.Metrics) {
	switch {
	case m.Test != nil:
		return dataset.Test.String(), m.Test
	case m.Validation != nil:
		return dataset.Validation.String(), m.Validation
	default:
		return dataset.Train.String(), m.Train
	}
}

// MeasuredPart is a part of the rows with its metrics.
type MeasuredPart struct {
	Name    string
	Metrics *metric.Metrics
}

// Parts returns the parts that have rows, in order.
func (m *Metrics) Parts() []MeasuredPart {
	var parts []MeasuredPart
	for _, p := range []MeasuredPart{
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

// check implements checker.
func (m *Metrics) check() error {
	for _, p := range m.Parts() {
		if err := p.Metrics.Check(); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// has reports whether all parts have the given classes.
func (m *Metrics) has(classes []string) bool {
	for _, p := range m.Parts() {
		if !slices.EqualFunc(p.Metrics.PerClass, classes, func(c metric.Class, name string) bool { return c.Class == name }) {
			return false
		}
	}
	return true
}

// Set sets the metrics of a part. It removes the ROC curves of training rows, which are not used,
// and as long as the curves of the other parts.
func (m *Metrics) Set(part dataset.Part, x *metric.Metrics) {
	switch part {
	case dataset.Train:
		for i := range x.PerClass {
			x.PerClass[i].ROC = nil
		}
		m.Train = x
	case dataset.Validation:
		m.Validation = x
	default:
		m.Test = x
	}
}

// Encode returns the metrics in their written form.
func (m *Metrics) Encode() ([]byte, error) { return encodeJSON(m) }
