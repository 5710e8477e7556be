package leafmodel

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// layer is what a fit adds to the scores.
type layer struct {
	above     *layer
	objects   int  // how many objects the node has
	whole     bool // whether the fit used all of them
	intercept []float64
	scores    []int // scores that have terms, ascending
	terms     []layerTerm
	flat      []float64 // by score: its value if it is the same for all objects, otherwise NaN; nil if no score is flat
}

// layerTerm is what a fit adds for a feature.
type layerTerm struct {
	basis        *basis
	coefficients []float64 // by score that has terms, then by function
}

// take takes over the coefficients of a fit.
func (l *layer) take(r *regression, bases []*basis, w *wanted) {
	coefficients := r.coefficients
	if w.pair {
		coefficients = make([]float64, 0, 2*r.columns)
		for _, share := range []float64{-0.5, 0.5} {
			for _, c := range r.coefficients {
				coefficients = append(coefficients, float64(share*c))
			}
		}
	}
	l.scores = w.scores
	for at, k := range w.scores {
		l.intercept[k] = coefficients[at*r.columns]
	}
	column := 1
	for _, b := range bases {
		t := layerTerm{basis: b, coefficients: make([]float64, 0, len(w.scores)*b.columns)}
		for at := range w.scores {
			t.coefficients = append(t.coefficients, coefficients[at*r.columns+column:][:b.columns]...)
		}
		l.terms = append(l.terms, t)
		column += b.columns
	}
}

// of returns the coefficients of a term for a score of the model; nil if they are 0.
func (l *layer) of(t *layerTerm, score int) []float64 {
	at, found := slices.BinarySearch(l.scores, score)
	if !found {
		return nil
	}
	return t.coefficients[at*t.basis.columns:][:t.basis.columns]
}

// raised returns the scores that are not flat, and for each score its index among them; negative
// for a flat score.
func (l *layer) raised() (scores, place []int) {
	for k := range l.intercept {
		if l.flat != nil && l.flat[k] == l.flat[k] {
			place = append(place, -1)
			continue
		}
		place = append(place, len(scores))
		scores = append(scores, k)
	}
	return scores, place
}

// raise adds a layer to the wanted scores of the first n objects, by object and score.
func (r *regression) raise(scores []float64, n int, l *layer, w *wanted) {
	width := w.width()
	add := zeros(r.added, width)
	r.added = add
	for at, k := range w.scores {
		if w.pair && at == 0 {
			add[0] -= l.intercept[k]
		} else {
			add[min(at, width-1)] += l.intercept[k]
		}
	}
	for i := range n {
		to := scores[i*width : (i+1)*width]
		for at, v := range add {
			to[at] += v
		}
	}
	for t := range l.terms {
		term := &l.terms[t]
		b := term.basis
		coefficients := zeros(r.added, width*b.columns)
		r.added = coefficients
		for at, k := range w.scores {
			to := coefficients[min(at, width-1)*b.columns:]
			for j, c := range l.of(term, k) {
				if w.pair && at == 0 {
					c = -c
				}
				to[j] += c
			}
		}
		r.raiseBy(scores, n, b, coefficients)
	}
}

// raiseBy adds the contribution of a feature to the scores of the first n objects, given the
// coefficients by score and function. It uses a table by code if there are more objects than codes.
func (r *regression) raiseBy(scores []float64, n int, b *basis, coefficients []float64) {
	width := len(coefficients) / b.columns
	codes := r.codesOf(b.feature, n)
	if entries := b.last - b.first + 2; n > entries {
		r.byCode = zeros(r.byCode, entries*width)
		for at := range entries {
			values := b.values[at*b.columns:][:b.columns]
			for k := range width {
				r.byCode[at*width+k] = dot(values, coefficients[k*b.columns:])
			}
		}
		if width == 1 {
			for i, code := range codes {
				scores[i] += r.byCode[b.at(int(code))]
			}
			return
		}
		for i, code := range codes {
			from := r.byCode[b.at(int(code))*width:][:width]
			to := scores[i*width:][:width]
			for k, v := range from {
				to[k] += v
			}
		}
		return
	}
	for i, code := range codes {
		values := b.of(int(code))
		for k := range width {
			scores[i*width+k] += dot(values, coefficients[k*b.columns:])
		}
	}
}

// faded is how many objects fade samples for the scores of absent classes.
const faded = 16

// fade makes the score of each class absent from a node constant (flat). The fits so far expect
// some rows of such a class. The drop d of its score that maximises the penalised likelihood
// satisfies expected * e^-d = ridge * d, which is also how many rows are expected after the drop.
func (f *fitter) fade(r *regression, made *layer, ids []int32, w *wanted) {
	weight := int64(0)
	for _, id := range ids {
		weight += f.objects.Weight[id]
	}
	ids = ids[:min(len(ids), faded)]
	made.flat = make([]float64, f.scores)
	rest := &wanted{} // scores that are not flat yet
	for k := range made.flat {
		if made.flat[k] = math.NaN(); made.above.flat != nil {
			made.flat[k] = made.above.flat[k]
		}
		if math.IsNaN(made.flat[k]) {
			rest.scores = append(rest.scores, k)
		}
	}
	scores := make([]float64, len(ids)*len(rest.scores))
	for l := made; l != nil; l = l.above {
		r.raise(scores, len(ids), l, rest)
	}
	// sums over the objects: unit for a score of 0, expected by score
	judged := int64(0)
	unit := 0.0
	expected := make([]float64, f.scores)
	z := slices.Clone(made.flat)
	for i, id := range ids {
		for at, k := range rest.scores {
			z[k] = scores[i*len(rest.scores)+at]
		}
		most := math.Inf(-1)
		sum := 0.0
		for _, k := range w.scores {
			most = max(most, z[k])
		}
		for _, k := range w.scores {
			sum += portable.Exp(z[k] - most)
		}
		own := float64(f.objects.Weight[id])
		judged += f.objects.Weight[id]
		unit += float64(own*portable.Exp(-most)) / sum
		for _, k := range w.absent {
			expected[k] += float64(own * min(1, portable.Exp(z[k]-most)/sum))
		}
	}
	share := f.scale * float64(weight) / float64(judged)
	ridge := min(f.options.Ridge, interceptRidge)
	for _, k := range w.absent {
		fallen := float64(ridge * drop(float64(expected[k]*share), ridge))
		made.flat[k] = portable.Log(max(fallen, leastProbability) / float64(unit*share))
	}
}

// drop returns x with expected * e^-x = ridge * x, by Newton steps on the logarithms.
func drop(expected, ridge float64) float64 {
	x := portable.Log(1 + expected/ridge) // above the solution
	for range 4 {
		if !(x > 0) {
			return 0
		}
		x -= float64(x*(x+portable.Log(x*ridge/expected))) / (1 + x)
	}
	return x
}
