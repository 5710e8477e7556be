package split

// thresholds measures one threshold for each distinct partition of the node, as
// Scanner.thresholds does.
func (t *Team) thresholds() {
	s := t.exact
	many := len(t.n.N) > 2
	if many {
		clear(t.acc)
		clear(t.termsOne)
		copy(t.termsRest, t.nodeTerms)
	}
	var sum outcome
	if many {
		sum.rest = t.nodeSquares
	}
	last := len(s.present)
	missing := s.column.missing()
	if int(s.present[last-1]) == missing { // the answer of a missing value is no
		last--
		t.add(missing, &sum)
		if last > 0 && s.column.threshold(s.c.subset, 1) <= int(s.present[0]) {
			t.measure(-1, true, &sum)
		}
	}
	subset := !s.column.whole(s.c.subset)
	for i, code := range s.present[:max(last-1, 0)] {
		t.add(int(code), &sum)
		if subset && s.column.threshold(s.c.subset, int(code)+1) > int(s.present[i+1]) {
			continue
		}
		t.measure(i, true, &sum)
	}
}

// outcome is the sums of one outcome of a test: with two classes the objects and weights
// of both, with more classes the squares of one outcome and of the rest. The other sums
// are then in Team.acc, and the terms of the impurity in Team.termsOne and termsRest.
type outcome struct {
	objects, weight int64
	n0, m0          int64 // of the first of two classes
	one, rest       int64
}

// add adds a code's cells to the running sums.
func (t *Team) add(code int, sum *outcome) {
	s := t.exact
	cells := s.cells(code)
	if len(cells) == 4 {
		sum.n0 += cells[0]
		sum.m0 += cells[1]
		sum.objects += cells[0] + cells[2]
		sum.weight += cells[1] + cells[3]
		return
	}
	acc := t.acc[:len(cells)]
	for k := 0; k+1 < len(cells); k += 2 {
		n := cells[k]
		if n == 0 {
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
		t.termsOne[class] = s.c.nearTerm(acc[k+1])
		t.termsRest[class] = s.c.nearTerm(t.n.M[class] - acc[k+1])
	}
}

// bins measures the tests for single bins of all cuts.
func (t *Team) bins() {
	missing := t.exact.column.missing()
	for i, code := range t.exact.present {
		if int(code) != missing {
			t.single(i)
		}
	}
}

// single measures the test whose outcome 1 is the code at a position.
func (t *Team) single(at int) {
	cells := t.exact.cells(int(t.exact.present[at]))
	if len(cells) == 4 {
		sum := outcome{
			objects: cells[0] + cells[2], weight: cells[1] + cells[3], n0: cells[0], m0: cells[1],
		}
		t.measure(at, false, &sum)
		return
	}
	sum := outcome{rest: t.nodeSquares}
	one, rest := 0.0, t.nodeTerm
	for k := 0; k+1 < len(cells); k += 2 {
		n := cells[k]
		if n == 0 {
			continue
		}
		class := k / 2
		sum.objects += n
		sum.weight += cells[k+1]
		sum.one += n * n
		sum.rest += n * (n - 2*t.n.N[class])
		one += t.exact.c.nearTerm(cells[k+1])
		rest += t.exact.c.nearTerm(t.n.M[class]-cells[k+1]) - t.nodeTerms[class]
	}
	t.append(at, false, &sum, pairs(sum.objects, sum.one), pairs(t.n.Objects-sum.objects, sum.rest), one, rest)
}

// pairs returns the number of heterogeneous pairs of so many objects, given the sum of
// the squared objects by class.
func pairs(objects, squares int64) int64 { return (objects*objects - squares) / 2 }

// mergedBins measures the tests for single bins of a subset of the cuts, as
// Scanner.mergedBins does.
func (t *Team) mergedBins() {
	s := t.exact
	missing := s.column.missing()
	to := s.column.binEnd(s.c.subset, 0)
	for at := 0; at < len(s.present) && int(s.present[at]) != missing; {
		for int(s.present[at]) >= to {
			to = s.column.binEnd(s.c.subset, to)
		}
		var sum outcome
		if len(t.n.N) > 2 {
			clear(t.acc)
			clear(t.termsOne)
			copy(t.termsRest, t.nodeTerms)
			sum.rest = t.nodeSquares
		}
		if t.tests == batchSize {
			t.score()
		}
		first := at
		for ; at < len(s.present) && int(s.present[at]) < to; at++ {
			t.add(int(s.present[at]), &sum)
		}
		if at-first == len(s.present) { // all objects are in this bin
			return
		}
		t.end[t.tests] = int32(at)
		t.measure(first, false, &sum)
	}
}

// measure measures the test of the running sums, which are those of outcome 0 if no is
// true.
func (t *Team) measure(at int, no bool, sum *outcome) {
	if len(t.n.N) > 2 {
		one, rest := 0.0, 0.0
		termsRest := t.termsRest[:len(t.termsOne)]
		for k, term := range t.termsOne {
			one += term
			rest += termsRest[k]
		}
		t.append(at, no, sum, pairs(sum.objects, sum.one), pairs(t.n.Objects-sum.objects, sum.rest), one, rest)
		return
	}
	n, c := t.n, t.exact.c
	n1, m1 := sum.objects-sum.n0, sum.weight-sum.m0
	one := c.nearTerm(sum.m0) + c.nearTerm(m1)
	rest := c.nearTerm(n.M[0] - sum.m0)
	l1 := n.Weight - n.M[0] - m1
	rest += c.nearTerm(l1)
	t.append(at, no, sum, sum.n0*n1, (n.N[0]-sum.n0)*(n.Objects-n.N[0]-n1), one, rest)
}

// append adds a test to the batch, given the heterogeneous pairs and the terms of the
// impurity of its one outcome and of the rest.
func (t *Team) append(at int, no bool, sum *outcome, pairsOne, pairsRest int64, one, rest float64) {
	if t.tests == batchSize {
		t.score()
	}
	n, c, i := t.n, t.exact.c, t.tests
	t.at[i] = int32(at)
	weightOne, weightRest := float64(sum.weight), float64(n.Weight-sum.weight)
	more := 2*sum.objects > n.Objects || no && 2*sum.objects == n.Objects // ties: outcome 0 counts as the larger one
	balance := weightOne
	if more {
		balance = weightRest
	}
	for k := range t.lights {
		l := &t.lights[k]
		lost := 0.0
		if over := weightOne - l.weight; over > 0 {
			lost = float64(float64(over*weightOne) * float64(pairsOne))
		}
		if over := weightRest - l.weight; over > 0 {
			lost += float64(float64(over*weightRest) * float64(pairsRest))
		}
		t.base[k][i] = (balance + float64(n.Weight) - float64(lost*l.factor)) * t.scale
	}
	gain := max(n.impurity-c.nearFinish(one, sum.weight)-c.nearFinish(rest, n.Weight-sum.weight), 0)
	t.gain[i], t.unpriced[i] = float64(gain*t.scale), float64(gain*t.total)
	t.tests++
}

// score scores the tests of the batch in all ways.
func (t *Team) score() {
	if t.found != nil {
		t.collect()
		t.tests = 0
		return
	}
	for i := range t.ways {
		w := &t.ways[i]
		best := w.best[t.slot]
		gain := t.gain[:t.tests]
		switch {
		case w.light >= 0:
			base := t.base[w.light][:len(gain)]
			for j, g := range gain {
				if x := base[j] + float64(w.lambda*g); x > best {
					best = x
				}
			}
		default:
			if !w.priced {
				gain = t.unpriced[:t.tests]
			}
			for _, x := range gain {
				if x > best {
					best = x
				}
			}
		}
		w.best[t.slot] = best
	}
	t.tests = 0
}

// estimate returns the estimate of a test of the batch.
func (t *Team) estimate(w *way, i int) float64 {
	switch {
	case w.light >= 0:
		return t.base[w.light][i] + float64(w.lambda*t.gain[i])
	case w.priced:
		return t.gain[i]
	default:
		return t.unpriced[i]
	}
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
