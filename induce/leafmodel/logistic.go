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

	tolerance float64 // relative fall of the loss at which the fit ends
	steps     int     // most Newton steps

	coefficients []float64 // by score and column; filled by fit

	probabilities, trial, step, hessians, gradient []float64 // scratch
	z                                              []float64 // scores of a row or of all rows

	// Scratch of who sets the rows. asked and codes are the features, and their codes by feature
	// and object; gathered is the number of objects.
	byCode, added []float64
	asked         []int
	codes         []uint16
	gathered      int
}

// damping bounds the number of times that a Newton step is halved.
const damping = 10

// fit minimises the loss from coefficients of 0 by Newton steps. A step that does not lower
// the loss is halved; if no part of it does, the fit ends.
func (r *regression) fit() {
	n := r.scores * r.columns
	r.coefficients, r.trial, r.step = zeros(r.coefficients, n), zeros(r.trial, n), zeros(r.step, n)
	r.probabilities = zeros(r.probabilities, r.rows*r.scores)
	loss := r.loss(nil)
	for step := range r.steps {
		if step%refresh == 0 {
			r.curve()
		}
		hope := r.descend()
		part, next := 1.0, loss
		if hope <= float64(r.tolerance*math.Abs(loss)) { // so it is the last step
			for j, c := range r.step {
				r.coefficients[j] += c
			}
			return
		}
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

// zeros returns n zeros, in the memory of a slice if it is large enough.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// loss returns the penalised log loss, in nats, and sets the probabilities. Without coefficients
// they are 0.
func (r *regression) loss(coefficients []float64) float64 {
	var logs logSum
	total := 0.0
	if r.scores == 1 {
		total = r.logistic(coefficients, &logs)
	} else {
		total = r.softmax(coefficients, &logs)
	}
	total += logs.sum()
	if coefficients == nil {
		return total
	}
	for k := range r.scores {
		for j, penalty := range r.ridge {
			c := coefficients[k*r.columns+j]
			total += float64(float64(float64(penalty*c)*c) / 2)
		}
	}
	return total
}

// logistic returns the log loss of one score, but for the logarithms: the row's share of
// these is log(1 + e^z).
func (r *regression) logistic(coefficients []float64, logs *logSum) (total float64) {
	r.z = zeros(r.z, r.rows)
	p := r.probabilities[:r.rows]
	for i := range p {
		r.z[i] = r.offset[i]
		if coefficients != nil {
			r.z[i] += dot(r.design[i*r.columns:(i+1)*r.columns], coefficients)
		}
		p[i] = -math.Abs(r.z[i]) // so its exponential is at most 1
	}
	portable.ExpEach(p)
	for i, e := range p {
		z, weight := r.z[i], r.weight[i]
		if z >= 0 {
			total += float64(weight * z)
			p[i] = 1 / (1 + e)
		} else {
			p[i] = e / (1 + e)
		}
		total -= float64(r.target[i] * z)
		logs.add(weight, 1+e)
	}
	return total
}

// softmax is logistic for several scores.
func (r *regression) softmax(coefficients []float64, logs *logSum) (total float64) {
	r.z = zeros(r.z, r.scores)
	z := r.z
	for i := range r.rows {
		x := r.design[i*r.columns : (i+1)*r.columns]
		at := i * r.scores
		target, p := r.target[at:at+r.scores], r.probabilities[at:at+r.scores]
		most := math.Inf(-1)
		for k := range z {
			z[k] = r.offset[at+k]
			if coefficients != nil {
				z[k] += dot(x, coefficients[k*r.columns:])
			}
			total -= float64(target[k] * z[k])
			most = max(most, z[k])
		}
		for k, v := range z {
			p[k] = v - most
		}
		portable.ExpEach(p)
		sum := 0.0
		for _, e := range p {
			sum += e
		}
		for k := range p {
			p[k] /= sum
		}
		total += float64(r.weight[i] * most)
		logs.add(r.weight[i], sum)
	}
	return total
}

// logSum adds up logarithms with weights. It takes one logarithm of many factors.
type logSum struct {
	total           float64
	weight, product float64 // of the factors that are not in the total
}

// add adds weight * log(factor), for a factor from 1 on.
func (s *logSum) add(weight, factor float64) {
	if weight != s.weight || s.product > math.MaxFloat32 || factor > math.MaxFloat32 {
		s.total = s.sum()
		s.weight, s.product = weight, 1
	}
	s.product = float64(s.product * factor)
}

func (s *logSum) sum() float64 {
	if s.product <= 1 {
		return s.total
	}
	return s.total + float64(s.weight*portable.Log(s.product))
}

// dot returns the inner product of two vectors.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	even, odd := 0.0, 0.0 // two sums, as each addition waits for the last one
	for len(x) >= 4 && len(y) >= 4 {
		even += float64(x[0]*y[0]) + float64(x[1]*y[1])
		odd += float64(x[2]*y[2]) + float64(x[3]*y[3])
		x, y = x[4:], y[4:]
	}
	for j, v := range x {
		even += float64(v * y[j])
	}
	return even + odd
}

// leastCurvature keeps the Hessian positive where probabilities are 0 or 1.
const leastCurvature = 1e-6

// refresh is the number of steps that share a Hessian. It takes most of the time of a step.
const refresh = 3

// curvature returns the curvature of a row by a score with a probability. Of several scores,
// each has a Hessian of its own, which stands for those between the scores, too: each of
// p and 2p(1-p), for all scores, bounds the whole. The lesser of both goes too far now and
// then, and the step is halved then; it takes the fewest steps, by measurement.
func (r *regression) curvature(p float64) float64 {
	c := float64(p * (1 - p))
	if r.scores > 1 {
		c = min(p, 2*c)
	}
	return max(c, leastCurvature)
}

// curve sets the Cholesky factors of the Hessians of all scores, at the coefficients whose
// probabilities loss has set. This is the hot loop of a fit: it takes four rows at a time,
// and fills the lower halves.
func (r *regression) curve() {
	d := r.columns
	r.hessians = zeros(r.hessians, r.scores*d*d)
	var none [4]float64
	for i := 0; i < r.rows; i += len(none) {
		for k := range r.scores {
			curvatures := none
			for j := range curvatures[:min(len(none), r.rows-i)] {
				curvatures[j] = float64(r.weight[i+j] * r.curvature(r.probabilities[(i+j)*r.scores+k]))
			}
			addSquares(r.hessians[k*d*d:(k+1)*d*d], r.design[i*d:min(i+4, r.rows)*d], d, curvatures)
		}
	}
	for k := range r.scores {
		h := r.hessians[k*d*d : (k+1)*d*d]
		for a, penalty := range r.ridge {
			h[a*d+a] += penalty
		}
		factor(h, d)
	}
}

// addSquares adds the products of up to four rows with themselves, times their curvatures,
// to the lower half of a matrix.
func addSquares(h, rows []float64, d int, curvatures [4]float64) {
	if len(rows) < 4*d {
		rows = append(make([]float64, 0, 4*d), rows...)[:4*d]
	}
	x, y, z, u := rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d]
	for a := range d {
		p, q := float64(curvatures[0]*x[a]), float64(curvatures[1]*y[a])
		r, s := float64(curvatures[2]*z[a]), float64(curvatures[3]*u[a])
		to := h[a*d : a*d+a+1]
		x, y, z, u := x[:len(to)], y[:len(to)], z[:len(to)], u[:len(to)]
		for b := range to {
			to[b] += (float64(p*x[b]) + float64(q*y[b])) + (float64(r*z[b]) + float64(s*u[b]))
		}
	}
}

// descend sets the step from the gradient at the coefficients and the factors of the
// Hessians. It returns by how much the loss falls if it is as curved as the Hessians say.
func (r *regression) descend() (fall float64) {
	d := r.columns
	clear(r.step)
	for i := range r.rows {
		x := r.design[i*d : (i+1)*d]
		for k, q := range r.probabilities[i*r.scores : (i+1)*r.scores] {
			residual := r.target[i*r.scores+k] - float64(r.weight[i]*q)
			g := r.step[k*d : (k+1)*d]
			for a, v := range x {
				g[a] += float64(residual * v)
			}
		}
	}
	for k := range r.scores {
		g := r.step[k*d : (k+1)*d]
		for a, penalty := range r.ridge {
			g[a] -= float64(penalty * r.coefficients[k*d+a])
		}
		r.gradient = append(r.gradient[:0], g...)
		substitute(r.hessians[k*d*d:(k+1)*d*d], d, g)
		fall += float64(dot(g, r.gradient) / 2)
	}
	return fall
}

// leastPivot keeps the factors of a nearly singular matrix finite.
const leastPivot = 1e-12

// factor replaces the lower half of a symmetric positive definite matrix by its Cholesky
// factor. d is the length of a row.
func factor(h []float64, d int) {
	for j := range d {
		pivots := h[j*d : j*d+j]
		pivot := math.Sqrt(max(h[j*d+j]-dot(pivots, pivots), leastPivot))
		h[j*d+j] = pivot
		for i := j + 1; i < d; i++ {
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
