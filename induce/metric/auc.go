package metric

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// pairs holds the areas of each pair of classes, ranked by the first class.
type pairs struct {
	table *table
	areas [][]float64 // by the class that ranks, then by the other class; nil if the class has no rows
}

// add adds the areas of a class against each of the other classes.
func (p *pairs) add(r *ranking) {
	if r.own == 0 {
		p.areas = append(p.areas, nil)
		return
	}
	beaten := r.beaten()
	areas := make([]float64, len(p.table.ends))
	for other := range areas {
		if other == r.class {
			continue
		}
		var twice Pairs
		weight := uint64(0)
		for _, m := range p.table.of(other) {
			twice.Add(m.weight, beaten[r.slots[m.leaf]])
			weight += m.weight
		}
		if weight > 0 {
			areas[other] = twice.Over(r.own, weight)
		}
	}
	p.areas = append(p.areas, areas)
}

// mean returns the mean over the pairs of classes with rows.
func (p *pairs) mean() *float64 {
	var list []float64
	for a := range p.areas {
		for b := range a {
			if p.areas[a] != nil && p.areas[b] != nil {
				list = append(list, (p.areas[a][b]+p.areas[b][a])/2)
			}
		}
	}
	return mean(list)
}

// fillRanked sets all metrics that follow from the rankings, and adds the areas to the projection,
// which may be nil.
//
// With two classes, all areas rank by the probability of the second class. Ranking by the first
// class gives the same areas, unless rounding makes two probabilities equal and their complements
// different.
func (m *Metrics) fillRanked(t *table, p *projection) {
	var rest []float64
	two := len(m.PerClass) == 2
	between := pairs{table: t}
	t.each(0, func(r *ranking) {
		class := &m.PerClass[r.class]
		class.AveragePrecision, class.Gains, class.ROC = r.averagePrecision(), r.gains(), r.roc(t)
		for i, gain := range class.Gains {
			class.Lift = append(class.Lift, gain*Shares/float64(i+1))
		}
		if r.class < firstRanked(len(m.PerClass)) {
			return
		}
		class.AUC = r.area()
		if class.AUC != nil {
			rest = append(rest, *class.AUC)
			p.add(r)
		}
		if !two {
			between.add(r)
		}
	})
	if two {
		auc := m.PerClass[1].AUC
		m.AUCOvRMacro = auc
		m.AUCOvOMacro = auc
		m.PerClass[0].AUC = auc
		return
	}
	m.AUCOvRMacro, m.AUCOvOMacro = mean(rest), between.mean()
}

// Area returns the area under the ROC curve, averaged over the classes, each against its complement
// (Metrics.AUCOvRMacro), with its standard error and 95 % interval. It is nil if the rows do not
// define the area, or if the leaves do not count their Rows. It panics as Evaluate does.
//
// For two classes the standard error is that by DeLong, DeLong and Clarke-Pearson, Biometrics 44
// (1988). For more classes it is the same estimate for the mean of the areas. A row of class k
// moves the mean by
//
//	a_k = 1/C (V10_k / n_k + sum over c != k of V01_c / (N - n_c))
//
// V10_k is the share of rows of other classes with a lower probability of k than the row. V01_c is
// the share of the rows of c with a higher probability of c than the row. The variance is the sum
// over classes of n_k times the sample variance of a_k. A class with fewer than two rows has no
// sample variance; the greatest variance possible for the mean and range of a_k takes its place
// (Bhatia and Davis). For weighted rows see the package comment.
//
// The interval is Wilson's, for a share of A among A(1-A)/variance rows. Unlike an interval for the
// logit of A it is also defined for A = 1. Then the number of rows is the size of the smallest
// class, because the variance of an area is at most A(1-A) divided by this number (Birnbaum and
// Klose). The few rows of a rare class often rank nearly equally, and next to 1 all rows do, so that
// the sample variance is too low. The variance for the interval therefore has a further row of each
// class with the greatest variance possible.
//
// The time is O(classes * leaves * log(leaves)).
func Area(leaves []Leaf) *Estimate { return area(leaves, nil) }

// area is Area for rows in groups with these design effects; nil effects: rows are independent.
func area(leaves []Leaf, e *effects) *Estimate {
	if len(leaves) == 0 {
		return nil
	}
	classes := len(leaves[0].Weights)
	for i := range leaves {
		leaves[i].mustFit(classes)
	}
	p, auc := projected(leaves, classes)
	return p.estimate(auc, e)
}

// MeanArea returns only the value of Area, and also accepts leaves that do not count their rows.
func MeanArea(leaves []Leaf) *float64 {
	if len(leaves) == 0 {
		return nil
	}
	classes := len(leaves[0].Weights)
	var areas []float64
	newTable(leaves, classes).each(firstRanked(classes), func(r *ranking) {
		if auc := r.area(); auc != nil {
			areas = append(areas, *auc)
		}
	})
	return mean(areas)
}

// firstRanked returns the first class whose ranking is part of the average area. With two classes,
// only the second class is ranked.
func firstRanked(classes int) int {
	if classes == 2 {
		return 1
	}
	return 0
}

// projection holds by how much a unit of weight moves the mean of areas. It is nil for leaves that do
// not count their rows.
type projection struct {
	*table

	sample *sample
	areas  float64   // number of areas
	all    []float64 // by leaf: move of the sum of areas by a row that is in the complement of every class
	own    []float64 // by member: additional move by a row of the class
	most   []float64 // by class: greatest move by a row of the class
	ranked bool      // whether some class ranks a leaf before another
}

// newProjection returns a projection without areas; nil if the leaves do not count rows.
func newProjection(t *table, s *sample) *projection {
	if s.rows == 0 {
		return nil
	}
	return &projection{
		table: t, sample: s, all: make([]float64, len(t.leaves)), own: make([]float64, len(t.members)),
		most: make([]float64, len(s.classes)),
	}
}

// add adds the area of a ranking.
func (p *projection) add(r *ranking) {
	if p == nil {
		return
	}
	own := float64(r.own)
	rest := float64(r.rest)
	by := make([]struct{ beats, beaten float64 }, len(r.tiers)) // moves by slot
	var ownBelow, restBelow uint64
	for slot, t := range r.tiers {
		beats := float64(2*restBelow+t.rest) / 2 / float64(r.rest)
		beaten := float64(2*(r.own-ownBelow-t.own)+t.own) / 2 / float64(r.own)
		by[slot].beats = beats / own
		by[slot].beaten = beaten / rest
		ownBelow += t.own
		restBelow += t.rest
	}
	for i, slot := range r.slots {
		p.all[i] += by[slot].beaten
		p.ranked = p.ranked || slot != r.slots[0]
	}
	first := p.first(r.class)
	for i, m := range p.of(r.class) {
		move := &by[r.slots[m.leaf]]
		p.own[first+i] = move.beats - move.beaten
	}
	for k := range p.most {
		if k == r.class {
			p.most[k] += 1 / own
		} else {
			p.most[k] += 1 / rest
		}
	}
	p.areas++
}

// estimate returns the mean of the areas with its uncertainty; nil without areas, or if effects do not define it.
func (p *projection) estimate(auc *float64, e *effects) *Estimate {
	if auc == nil || p == nil {
		return nil
	}
	f := figure{value: *auc, most: 1, rows: p.sample.leastRows()}
	if p.ranked {
		f.variance, f.padded = p.variance()
	} else {
		f.least, f.most = *auc, *auc // the area of any rows
	}
	i := f.interval(e, figureAUC)
	if i == nil {
		return nil
	}
	return &Estimate{*auc, *i}
}

// variance returns the variance of the mean area, and the variance with a further row of each class.
func (p *projection) variance() (plain, padded float64) {
	for k, weight := range p.sample.classes {
		if weight == 0 {
			continue
		}
		sum := 0.0
		first := p.first(k)
		w := float64(weight)
		for i, m := range p.of(k) {
			sum += float64(float64(m.weight) * p.at(first+i, m))
		}
		center := sum / w
		around := spread{weighted: p.squares != nil}
		for i, m := range p.of(k) {
			squares := 0.0
			if around.weighted {
				squares = p.squares[first+i]
			}
			around.add(float64(m.weight), squares, p.at(first+i, m)-center)
		}
		n := p.sample.of(k)
		square := around.square(n)
		bound := max(0, center*(p.most[k]/p.areas-center))
		one := bound // variance of the move by one row
		if n >= 2 {
			one = float64(square*n) / (n - 1)
		}
		times := float64(w*w) / n
		plain += float64(times * one)
		padded += float64(times * (square + bound/n))
	}
	return plain, padded
}

// at returns by how much a row of member m moves the mean area. position is the index of m among
// all members.
func (p *projection) at(position int, m member) float64 {
	return (p.all[m.leaf] + p.own[position]) / p.areas
}

// AreaError returns the standard error of an area under the ROC curve by Hanley and McNeil
// (Radiology 143, 1982), given the number of rows by class: the average over the classes, each
// against its complement. This is an upper bound for the mean of the areas, see MeanAreaError.
func AreaError(area float64, rows []float64) float64 {
	sum, _, classes := areaErrors(area, rows)
	return sum / float64(max(1, classes))
}

// MeanAreaError returns an upper bound of the standard error of the mean of areas, each of a class against its complement,
// that is nearer to the standard error than AreaError if there are more than two classes. If labels are dealt to N rows
// at random, n_k of them to class k, the covariance of two areas with the variances V_j and V_k is
//
//	-r_jk w_j w_k, where w_k^2 = V_k n_k / (N - n_k)
//
// r_jk is the correlation of the ranks by the two classes. The sum over all j and k of r_jk w_j w_k, r_kk = 1 included, is
// not negative, whatever the ranks are. So the variance of the mean over C classes is at most
//
//	1/C^2 sum over k of V_k N / (N - n_k)
func MeanAreaError(area float64, rows []float64) float64 {
	sum, squares, classes := areaErrors(area, rows)
	if classes > 2 { // two classes have the same area
		sum = min(sum, math.Sqrt(squares))
	}
	return sum / float64(max(1, classes))
}

// areaErrors returns the sum of the standard errors by Hanley and McNeil of the areas, and the sum of V_k N / (N - n_k), see
// MeanAreaError, with the number of classes that have an area.
func areaErrors(area float64, rows []float64) (sum, squares float64, classes int) {
	total := portable.Sum(rows)
	area = min(max(area, 0.5), 1)
	above := area / (2 - area)                   // two positive rows rank above a negative row
	below := 2 * float64(area*area) / (1 + area) // a positive row ranks above two negative rows
	square := float64(area * area)
	for _, n := range rows {
		if rest := total - n; n >= 1 && rest >= 1 {
			variance := float64(area*(1-area)) + float64((n-1)*(above-square)) + float64((rest-1)*(below-square))
			own := max(variance, 0) / float64(n*rest)
			sum += math.Sqrt(own)
			squares += float64(own*total) / rest
			classes++
		}
	}
	return sum, squares, classes
}
