package certify

import (
	"fmt"
	"math"
)

// Method is a method of bounding with its bound.
type Method struct {
	Name string
	Cost float64
}

// Methods returns the bound of every value over all objects, not rounded down.
func Methods(o Data, opts Options) []Method {
	opts.Work = defaultWork
	p := newProblem(o.Objects, o.Features, &opts)
	if p.trivial() {
		return nil
	}
	var weights []float64
	for _, w := range p.weight {
		weights = append(weights, float64(w))
	}
	values := p.values()
	bounds := p.bounds(p.all(), 0, values, 1)
	var methods []Method
	for i, v := range values {
		methods = append(methods, Method{v.String(), weightedMean(column(bounds, i), weights) - v.offset})
	}
	return methods
}

// String names the value with its parameter.
func (v *value) String() string {
	if v.name == Kraft {
		return fmt.Sprintf("%s %.3g", v.name, v.multiplier*v.rate*math.Ln2)
	}
	return v.name
}

// LowerLimit is the lower confidence limit.
func LowerLimit(draws, before []float64) float64 { return lowerLimit(draws, before) }
