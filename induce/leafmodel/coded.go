package leafmodel

import "sync"

// codedRows are rows that several regressions on different features share. The functions of a
// feature depend on its code alone. So a regression adds up a number for each code instead of a number
// for each row and function, and the products of the functions of two features are computed once.
type codedRows struct {
	wanted     *wanted
	ids        []int32
	start      *regression // the rows, with the probabilities for coefficients of 0; nil if there is nothing to fit
	loss       float64     // for coefficients of 0
	curvatures []float64   // by score and row, for coefficients of 0
	functions  int         // number of functions of the values of a feature

	lock     sync.Mutex
	constant *codedTerm
	terms    map[int]*codedTerm // by feature; nil if its basis has no function
	products map[[2]*codedTerm][]product
}

// codedTerm holds the functions of a feature.
type codedTerm struct {
	basis   *basis
	entries []uint16    // by row: index of the values of the functions
	values  []functions // by entry
	columns int         // number of functions
}

// functions are values of the functions of a basis, followed by zeros.
type functions [4]float64

// product holds for each function of one feature and each function of another feature the sum of their
// products over all rows, times the curvatures of the rows.
type product [len(functions{})]functions

// coded are the columns of a regression on coded rows.
type coded struct {
	rows      *codedRows
	terms     []*codedTerm
	residuals []float64 // by row and score
	table     []float64 // by entry of a term and score
	other     []float64 // as table, for half of the rows
}

// share makes r a regression on coded rows, with the given terms as columns.
func (r *regression) share(rows *codedRows, terms []*codedTerm) {
	r.rows, r.scores, r.tolerance, r.steps = rows.start.rows, rows.start.scores, rows.start.tolerance, rows.start.steps
	r.offset = rows.start.offset
	r.target = rows.start.target
	r.weight = rows.start.weight
	if r.coded == nil {
		r.coded = new(coded)
	}
	r.coded.rows = rows
	r.coded.terms = terms
}

// rate adds the terms to the scores z of all rows.
func (c *coded) rate(z, coefficients []float64, width int) {
	columns := len(coefficients) / width
	at := 0
	for _, t := range c.terms {
		c.table = zeros(c.table, len(t.values)*width)
		for entry := range t.values {
			for k := range width {
				sum := 0.0
				for j, v := range coefficients[k*columns+at:][:t.columns] {
					sum += float64(v * t.values[entry][j])
				}
				c.table[entry*width+k] = sum
			}
		}
		at += t.columns
		if width == 1 {
			z := z[:len(t.entries)]
			table := c.table
			for i, entry := range t.entries {
				z[i] += table[entry]
			}
			continue
		}
		for i, entry := range t.entries {
			to := z[i*width:][:width]
			for k, v := range c.table[int(entry)*width:][:width] {
				to[k] += v
			}
		}
	}
}

// slope adds the gradient of the log loss to the gradient of a regression, at the coefficients for
// which loss has set the probabilities.
func (c *coded) slope(r *regression) {
	width := r.scores
	c.residuals = zeros(c.residuals, r.rows*width)
	for i, weight := range r.weight {
		for at := i * width; at < (i+1)*width; at++ {
			c.residuals[at] = r.target[at] - float64(weight*r.probabilities[at])
		}
	}
	at := 0
	for _, t := range c.terms {
		c.table = zeros(c.table, len(t.values)*width)
		if width == 1 {
			c.sumUp(t)
		} else {
			for i, entry := range t.entries {
				to := c.table[int(entry)*width:][:width]
				for k, v := range c.residuals[i*width:][:width] {
					to[k] += v
				}
			}
		}
		for entry := range t.values {
			for k := range width {
				to := r.gradient[k*r.columns+at:][:t.columns]
				residual := c.table[entry*width+k]
				for j := range to {
					to[j] += float64(residual * t.values[entry][j])
				}
			}
		}
		at += t.columns
	}
}

// sumUp sets the table to the sums of the residuals by entry of a term, with a single score. It adds up two
// halves of the rows in two tables, as an addition to an entry waits for the last one.
func (c *coded) sumUp(t *codedTerm) {
	c.other = zeros(c.other, len(c.table))
	half := len(t.entries) / 2
	a, b := t.entries[:half], t.entries[half:2*half]
	x, y := c.residuals[:half], c.residuals[half:2*half]
	table := c.table
	other := c.other
	for i, entry := range a {
		table[entry] += x[i]
		other[b[i]] += y[i]
	}
	for i := 2 * half; i < len(t.entries); i++ {
		table[t.entries[i]] += c.residuals[i]
	}
	for entry, sum := range other {
		table[entry] += sum
	}
}

// square sets the lower halves of the Hessians of all scores at coefficients of 0, without ridges. d is
// the length of a row of a matrix.
func (c *coded) square(hessians []float64, d int) {
	first := 0
	for a, s := range c.terms {
		second := 0
		for _, t := range c.terms[:a+1] {
			for k, p := range c.rows.product(s, t) {
				for i := range s.columns {
					copy(hessians[(k*d+first+i)*d+second:][:t.columns], p[i][:])
				}
			}
			second += t.columns
		}
		first += s.columns
	}
}

// product returns the products of the functions of two terms, by score.
func (s *codedRows) product(a, b *codedTerm) []product {
	s.lock.Lock()
	defer s.lock.Unlock()
	if list := s.products[[2]*codedTerm{a, b}]; list != nil {
		return list
	}
	list := make([]product, s.start.scores)
	sums := make([]functions, len(a.values))
	for k := range list {
		clear(sums)
		curvatures := s.curvatures[k*s.start.rows:][:len(a.entries)]
		entries := b.entries[:len(a.entries)]
		for i, entry := range a.entries {
			sum := &sums[entry]
			v := &b.values[entries[i]]
			w := curvatures[i]
			sum[0] += float64(w * v[0])
			sum[1] += float64(w * v[1])
			sum[2] += float64(w * v[2])
			sum[3] += float64(w * v[3])
		}
		for entry := range sums {
			for i, v := range a.values[entry] {
				for j, sum := range sums[entry] {
					list[k][i][j] += float64(v * sum)
				}
			}
		}
	}
	s.products[[2]*codedTerm{a, b}] = list
	return list
}
