package metric

import (
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Slice holds the metrics of the rows of a part that share a value, or a range of values, of a
// column. The figures are defined as in Metrics.
type Slice struct {
	SliceRows

	Rows   int64    `json:"rows" jsonschema:"minimum=0"`
	Weight int64    `json:"weight" jsonschema:"minimum=0"` // fixed point, like the weight of the part
	Share  *float64 `json:"share" jsonschema:"nullable"`   // share of the weight of the part

	AUCOvRMacro       *float64 `json:"auc_ovr_macro" jsonschema:"nullable"`
	Accuracy          *float64 `json:"accuracy" jsonschema:"nullable"`
	BalancedAccuracy  *float64 `json:"balanced_accuracy" jsonschema:"nullable"`
	LogLoss           *float64 `json:"log_loss" jsonschema:"nullable"`
	Brier             *float64 `json:"brier" jsonschema:"nullable"`
	ExpectedCost      *float64 `json:"expected_cost" jsonschema:"nullable"`
	ExpectedTests     *float64 `json:"expected_tests" jsonschema:"nullable"`
	ExpectedErrorCost *float64 `json:"expected_error_cost,omitempty"`
	// Further are as in Metrics.
	Further dataset.FurtherCosts `json:"further_costs,omitzero"`

	Classes []SliceClass `json:"classes"`
	// 95 % confidence intervals, by group where the run has a key; null without rows
	Intervals *Intervals `json:"intervals" jsonschema:"nullable"`
}

// SliceRows describes the rows of a slice.
type SliceRows struct {
	Column string `json:"column"`
	// What the rows share. value: a single value; range: numbers in [from, to); others: values without a slice; missing:
	// no value.
	Of    string   `json:"of" jsonschema:"enum=value,enum=range,enum=others,enum=missing"`
	Value *string  `json:"value,omitempty"` // as spelled; points in time are in ISO 8601
	From  *float64 `json:"from,omitempty"`  // the least value of a range; absent: unbounded
	To    *float64 `json:"to,omitempty"`    // the value above all values of a range; absent: unbounded
	// Unit is the unit of from and to, as in tree.json; absent: plain numbers.
	Unit string `json:"unit,omitempty"`
}

// What the rows of a slice have in common.
const (
	SliceOfValue   = "value"   // a single value
	SliceOfRange   = "range"   // numbers in [From, To)
	SliceOfOthers  = "others"  // values without their own slice
	SliceOfMissing = "missing" // no value
)

// SliceClass holds the shares of a class in the weight of a slice.
type SliceClass struct {
	Class      string   `json:"class"`
	Prevalence *float64 `json:"prevalence" jsonschema:"nullable"` // share of the rows whose class it is
	Predicted  *float64 `json:"predicted" jsonschema:"nullable"`  // share of the rows that are predicted as this class
	Recall     *float64 `json:"recall,omitempty"`                 // share of the rows of the class that are predicted as it; absent without such rows
}

// RowsOf describes the rows that have this code of a feature.
func RowsOf(f *dataset.Feature, code int) SliceRows {
	s := SliceRows{Column: f.Name}
	switch {
	case code == f.MissingCode():
		s.Of = SliceOfMissing
	case code == f.OtherCode():
		s.Of = SliceOfOthers
	case f.Kind == dataset.Categorical:
		s.Of = SliceOfValue
		value := f.Values[code]
		if x, err := strconv.ParseFloat(value, 64); err == nil && f.Unit != dataset.Plain {
			value = f.Unit.Spell(x)
		}
		s.Value = &value
	default:
		s.Of, s.Unit = SliceOfRange, f.Unit.String()
		if code > 0 {
			s.From = &f.Cuts[code-1]
		}
		if code < len(f.Cuts) {
			s.To = &f.Cuts[code]
		}
	}
	return s
}

// NewSlice returns the slice of the rows on which m was measured. whole is the weight of all rows
// of the part.
func NewSlice(rows SliceRows, m *Metrics, whole int64) Slice {
	s := Slice{
		SliceRows: rows, Rows: m.Rows, Weight: m.Weight, Share: ratio(m.Weight, whole),
		AUCOvRMacro: m.AUCOvRMacro, Accuracy: m.Accuracy, BalancedAccuracy: m.BalancedAccuracy,
		LogLoss: m.LogLoss, Brier: m.Brier,
		ExpectedCost: m.ExpectedCost, ExpectedTests: m.ExpectedTests, ExpectedErrorCost: m.ExpectedErrorCost, Intervals: m.Intervals,
		Further: m.Further,
	}
	for c := range m.PerClass {
		predicted := int64(0)
		for _, row := range m.Confusion {
			predicted += row[c]
		}
		s.Classes = append(s.Classes, SliceClass{m.PerClass[c].Class, m.PerClass[c].Prevalence, ratio(predicted, m.Weight), m.PerClass[c].Recall})
	}
	return s
}
