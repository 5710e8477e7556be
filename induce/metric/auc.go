package metric

import "math"

// fillAreas computes the areas under ROC curves.
func (m *Metrics) fillAreas(leaves []Leaf, rankings []ranking) {
	if len(rankings) == 2 {
		m.fillBinary(&rankings[1])
		return
	}
	var rest, pairs []float64
	areas := make([][]*float64, len(rankings)) // of the first class against the second, by the first's probability
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

// fillBinary uses the probability of the second class for all areas. By that of
// the first they are the same, but where rounding makes two probabilities equal
// and not their complements.
func (m *Metrics) fillBinary(second *ranking) {
	auc := second.area()
	m.AUCOvRMacro, m.AUCOvOMacro = auc, auc
	m.PerClass[0].AUC, m.PerClass[1].AUC = auc, auc
}

// Area returns the area under the ROC curve of one class against the rest,
// averaged over the classes (Metrics.AUCOvRMacro), with its standard error and
// 95 % interval. It is nil where rows do not define the area, and where leaves
// do not count their Rows. It panics as Evaluate does.
//
// The standard error is that of DeLong, DeLong and Clarke-Pearson, Biometrics 44
// (1988), with two classes. With more it is the same estimate for the mean of the
// classes' areas: a row of class k moves it by
//
//	a_k = 1/C (V10_k / n_k + sum over c != k of V01_c / (N - n_c))
//
// where V10_k is the share of other rows that the row beats by its probability of
// k, V01_c the share of the rows of c that beat it by theirs, and the variance is
// the sum over classes of n_k times the sample variance of a_k. In a class of
// fewer than two rows there is none: the greatest variance that a value of a_k's
// mean and range can have stands in (Bhatia and Davis).
//
// The interval is Wilson's for a share of A in A(1-A)/variance rows: unlike one
// of A's logit it is defined for A = 1 too, where as many rows are taken as the
// smallest class has; the variance of an area is at most A(1-A) over that
// (Birnbaum and Klose). See the package comment for weighted rows.
//
// It takes O(classes * leaves * log(leaves)).
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

// firstRanked returns the first class whose ranking the mean area is of: of two
// classes the second, which says all.
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

// area is Area of the rankings from firstRanked on. order is that in which floats
// are added.
func area(leaves []Leaf, rankings []ranking, order []int, s *sample) *Estimate {
	var used []*ranking // of the classes that have an area
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

// projection is by how much a row moves the mean of some areas.
type projection struct {
	sample *sample
	areas  float64     // number of them
	all    []float64   // by leaf: sum over the areas as a row of none of their classes
	own    [][]float64 // by class and leaf: what a row of the class has more; nil: nothing
	most   []float64   // by class
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

// add adds the area of a ranking with so many rows of its class, and others.
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

// at returns the move by a row of class k in a leaf.
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
		one := max(0, center*(p.most[k]/p.areas-center)) // of a row
		if n >= 2 {
			one = float64(squares/float64(weight)*n) / (n - 1)
		}
		variance += float64(n * one)
	}
	return variance
}
