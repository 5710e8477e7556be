package leafmodel

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// basis holds functions of a feature over the objects of a node, by code: one to three functions of
// its values, and one more if some are missing. A model is linear in these functions. They are
// constant beyond the bins of the objects.
type basis struct {
	feature     int
	first, last int       // least and greatest bin of the objects
	missing     int       // the code of missing
	columns     int       // how many functions there are
	values      []float64 // by bin, starting at first, then for missing; by function
}

// at returns the index of a code in the values, in units of columns.
func (b *basis) at(code int) int {
	at := b.last - b.first + 1
	if code != b.missing {
		at = max(0, min(code-b.first, at-1))
	}
	return at
}

// of returns the values of the functions at a code.
func (b *basis) of(code int) []float64 { return b.values[b.at(code)*b.columns:][:b.columns] }

// newBasis returns the basis of a feature, given the weights of its codes among the objects, whose
// bins are first to last; nil if no two objects have distinct values. functions, 1 to 3, is how
// many functions of the values it has.
func newBasis(feature int, f *dataset.Feature, weights []float64, first, last, functions int) *basis {
	if first >= last {
		return nil
	}
	b := &basis{feature: feature, first: first, last: last, missing: f.MissingCode(), columns: functions}
	missing := weights[b.missing] > 0
	if missing {
		b.columns++
	}
	total := portable.Sum(weights[first : last+1])
	b.values = make([]float64, (last-first+2)*b.columns)
	low := float64(weights[first] / 2)
	span := total - low - float64(weights[last]/2) // span of the ranks of the bins' middles
	below := 0.0
	for at, w := range weights[first : last+1] {
		u := max(-1, min(1, float64(2*(below+float64(w/2)-low))/span-1))
		below += w
		to := b.values[at*b.columns:]
		all := [...]float64{u, float64(u*u) - 1.0/3, max(u, 0)}
		copy(to, all[:functions])
	}
	if missing {
		b.of(b.missing)[functions] = 1
	}
	return b
}
