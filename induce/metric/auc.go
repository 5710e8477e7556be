package metric

import "math"

// fillAreas sets the areas under ROC curves.
func (m *Metrics) fillAreas(leaves []Leaf, rankings []ranking) {
	if len(rankings) == 2 {
		m.fillBinary(&rankings[1])
		return
	}
	var rest, pairs []float64
	areas := make([][]*float64, len(rankings)) // by two classes: the first against the second, ranked by the first
	for c := range rankings {
		m.PerClass[c].AUC = rankings[c].area()
		if auc := m.PerClass[c].AUC; auc != nil {
			rest = append(rest, *auc)
		}
		areas[c] = make([]*float64, len(areas))
		for other := range areas {
			if other != c {
				areas[c][other] = rankings[c].areaAgainst(leaves, other)
			}
		}
	}
	for a := range areas {
		for b := range a {
			if areas[a][b] != nil {
				pairs = append(pairs, (*areas[a][b]+*areas[b][a])/2)
			}
		}
	}
	m.AUCOvRMacro, m.AUCOvOMacro = mean(rest), mean(pairs)
}

// fillBinary ranks by the probability of the second class for all areas. Ranking by
// the first class gives the same areas, unless rounding makes two probabilities
// equal and their complements different.
func (m *Metrics) fillBinary(second *ranking) {
	auc := second.area()
	m.AUCOvRMacro, m.AUCOvOMacro = auc, auc
	m.PerClass[0].AUC, m.PerClass[1].AUC = auc, auc
}

// Area returns the area under the ROC curve of one class against the rest,
// averaged over the classes (Metrics.AUCOvRMacro), with its standard error and
// 95 % interval. It is nil if the rows do not define the area, or if the leaves do
// not count their Rows. It panics as Evaluate does.
//
// For two classes the standard error is DeLong, DeLong and Clarke-Pearson's,
// Biometrics 44 (1988). For more classes it is the same estimate for the mean of the
// classes' areas. A row of class k moves the mean by
//
//	a_k = 1/C (V10_k / n_k + sum over c != k of V01_c / (N - n_c))
//
// V10_k is the share of other rows with a lower probability of k than the row. V01_c
// is the share of the rows of c with a higher probability of c than the row. The
// variance is the sum over classes of n_k times the sample variance of a_k. A class
// of fewer than two rows has no sample variance; the greatest variance for a_k's mean
// and range takes its place (Bhatia and Davis).
//
// The interval is Wilson's, for a share of A among A(1-A)/variance rows. Unlike an
// interval of A's logit it is defined for A = 1 too. The number of rows is then that
// of the smallest class, because the variance of an area is at most A(1-A) over this
// number (Birnbaum and Klose). See the package comment for weighted rows.
//
// The time is O(classes * leaves * log(leaves)).
func Area(leaves []Leaf) *Estimate {
	if len(leaves) == 0 {
		return nil
	}
	classes := len(leaves[0].Weights)
	for i := range leaves {
		leaves[i].mustFit(classes)
	}
	totals := weightsOf(leaves)
	rankings := rankAll(leaves, totals, firstRanked(classes), classes)
	return area(leaves, rankings, canonical(leaves), newSample(leaves, totals))
}

// firstRanked returns the first class with a ranking of its own in the mean area. Two
// classes need the second's ranking only.
func firstRanked(classes int) int {
	if classes == 2 {
		return 1
	}
	return 0
}

// rankAll ranks the leaves by each of the classes [from, to).
func rankAll(leaves []Leaf, totals []uint64, from, to int) []ranking {
	rankings := make([]ranking, 0, to-from)
	for c := from; c < to; c++ {
		rankings = append(rankings, rank(leaves, totals, c))
	}
	return rankings
}

// area is Area, given the rankings from firstRanked on. Floats are added in the given
// order of the leaves.
func area(leaves []Leaf, rankings []ranking, order []int, s *sample) *Estimate {
	var used []*ranking // rankings of the classes with an area
	var areas []float64
	for c := range rankings {
		if auc := rankings[c].area(); auc != nil {
			used, areas = append(used, &rankings[c]), append(areas, *auc)
		}
	}
	auc := mean(areas)
	if auc == nil || s.rows == 0 {
		return nil
	}
	variance := newProjection(leaves, used, s).variance(leaves, order)
	return &Estimate{*auc, shareInterval(*auc, math.Sqrt(variance), s.leastRows())}
}

// projection holds by how much one row moves the mean of some areas.
type projection struct {
	sample *sample
	areas  float64     // number of areas
	all    []float64   // by leaf: move of the areas' sum by a row of another class than theirs
	own    [][]float64 // by class and leaf: further move by a row of the class; nil: none
	most   []float64   // by class: greatest move by a row of the class
}

func newProjection(leaves []Leaf, used []*ranking, s *sample) *projection {
	p := &projection{
		sample: s, areas: float64(len(used)), all: make([]float64, len(leaves)),
		own: make([][]float64, len(s.classes)), most: make([]float64, len(s.classes)),
	}
	for _, r := range used {
		p.own[r.class] = make([]float64, len(leaves))
		p.add(r, s.per*float64(r.own), s.per*float64(r.rest))
	}
	return p
}

// add adds the area of a ranking. own is the number of rows of its class, rest the
// number of other rows.
func (p *projection) add(r *ranking, own, rest float64) {
	var ownBelow, restBelow uint64
	from := 0
	for _, t := range r.tiers {
		beats := float64(2*restBelow+t.rest) / 2 / float64(r.rest)
		beaten := float64(2*(r.own-ownBelow-t.own)+t.own) / 2 / float64(r.own)
		for _, i := range r.order[from:t.end] {
			p.all[i] += beaten / rest
			p.own[r.class][i] = beats/own - beaten/rest
		}
		from = t.end
		ownBelow += t.own
		restBelow += t.rest
	}
	for k := range p.most {
		if k == r.class {
			p.most[k] += 1 / own
		} else {
			p.most[k] += 1 / rest
		}
	}
}

// at returns the move of the mean area by a row of class k in a leaf.
func (p *projection) at(k, leaf int) float64 {
	if p.own[k] == nil {
		return p.all[leaf] / p.areas
	}
	return (p.all[leaf] + p.own[k][leaf]) / p.areas
}

// variance returns the variance of the mean area.
func (p *projection) variance(leaves []Leaf, order []int) float64 {
	variance := 0.0
	for k, weight := range p.sample.classes {
		if weight == 0 {
			continue
		}
		sum, squares := 0.0, 0.0
		for _, i := range order {
			sum += float64(float64(leaves[i].Weights[k]) * p.at(k, i))
		}
		center := sum / float64(weight)
		for _, i := range order {
			d := p.at(k, i) - center
			squares += float64(float64(leaves[i].Weights[k]) * float64(d*d))
		}
		n := float64(p.sample.per * float64(weight))
		one := max(0, center*(p.most[k]/p.areas-center)) // variance of one row's move
		if n >= 2 {
			one = float64(squares/float64(weight)*n) / (n - 1)
		}
		variance += float64(n * one)
	}
	return variance
}
