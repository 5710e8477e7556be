package selection

import (
	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
)

// Settings say how a tree is chosen.
type Settings struct {
	frontier.Settings

	Folds       crossvalidate.Setting
	Seed        uint64 // of the folds, and of the teacher
	Certificate certify.Mode
	LeafModel   Kind
	Teacher     Teacher

	// Constrained says that features have constraints of monotony, which hold for plain
	// probabilities of trees that labels teach.
	Constrained bool
}

// Kind is a kind of leaf models, or of teachers.
type Kind string

// The kinds.
const (
	None    Kind = "none"
	Linear  Kind = "linear"  // leaf models
	Forest  Kind = "forest"  // a random forest as the teacher
	Boosted Kind = "boosted" // boosters on top of linear leaf models; boosted trees as the teacher
	Auto    Kind = "auto"    // the data decide
)

// Teacher says whether trees learn from a teacher, too.
type Teacher struct {
	Kind   Kind
	Weight float64 // of its probabilities against the label
	MadeUp int64   // rows that it labels; below 0: by the number of training objects
}

// name returns the kind of the teacher, once it is wanted.
func (t *Teacher) name() string {
	if t.Kind == Auto {
		return string(Boosted)
	}
	return string(t.Kind)
}

// WantsModels reports whether leaves may have models.
func (s *Settings) WantsModels() bool { return s.LeafModel != None && !s.Constrained }
