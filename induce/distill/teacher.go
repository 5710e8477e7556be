package distill

import (
	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/forest"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Teacher is a kind of teacher. Its text is the name in settings and in tree.json.
type Teacher string

// The kinds of teachers.
const (
	None    Teacher = "none"    // trees learn from the labels alone
	Forest  Teacher = "forest"  // a random forest
	Boosted Teacher = "boosted" // boosted trees
	Both    Teacher = "both"    // the mean of the two
	Auto    Teacher = "auto"    // the kind with the least log loss on training objects that it has not seen
)

// Teachers lists the names of all kinds.
func Teachers() []string {
	return []string{string(None), string(Forest), string(Boosted), string(Both), string(Auto)}
}

// Asked reports whether a kind is named, so it is neither None nor Auto.
func (t Teacher) Asked() bool { return t != None && t != Auto }

// teacher predicts class probabilities, Classes numbers for each object. They are nil if Stop ends
// the work.
type teacher interface {
	unseen() []float32 // for each training object, by trees that have not seen it
	Probabilities(o *dataset.Objects) []float32
}

type bagged struct{ *forest.Forest }

func (b bagged) unseen() []float32 { return b.OutOfBag() }

type boosted struct{ *boost.Ensemble }

func (b boosted) unseen() []float32 { return b.OutOfFold() }

// both is the mean of two teachers.
type both struct{ a, b teacher }

func (b both) unseen() []float32 { return mean(b.a.unseen(), b.b.unseen()) }

func (b both) Probabilities(o *dataset.Objects) []float32 {
	return mean(b.a.Probabilities(o), b.b.Probabilities(o))
}

// mean returns the means of the entries of two lists, nil if one of the lists is nil.
func mean(a, b []float32) []float32 {
	if a == nil || b == nil {
		return nil
	}
	means := make([]float32, len(a))
	for i, p := range a {
		means[i] = (p + b[i]) / 2
	}
	return means
}

// learned is a trained teacher.
type learned struct {
	teacher

	kind    Teacher   // Forest, Boosted or Both
	ratings []float32 // ratings of the training objects, see unseen
}

// learn trains a teacher on the training objects. It returns nil if Stop ends the work.
func (c *Config) learn(training *dataset.Objects) *learned {
	var kinds []learned
	if c.Teacher != Forest {
		o := boost.Options{Scale: c.Scale, Workers: c.Workers, Stop: c.Stop}
		e := boost.NewEnsemble(training, c.Features, o)
		if e == nil {
			return nil
		}
		kinds = append(kinds, learned{teacher: boosted{e}, kind: Boosted})
	}
	if c.Teacher != Boosted {
		f := forest.Grow(training, c.Features, c.ofForest())
		if f == nil {
			return nil
		}
		kinds = append(kinds, learned{teacher: bagged{f}, kind: Forest})
	}
	for i := range kinds {
		if kinds[i].ratings = kinds[i].unseen(); kinds[i].ratings == nil {
			return nil
		}
	}
	if len(kinds) == 2 {
		a, b := &kinds[0], &kinds[1]
		mixed := learned{both{a.teacher, b.teacher}, Both, mean(a.ratings, b.ratings)}
		if c.Teacher == Both {
			return &mixed
		}
		kinds = append(kinds, mixed)
	}
	return best(kinds, training)
}

// best returns the teacher with the least log loss on training objects; ties: the first.
func best(kinds []learned, training *dataset.Objects) *learned {
	if len(kinds) == 1 {
		return &kinds[0]
	}
	chosen, least := 0, 0.0
	order := training.ByHash() // so that the sums do not depend on the order of the objects
	for i := range kinds {
		if loss := logLoss(kinds[i].ratings, training, order); i == 0 || loss < least {
			chosen, least = i, loss
		}
	}
	return &kinds[chosen]
}

// leastProbability keeps log losses finite: a forest may be certain.
const leastProbability = 1e-6

// logLoss returns the sum of the log losses of ratings, in nats times units of weight, over the
// objects with a single row. For an object with several rows, a forest has seen some rows when it
// rates the remaining ones, whereas boosted trees have seen none.
func logLoss(ratings []float32, o *dataset.Objects, order []int32) (loss float64) {
	for _, i := range order {
		if o.RowsOf(int(i)) > 1 {
			continue
		}
		for _, w := range o.Raw(int(i)) {
			p := float64(ratings[int(i)*o.Classes+int(w.Class)])
			loss -= float64(float64(w.Weight) * portable.Log(max(p, leastProbability)))
		}
	}
	return loss
}

func (c *Config) ofForest() forest.Options {
	return forest.Options{Seed: c.Seed, Workers: c.Workers, Stop: c.Stop}
}
