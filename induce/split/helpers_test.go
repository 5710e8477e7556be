package split_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/split"
)

// object is one object of a node.
type object struct {
	codes  []int // by feature
	class  int
	weight int64
}

// node is a node as in the definition of the criterion: a set of objects.
type node struct {
	objects []object
	columns []split.Column
	classes int
	total   int64 // W
	single  bool  // all objects have the first majority class; their classes are those of their rows
}

// majority returns the majority class of an object.
func (n *node) majority(o object) int {
	if n.single {
		return 0
	}
	return o.class
}

func algorithms() []split.Algorithm {
	return []split.Algorithm{
		split.EC45, split.ECART, split.ASR, split.C45, split.CART, split.CC45, split.CCART, split.IP, split.Bal,
	}
}

func families() []split.Family {
	return []split.Family{split.OneHot, split.Thresholds, split.Both, split.Multiways}
}

// randomColumn draws a feature; one in three costs differently by value.
func randomColumn(r *rand.Rand) split.Column {
	bins := 1 + r.IntN(6)
	c := split.Column{Codes: bins + 1, Numeric: true, Cost: float64(1 + r.IntN(3))}
	if r.IntN(2) == 0 {
		return c
	}
	c.Codes, c.Numeric = bins+2, false
	if r.IntN(3) == 0 {
		c.Costs = make([]float64, c.Codes)
		for i := range c.Costs {
			c.Costs[i] = 0.5 * float64(1+r.IntN(4))
		}
	}
	return c
}

// totals are the weights W of random nodes' data. There are few, since making a
// criterion takes longer than scoring a small node.
func totals() []int64 { return []int64{40, 400, 2000} }

// randomNode draws a node of few objects. Their weights are all 1, or spread, or
// spread with one object heavier than the rest together.
func randomNode(r *rand.Rand) *node {
	n := &node{classes: 2 + r.IntN(4)}
	for range 1 + r.IntN(4) {
		n.columns = append(n.columns, randomColumn(r))
	}
	spread := []int{1, 20, 20}[r.IntN(3)]
	for range 2 + r.IntN(30) {
		o := object{class: r.IntN(n.classes), weight: int64(1 + r.IntN(spread))}
		for f := range n.columns {
			o.codes = append(o.codes, r.IntN(n.columns[f].Codes))
		}
		n.objects = append(n.objects, o)
	}
	if r.IntN(3) == 0 {
		n.objects[0].weight = int64(50 + r.IntN(1000))
	}
	weight := n.weight(n.objects)
	n.total = totals()[slices.IndexFunc(totals(), func(w int64) bool { return w >= weight })]
	if r.IntN(3) == 0 { // the root
		n.objects[len(n.objects)-1].weight += n.total - weight
	}
	return n
}

func (n *node) weight(objects []object) int64 {
	sum := int64(0)
	for _, o := range objects {
		sum += o.weight
	}
	return sum
}

// pairs counts the pairs of objects of different classes, one by one.
func pairs(objects []object) int {
	count := 0
	for i := range objects {
		for j := range i {
			if objects[i].class != objects[j].class {
				count++
			}
		}
	}
	return count
}

// phi is the entropy in bits, or the Gini index, of class weights.
func (n *node) phi(objects []object, gini bool) float64 {
	m := make([]float64, n.classes)
	for _, o := range objects {
		m[o.class] += float64(o.weight)
	}
	w := float64(n.weight(objects))
	entropy, squares := 0.0, 0.0
	for _, x := range m {
		if x > 0 {
			entropy -= x / w * math.Log2(x/w)
			squares += x / w * (x / w)
		}
	}
	if gini {
		return 1 - squares
	}
	return entropy
}

// tests lists the tests of all features in test order, as the
// package documentation lists them.
func (n *node) tests(family split.Family) []split.Candidate {
	var list []split.Candidate
	for f, c := range n.columns {
		add := func(kind split.Kind, from, to int) {
			for code := from; code < to; code++ {
				cost := c.Cost
				if kind == split.Equals && c.Costs != nil {
					cost = c.Costs[code]
				}
				list = append(list, split.Candidate{Test: split.Test{Feature: f, Kind: kind, Code: code}, Cost: cost})
			}
		}
		bins := c.Codes - 1
		switch {
		case c.Numeric:
			if family != split.OneHot {
				add(split.Threshold, 1, bins)
			}
			if family == split.OneHot || family == split.Both {
				add(split.Bin, 0, bins)
			}
			add(split.Missing, bins, bins+1)
		case family == split.Multiways:
			add(split.Multiway, 0, 1)
		default:
			add(split.Equals, 0, c.Codes-2)
			add(split.Other, c.Codes-2, c.Codes-1)
			add(split.Missing, c.Codes-1, c.Codes)
		}
	}
	return list
}

// part deals the objects to the outcomes of a test, by the table of kinds in the
// package documentation.
func (n *node) part(t *split.Test) [][]object {
	c := n.columns[t.Feature]
	outcomes := make([][]object, max(2, c.Codes))
	for _, o := range n.objects {
		code, x := o.codes[t.Feature], 0
		switch t.Kind {
		case split.Multiway:
			x = code
		case split.Threshold:
			if code >= t.Code && code != c.Codes-1 {
				x = 1
			}
		default:
			if code == t.Code {
				x = 1
			}
		}
		outcomes[x] = append(outcomes[x], o)
	}
	return outcomes
}

// parts scores a test object by object, by the definition in the package
// documentation. ok says that the test has at least two outcomes in the node.
func (n *node) parts(t *split.Candidate, a split.Algorithm, s setting) (p split.Parts, ok bool) {
	total, light := float64(n.total), s.theta*float64(n.total)
	wv, pv := float64(n.weight(n.objects)), float64(pairs(n.objects))
	gini := a == split.ECART || a == split.CART || a == split.CCART
	gain, separated, most, present := n.phi(n.objects, gini), pv, 0.0, 0
	big := []object(nil)
	for _, x := range n.part(&t.Test) {
		if len(x) == 0 {
			continue
		}
		present++
		wx, px := float64(n.weight(x)), float64(pairs(x))
		if len(x) > len(big) {
			big = x
		}
		for _, o := range x {
			m := max(float64(o.weight), light)
			p.Efficiency += float64(o.weight) / total * (1 - max(wx-m, 0)/(wv-m)*px/pv)
		}
		gain -= wx / wv * n.phi(x, gini)
		separated -= px
		most = max(most, wx)
	}
	p.Balance = (wv - float64(n.weight(big))) / total
	p.Discrimination = max(wv/total*gain, 0)
	switch a {
	case split.EC45, split.ECART:
		p.Total = (p.Balance + p.Efficiency + s.lambda*p.Discrimination) / t.Cost
	case split.ASR:
		p.Total = (p.Balance + p.Efficiency) / t.Cost
	case split.C45, split.CART:
		p.Total = p.Discrimination
	case split.CC45, split.CCART:
		p.Total = p.Discrimination / t.Cost
	case split.IP:
		p.Total = separated
	case split.Bal:
		p.Total = (wv - most) / total
	}
	return p, present >= 2
}

// choose finds the best test by brute force over all of them.
func (n *node) choose(family split.Family, a split.Algorithm, x setting) split.Candidate {
	var competing []split.Candidate
	best := math.Inf(-1)
	for _, t := range n.tests(family) {
		if p, ok := n.parts(&t, a, x); ok {
			t.Score = p.Total
			competing = append(competing, t)
			best = max(best, t.Score)
		}
	}
	var found split.Candidate
	for _, t := range competing {
		if best-t.Score <= 1e-12*max(1, math.Abs(best)) && (found.Kind == 0 || t.Cost < found.Cost) {
			found = t
		}
	}
	return found
}

// load returns a scanner at the node, and the function that loads a feature. tell
// says whether the function passes the present codes.
func (n *node) load(c *split.Criterion, tell bool) (*split.Scanner, *split.Totals, func(feature int)) {
	objects, weight := make([]int64, n.classes), make([]int64, n.classes)
	for _, o := range n.objects {
		objects[n.majority(o)]++
		weight[o.class] += o.weight
	}
	totals := c.NewTotals(objects, weight)
	var heavy split.Heavy
	histograms := make([]split.Histogram, len(n.columns))
	present := make([][]int32, len(n.columns))
	for f := range n.columns {
		h := &histograms[f]
		h.Cells = make([]int64, 2*n.classes*n.columns[f].Codes)
		for _, o := range n.objects {
			at := 2 * o.codes[f] * n.classes
			h.Cells[at+2*n.majority(o)]++
			h.Cells[at+2*o.class+1] += o.weight
			if !c.IsHeavy(o.weight) {
				continue
			}
			if h.Heavy == nil {
				h.Heavy = make([]split.Heavy, n.columns[f].Codes)
			}
			one := split.NewHeavy(o.weight, totals.Weight)
			h.Heavy[o.codes[f]].Add(&one)
		}
		for code := range n.columns[f].Codes {
			for _, o := range n.objects {
				if o.codes[f] == code {
					present[f] = append(present[f], int32(code))
					break
				}
			}
		}
	}
	for i := range histograms[0].Heavy {
		heavy.Add(&histograms[0].Heavy[i])
	}
	s := split.NewScanner(c)
	s.Node(totals, heavy)
	return s, totals, func(f int) {
		if tell {
			s.Load(f, &n.columns[f], histograms[f], present[f])
		} else {
			s.Load(f, &n.columns[f], histograms[f], nil)
		}
	}
}

// choose returns the best of all tests of a node's features, by a scanner.
func choose(s *split.Scanner, scores []float64, load func(feature int)) split.Candidate {
	floor := split.Floor(slices.Max(scores))
	var found []split.Candidate
	for f, score := range scores {
		if score >= floor {
			load(f)
			found = s.Collect(floor, found)
		}
	}
	return split.Best(found, -1)
}

func (n *node) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "W=%d classes=%d\n", n.total, n.classes)
	for f, c := range n.columns {
		fmt.Fprintf(&s, "  feature %d: %+v\n", f, c)
	}
	for _, o := range n.objects {
		fmt.Fprintf(&s, "  codes %v class %d weight %d\n", o.codes, o.class, o.weight)
	}
	return s.String()
}
