package runfolder

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/report"
)

// Importance is importance.json: what each tested feature of the tree brings and costs.
type Importance struct {
	Format   string              `json:"format"`
	Version  int                 `json:"version"`
	Part     string              `json:"part"`    // of the rows that are shuffled
	Rows     int64               `json:"rows"`    // that are shuffled
	Objects  int64               `json:"objects"` // of these rows
	AUC      *float64            `json:"auc"`     // of the tree on these rows; null: they have none
	Features []FeatureImportance `json:"features"`
}

// FeatureImportance is what a feature brings and costs, see package importance.
type FeatureImportance struct {
	Feature       string   `json:"feature"`
	RowsAsked     float64  `json:"rows_asked"`     // share of the training rows with a test on it
	ExpectedTests float64  `json:"expected_tests"` // on it, mean of the training rows
	ExpectedCost  float64  `json:"expected_cost"`  // billed for these tests, mean of the training rows
	Impurity      float64  `json:"impurity"`       // fall of the entropy, in bits a training row
	AUCLost       *float64 `json:"auc_lost"`       // if the feature is shuffled; null: not measured
	AUCPerCost    *float64 `json:"auc_per_cost"`   // auc_lost / expected_cost; null: it costs nothing
}

// Shuffled are the rows on which the importance of features is measured.
type Shuffled struct {
	Part    string
	Objects *dataset.Objects
}

const importanceFormat = "espalier/importance"

// NewImportance measures the features that a tree tests. The tree has the features of the
// objects. models are those of importance.Of.
func NewImportance(t *tree.Tree, s *Shuffled, models importance.Models) *Importance {
	m := importance.Of(t, s.Objects, models)
	r := &Importance{
		Format: importanceFormat, Version: 1, Part: s.Part, Objects: int64(s.Objects.Len()), AUC: m.AUC,
		Features: make([]FeatureImportance, len(m.Features)),
	}
	for i := range s.Objects.Len() {
		r.Rows += s.Objects.RowsOf(i)
	}
	for i, f := range m.Features {
		r.Features[i] = FeatureImportance{
			Feature: t.Features[f.Feature].Name, RowsAsked: f.Asked, ExpectedTests: f.Tests, ExpectedCost: f.Paid,
			Impurity: f.Impurity, AUCLost: f.Loss,
		}
		if f.Loss != nil && f.Paid > 0 {
			each := *f.Loss / f.Paid
			r.Features[i].AUCPerCost = &each
		}
	}
	return r
}

// Report returns the features as they are printed.
func (m *Importance) Report() []report.FeatureUse {
	list := make([]report.FeatureUse, len(m.Features))
	for i, f := range m.Features {
		list[i] = report.FeatureUse{
			Name: f.Feature, Asked: f.RowsAsked, Tests: f.ExpectedTests, Paid: f.ExpectedCost, Impurity: f.Impurity,
			Lost: f.AUCLost,
		}
	}
	return list
}
