package split

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"math"
	"slices"
)

// CodeSet is a set of codes: bit code%8 of byte code/8, without trailing zero bytes. Two sets are the same if they are
// equal by ==.
type CodeSet string

// NewCodeSet returns the set of the codes below n that has returns true for.
func NewCodeSet(n int, has func(code int) bool) CodeSet {
	bits := make([]byte, (n+7)/8)
	for code := range n {
		if has(code) {
			bits[code/8] |= 1 << (code % 8)
		}
	}
	return setOf(bits)
}

func setOf(bits []byte) CodeSet { return CodeSet(bytes.TrimRight(bits, "\x00")) }

// Has reports whether the set has a code.
func (s CodeSet) Has(code int) bool { return code/8 < len(s) && s[code/8]>>(code%8)&1 != 0 }

// MarshalText encodes the set in Base64, as its bytes are not a text.
func (s CodeSet) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(s)), nil
}

// UnmarshalText decodes what MarshalText has encoded.
func (s *CodeSet) UnmarshalText(text []byte) error {
	bits, err := base64.StdEncoding.AppendDecode(nil, text)
	*s = CodeSet(bits)
	return err
}

// groups are the tests of a categorical feature in a node that ask whether a value is in a set. For each class in turn
// (for the second of two classes only), the values are ordered by the share of the class, and each place between two
// neighbours divides them. For two classes, no set of values lowers the impurity more (Breiman, Friedman, Olshen, Stone:
// Classification and Regression Trees, 1984, section 4.2).
//
// The shares are estimates. The shares of values without an effect differ by chance, and a set chosen by them would
// beat the tests of all other features. So shares are drawn towards the share of all values in the node (empirical
// Bayes), and the scores of the tests are multiplied by discount.
type groups struct {
	// trust is the part of the variation among the shares that is not chance, from 0 to 1: the part of the difference
	// between two sets that new rows will have (intraclass correlation of means).
	trust float64
	// discount is the factor of the scores of the tests. The gain of a test grows with the square of the difference, so
	// the factor is the square of trust, with a lower bound of trust as one of the two.
	discount float64
	prior    float64   // weight of the prior of a share, whose value is the share among all placed values
	orders   [][]int32 // by class: the placed values in the order of their shares
	all      []int64   // sums over all placed values, laid out like the cells of a code
	heavy    Heavy     // sum of their heavy objects
	unplaced []int64   // sums over all other values, but not the missing ones
	missing  bool      // whether the node has objects without a value

	weight       int64   // weight of all placed values
	prefix       []int64 // sums of the values before the place that is visited
	prefixWeight int64
	prefixHeavy  Heavy
	one          []int64 // sums of outcome one of the test that is visited
	oneHeavy     Heavy

	shares []float64 // by class: share among all values
	ranked []ranked  // values with at least leastRows rows in the node
}

// ranked is a value that has a place.
type ranked struct {
	code   int32
	weight float64
	share  float64 // share of the class by which the values are ordered
}

const (
	// chance is how many standard deviations of the variation among values without an effect count as chance.
	chance = 3
	// leastRows is how many rows a value needs in a node to have a place. All other values go with the greater part. See also
	// Column.Frequent.
	leastRows = 2
	// leastPlaced is how many such values a node needs: with fewer, a test for a set is a test for a single value.
	leastPlaced = 3
	// mostOrders bounds the classes by whose shares values are ordered: they have the greatest weight in the node.
	mostOrders = 8
)

// values returns the codes with objects that tests for sets may have, ascending: without other and missing values.
func (s *Scanner) values() []int32 {
	column := s.column
	if column.Numeric || column.Costs != nil || column.Monotone != 0 {
		return nil
	}
	codes := s.present
	for len(codes) > 0 && int(codes[len(codes)-1]) >= column.other() {
		codes = codes[:len(codes)-1]
	}
	return codes
}

// group orders the values of the loaded feature. It reports whether there are tests for sets.
func (s *Scanner) group() bool {
	g := &s.groups
	codes := s.values()
	least := float64(leastRows) * s.c.rowWeight
	g.ranked = g.ranked[:0]
	for _, code := range codes {
		if weight := float64(weightOf(s.cells(int(code)))); weight >= least {
			g.ranked = append(g.ranked, ranked{code: code, weight: weight})
		}
	}
	if len(g.ranked) < leastPlaced {
		return false
	}
	g.missing = int(s.present[len(s.present)-1]) == s.column.missing()
	g.all = g.all[:0]
	for k, objects := range s.n.N {
		g.all = append(g.all, objects, s.n.M[k])
	}
	g.heavy = s.n.heavy
	g.unplaced = zeros(g.unplaced, len(g.all))
	for _, code := range s.present[len(codes):] {
		s.leaveOut(code)
	}
	if !s.variation(codes) {
		return false
	}
	at := 0
	for _, code := range codes {
		if at < len(g.ranked) && g.ranked[at].code == code {
			at++
		} else {
			s.leaveOut(code)
		}
	}
	g.weight = weightOf(g.all)
	s.order()
	return true
}

// rare reports whether a value of the loaded feature, or all other values, have too few rows in the node for a test of the
// value.
func (s *Scanner) rare(code int32) bool {
	if !s.column.Frequent || int(code) >= s.column.other() {
		return false
	}
	weight := weightOf(s.cells(int(code)))
	return float64(min(weight, s.n.Weight-weight)) < float64(leastRows)*s.c.rowWeight
}

// leaveOut subtracts the cells of a code from the sums over all placed values.
func (s *Scanner) leaveOut(code int32) {
	g := &s.groups
	for i, x := range s.cells(int(code)) {
		g.all[i] -= x
		if int(code) != s.column.missing() {
			g.unplaced[i] += x
		}
	}
	if s.h.Heavy != nil {
		g.heavy = g.heavy.Minus(&s.h.Heavy[code])
	}
}

// zeros returns n zeros, in the given memory if it is large enough.
func zeros(memory []int64, n int) []int64 {
	memory = slices.Grow(memory[:0], n)[:n]
	clear(memory)
	return memory
}

// weightOf returns the weight of all classes.
func weightOf(cells []int64) int64 {
	sum := int64(0)
	for k := 1; k < len(cells); k += 2 {
		sum += cells[k]
	}
	return sum
}

// variation compares the variation among the shares of values with chance. It reports whether there is more than chance,
// and sets trust, discount and prior. The variation is Pearson's chi square. Its variance under independence is the sum
// over values of 2 (classes - 1) + (sum of 1/share - classes^2 - 2 classes + 2) / rows.
func (s *Scanner) variation(codes []int32) bool {
	g := &s.groups
	total := float64(weightOf(g.all))
	classes := 0.0
	inverse := 0.0
	g.shares = g.shares[:0]
	for k := 1; k < len(g.all); k += 2 {
		m := float64(g.all[k])
		g.shares = append(g.shares, m/total)
		if m > 0 {
			classes++
			inverse += total / m
		}
	}
	if classes < 2 {
		return false
	}
	unit := s.c.rowWeight
	excess := inverse - float64(classes*classes) - float64(2*classes) + 2
	square := 0.0
	variance := 0.0
	squares := 0.0
	for _, code := range codes {
		cells := s.cells(int(code))
		weight := float64(weightOf(cells))
		if !(weight > 0) {
			continue
		}
		for k, share := range g.shares {
			if share > 0 {
				expected := float64(weight * share)
				off := float64(cells[2*k+1]) - expected
				square += float64(off*off) / expected
			}
		}
		variance += float64(2*(classes-1)) + float64(excess*unit)/weight
		squares += float64(weight * weight)
	}
	if square <= tie*total {
		return false // all shares are equal, and any set would do: each of them would tie with the best one
	}
	square /= unit
	freedom := float64((float64(len(codes)) - 1) * (classes - 1))
	usual := (total - squares/total) / (float64(len(codes)) - 1) // weight of a value, see DerSimonian and Laird
	if !(usual > unit) {
		return false
	}
	above := 0.0 // the trust that follows from the tests above the node
	if s.column.Prior > 0 {
		above = usual / (usual + s.column.Prior)
	}
	least := max(above, 1-(freedom+float64(chance*math.Sqrt(max(0, variance))))/square)
	if !(least > 0) {
		return false
	}
	// The chi square measures chance by the variation among all rows, of which the variation among values is a part. The
	// factor rows/(rows - 1) takes it out.
	g.trust = max(above, min(1, float64((1-freedom/square)*usual)/(usual-unit)))
	g.discount = float64(least * g.trust)
	g.prior = max(usual*(1-g.trust)/g.trust, math.SmallestNonzeroFloat64)
	return true
}

// order orders the placed values by the share of each class.
func (s *Scanner) order() {
	g := &s.groups
	total := float64(weightOf(g.all))
	classes := s.classesToOrder()
	for len(g.orders) < len(classes) {
		g.orders = append(g.orders, nil)
	}
	g.orders = g.orders[:len(classes)]
	for i, k := range classes {
		share := float64(g.all[2*k+1]) / total
		for j := range g.ranked {
			r := &g.ranked[j]
			own := float64(s.cells(int(r.code))[2*k+1])
			r.share = (own + float64(g.prior*share)) / (r.weight + g.prior)
		}
		slices.SortFunc(g.ranked, func(a, b ranked) int {
			return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.code, b.code))
		})
		g.orders[i] = g.orders[i][:0]
		for _, r := range g.ranked {
			g.orders[i] = append(g.orders[i], r.code)
		}
	}
}

// classesToOrder returns the classes by whose shares the values are ordered.
func (s *Scanner) classesToOrder() []int {
	all := s.groups.all
	var classes []int
	for k := 0; 2*k < len(all); k++ {
		if all[2*k+1] > 0 {
			classes = append(classes, k)
		}
	}
	if len(classes) == 2 {
		return classes[1:]
	}
	slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(all[2*b+1], all[2*a+1]) })
	return classes[:min(len(classes), mostOrders)]
}

// eachSet visits the tests for sets, in test order. Outcome one, the lighter one, has its sums in groups.one. It is
// outcome 0 if no is true. at is the number of the test for setAt.
func (s *Scanner) eachSet(visit func(at int, codes []int32, no bool)) {
	g := &s.groups
	for i, order := range g.orders {
		s.beginPrefix()
		for place := 1; place < len(order); place++ {
			s.addToPrefix(order[place-1])
			s.visitPlace(i, place, 0, visit)
			if g.missing {
				s.visitPlace(i, place, 1, visit)
			}
		}
	}
}

// setAt measures the test with a number that eachSet has given, and returns it.
func (s *Scanner) setAt(at int, no, yes *side) Test {
	g := &s.groups
	number := at / 2
	order := g.orders[number/len(g.ranked)]
	place := number % len(g.ranked)
	s.beginPrefix()
	for _, code := range order[:place] {
		s.addToPrefix(code)
	}
	var test Test
	s.visitPlace(number/len(g.ranked), place, at%2, func(_ int, codes []int32, isNo bool) {
		s.setSides(isNo, no, yes)
		test = s.setTest(codes, isNo)
	})
	return test
}

func (s *Scanner) beginPrefix() {
	g := &s.groups
	g.prefix = zeros(g.prefix, len(g.all))
	g.prefixHeavy = Heavy{}
	g.prefixWeight = 0
}

func (s *Scanner) addToPrefix(code int32) {
	g := &s.groups
	cells := s.cells(int(code))
	for i, x := range cells {
		g.prefix[i] += x
	}
	g.prefixWeight += weightOf(cells)
	if s.h.Heavy != nil {
		g.prefixHeavy.Add(&s.h.Heavy[code])
	}
}

// visitPlace visits the test that divides an order at a place. Missing values go with the values before the place if
// with is 1, otherwise with the values beyond it. They take the no branch.
func (s *Scanner) visitPlace(order, place, with int, visit func(at int, codes []int32, no bool)) {
	g := &s.groups
	var missing []int64
	before := g.prefixWeight
	beyond := g.weight - g.prefixWeight
	if g.missing {
		missing = s.cells(s.column.missing())
		if with == 1 {
			before += weightOf(missing)
		} else {
			beyond += weightOf(missing)
		}
	}
	codes, no := g.divide(order, place, with, before > beyond)
	g.one = append(g.one[:0], g.prefix...)
	g.oneHeavy = g.prefixHeavy
	if before > beyond {
		for i := range g.one {
			g.one[i] = g.all[i] - g.prefix[i]
		}
		g.oneHeavy = g.heavy.Minus(&g.prefixHeavy)
	}
	if no {
		for i, x := range missing {
			g.one[i] += x
		}
		if s.h.Heavy != nil {
			g.oneHeavy.Add(&s.h.Heavy[s.column.missing()])
		}
	} else if len(codes) == 1 {
		return // the test for a single value
	}
	visit(g.number(order, place, with), codes, no)
}

// divide returns the values in outcome one of the test that divides an order at a place, and whether this is outcome 0.
// Outcome one is the values before the place unless beyond is true.
func (g *groups) divide(order, place, with int, beyond bool) (codes []int32, no bool) {
	if beyond {
		return g.orders[order][place:], g.missing && with == 0
	}
	return g.orders[order][:place], with == 1
}

// number returns the number of a test for setAt.
func (g *groups) number(order, place, with int) int { return 2*(order*len(g.ranked)+place) + with }

// setSides measures the outcomes of the test that is visited.
func (s *Scanner) setSides(isNo bool, no, yes *side) {
	*no, *yes = side{}, side{}
	one, rest := yes, no
	if isNo {
		one, rest = no, yes
	}
	s.part(s.groups.one, &s.groups.oneHeavy, one, rest)
}

// setTest returns the test with the given values in outcome one. Values without a place are in the other outcome.
func (s *Scanner) setTest(codes []int32, no bool) Test {
	n := s.column.missing()
	bits := make([]byte, (n+7)/8)
	for _, code := range codes {
		bits[code/8] |= 1 << (code % 8)
	}
	if no {
		for i := range bits {
			bits[i] = ^bits[i]
		}
		if last := n % 8; last > 0 {
			bits[len(bits)-1] &= 1<<last - 1
		}
	}
	return Test{Feature: s.feature, Kind: In, Set: setOf(bits), Trust: s.groups.trust, Prior: s.groups.prior}
}

// sets visits the tests for sets.
func (s *Scanner) sets(selecting bool) {
	if !s.group() {
		return
	}
	cost := s.column.Cost
	divisor := s.divide(s.column, cost)
	s.eachSet(func(_ int, codes []int32, isNo bool) {
		var no, yes side
		s.setSides(isNo, &no, &yes)
		score := float64(s.groups.discount * s.c.rank(s.n, &no, &yes, divisor))
		if !selecting {
			s.best = max(s.best, score)
		} else if score >= s.cut {
			s.found = offer(s.found, s.column.candidate(s.setTest(codes, isNo), cost, score))
		}
	})
}
