package split

import (
	"math"
	"slices"
)

// thresholds measures one threshold for each distinct partition of the node, as Scanner.thresholds
// does.
func (t *Team) thresholds() {
	s := t.exact
	many := len(t.n.N) > 2
	if !many && s.c.phi.kind == Entropy {
		t.thresholdsOfTwo()
		return
	}
	sum := t.start(0)
	last := len(s.present)
	missing := s.column.missing()
	if int(s.present[last-1]) == missing { // a missing value takes the no branch
		last--
		t.add(s.cells(missing), sum)
		if last > 0 && s.present[0] > 0 {
			t.measure(-1, true, sum)
		}
	}
	for i, code := range s.present[:max(last-1, 0)] {
		t.add(s.cells(int(code)), sum)
		t.measure(i, true, sum)
	}
}

// measureSets measures the tests for sets, as Scanner.eachSet does. The running sums have the values before a place. Once
// these are the heavier ones, the set has the values beyond the place, and its complement all values without a place.
func (t *Team) measureSets() {
	s := t.exact
	g := &s.groups
	all := g.weight
	ways := 1
	var missing []int64
	if g.missing {
		missing = s.cells(s.column.missing())
		all += weightOf(missing)
		ways = 2
	}
	for i, order := range g.orders {
		t.start(0)
		if g.missing {
			t.add(missing, t.start(1))
		}
		var beyond [2]bool
		for place := 1; place < len(order); place++ {
			for with := range ways {
				sum := &t.running[with]
				t.add(s.cells(int(order[place-1])), sum)
				if !beyond[with] && 2*sum.weight > all {
					beyond[with] = true
					t.add(g.unplaced, sum)
				}
				codes, no := g.divide(i, place, with, beyond[with])
				if no || len(codes) > 1 {
					t.measure(g.number(i, place, with), no != beyond[with], sum)
				}
			}
		}
	}
}

// outcome holds the sums of one outcome of a test: for two classes, objects and weight of each
// class; for more classes, the sums of squared objects of this outcome and of its complement.
type outcome struct {
	objects, weight int64
	n0, m0          int64 // objects and weight of the first of two classes
	one, rest       int64
}

// running is an outcome to which codes are added one by one. All but the outcome is for more than two classes.
type running struct {
	outcome

	acc                 []int64   // sums, as in Scanner
	termsOne, termsRest []float64 // by class: the impurity terms of the outcome, and of its complement
}

// start returns the running sums at a position, without codes.
func (t *Team) start(at int) *running {
	sum := &t.running[at]
	sum.outcome = outcome{}
	if n := len(t.n.N); n > 2 {
		sum.rest = t.nodeSquares
		sum.acc = zeros(sum.acc, 2*n)
		sum.termsOne = slices.Grow(sum.termsOne[:0], n)[:n]
		clear(sum.termsOne)
		sum.termsRest = append(sum.termsRest[:0], t.nodeTerms...)
	}
	return sum
}

// add adds the cells of a code to the running sums.
func (t *Team) add(cells []int64, sum *running) {
	if len(cells) == 4 {
		sum.n0 += cells[0]
		sum.m0 += cells[1]
		sum.objects += cells[0] + cells[2]
		sum.weight += cells[1] + cells[3]
		return
	}
	p := &t.exact.c.phi
	acc := sum.acc[:len(cells)]
	for k := 0; k+1 < len(cells); k += 2 {
		n := cells[k]
		if n|cells[k+1] == 0 { // soft objects may have weight of a class that is the majority of none
			continue
		}
		class := k / 2
		all := t.n.N[class]
		sum.objects += n
		sum.weight += cells[k+1]
		sum.one += n * (n + 2*acc[k])
		sum.rest += n * (n - 2*(all-acc[k]))
		acc[k] += n
		acc[k+1] += cells[k+1]
		sum.termsOne[class] = p.nearTerm(acc[k+1])
		sum.termsRest[class] = p.nearTerm(t.n.M[class] - acc[k+1])
	}
}

// bins measures the tests for single bins.
func (t *Team) bins() {
	missing := t.exact.column.missing()
	if len(t.n.N) == 2 && t.exact.c.phi.kind == Entropy {
		t.binsOfTwo()
		return
	}
	for i, code := range t.exact.present {
		if int(code) != missing {
			t.single(i)
		}
	}
}

// single measures the test whose outcome 1 is the code at position at.
func (t *Team) single(at int) { t.measureCells(at, false, t.exact.cells(int(t.exact.present[at]))) }

// measureCells measures a test, given the cells of its outcome 1; of outcome 0 if no is true.
func (t *Team) measureCells(at int, no bool, cells []int64) {
	if len(cells) == 4 {
		t.measureTwo(at, no, &pair{cells[0], cells[1], cells[2], cells[3]})
		return
	}
	sum := outcome{rest: t.nodeSquares}
	one := 0.0
	rest := t.nodeTerm
	for k := 0; k+1 < len(cells); k += 2 {
		n := cells[k]
		if n|cells[k+1] == 0 { // soft objects may have weight of a class that is the majority of none
			continue
		}
		class := k / 2
		sum.objects += n
		sum.weight += cells[k+1]
		sum.one += n * n
		sum.rest += n * (n - 2*t.n.N[class])
		one += t.exact.c.phi.nearTerm(cells[k+1])
		rest += t.exact.c.phi.nearTerm(t.n.M[class]-cells[k+1]) - t.nodeTerms[class]
	}
	t.append(at, no, &sum, pairs(sum.objects, sum.one), pairs(t.n.Objects-sum.objects, sum.rest), one, rest)
}

// pairs returns how many pairs of objects have different classes, given the sum of the squared
// number of objects by class.
func pairs(objects, squares int64) int64 { return (objects*objects - squares) / 2 }

// measure measures the test with the running sums sum. If no is true, they are the sums of outcome
// 0.
func (t *Team) measure(at int, no bool, sum *running) {
	if len(t.n.N) == 2 {
		t.measureTwo(at, no, &pair{sum.n0, sum.m0, sum.objects - sum.n0, sum.weight - sum.m0})
		return
	}
	one, rest := 0.0, 0.0
	termsRest := sum.termsRest[:len(sum.termsOne)]
	for k, term := range sum.termsOne {
		one += term
		rest += termsRest[k]
	}
	t.append(at, no, &sum.outcome, pairs(sum.objects, sum.one), pairs(t.n.Objects-sum.objects, sum.rest), one, rest)
}

// measureTwo measures a test for two classes.
func (t *Team) measureTwo(at int, no bool, a *pair) {
	n := t.n
	p := &t.exact.c.phi
	if p.kind == Entropy {
		t.appendTwo(at, no, a)
		return
	}
	sum := outcome{objects: a.n0 + a.n1, weight: a.m0 + a.m1}
	one := p.nearTerm(a.m0) + p.nearTerm(a.m1)
	rest := p.nearTerm(n.M[0]-a.m0) + p.nearTerm(n.M[1]-a.m1)
	t.append(at, no, &sum, a.n0*a.n1, (n.N[0]-a.n0)*(n.N[1]-a.n1), one, rest)
}

// append adds a test to the batch, given the heterogeneous pairs and the impurity terms of its
// outcome one and of the complement.
func (t *Team) append(at int, no bool, sum *outcome, pairsOne, pairsRest int64, one, rest float64) {
	if t.tests == batchSize {
		t.score()
	}
	n := t.n
	p := &t.exact.c.phi
	i := t.tests
	t.at[i] = int32(at)
	t.one[i] = float64(sum.weight)
	t.rest[i] = float64(n.Weight - sum.weight)
	t.pairs[i] = float64(pairsOne)
	t.pairsRest[i] = float64(pairsRest)
	t.balance[i] = t.one[i]
	if 2*sum.objects > n.Objects || no && 2*sum.objects == n.Objects { // ties: outcome 0 counts as the larger outcome
		t.balance[i] = t.rest[i]
	}
	t.gain[i] = n.impurity - p.nearFinish(one, sum.weight) - p.nearFinish(rest, n.Weight-sum.weight)
	t.tests++
}

// rate adds balance and efficiency of the tests in the batch, for each light, and replaces negative
// gains by 0.
func (t *Team) rate() {
	tests := t.tests
	one := t.one[:tests]
	rest := t.rest[:tests]
	balance := t.balance[:tests]
	pairs := t.pairs[:tests]
	pairsRest := t.pairsRest[:tests]
	weight := float64(t.n.Weight)
	for k := range t.lights {
		l := t.lights[k]
		efficiency := t.efficiency[k][:tests]
		for i := range efficiency {
			lost := 0.0
			if over := one[i] - l.weight; over > 0 {
				lost = float64(float64(over*one[i]) * pairs[i])
			}
			if over := rest[i] - l.weight; over > 0 {
				lost += float64(float64(over*rest[i]) * pairsRest[i])
			}
			efficiency[i] = balance[i] + weight - float64(lost*l.factor)
		}
	}
	if t.n.pairs == 0 {
		for k := range t.lights {
			copy(t.efficiency[k][:tests], balance)
		}
	}
	gain := t.gain[:tests]
	for i, g := range gain {
		if g < 0 {
			gain[i] = 0
		}
	}
}

// score scores the tests of the batch in all ways, and empties the batch.
func (t *Team) score() {
	if t.tests == 0 {
		return
	}
	t.rate()
	if t.found != nil {
		t.collect()
		t.tests = 0
		return
	}
	if t.n.pairs == 0 {
		t.scoreGains()
		t.tests = 0
		return
	}
	gain := t.gain[:t.tests]
	for i := range t.ways {
		w := &t.ways[i]
		best := math.Inf(-1)
		if w.light >= 0 {
			efficiency := t.efficiency[w.light][:len(gain)]
			lambda := w.lambda
			for j, g := range gain {
				if x := efficiency[j] + float64(lambda*g); x > best {
					best = x
				}
			}
		} else {
			for _, x := range gain {
				if x > best {
					best = x
				}
			}
		}
		w.best[t.slot] = max(w.best[t.slot], float64(best*t.scales[w.scale].factor))
	}
	t.tests = 0
}

// scoreGains scores, by their gains, the tests of the batch that may compete in a node without
// pairs. The estimated gains may be inexact.
func (t *Team) scoreGains() {
	least := t.exact.c.leastGain()
	off := t.gainOff()
	for i := range t.ways {
		w := &t.ways[i]
		for at, gain := range t.gain[:t.tests] {
			if gain+off <= least {
				continue
			}
			x := t.estimate(w, at)
			w.best[t.slot] = max(w.best[t.slot], x)
			if gain-off > least {
				w.sure[t.slot] = max(w.sure[t.slot], x)
			}
		}
	}
}

// estimate returns the estimate of a test of the batch.
func (t *Team) estimate(w *way, i int) float64 {
	return float64(t.unpriced(w, i) * t.scales[w.scale].factor)
}

// unpriced returns the estimate of a test of the batch before its price counts.
func (t *Team) unpriced(w *way, i int) float64 {
	x := t.gain[i]
	if w.light >= 0 {
		x = t.efficiency[w.light][i] + float64(w.lambda*x)
	}
	return x
}

// collect finds the tests of the batch that matter to some criterion, in test order.
func (t *Team) collect() {
	for k := range t.ways {
		w := &t.ways[k]
		off := t.off(w)
		for i := range t.tests {
			high := t.estimate(w, i) + off
			if high < w.cut {
				continue
			}
			for j := range t.members {
				if m := &t.members[j]; m.way == k && m.slots[t.slot] && high >= t.cuts[j] {
					t.found(i, j)
				}
			}
		}
	}
}

// thresholdsOfTwo is thresholds for two classes, entropy and all cuts.
func (t *Team) thresholdsOfTwo() {
	s := t.exact
	var a pair
	present := s.present
	cells := s.h.Cells
	if last := len(present) - 1; int(present[last]) == s.column.missing() { // a missing value takes the no branch
		a.add(cells, present[last])
		if present[0] >= 1 {
			t.appendTwo(-1, true, &a)
		}
		present = present[:last]
	}
	for i, code := range present[:max(len(present)-1, 0)] {
		a.add(cells, code)
		t.appendTwo(i, true, &a)
	}
}

// binsOfTwo is bins for two classes and entropy.
func (t *Team) binsOfTwo() {
	s := t.exact
	missing := s.column.missing()
	for i, code := range s.present {
		if int(code) != missing {
			var a pair
			a.add(s.h.Cells, code)
			t.appendTwo(i, false, &a)
		}
	}
}

// pair is the objects and weights of two classes.
type pair struct{ n0, m0, n1, m1 int64 }

func (a *pair) add(cells []int64, code int32) {
	c := cells[4*int(code) : 4*int(code)+4 : 4*int(code)+4]
	a.n0 += c[0]
	a.m0 += c[1]
	a.n1 += c[2]
	a.m1 += c[3]
}

// appendTwo adds a test with outcome a to the batch, for two classes and entropy.
func (t *Team) appendTwo(at int, no bool, a *pair) {
	if t.tests == batchSize {
		t.score()
	}
	n := t.n
	x := &t.exact.c.phi.xlogx
	i := t.tests & (batchSize - 1)
	t.at[i] = int32(at)
	l0 := n.M[0] - a.m0
	l1 := n.M[1] - a.m1
	one, rest := a.m0+a.m1, l0+l1
	t.gain[i] = n.impurity - (x.near(one) - (x.near(a.m0) + x.near(a.m1))) - (x.near(rest) - (x.near(l0) + x.near(l1)))
	t.one[i] = float64(one)
	t.rest[i] = float64(rest)
	t.pairs[i], t.pairsRest[i] = float64(a.n0*a.n1), float64((n.N[0]-a.n0)*(n.N[1]-a.n1))
	balance := one
	twice := 2 * (a.n0 + a.n1)
	if twice > n.Objects || no && twice == n.Objects { // ties: outcome 0 counts as the larger outcome
		balance = rest
	}
	t.balance[i] = float64(balance)
	t.tests++
}
