package certify

import "math"

// Limits of the dynamic programme: number of objects, and number of sets of objects.
const (
	maxExact = 12
	maxSets  = 1 << 16
)

// exact is the dynamic programme over sets of objects, for tiny data.
type exact struct {
	p     *problem
	tests []binary
	known map[exactKey]float64
}

// exactKey is a node of the dynamic programme: a set of objects, and the set of
// groups and features with free repeats paid for on the path to it.
type exactKey struct{ set, paid uint64 }

// binary is a test: for each answer the set of objects that give it.
type binary struct {
	parts []uint64
	cost  float64
	free  uint64 // bit of the feature whose repeats become free; 0: none
	group int32
}

// optimum returns the least expected cost of a tree. It returns false if the data
// are too large for the dynamic programme.
func (p *problem) optimum() (float64, bool) {
	if p.len() > maxExact || len(p.features)+len(p.groups) > 64 {
		return 0, false
	}
	e := &exact{p: p, known: make(map[exactKey]float64)}
	for f := range p.features {
		e.addTests(f)
	}
	cost := e.cost(exactKey{set: 1<<p.len() - 1})
	return cost / float64(p.total), !math.IsNaN(cost)
}

// addTests lists the tests of a feature.
func (e *exact) addTests(f int) {
	a := &e.p.features[f]
	if a.whole {
		e.add(a, f, a.cost, func(code uint16) int { return int(code) })
		return
	}
	for at := range a.weight {
		bound := uint16(at)
		if a.ordered && bound > 0 && bound < a.missing {
			e.add(a, f, a.cost, func(code uint16) int { return answer(code >= bound && code != a.missing) })
		}
		if a.single || bound == a.missing {
			e.add(a, f, a.price(bound), func(code uint16) int { return answer(code == bound) })
		}
	}
}

func answer(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// add adds a test that parts the objects.
func (e *exact) add(a *feature, f int, cost float64, outcome func(code uint16) int) {
	b := binary{cost: cost, group: a.group}
	if a.free {
		b.free = 1 << f
	}
	sets := make([]uint64, len(a.weight)+1)
	for i := range e.p.len() {
		sets[outcome(e.p.row(int32(i))[f])] |= 1 << i
	}
	for _, set := range sets {
		if set != 0 {
			b.parts = append(b.parts, set)
		}
	}
	if len(b.parts) > 1 {
		e.tests = append(e.tests, b)
	}
}

// cost returns the least expected cost of a tree below a node, times W; NaN if the
// programme has too many nodes.
func (e *exact) cost(k exactKey) float64 {
	if cost, ok := e.known[k]; ok {
		return cost
	}
	if len(e.known) >= maxSets {
		return math.NaN()
	}
	weight, leaf := e.look(k.set)
	if leaf {
		return 0
	}
	best := math.Inf(1)
	for i := range e.tests {
		cost := e.through(k, &e.tests[i], weight)
		if math.IsNaN(cost) {
			return cost
		}
		best = min(best, cost)
	}
	e.known[k] = best
	return best
}

// through returns the least cost, times W, of a tree below a node whose first test
// is given; +Inf if all objects of the node give one answer.
func (e *exact) through(k exactKey, b *binary, weight float64) float64 {
	next, cost := exactKey{paid: k.paid | b.free}, b.cost
	if k.paid&b.free != 0 {
		cost = 0
	}
	if b.group >= 0 {
		bit := uint64(1) << (len(e.p.features) + int(b.group))
		if k.paid&bit == 0 {
			cost += e.p.groups[b.group]
		}
		next.paid |= bit
	}
	sum := float64(cost * weight)
	for _, part := range b.parts {
		next.set = k.set & part
		if next.set == k.set {
			return math.Inf(1)
		}
		if next.set != 0 {
			sum += e.cost(next)
		}
	}
	return sum
}

// look returns the weight of a set, and whether it is a leaf.
func (e *exact) look(set uint64) (weight float64, leaf bool) {
	class, sum := int32(-1), int64(0)
	homogeneous := true
	for i, k := range e.p.class {
		if set>>i&1 == 0 {
			continue
		}
		if class >= 0 && class != k {
			homogeneous = false
		}
		class = k
		sum += e.p.weight[i]
	}
	return float64(sum), homogeneous || float64(sum) <= e.p.limit
}
