package selection

import (
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
)

// Settings say how a tree is chosen.
type Settings struct {
	frontier.Settings

	Folds       crossvalidate.Setting
	Seed        uint64 // of the folds, and of the teacher
	Certificate bool   // whether the chosen tree gets a certificate
	LeafModel   Kind
	Teacher     Teacher

	// Constrained says that features have constraints of monotony. Leaf models and teachers do not
	// keep them.
	Constrained bool
}

// Kind is a kind of leaf models.
type Kind string

// The kinds.
const (
	None    Kind = "none"
	Linear  Kind = "linear"
	Boosted Kind = "boosted" // boosters on top of linear leaf models
	Auto    Kind = "auto"    // the data decide
)

// Kinds lists the names of all kinds.
func Kinds() []string { return []string{string(None), string(Linear), string(Boosted), string(Auto)} }

// Teacher says whether trees learn from a teacher, too.
type Teacher struct {
	Kind   distill.Teacher
	Weight float64 // of its probabilities against the label
	MadeUp int64   // rows that it labels; below 0: by the number of training objects
}

// Narrowed returns the settings and the members of the grid without trees that cannot be chosen:
// the grid is only its first tree if the rule is to take that one, or if there are neither
// validation rows nor folds to choose by. It tells the host of the latter.
func (s Settings) Narrowed(members []grid.Member, validates bool, h Host) (Settings, []grid.Member) {
	if s.Undecided(len(members)) && !validates && s.Folds.Number == 0 {
		h.Note("there are no validation rows to choose a tree by: it is the first of the grid, as it was grown; " +
			h.Setting("folds") + " 5 chooses by cross-validation")
		s.Settings = s.Unjudged()
	}
	if s.Rule == frontier.First {
		members = members[:1]
	}
	return s, members
}

// leftOut notes what a setting left to the data does not do next to demands of monotony.
func (c *Chooser) leftOut(setting, what string) {
	c.Host.Note(fmt.Sprintf("%s auto: %s does not keep %s", c.Host.Setting(setting), what, c.Host.Setting("monotone")))
}

// WantsModels reports whether leaves may have models.
func (s *Settings) WantsModels() bool { return s.LeafModel != None && !s.Constrained }

// Groups returns the number of training objects up to which folds and teachers may deal their rows by
// groups; 0: nothing deals rows. By default only few objects have folds or a teacher. The rule OneSE wants
// to know the groups of validation rows.
func (s *Settings) Groups() int64 {
	switch {
	case s.Folds.Number > 0, s.Teacher.Kind.Asked():
		return math.MaxInt64
	case s.Folds.Auto, s.Teacher.Kind == distill.Auto:
		return crossvalidate.MostAuto
	case s.Rule == frontier.OneSE:
		return 1
	default:
		return 0
	}
}
