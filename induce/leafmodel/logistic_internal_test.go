package leafmodel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// fixed returns a fixed regression of 24 rows on an intercept and three columns.
func fixed(classes []int, scores int, ridge float64) *regression {
	r := &regression{rows: len(classes), columns: 4, scores: scores, tolerance: 0, steps: 2000}
	for range r.columns {
		r.ridge = append(r.ridge, ridge)
	}
	r.target, r.offset = make([]float64, r.rows*scores), make([]float64, r.rows*scores)
	for i, class := range classes {
		r.design = append(r.design,
			1, float64(i*7%11)/5-1, float64(i*5%13)/6-1, float64(i*i%17)/8-1)
		w := float64(1 + i%3)
		r.weight = append(r.weight, w)
		if scores > 1 {
			r.target[i*scores+class] = w
		} else if class == 1 {
			r.target[i] = w
		}
	}
	return r
}

// TestFit compares fits with those of scikit-learn 1.9.1:
//
//	LogisticRegression(C=1/ridge, fit_intercept=False, tol=1e-14).fit(X, y, sample_weight=w)
//
// with the solvers newton-cholesky for two classes and newton-cg for three.
func TestFit(t *testing.T) {
	for _, test := range []struct {
		ridge   float64
		scores  int
		classes []int
		want    []float64 // by score and column
	}{
		{0.5, 1, []int{1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1}, []float64{
			-0.3471557653333043, -0.3244786755971108, 0.7481041456912167, 0.6685442796108481,
		}},
		{2, 3, []int{0, 2, 1, 1, 0, 0, 2, 1, 1, 0, 0, 2, 1, 1, 0, 0, 2, 1, 1, 0, 0, 2, 1, 1}, []float64{
			0.20576792837048383, 0.20725502937788767, 0.6170632742044396, 0.6091031026309932,
			0.3982284082480186, -0.05792535936781217, 0.2192036809760727, 0.11007106188247565,
			-0.6039963366185025, -0.1493296700100756, -0.8362669551805122, -0.7191741645134695,
		}},
	} {
		t.Run(fmt.Sprintf("scores=%d", test.scores), func(t *testing.T) {
			r := fixed(test.classes, test.scores, test.ridge)
			r.fit()
			for j, c := range r.coefficients {
				if math.Abs(c-test.want[j]) > 1e-6 {
					t.Errorf("coefficient %d: %.9f, want %.9f", j, c, test.want[j])
				}
			}
		})
	}
}

// TestGradient compares the step's right side, and the curvature of the loss, with finite
// differences of the loss. The Hessian of one score is that curvature. Those of several scores
// have min(p, 2p(1-p)) in place of p(1-p), by hand.
func TestGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, scores := range []int{1, 3} {
		classes := make([]int, 24)
		for i := range classes {
			classes[i] = random.IntN(max(2, scores))
		}
		r := fixed(classes, scores, 0.7)
		n := scores * r.columns
		r.coefficients, r.step, r.probabilities = make([]float64, n), make([]float64, n), make([]float64, r.rows*scores)
		for j := range r.coefficients {
			r.coefficients[j] = random.NormFloat64()
		}
		const h = 1e-4
		at := func(moves ...int) float64 {
			c := append([]float64(nil), r.coefficients...)
			for _, j := range moves {
				if j >= 0 {
					c[j] += h
				} else {
					c[-j-1] -= h
				}
			}
			return r.loss(c)
		}
		gradient, curvature := make([]float64, n), make([]float64, n)
		for j := range gradient {
			up, down := at(j), at(-j-1)
			gradient[j] = (up - down) / (2 * h)
			curvature[j] = (up + down - 2*at()) / (h * h)
		}
		r.loss(r.coefficients)
		r.curve()
		r.descend()
		for k := range scores {
			d := r.columns
			l := r.hessians[k*d*d : (k+1)*d*d]
			for a := range d { // the Hessian is the factor times its transpose
				var diagonal, product float64
				for b := range a + 1 {
					diagonal += l[a*d+b] * l[a*d+b]
				}
				for b := range d {
					hessian := 0.0
					for c := range min(a, b) + 1 {
						hessian += l[a*d+c] * l[b*d+c]
					}
					product += hessian * r.step[k*d+b]
				}
				own, taken := r.ridge[a], r.ridge[a]
				for i := range r.rows {
					p, x := r.probabilities[i*scores+k], r.design[i*d+a]
					square := r.weight[i] * x * x
					own += square * p * (1 - p)
					if scores == 1 {
						taken += square * p * (1 - p)
					} else {
						taken += square * min(p, 2*p*(1-p))
					}
				}
				if math.Abs(own-curvature[k*d+a]) > 1e-4*own {
					t.Errorf("scores %d: curvature %g, by differences %g", scores, own, curvature[k*d+a])
				}
				if math.Abs(taken-diagonal) > 1e-9*taken {
					t.Errorf("scores %d: the Hessian has %g, want %g", scores, diagonal, taken)
				}
				if math.Abs(product+gradient[k*d+a]) > 1e-6*(1+math.Abs(product)) {
					t.Errorf("scores %d: gradient %g, by differences %g", scores, -product, gradient[k*d+a])
				}
			}
		}
	}
}

// TestFitHopeless: columns without information, columns that are the same, and rows without
// weight do not make a fit fail.
func TestFitHopeless(t *testing.T) {
	r := fixed(make([]int, 24), 1, 1e-9)
	for i := range r.rows {
		r.design[i*4+2], r.design[i*4+3] = r.design[i*4+1], 0
		r.weight[i] *= float64(i % 2)
	}
	r.steps = 50
	r.fit()
	for j, c := range r.coefficients {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			t.Errorf("coefficient %d is %v", j, c)
		}
	}
}
