package split

import (
	"math"
	"math/bits"
)

// Criterion scores tests. It is made once per training and read-only afterwards.
type Criterion struct {
	definition

	family  Family
	lambda  float64
	total   float64 // W, the weight of all objects
	light   float64 // theta W: objects that weigh more are heavy
	phi     phi
	pricing Pricing
	classes Classes

	rowWeight float64 // see induce.Params.RowWeight
}

// NewCriterion returns the criterion of an algorithm and a family of tests,
// for data of total weight W > 0.
func NewCriterion(a Algorithm, f Family, lambda, theta float64, total int64) *Criterion {
	return &Criterion{
		definition: a.definition(), family: f, lambda: lambda,
		total: float64(total), light: theta * float64(total), phi: phi{a.Impurity(), newXlogx()},
		rowWeight: 1,
	}
}

// Count sets how scores count prices. It returns the criterion.
func (c *Criterion) Count(p Pricing) *Criterion {
	c.pricing = p
	return c
}

// Stop sets the class weights by which nodes are homogeneous. It returns the criterion.
func (c *Criterion) Stop(by Classes) *Criterion {
	c.classes = by
	return c
}

// Weigh sets the weight of an average row, by which the variation among values is compared with chance. It returns the
// criterion.
func (c *Criterion) Weigh(row float64) *Criterion {
	c.rowWeight = row
	return c
}

// Compares reports whether a node of some weight is heavy enough to name its runner-up, the
// best test of another feature: such a node has at least 1 % of the weight of all objects.
func (c *Criterion) Compares(weight int64) bool { return 100*float64(weight) >= c.total }

// leafSlack is the relative rounding error that a leaf's weight may have above
// theta W.
const leafSlack = 1e-9

// IsLeaf reports whether a node is a leaf for every family of tests: it is homogeneous, or weighs
// at most theta W. By OfObjects a node without pairs is homogeneous; by OfRows its class weights
// must also belong to a single class, unless it has a single object.
func (c *Criterion) IsLeaf(n *Totals) bool {
	if float64(n.Weight) <= c.light*(1+leafSlack) {
		return true
	}
	return n.pairs == 0 && (c.classes == OfObjects || n.Objects <= 1 || n.pure())
}

// IsHeavy reports whether an object of weight w is heavy.
func (c *Criterion) IsHeavy(w int64) bool { return float64(w) > c.light }

// MostObjects is the greatest number of training objects: the square of a greater number does
// not fit 64 bits, and the pairs of a node are half the difference of squares.
const MostObjects = 3_037_000_499

// Totals are the sums over a whole node that the criterion needs.
type Totals struct {
	N       []int64 // objects by majority class
	M       []int64 // weight by class, see Classes
	Objects int64
	Weight  int64
	Ordered bool // thresholds on monotone features must have their sides in order; of two classes

	pairs    int64
	impurity float64 // weight times impurity, see phi
	heavy    Heavy
}

// Paired reports whether the node has objects of different majority classes. In other nodes the
// efficiency of a test is 0, and only tests compete that lower the impurity.
func (n *Totals) Paired() bool { return n.pairs > 0 }

// pure reports whether at most one class has weight.
func (n *Totals) pure() bool {
	classes := 0
	for _, m := range n.M {
		if m > 0 {
			classes++
		}
	}
	return classes <= 1
}

// lowers reports whether a test may compete that reduces the impurity by a gain: in nodes without
// pairs the gain must exceed what counts as a tie.
func (c *Criterion) lowers(n *Totals, gain float64) bool {
	return n.pairs > 0 || gain > c.leastGain()
}

// leastGain is the reduction of weight times impurity that a test of a node without pairs must
// exceed.
func (c *Criterion) leastGain() float64 { return float64(tie * c.total) }

// NewTotals sums up a node from its objects and weight by class. It keeps both
// slices.
func (c *Criterion) NewTotals(objects, weight []int64) *Totals {
	n := &Totals{N: objects, M: weight}
	var squares int64
	for k := range objects {
		n.Objects += objects[k]
		n.Weight += weight[k]
		squares += objects[k] * objects[k]
	}
	n.pairs = (n.Objects*n.Objects - squares) / 2
	n.impurity = c.phi.of(n.M, n.Weight)
	return n
}

// Heavy sums up heavy objects: their weight w_i, and w_i/(w_v - w_i) in 64.64 fixed
// point.
type Heavy struct {
	Weight int64
	Hi, Lo uint64
}

// NewHeavy returns the sum of one heavy object of weight w in a node of weight
// node > w.
func NewHeavy(w, node int64) Heavy {
	d := uint64(node - w)
	hi := uint64(w) / d
	rest := uint64(w) % d
	lo, _ := bits.Div64(rest, 0, d)
	return Heavy{Weight: w, Hi: hi, Lo: lo}
}

// Add adds other to h.
func (h *Heavy) Add(other *Heavy) {
	var carry uint64
	h.Weight += other.Weight
	h.Lo, carry = bits.Add64(h.Lo, other.Lo, 0)
	h.Hi, _ = bits.Add64(h.Hi, other.Hi, carry)
}

// Minus returns h without other.
func (h *Heavy) Minus(other *Heavy) Heavy {
	lo, borrow := bits.Sub64(h.Lo, other.Lo, 0)
	hi, _ := bits.Sub64(h.Hi, other.Hi, borrow)
	return Heavy{h.Weight - other.Weight, hi, lo}
}

func (h *Heavy) quotients() float64 {
	return float64(h.Hi) + float64(float64(h.Lo)*0x1p-64)
}

// side is one outcome of a test in a node.
type side struct {
	objects  int64
	weight   int64
	pairs    int64
	impurity float64
	heavy    Heavy
}

// efficiency returns W times one outcome's part of the efficiency.
func (c *Criterion) efficiency(n *Totals, s *side) float64 {
	if n.pairs == 0 {
		return 0
	}
	q := float64(s.pairs) / float64(n.pairs)
	eff := 0.0
	if light := s.weight - s.heavy.Weight; light > 0 {
		r := 0.0
		if over := float64(s.weight) - c.light; over > 0 {
			r = over / (float64(n.Weight) - c.light) * q
		}
		eff = float64(float64(light) * (1 - r))
	}
	if s.heavy.Weight > 0 {
		eff += float64(float64(s.heavy.Weight) * (1 - q))
		eff += float64(float64(q*float64(n.Weight-s.weight)) * s.heavy.quotients())
	}
	return eff
}

// rank returns the score of a two-outcome test. It computes only the parts that the
// algorithm needs. It is -Inf if the test does not compete.
func (c *Criterion) rank(n *Totals, no, yes *side, cost float64) float64 {
	if n.pairs == 0 && !c.lowers(n, n.impurity-no.impurity-yes.impurity) {
		return math.Inf(-1)
	}
	score := 0.0
	switch c.terms {
	case Pairs:
		score = float64(n.pairs - no.pairs - yes.pairs)
	case Balance:
		score = float64(n.Weight-max(no.weight, yes.weight)) / c.total
	case Discrimination:
		score = max(n.impurity-no.impurity-yes.impurity, 0) / c.total
	default:
		big := no.weight
		if yes.objects > no.objects {
			big = yes.weight
		}
		score = float64(n.Weight-big) / c.total
		score += (c.efficiency(n, no) + c.efficiency(n, yes)) / c.total
		if c.terms == AllTerms {
			score += float64(c.lambda * (max(n.impurity-no.impurity-yes.impurity, 0) / c.total))
		}
	}
	if c.priced {
		score /= cost
	}
	return score
}

// parts returns all parts of a test's score, from its outcomes in order. The total is -Inf if the
// test does not compete.
func (c *Criterion) parts(n *Totals, sides []side, cost float64) Parts {
	var p Parts
	big := 0
	gain := n.impurity
	eff := 0.0
	pairs := n.pairs
	most := int64(0)
	for i := range sides {
		s := &sides[i]
		if s.objects > sides[big].objects {
			big = i
		}
		gain -= s.impurity
		eff += c.efficiency(n, s)
		pairs -= s.pairs
		most = max(most, s.weight)
	}
	p.Balance = float64(n.Weight-sides[big].weight) / c.total
	p.Efficiency = eff / c.total
	p.Discrimination = max(gain, 0) / c.total
	if !c.lowers(n, gain) {
		p.Total = math.Inf(-1)
		return p
	}
	switch c.terms {
	case Pairs:
		p.Total = float64(pairs)
	case Balance:
		p.Total = float64(n.Weight-most) / c.total
	case Discrimination:
		p.Total = p.Discrimination
	case BalanceEfficiency:
		p.Total = p.Balance + p.Efficiency
	case AllTerms:
		p.Total = p.Balance + p.Efficiency + float64(c.lambda*p.Discrimination)
	}
	if c.priced {
		p.Total /= cost
	}
	return p
}

// tie is the relative difference below which two scores are equal.
const tie = 1e-12

// Floor returns the least score that ties with the best one.
func Floor(best float64) float64 { return best - float64(tie*max(1, max(best, -best))) }
