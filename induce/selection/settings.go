package selection

import (
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
)

// Settings are the settings of a choice.
type Settings struct {
	frontier.Settings

	Folds       crossvalidate.Setting
	Seed        uint64 // seed of the folds and of the teacher
	Certificate bool   // whether the chosen tree gets a certificate
	LeafModel   Kind
	Teacher     Teacher

	// Constrained reports whether features have monotonicity constraints. Leaf models and teachers do
	// not keep them.
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

// Teacher has the settings of a teacher, from which additional trees learn.
type Teacher struct {
	Kind   distill.Teacher
	Weight float64 // weight of its probabilities against the label
	MadeUp *int64  // number of synthetic rows that it labels; nil: by the number of training objects
}

// Narrowed returns the settings and the members of the grid without the members that cannot be
// chosen. If a tree has to be chosen without validation rows, Folds with the value auto become
// crossvalidate.AutoFolds folds. If there are no folds either, only the first member is left: see
// frontier.Settings.Unjudged; the host gets a warning.
func (s Settings) Narrowed(members []grid.Member, validates bool, h Host) (Settings, []grid.Member) {
	if s.Undecided(len(members)) && !validates {
		if s.Folds.Auto {
			s.Folds = crossvalidate.Setting{Number: crossvalidate.AutoFolds}
		}
		if s.Folds.Number == 0 {
			h.Warn(fmt.Sprintf("there are no validation rows and no folds to choose a tree by: the tree is the first of the grid; "+
				"%s %d chooses by cross-validation", h.Setting("folds"), crossvalidate.AutoFolds))
			s.Settings = s.Unjudged()
		}
	}
	if s.Rule == frontier.First {
		members = members[:1]
	}
	return s, members
}

// leftOut notes that a setting with the value auto is off because of monotonicity constraints.
func (c *Chooser) leftOut(setting, what string) {
	c.Host.Note(fmt.Sprintf("%s auto: %s does not keep %s", c.Host.Setting(setting), what, c.Host.Setting("monotone")))
}

// WantsModels reports whether leaves may have models.
func (s *Settings) WantsModels() bool { return s.LeafModel != None && !s.Constrained }

// Groups returns the greatest number of training objects for which folds and teachers may need the groups
// of rows; 0: groups are not needed. By default only small data have folds or a teacher. The rule OneSE
// needs the groups of the validation rows only.
func (s *Settings) Groups() int64 {
	switch {
	case s.Folds.Number > 0, s.Teacher.Kind == distill.Boosted:
		return math.MaxInt64
	case s.Folds.Auto, s.Teacher.Kind == distill.Auto:
		return crossvalidate.MostAuto
	case s.Rule == frontier.OneSE:
		return 1
	default:
		return 0
	}
}
