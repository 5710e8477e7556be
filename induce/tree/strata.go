package tree

import (
	"cmp"
	"errors"
	"math"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// Five strata of equal weight take away more than nine tenths of the error that one feature causes (Cochran 1968). A stratum
// without enough rows that have the value would count for others by chance.
const (
	mostStrata     = 5
	leastKnownRows = 10
	leastDivided   = 5       // rows of a class at a node of a stratum; with fewer, the rows of all strata divide the class
	mostCounting   = 1 << 14 // nodes of a counting tree
)

// Strata divide the rows at presence tests by a feature that tells which of them have the value: whoever ordered it may have
// looked at the feature. Within a stratum each class is divided as its rows that have the value, see Tree.Known: the value
// then has to be ordered at random only given the path, the class and the stratum.
type Strata struct {
	// Counting counts the rows: above each presence test with strata are tests of its strata, and each stratum has a copy of
	// the presence test and what is below it. It has no leaf models.
	Counting *Tree

	origin []int // by node of Counting: the node of the tree
}

// StrataCounts are counts of rows at the leaves of a counting tree.
type StrataCounts struct {
	*Strata

	Counts *LeafCounts
}

// Stratify finds strata for the presence tests of a tree over all features of its training, given training objects, and the
// weight of the training rows. A presence test has the strata of the feature that tells the most about who has the value: by the
// likelihood of having it, by class, less what chance would gain (Schwarz 1978). The feature is known of nearly all rows, or
// asked above the presence test. Stratify returns nil if there are no strata.
func (t *Tree) Stratify(o *dataset.Objects, weight int64) *Strata {
	if !t.HasPresenceTests() {
		return nil
	}
	s := stratifier{Tree: t, objects: o, tests: make([][]split.Test, len(t.Nodes)), asked: make([]int, len(t.Features))}
	for i := range t.Features {
		if !t.Features[i].OftenMissing(weight) {
			s.asked[i] = 1
		}
	}
	ids := make([]int32, o.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	s.visit(0, ids)
	return s.strata()
}

type stratifier struct {
	*Tree

	objects *dataset.Objects
	asked   []int          // by feature: above 0 if the rows at the node have its value
	tests   [][]split.Test // by presence test: the tests of its strata
}

// visit finds the strata of the presence tests from a node on, which objects have reached.
func (s *stratifier) visit(node int, ids []int32) {
	n := &s.Nodes[node]
	if n.Leaf() || len(ids) == 0 {
		return
	}
	presence := s.Presence(n)
	if presence {
		s.tests[node] = s.best(n.Test.Feature, ids)
		s.asked[n.Test.Feature]++
	}
	s.Divide(node, s.objects, ids, make([]int32, len(ids)), func(child int, part []int32) { s.visit(child, slices.Clone(part)) })
	if presence {
		s.asked[n.Test.Feature]--
	}
}

// best returns the tests of the strata for a presence test, which objects have reached; nil if no feature tells who has the value.
// The first of two features with the same gain wins.
func (s *stratifier) best(wanted int, ids []int32) []split.Test {
	all := s.count(wanted, wanted, ids)
	known := all.weight - portable.Sum(all.all[s.Features[wanted].MissingCode()])
	if known == all.weight || !all.enough(known/2) {
		return nil // not even two strata have enough rows
	}
	tests := make([][]split.Test, len(s.Features))
	gains := make([]float64, len(s.Features))
	parallel.Each(len(s.Features), runtime.GOMAXPROCS(0), func(feature int) {
		if s.asked[feature] > 0 && feature != wanted {
			c := s.count(feature, wanted, ids)
			tests[feature] = c.tests(feature, &s.Features[feature])
			gains[feature] = c.gain(tests[feature], &s.Features[feature])
		}
	})
	best := 0
	for feature, gain := range gains {
		if gain > gains[best] {
			best = feature
		}
	}
	if !(gains[best] > 0) {
		return nil
	}
	return tests[best]
}

// knownCounts counts the rows at a presence test by the code of a feature and by class.
type knownCounts struct {
	rows, weight int64
	all, known   [][]int64 // weights of all rows, and of the rows that have the value
}

func (s *stratifier) count(feature, wanted int, ids []int32) *knownCounts {
	codes := s.Features[feature].Codes()
	classes := len(s.Label.Classes)
	c := &knownCounts{all: slices.Collect(slices.Chunk(make([]int64, codes*classes), classes))}
	c.known = slices.Collect(slices.Chunk(make([]int64, codes*classes), classes))
	missing := s.Features[wanted].MissingCode()
	for _, id := range ids {
		code := s.objects.Codes[feature].At(int(id))
		known := s.objects.Codes[wanted].At(int(id)) != missing
		c.rows += s.objects.RowsOf(int(id))
		for _, l := range s.objects.Labels(int(id)) {
			c.weight += l.Weight
			c.all[code][l.Class] += l.Weight
			if known {
				c.known[code][l.Class] += l.Weight
			}
		}
	}
	return c
}

// enough reports whether a stratum has enough rows that have the value.
func (c *knownCounts) enough(known int64) bool {
	return float64(known)*float64(c.rows) >= leastKnownRows*float64(c.weight)
}

// tests returns the tests that divide the rows into strata, in their order: a row is in the stratum of the first test that is
// true. Numbers are divided at quantiles; the most frequent categories are strata of their own.
func (c *knownCounts) tests(feature int, f *dataset.Feature) (tests []split.Test) {
	if f.Kind == dataset.Categorical && !f.Ordered {
		codes := make([]int, 0, len(f.Values))
		for code := range f.Values {
			if c.enough(portable.Sum(c.known[code])) {
				codes = append(codes, code)
			}
		}
		slices.SortStableFunc(codes, func(a, b int) int { return cmp.Compare(portable.Sum(c.all[b]), portable.Sum(c.all[a])) })
		for _, code := range codes[:min(len(codes), mostStrata-1)] {
			tests = append(tests, split.Test{Feature: feature, Kind: split.Equals, Code: code})
		}
		return tests
	}
	missing := f.MissingCode()
	seen, known := portable.Sum(c.all[missing]), portable.Sum(c.known[missing])
	for code := range missing {
		if whole := int64(len(tests) + 1); code > 0 && len(tests) < mostStrata-1 && seen >= whole*c.weight/mostStrata && c.enough(known) {
			tests = append(tests, ofValues(f, split.Test{Feature: feature, Kind: split.Threshold, Code: code}))
			known = 0
		}
		seen += portable.Sum(c.all[code])
		known += portable.Sum(c.known[code])
	}
	if len(tests) > 0 && !c.enough(known) {
		tests = tests[:len(tests)-1]
	}
	slices.Reverse(tests)
	return tests
}

// gain returns how much more likely the values that rows have are given the strata, by class, less what chance would gain.
func (c *knownCounts) gain(tests []split.Test, f *dataset.Feature) float64 {
	if len(tests) == 0 {
		return 0
	}
	gain := 0.0
	parameters := 0
	for class := range c.all[0] {
		var all, known [mostStrata + 1]int64 // the last is of all strata
		for code := range c.all {
			at := slices.IndexFunc(tests, func(t split.Test) bool { return t.Outcome(code, f.MissingCode()) == 1 })
			if at < 0 {
				at = len(tests)
			}
			for _, i := range []int{at, mostStrata} {
				all[i] += c.all[code][class]
				known[i] += c.known[code][class]
			}
		}
		if all[mostStrata] == 0 {
			continue
		}
		parameters += len(tests)
		for i := range mostStrata {
			gain += likelihood(known[i], all[i])
		}
		gain -= likelihood(known[mostStrata], all[mostStrata])
	}
	chance := float64(float64(parameters) * portable.Log(float64(max(1, c.rows))) / 2)
	return float64(gain*float64(c.rows))/float64(max(1, c.weight)) - chance
}

// likelihood returns the logarithm of the likelihood that known of all rows have a value, at its most likely share.
func likelihood(known, all int64) float64 {
	sum := 0.0
	for _, n := range []int64{known, all - known} {
		if n > 0 {
			sum += float64(float64(n) * portable.Log(float64(n)/float64(all)))
		}
	}
	return sum
}

// strata returns the strata of the presence tests; nil if no test has strata. If the counting tree would be too large, the
// presence tests that the fewest rows reach have no strata.
func (s *stratifier) strata() *Strata {
	var order []int
	for node, tests := range s.tests {
		if len(tests) > 0 {
			order = append(order, node)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Nodes[b].Rows, s.Nodes[a].Rows) })
	for len(order) > 0 && s.size() > mostCounting {
		last := len(order) - 1
		s.tests[order[last]] = nil
		order = order[:last]
	}
	if len(order) == 0 {
		return nil
	}
	made, err := s.StrataBy(s.build())
	if err != nil {
		panic(err) // it has just been built for the tree
	}
	return made
}

// size returns the number of nodes of the counting tree.
func (s *stratifier) size() float64 {
	sizes := make([]float64, len(s.Nodes))
	for i := len(s.Nodes) - 1; i >= 0; i-- {
		sizes[i] = 1
		for _, b := range s.Nodes[i].Branches {
			sizes[i] += sizes[b.Child]
		}
		n := float64(len(s.tests[i]))
		sizes[i] = float64((n+1)*sizes[i]) + n
	}
	return sizes[0]
}

// build makes the counting tree.
func (s *stratifier) build() *Tree {
	counting := &Tree{Label: s.Label, Features: s.Features, Algorithm: s.Algorithm, Training: s.Training}
	type place struct{ node, tests int } // tests: how many tests of its strata are above the node
	queue := []place{{}}
	for at := 0; at < len(queue); at++ {
		p := queue[at]
		n := s.Nodes[p.node]
		n.Model = nil
		if tests := s.tests[p.node]; p.tests < len(tests) {
			f := &s.Features[tests[p.tests].Feature]
			n.Test = &Test{Test: tests[p.tests], Cost: f.Cost}
			n.Branches = []Branch{{Outcome: 1, Child: len(queue)}, {Outcome: 0, Child: len(queue) + 1}}
			for i := range n.Branches {
				n.Branches[i].Missing = n.Test.Outcome(f.MissingCode(), f.MissingCode()) == n.Branches[i].Outcome
				n.Branches[i].Other = f.Kind == dataset.Categorical && n.Test.Outcome(f.OtherCode(), f.MissingCode()) == n.Branches[i].Outcome
			}
			queue = append(queue, place{p.node, math.MaxInt}, place{p.node, p.tests + 1})
		} else {
			n.Branches = slices.Clone(n.Branches)
			for i := range n.Branches {
				queue = append(queue, place{node: n.Branches[i].Child})
				n.Branches[i].Child = len(queue) - 1
			}
			if n.Test != nil {
				n.Test = &Test{Test: n.Test.Test, Cost: n.Test.Cost}
			}
		}
		counting.Nodes = append(counting.Nodes, n)
	}
	for i, weights := range counting.CountObjects(s.objects).Weights {
		if n := &counting.Nodes[i]; n.Leaf() {
			n.RawClassWeights = weights
			n.ClassWeights = weights
			n.Weight = portable.Sum(weights)
		}
	}
	SumUp(counting.Nodes)
	counting.Bill()
	counting.Measure()
	return counting
}

var errStrata = errors.New("strata of another tree")

// sameTest reports whether two tests of a feature, which may have other codes in another tree, divide all values equally.
func sameTest(f, g *dataset.Feature, a, b *split.Test) bool {
	if f.Kind != g.Kind || a.Kind != b.Kind || a.Outcome(f.MissingCode(), f.MissingCode()) != b.Outcome(g.MissingCode(), g.MissingCode()) {
		return false
	}
	codes := func(code, other int) bool {
		return a.Outcome(code, f.MissingCode()) == b.Outcome(other, g.MissingCode())
	}
	if f.Kind == dataset.Categorical {
		for _, v := range slices.Concat(f.Values, g.Values) {
			if !codes(listedCode(f, v), listedCode(g, v)) {
				return false
			}
		}
		return codes(f.OtherCode(), g.OtherCode())
	}
	below := func(cuts []float64, x float64) int { // the code of the values just below x
		at, _ := slices.BinarySearch(cuts, x)
		return at
	}
	for _, x := range slices.Concat(f.Cuts, g.Cuts) {
		if !codes(below(f.Cuts, x), below(g.Cuts, x)) {
			return false
		}
	}
	return codes(len(f.Cuts), len(g.Cuts))
}

// listedCode returns the code of a value of a categorical feature, listed or not.
func listedCode(f *dataset.Feature, value string) int {
	if code := slices.Index(f.Values, value); code >= 0 {
		return code
	}
	return f.OtherCode()
}

// StrataBy returns the strata of the presence tests, given the counting tree that Stratify has found for the tree. The tree may
// have fewer features since, see Tested. The error says that the counting tree belongs to another tree.
func (t *Tree) StrataBy(counting *Tree) (*Strata, error) {
	if !slices.Equal(counting.Label.Classes, t.Label.Classes) {
		return nil, errStrata
	}
	s := &Strata{Counting: counting, origin: make([]int, len(counting.Nodes))}
	for i := range counting.Nodes {
		c := &counting.Nodes[i]
		n := &t.Nodes[s.origin[i]]
		if c.Leaf() != n.Leaf() {
			return nil, errStrata
		}
		if c.Leaf() {
			continue
		}
		f := &counting.Features[c.Test.Feature]
		own := &t.Features[n.Test.Feature]
		stratum := f.Name != own.Name
		if stratum && !t.Presence(n) || !stratum && (len(c.Branches) != len(n.Branches) || !sameTest(f, own, &c.Test.Test, &n.Test.Test)) {
			return nil, errStrata
		}
		for k, b := range c.Branches {
			s.origin[b.Child] = s.origin[i]
			if stratum {
				continue
			}
			if b.Outcome != n.Branches[k].Outcome {
				return nil, errStrata
			}
			s.origin[b.Child] = n.Branches[k].Child
		}
	}
	return s, nil
}

// divided returns the known weights at the nodes of the counting tree. A class with few rows at a node of a stratum, as a rare
// class may have, is divided by the rows of all strata. t is the tree that the strata are of.
func (c *StrataCounts) divided(t *Tree) [][]int64 {
	weights := c.Counting.summed(c.Counts)
	by := &evidence{rows: weights, wider: make([][]int64, len(weights)), grown: make([][]int64, len(weights))}
	all := make([][]int64, len(t.Nodes)) // weights in all copies of a node
	for i, origin := range c.origin {
		by.grown[i] = t.Nodes[origin].RawClassWeights
		for _, b := range c.Counting.Nodes[i].Branches {
			below := c.origin[b.Child]
			if below == origin {
				continue // a stratum
			}
			if all[below] == nil {
				all[below] = make([]int64, len(t.Label.Classes))
			}
			for k, w := range weights[b.Child] {
				all[below][k] += w
			}
			by.wider[b.Child] = all[below]
		}
	}
	by.least = leastDivided * portable.Sum(weights[0]) / max(1, c.Counts.TotalRows())
	return c.Counting.knownBy(by)
}

// known returns the known weights at the leaves of the tree that the strata are of, see Tree.KnownCounts, by node: nil for inner
// nodes. ofRows has, by node and class, the mean square of the factors by which rows count, and alone the sum of the squares of
// known weights for which there is no row.
func (c *StrataCounts) known(t *Tree) (weights [][]int64, ofRows, alone [][]float64) {
	known := c.divided(t)
	weights = t.NewLeafCounts().Weights
	rows := t.NewLeafCounts().Weights
	ofRows = make([][]float64, len(t.Nodes))
	alone = make([][]float64, len(t.Nodes))
	for i, origin := range c.origin {
		if c.Counts.Weights[i] == nil {
			continue
		}
		if ofRows[origin] == nil {
			ofRows[origin] = make([]float64, len(t.Label.Classes))
			alone[origin] = make([]float64, len(t.Label.Classes))
		}
		for k, w := range known[i] {
			weights[origin][k] += w
			square := float64(float64(w) * float64(w))
			if n := c.Counts.Weights[i][k]; n > 0 {
				rows[origin][k] += n
				ofRows[origin][k] += square / float64(n)
			} else {
				alone[origin][k] += square
			}
		}
	}
	for i, list := range ofRows {
		for k := range list {
			list[k] /= float64(max(1, rows[i][k]))
		}
	}
	return weights, ofRows, alone
}
