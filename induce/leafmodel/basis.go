package leafmodel

import "github.com/espalier-ml/espalier/induce/dataset"

// basis has the functions of a feature among the objects of a node, by code: one to three of its
// values, and one more if there are missing ones. A model is linear in these functions. Beyond the
// bins of the objects they are constant.
type basis struct {
	feature     int
	first, last int       // least and greatest bin of the objects
	missing     int       // the code of missing values
	columns     int       // number of functions
	values      []float64 // by bin from first on, then for missing values, and by function
}

// at returns the place of a code among the values.
func (b *basis) at(code int) int {
	at := b.last - b.first + 1
	if code != b.missing {
		at = max(0, min(code-b.first, at-1))
	}
	return at
}

// of returns the values of the functions at a code.
func (b *basis) of(code int) []float64 { return b.values[b.at(code)*b.columns:][:b.columns] }

// newBasis returns the basis of a feature by the weights of its codes among the objects,
// whose bins lie from first to last; nil if no two objects have distinct values. functions is the
// number of functions of the values, 1 to 3.
func newBasis(feature int, f *dataset.Feature, weights []float64, first, last, functions int) *basis {
	if first >= last {
		return nil
	}
	b := &basis{feature: feature, first: first, last: last, missing: f.MissingCode(), columns: functions}
	missing := weights[b.missing] > 0
	if missing {
		b.columns++
	}
	total := 0.0
	for _, w := range weights[first : last+1] {
		total += w
	}
	b.values = make([]float64, (last-first+2)*b.columns)
	low := float64(weights[first] / 2)
	span := total - low - float64(weights[last]/2) // of the ranks of the bins' middles
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
