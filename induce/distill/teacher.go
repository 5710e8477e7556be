package distill

import (
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// Teacher is a kind of teacher. Its text is the name in settings and in tree.json.
type Teacher string

// The kinds of teachers.
const (
	None    Teacher = "none"    // trees learn from the labels alone
	Boosted Teacher = "boosted" // boosted trees
	Auto    Teacher = "auto"    // Boosted for small data, otherwise None: see selection.Chooser.Regrow
)

// Teachers lists the names of all kinds.
func Teachers() []string { return []string{string(None), string(Boosted), string(Auto)} }

// Check returns an error that describes the kinds if t is none of them.
func (t Teacher) Check() error {
	switch t {
	case None, Boosted, Auto:
		return nil
	case "forest", "both":
		return errors.New("only earlier versions have it: write boosted")
	default:
		return fmt.Errorf("want one of %q", Teachers())
	}
}

// learn trains boosted trees on the training objects, and returns them with the class probabilities
// that they predict for each training object without having seen it. It returns nil if Stop ends the
// work.
func (c *Config) learn(training *dataset.Objects) (teacher *boost.Ensemble, unseen []float32) {
	teacher = boost.NewEnsemble(training, c.Features, boost.Options{
		Scale: c.Scale, Workers: c.Workers, Stop: c.Stop, Most: c.Most, Parts: c.Parts,
	})
	if teacher == nil {
		return nil, nil
	}
	if unseen = teacher.OutOfFold(); unseen == nil {
		return nil, nil
	}
	return teacher, unseen
}
