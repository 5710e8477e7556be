package leafmodel

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// regression is a penalised logistic regression with given offsets. Scores are z = offset +
// design * coefficients; two classes have one score, the logit of the second.
type regression struct {
	rows, columns, scores int

	design []float64 // by row and column
	offset []float64 // by row and score
	target []float64 // by row and score: weight of the score's class
	weight []float64 // by row: weight of all classes
	ridge  []float64 // by column: factor of half the square of a coefficient
	// width is the number of columns that a score uses: all, or the intercept alone. nil: all.
	width []int

	tolerance float64 // relative fall of the loss at which the fit ends
	steps     int     // most Newton steps

	coefficients []float64 // by score and column; filled by fit

	probabilities, trial, step, hessians []float64 // scratch
}

// damping bounds the number of times that a Newton step is halved.
const damping = 10

// fit minimises the loss from coefficients of 0 by Newton steps. The steps of several scores
// neglect the terms of the Hessian between scores. A step that does not lower the loss is
// halved; if no part of it does, the fit ends.
func (r *regression) fit() {
	n := r.scores * r.columns
	r.coefficients, r.trial, r.step = zeros(r.coefficients, n), zeros(r.trial, n), zeros(r.step, n)
	r.probabilities = zeros(r.probabilities, r.rows*r.scores)
	loss := r.loss(r.coefficients)
	for step := range r.steps {
		if step%refresh == 0 {
			r.curve()
		}
		r.descend()
		part, next := 1.0, loss
		for range damping {
			for j, c := range r.coefficients {
				r.trial[j] = c + float64(part*r.step[j])
			}
			if next = r.loss(r.trial); next < loss {
				break
			}
			part /= 2
		}
		if !(next < loss) {
			return
		}
		copy(r.coefficients, r.trial)
		fall := loss - next
		if loss = next; fall <= float64(r.tolerance*math.Abs(loss)) {
			return
		}
	}
}

// narrow leaves scores of classes that no row has with the intercept alone, if the rows are
// whole: a class that a sample has not may be in the rest.
func (r *regression) narrow(whole bool) {
	r.width = r.width[:0]
	for k := range r.scores {
		sum := 0.0
		for i := range r.rows {
			sum += r.target[i*r.scores+k]
		}
		if whole && r.scores > 1 && sum == 0 {
			r.width = append(r.width, 1)
		} else {
			r.width = append(r.width, r.columns)
		}
	}
}

// widthOf returns the number of columns that a score uses.
func (r *regression) widthOf(score int) int {
	if r.width == nil {
		return r.columns
	}
	return r.width[score]
}

// zeros returns n zeros, in the memory of a slice if it is large enough.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// loss returns the penalised log loss, in nats, and sets the probabilities.
func (r *regression) loss(coefficients []float64) float64 {
	total := 0.0
	var space [16]float64
	z := space[:0]
	for i := range r.rows {
		x := r.design[i*r.columns : (i+1)*r.columns]
		at := i * r.scores
		z = append(z[:0], r.offset[at:at+r.scores]...)
		for k := range z {
			z[k] += dot(x[:r.widthOf(k)], coefficients[k*r.columns:])
		}
		target := r.target[at : at+r.scores]
		total += float64(r.weight[i] * normaliser(z, r.probabilities[at:at+r.scores]))
		for k, w := range target {
			total -= float64(w * z[k])
		}
	}
	for k := range r.scores {
		for j, penalty := range r.ridge {
			c := coefficients[k*r.columns+j]
			total += float64(float64(float64(penalty*c)*c) / 2)
		}
	}
	return total
}

// dot returns the inner product of two vectors.
func dot(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(v * y[j])
	}
	return sum
}

// normaliser sets the probabilities of the scores, and returns the logarithm by which they
// are divided: log(1 + e^z) for one score, else the logarithm of the sum of e^z.
func normaliser(z, probabilities []float64) float64 {
	if len(z) == 1 {
		e := portable.Exp(-math.Abs(z[0]))
		if z[0] >= 0 {
			probabilities[0] = 1 / (1 + e)
		} else {
			probabilities[0] = e / (1 + e)
		}
		return max(z[0], 0) + portable.Log(1+e)
	}
	most, sum := z[0], 0.0
	for _, v := range z {
		most = max(most, v)
	}
	for k, v := range z {
		probabilities[k] = portable.Exp(v - most)
		sum += probabilities[k]
	}
	for k := range probabilities {
		probabilities[k] /= sum
	}
	return most + portable.Log(sum)
}

// leastCurvature keeps the Hessian positive where probabilities are 0 or 1.
const leastCurvature = 1e-6

// refresh is the number of steps that share a Hessian. It takes most of the time of a step.
const refresh = 3

// curve sets the Cholesky factors of the Hessians of all scores, at the coefficients whose
// probabilities loss has set. This is the hot loop of a fit: it fills the lower halves of
// all Hessians in one pass over the rows.
func (r *regression) curve() {
	d := r.columns
	r.hessians = zeros(r.hessians, r.scores*d*d)
	for i := range r.rows {
		x := r.design[i*d : (i+1)*d]
		for k, q := range r.probabilities[i*r.scores : (i+1)*r.scores] {
			curvature := r.weight[i] * max(float64(q*(1-q)), leastCurvature)
			h := r.hessians[k*d*d : (k+1)*d*d]
			for a, v := range x[:r.widthOf(k)] {
				scaled := float64(curvature * v)
				row := h[a*d : a*d+a+1]
				for b, w := range x[:len(row)] {
					row[b] += float64(scaled * w)
				}
			}
		}
	}
	for k := range r.scores {
		h := r.hessians[k*d*d : (k+1)*d*d]
		for a, penalty := range r.ridge {
			h[a*d+a] += penalty
		}
		factor(h, d, r.widthOf(k))
	}
}

// descend sets the step from the gradient at the coefficients and the factors of the
// Hessians.
func (r *regression) descend() {
	d := r.columns
	clear(r.step)
	for i := range r.rows {
		x := r.design[i*d : (i+1)*d]
		for k, q := range r.probabilities[i*r.scores : (i+1)*r.scores] {
			residual := r.target[i*r.scores+k] - float64(r.weight[i]*q)
			g := r.step[k*d : (k+1)*d]
			for a, v := range x[:r.widthOf(k)] {
				g[a] += float64(residual * v)
			}
		}
	}
	for k := range r.scores {
		g := r.step[k*d : (k+1)*d]
		for a, penalty := range r.ridge {
			g[a] -= float64(penalty * r.coefficients[k*d+a])
		}
		substitute(r.hessians[k*d*d:(k+1)*d*d], d, g[:r.widthOf(k)])
	}
}

// leastPivot keeps the factors of a nearly singular matrix finite.
const leastPivot = 1e-12

// factor replaces the lower half of the first n rows of a symmetric positive definite matrix
// by its Cholesky factor. d is the length of a row.
func factor(h []float64, d, n int) {
	for j := range n {
		pivots := h[j*d : j*d+j]
		pivot := math.Sqrt(max(h[j*d+j]-dot(pivots, pivots), leastPivot))
		h[j*d+j] = pivot
		for i := j + 1; i < n; i++ {
			h[i*d+j] = (h[i*d+j] - dot(pivots, h[i*d:i*d+j])) / pivot
		}
	}
}

// substitute replaces b by the solution x of h x = b, where h is a Cholesky factor. d is the
// length of a row of h.
func substitute(h []float64, d int, b []float64) {
	for i := range b {
		b[i] = (b[i] - dot(h[i*d:i*d+i], b[:i])) / h[i*d+i]
	}
	for i := len(b) - 1; i >= 0; i-- {
		for k := i + 1; k < len(b); k++ {
			b[i] -= float64(h[k*d+i] * b[k])
		}
		b[i] /= h[i*d+i]
	}
}
