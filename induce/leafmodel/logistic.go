package leafmodel

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// regression is a penalised logistic regression with given offsets. Scores are z = offset + design
// * coefficients. Two classes have a single score, the logit of the second class.
type regression struct {
	rows, columns, scores int

	design []float64 // by row and column, padded by rows of zeros to a multiple of abreast
	coded  *coded    // takes the place of the design; nil if there is a design
	offset []float64 // by row and score
	target []float64 // by row and score: weight of the class of the score
	weight []float64 // by row: weight of all classes
	ridge  []float64 // by column: factor of half the square of a coefficient

	tolerance float64 // the fit ends if the loss falls by less than this share
	steps     int     // greatest number of Newton steps

	coefficients []float64 // by score and column; set by fit

	probabilities, trial, step, hessians []float64 // scratch
	z                                    []float64 // scores of all rows, including the padding
	gradient, before                     []float64 // the fall of the loss with each coefficient; before: before the step
	bends                                []bend    // curvature pairs of the latest steps (L-BFGS), oldest first

	// Scratch of the caller that sets the rows. asked lists the features, codes holds their codes
	// by feature and object, and gathered is how many objects are in codes.
	byCode, added []float64
	asked         []int
	codes         []uint16
	gathered      int
}

// damping bounds how often a Newton step is halved.
const damping = 10

// abreast is how many rows the loops of a fit process at a time.
const abreast = 4

// fit minimises the loss, starting from coefficients of 0, by quasi-Newton steps: see descend. A
// step that does not lower the loss is halved; if none of its halves does, the fit ends.
func (r *regression) fit() {
	n := r.scores * r.columns
	r.coefficients, r.trial, r.step = zeros(r.coefficients, n), zeros(r.trial, n), zeros(r.step, n)
	r.probabilities = zeros(r.probabilities, r.rows*r.scores)
	loss := r.begin()
	for step := range r.steps {
		if step%refresh == 0 {
			r.curve()
		}
		hope := r.descend()
		part := 1.0
		next := loss
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
		r.move()
		fall := loss - next
		if loss = next; fall <= float64(r.tolerance*math.Abs(loss)) {
			return
		}
	}
}

// begin sets the probabilities for coefficients of 0, and returns the loss.
func (r *regression) begin() float64 {
	if r.coded != nil {
		copy(r.probabilities, r.coded.rows.start.probabilities)
		return r.coded.rows.loss
	}
	return r.loss(nil)
}

// zeros returns n zeros, in the memory of s if it is large enough.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// loss returns the penalised log loss, in nats, and sets the probabilities. coefficients is nil for
// coefficients of 0.
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

// rate sets the scores of all rows. Without coefficients they are the offsets.
func (r *regression) rate(coefficients []float64) {
	d := r.columns
	width := r.scores
	r.z = zeros(r.z, (r.rows+abreast-1)/abreast*abreast*width)
	copy(r.z, r.offset[:r.rows*width])
	if coefficients == nil {
		return
	}
	if r.coded != nil {
		r.coded.rate(r.z, coefficients, width)
		return
	}
	for i := 0; i < r.rows; i += abreast {
		rows := r.design[i*d : (i+abreast)*d]
		z := r.z[i*width : (i+abreast)*width]
		for k := range width {
			products := dots(rows, coefficients[k*d:(k+1)*d])
			for j, v := range products {
				z[j*width+k] += v
			}
		}
	}
}

// dots returns the inner products of rows with y.
func dots(rows, y []float64) [abreast]float64 {
	d := len(y)
	a, b := rows[:d], rows[d:][:d]
	c := rows[2*d:][:d]
	e := rows[3*d:][:d]
	var p, q, r, s float64
	for j, v := range y {
		p += float64(a[j] * v)
		q += float64(b[j] * v)
		r += float64(c[j] * v)
		s += float64(e[j] * v)
	}
	return [abreast]float64{p, q, r, s}
}

// logistic returns the log loss with a single score, without the logarithms, which it adds to logs:
// log(1 + e^-|z|) for each row.
func (r *regression) logistic(coefficients []float64, logs *logSum) (total float64) {
	r.rate(coefficients)
	p := r.probabilities[:r.rows]
	for i := range p {
		p[i] = -math.Abs(r.z[i]) // so that its exponential is at most 1
	}
	portable.ExpEach(p)
	for i, e := range p {
		z := r.z[i]
		weight := r.weight[i]
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
	r.rate(coefficients)
	width := r.scores
	for i := range r.rows {
		z := r.z[i*width : (i+1)*width]
		most := math.Inf(-1)
		target := r.target[i*width : (i+1)*width]
		p := r.probabilities[i*width : (i+1)*width]
		for k, v := range z {
			total -= float64(target[k] * v)
			most = max(most, v)
		}
		for k, v := range z {
			p[k] = v - most
		}
		total += float64(r.weight[i] * most)
	}
	portable.ExpEach(r.probabilities[:r.rows*width])
	for i := range r.rows {
		p := r.probabilities[i*width : (i+1)*width]
		sum := 0.0
		for _, e := range p {
			sum += e
		}
		share := 1 / sum
		for k := range p {
			p[k] = float64(p[k] * share)
		}
		logs.add(r.weight[i], sum)
	}
	return total
}

// logSum adds up weighted logarithms. It takes a single logarithm of a product of many factors, for each
// of two weights: most objects of a transfer set have one of two.
type logSum struct {
	total      float64
	last, next logFactors
}

// logFactors is a product of factors that are not in the total yet.
type logFactors struct{ weight, product float64 }

// add adds weight * log(factor), for a factor of at least 1.
func (s *logSum) add(weight, factor float64) {
	if weight != s.last.weight {
		s.last, s.next = s.next, s.last
		if weight != s.last.weight {
			s.total += s.last.sum()
			s.last = logFactors{weight, 1}
		}
	}
	if s.last.product > math.MaxFloat32 || factor > math.MaxFloat32 {
		s.total += s.last.sum()
		s.last.product = 1
	}
	s.last.product = float64(s.last.product * factor)
}

func (f *logFactors) sum() float64 {
	if f.product <= 1 {
		return 0
	}
	return float64(f.weight * portable.Log(f.product))
}

func (s *logSum) sum() float64 { return s.total + s.last.sum() + s.next.sum() }

// dot returns the inner product of two vectors.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	even, odd := 0.0, 0.0 // two sums, because each addition waits for the last one
	for len(x) >= 4 && len(y) >= 4 {
		even += float64(x[0]*y[0]) + float64(x[1]*y[1])
		odd += float64(x[2]*y[2]) + float64(x[3]*y[3])
		x = x[4:]
		y = y[4:]
	}
	for j, v := range x {
		even += float64(v * y[j])
	}
	return even + odd
}

// leastCurvature keeps the Hessian positive where probabilities are 0 or 1.
const leastCurvature = 1e-6

// refresh is the number of steps that share a Hessian. Computing it takes as much time as two
// steps, and after it the curvature pairs are as good.
const refresh = 8

// curvature returns the curvature of a row for a score with probability p. If there are several
// scores, each has its own Hessian, which also stands for the mixed second derivatives: both p and
// 2p(1-p), taken for all scores, bound the whole Hessian. The lesser of the two occasionally goes
// too far, and then the step is halved; it takes the fewest steps, as measured.
func (r *regression) curvature(p float64) float64 {
	c := float64(p * (1 - p))
	if r.scores > 1 {
		c = min(p, 2*c)
	}
	return max(c, leastCurvature)
}

// curve sets the Cholesky factors of the Hessians of all scores, at the coefficients for which loss
// has set the probabilities. This is the hot loop of a fit: it takes four rows at a time, and only
// fills the lower halves.
func (r *regression) curve() {
	d := r.columns
	r.hessians = zeros(r.hessians, r.scores*d*d)
	r.bends = r.bends[:0]
	if r.coded != nil {
		r.coded.square(r.hessians, d)
	} else {
		r.square()
	}
	for k := range r.scores {
		h := r.hessians[k*d*d : (k+1)*d*d]
		for a, penalty := range r.ridge {
			h[a*d+a] += penalty
		}
		factor(h, d)
	}
}

// square adds the squares of the design, times the curvatures of the rows, to the Hessians of all scores.
func (r *regression) square() {
	d := r.columns
	for i := 0; i < r.rows; i += abreast {
		for k := range r.scores {
			var curvatures [abreast]float64
			for j := range curvatures[:min(abreast, r.rows-i)] {
				curvatures[j] = float64(r.weight[i+j] * r.curvature(r.probabilities[(i+j)*r.scores+k]))
			}
			addSquares(r.hessians[k*d*d:(k+1)*d*d], r.design[i*d:(i+abreast)*d], d, curvatures)
		}
	}
}

// addSquares adds the outer products of rows with themselves, times their curvatures, to the lower
// half of a matrix.
func addSquares(h, rows []float64, d int, curvatures [abreast]float64) {
	x := rows[:d]
	y := rows[d : 2*d]
	z := rows[2*d : 3*d]
	u := rows[3*d : 4*d]
	for a := range d {
		p, q := float64(curvatures[0]*x[a]), float64(curvatures[1]*y[a])
		r, s := float64(curvatures[2]*z[a]), float64(curvatures[3]*u[a])
		to := h[a*d : a*d+a+1]
		x := x[:len(to)]
		y := y[:len(to)]
		z := z[:len(to)]
		u := u[:len(to)]
		for b := range to {
			to[b] += (float64(p*x[b]) + float64(q*y[b])) + (float64(r*z[b]) + float64(s*u[b]))
		}
	}
}

// addMultiples adds rows, times their factors, to a vector.
func addMultiples(to, rows []float64, factors [abreast]float64) {
	d := len(to)
	x := rows[:d]
	y := rows[d:][:d]
	z := rows[2*d:][:d]
	u := rows[3*d:][:d]
	p := factors[0]
	q := factors[1]
	r := factors[2]
	s := factors[3]
	for a, v := range to {
		to[a] = v + ((float64(p*x[a]) + float64(q*y[a])) + (float64(r*z[a]) + float64(s*u[a])))
	}
}

// slope sets the gradient, at the coefficients for which loss has set the probabilities.
func (r *regression) slope() {
	r.gradient = zeros(r.gradient, r.scores*r.columns)
	if r.coded != nil {
		r.coded.slope(r)
	} else {
		r.addResiduals()
	}
	for k := range r.scores {
		for a, penalty := range r.ridge {
			r.gradient[k*r.columns+a] -= float64(penalty * r.coefficients[k*r.columns+a])
		}
	}
}

// addResiduals adds the residuals of the rows, times the design, to the gradient.
func (r *regression) addResiduals() {
	d := r.columns
	width := r.scores
	for i := 0; i < r.rows; i += abreast {
		for k := range width {
			var residuals [abreast]float64
			for j := range residuals[:min(abreast, r.rows-i)] {
				at := (i+j)*width + k
				residuals[j] = r.target[at] - float64(r.weight[i+j]*r.probabilities[at])
			}
			addMultiples(r.gradient[k*d:(k+1)*d], r.design[i*d:(i+abreast)*d], residuals)
		}
	}
}

// bend is a curvature pair of L-BFGS: a step, and by how much the gradient falls along it.
type bend struct {
	step, less []float64
	product    float64 // inner product of both, above 0
}

// move moves the trial coefficients by the step.
func (r *regression) move() {
	n := len(r.bends)
	r.bends = slices.Grow(r.bends, 1)[:n+1]
	last := &r.bends[n] // reuses the memory of an earlier pair
	last.step = last.step[:0]
	last.less = last.less[:0]
	for j, c := range r.trial {
		last.step = append(last.step, c-r.coefficients[j])
	}
	copy(r.coefficients, r.trial)
	r.before = append(r.before[:0], r.gradient...)
}

// learn completes the latest curvature pair. The pair is dropped if the loss is not curved along
// its step, within the precision of floating point.
func (r *regression) learn() {
	last := len(r.bends) - 1
	if last < 0 || len(r.bends[last].less) > 0 {
		return
	}
	b := &r.bends[last]
	for j, g := range r.gradient {
		b.less = append(b.less, r.before[j]-g)
	}
	if b.product = dot(b.step, b.less); !(b.product > 0) {
		r.bends = r.bends[:last]
	}
}

// descend sets the step from the gradient at the coefficients and the factors of the Hessians,
// corrected by the curvature pairs of the steps since these were set (L-BFGS: Nocedal 1980). It
// returns by how much the loss falls under this quadratic model.
func (r *regression) descend() (fall float64) {
	d := r.columns
	r.slope()
	r.learn()
	r.step = append(r.step[:0], r.gradient...)
	step := r.step
	var shares [refresh]float64
	for i, b := range slices.Backward(r.bends) {
		shares[i] = dot(b.step, step) / b.product
		addMultiple(step, b.less, -shares[i])
	}
	for k := range r.scores {
		substitute(r.hessians[k*d*d:(k+1)*d*d], d, step[k*d:(k+1)*d])
	}
	for i, b := range r.bends {
		addMultiple(step, b.step, shares[i]-dot(b.less, step)/b.product)
	}
	return float64(dot(step, r.gradient) / 2)
}

// addMultiple adds a vector, times a factor, to another vector.
func addMultiple(to, vector []float64, factor float64) {
	for j, v := range vector {
		to[j] += float64(factor * v)
	}
}

// leastPivot keeps the factors of a nearly singular matrix finite.
const leastPivot = 1e-12

// factor replaces the lower half of a symmetric positive definite matrix by its Cholesky factor. d
// is the length of a row.
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

// substitute replaces b by the solution x of h x = b, where h is a Cholesky factor. d is the length
// of a row of h.
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
