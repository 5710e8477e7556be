package leafmodel

import "github.com/espalier-ml/espalier/induce/dataset"

// functions is the number of functions of a feature's values in its basis. A feature with
// missing values has one more.
const functions = 3

// basis has the functions of a feature among the objects of a node, by code. A model is
// linear in these functions.
type basis struct {
	feature     int
	first, last int       // least and greatest bin of the objects
	columns     int       // number of functions
	values      []float64 // by code and column
}

// of returns the values of the functions at a code.
func (b *basis) of(code int) []float64 { return b.values[code*b.columns : (code+1)*b.columns] }

// newBasis returns the basis of a feature by the weights of its codes among the objects; nil
// if no two objects have distinct values.
func newBasis(feature int, f *dataset.Feature, weights []float64) *basis {
	b := &basis{feature: feature, first: -1, columns: functions}
	total := 0.0
	for bin, w := range weights[:f.Bins()] {
		if w > 0 {
			if b.first < 0 {
				b.first = bin
			}
			b.last = bin
			total += w
		}
	}
	if b.first < 0 || b.first == b.last {
		return nil
	}
	missing := weights[f.MissingCode()] > 0
	if missing {
		b.columns++
	}
	b.values = make([]float64, len(weights)*b.columns)
	low := float64(weights[b.first] / 2)
	span := total - low - float64(weights[b.last]/2) // of the ranks of the bins' middles
	below := 0.0
	for bin, w := range weights[:f.Bins()] {
		u := max(-1, min(1, float64(2*(below+float64(w/2)-low))/span-1))
		below += w
		at := b.values[bin*b.columns:]
		at[0], at[1], at[2] = u, float64(u*u)-1.0/3, max(u, 0)
	}
	if missing {
		b.values[f.MissingCode()*b.columns+functions] = 1
	}
	return b
}
