package runfolder

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Importance is importance.json: what each tested feature of the tree contributes and costs.
type Importance struct {
	Format   string               `json:"format" jsonschema:"enum=espalier/importance"`
	Version  int                  `json:"version" jsonschema:"enum=1"`
	Part     string               `json:"part" jsonschema:"enum=train,enum=validation"` // part of the permuted rows
	Rows     int64                `json:"rows" jsonschema:"minimum=0"`                  // number of permuted rows
	Objects  int64                `json:"objects" jsonschema:"minimum=0"`               // number of objects of these rows
	AUC      *float64             `json:"auc" jsonschema:"nullable"`                    // AUC of the tree on these rows; null if they do not define it
	Features []importance.Feature `json:"features"`
}

// Shuffled are the rows on which the importance of features is measured.
type Shuffled struct {
	Part    string
	Objects *dataset.Objects
}

const importanceFormat = "espalier/importance"

// NewImportance measures the features that a tree tests. The tree must have the features of the
// objects. models are as for importance.Of.
func NewImportance(t *tree.Tree, s *Shuffled, models importance.Models) *Importance {
	m := importance.Of(t, s.Objects, models)
	r := &Importance{
		Format: importanceFormat, Version: 1, Part: s.Part, Objects: int64(s.Objects.Len()), AUC: m.AUC,
		Features: append([]importance.Feature{}, m.Features...), // never null
	}
	for i := range s.Objects.Len() {
		r.Rows += s.Objects.RowsOf(i)
	}
	return r
}
