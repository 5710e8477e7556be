package distill

import (
	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/forest"
)

// Teacher is a kind of teachers.
type Teacher uint8

// The kinds of teachers.
const (
	Forest  Teacher = iota // a random forest
	Boosted                // boosted trees
)

// teacher rates objects by class probabilities, Classes numbers an object. They are nil if Stop says
// so.
type teacher interface {
	unseen() []float32 // of each training object, by trees that have not seen it
	Probabilities(o *dataset.Objects) []float32
}

type bagged struct{ *forest.Forest }

func (b bagged) unseen() []float32 { return b.OutOfBag() }

type boosted struct{ *boost.Ensemble }

func (b boosted) unseen() []float32 { return b.OutOfFold() }

// teacher has a teacher learn from the training objects. It is nil if Stop says so.
func (c *Config) teacher(training *dataset.Objects) teacher {
	if c.Teacher == Boosted {
		o := boost.Options{Scale: c.Scale, Workers: c.Workers, Stop: c.Stop}
		if e := boost.NewEnsemble(training, c.Features, o); e != nil {
			return boosted{e}
		}
		return nil
	}
	if f := forest.Grow(training, c.Features, c.ofForest()); f != nil {
		return bagged{f}
	}
	return nil
}

func (c *Config) ofForest() forest.Options {
	return forest.Options{Seed: c.Seed, Workers: c.Workers, Stop: c.Stop}
}
