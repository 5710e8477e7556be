package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// compiledBooster is trees of a booster as a scorer needs them. First it turns the values of
// a row into leads; the trees then ask only whether a lead is at or above a cut.
type compiledBooster struct {
	leads  []lead // at most mostLeads, unless the only tree has more
	trees  int
	groups []treeGroup
	nodes  []boostedNode // of all trees
	width  int           // number of scores
	values []float64     // by node: the numbers of an end, as many as there are scores; 0 of a split
}

// mostLeads is the number of leads for which each row has room without an allocation.
const mostLeads = 64

// together is the number of trees that are walked at once: a step of one need not wait for
// that of another.
const together = 4

// treeGroup is trees that are walked at once. Walks take as many steps as the longest path
// has: an end leads back to itself. So the processor foresees the end of the walk.
type treeGroup struct {
	roots [together]uint32 // beyond the last tree: some end
	depth uint32
}

// boostedNode is a split or an end of a booster's tree.
type boostedNode struct {
	cut  float64 // of an end: NaN
	lead uint32
	next uint32 // the node if the lead is below the cut or NaN; the one after it if not
}

// lead is what splits on a feature compare: a number, or 1 for the rows of a category and 0
// for others. The rows without a value have NaN, which is at or above no cut. Where they go
// to the side of the rows at or above the cut, the lead is the negative, and the split asks
// for the other side.
type lead struct {
	input   int32
	code    int32 // of the category; -1: the input is numeric
	missing int32 // code of missing values
	sign    float64
}

// of returns the lead of a number, or of the code of a category.
func (l *lead) of(x float64) float64 {
	if l.code >= 0 {
		switch int32(x) {
		case l.code:
			x = 1
		case l.missing:
			x = math.NaN()
		default:
			x = 0
		}
	}
	return x * l.sign
}

// addTo adds the booster to the raised scores of a row with these leads.
func (b *compiledBooster) addTo(scores []float64, raised []int32, leads []float64) {
	left := b.trees
	for i := range b.groups {
		at := walk(b.nodes, &b.groups[i], leads)
		ends := at[:min(left, together)]
		if b.width == 1 && len(scores) == 1 {
			z := scores[0]
			for _, end := range ends {
				z += b.values[end]
			}
			scores[0] = z
		} else {
			for _, end := range ends {
				values := b.values[int(end)*b.width:][:b.width]
				for k, score := range raised {
					scores[k] += values[score]
				}
			}
		}
		left -= together
	}
}

// walk returns the ends of a row in the trees of a group. There is no branch that the
// processor could mispredict.
func walk(nodes []boostedNode, g *treeGroup, leads []float64) [together]uint32 {
	a, b, c, d := g.roots[0], g.roots[1], g.roots[2], g.roots[3]
	for range g.depth {
		a = nodes[a].step(leads)
		b = nodes[b].step(leads)
		c = nodes[c].step(leads)
		d = nodes[d].step(leads)
	}
	return [together]uint32{a, b, c, d}
}

// step returns the next node of a row.
func (n *boostedNode) step(leads []float64) uint32 {
	side := uint32(0)
	if leads[n.lead] >= n.cut {
		side = 1
	}
	return n.next + side
}

// leadRoom is the leads of a row.
type leadRoom [mostLeads]float64

// of returns room for the leads of a booster.
func (r *leadRoom) of(b *compiledBooster) []float64 {
	if len(b.leads) > mostLeads {
		return make([]float64, len(b.leads))
	}
	return r[:len(b.leads)]
}

// boost adds the booster of a leaf's model to the raised scores of a row.
func (s *Scorer) boost(l *compiledLeaf, values []Value, scores []float64) {
	var room leadRoom
	for k := range l.boosters {
		b := &l.boosters[k]
		leads := room.of(b)
		last, entry := int32(-1), 0. // a number, or the code of a category
		for i := range leads {
			lead := &b.leads[i]
			if lead.input != last {
				last, entry = lead.input, s.entry(lead.input, &values[lead.input])
			}
			leads[i] = lead.of(entry)
		}
		b.addTo(scores, l.raised, leads)
	}
}

// entry returns a value as a number, or the code of a category.
func (s *Scorer) entry(input int32, v *Value) float64 {
	if c := s.categories[input]; c != nil {
		return float64(codeOf(c, v))
	}
	return v.number()
}

// boostNumbers is Scorer.boost for numbers by input.
func (l *compiledLeaf) boostNumbers(numbers, scores []float64) {
	var room leadRoom
	for k := range l.boosters {
		b := &l.boosters[k]
		leads := room.of(b)
		for i := range leads {
			lead := &b.leads[i]
			leads[i] = lead.of(numbers[lead.input])
		}
		b.addTo(scores, l.raised, leads)
	}
}

// boosted returns the inputs that the booster of a leaf's model uses, ascending.
func (l *compiledLeaf) boosted() []int32 {
	var list []int32
	for k := range l.boosters {
		for _, lead := range l.boosters[k].leads {
			list = append(list, lead.input)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// compileBoosters compiles the boosters of the leaves, each in one or more parts.
func (s *Scorer) compileBoosters(t *Tree) map[*boost.Booster][]compiledBooster {
	compiled := make(map[*boost.Booster][]compiledBooster)
	for _, b := range t.boosters() {
		var leads []lead
		from := 0
		for i, tree := range b.Trees {
			more := s.leadsOf(t, tree, leads)
			if i > from && len(more) > mostLeads {
				compiled[b] = append(compiled[b], s.compileTrees(t, b.Trees[from:i], leads))
				from, more = i, s.leadsOf(t, tree, nil)
			}
			leads = more
		}
		compiled[b] = append(compiled[b], s.compileTrees(t, b.Trees[from:], leads))
	}
	return compiled
}

// leadsOf returns the leads of a tree and these, each once, in their order.
func (s *Scorer) leadsOf(t *Tree, tree boost.Tree, leads []lead) []lead {
	leads = slices.Clone(leads)
	for i := range tree {
		leads = append(leads, s.leadOf(t, &tree[i]))
	}
	slices.SortFunc(leads, lead.compare)
	return slices.Compact(leads)
}

// leadOf returns the lead of a split.
func (s *Scorer) leadOf(t *Tree, split *boost.Split) lead {
	f := &t.Features[split.Feature]
	l := lead{input: int32(s.columns[split.Feature] - 1), code: -1, missing: int32(f.MissingCode()), sign: 1}
	if f.Kind == dataset.Categorical {
		l.code = int32(split.Code)
	}
	if split.Missing {
		l.sign = -1
	}
	return l
}

// compileTrees compiles trees, given their leads.
func (s *Scorer) compileTrees(t *Tree, trees []boost.Tree, leads []lead) compiledBooster {
	c := compiledBooster{leads: leads, width: ModelWidth(len(t.Label.Classes))}
	for _, tree := range trees {
		c.add(tree, func(split *boost.Split) (number int, cut float64) {
			number, _ = slices.BinarySearchFunc(leads, s.leadOf(t, split), lead.compare)
			if f := &t.Features[split.Feature]; f.Kind == dataset.Numeric {
				return number, f.Cuts[split.Code-1]
			}
			return number, 1
		})
	}
	return c
}

// compare orders leads by their inputs, so those of an input lie together.
func (l lead) compare(other lead) int {
	return cmp.Or(cmp.Compare(l.input, other.input), cmp.Compare(l.code, other.code), cmp.Compare(l.sign, other.sign))
}

// add compiles a tree. leadOf returns the number of a split's lead, and the cut.
func (b *compiledBooster) add(tree boost.Tree, leadOf func(*boost.Split) (number int, cut float64)) {
	root := uint32(len(b.nodes))
	b.extend(1)
	at, depth, longest := make([]uint32, len(tree)), make([]uint32, len(tree)), uint32(0)
	at[0] = root
	for i := range tree {
		s := &tree[i]
		longest = max(longest, depth[i]+1)
		next := uint32(len(b.nodes))
		b.extend(2)
		number, cut := leadOf(s)
		sides := []*boost.Side{&s.No, &s.Yes}
		if s.Missing { // -x is above -cut
			cut = math.Nextafter(-cut, math.Inf(1))
			slices.Reverse(sides)
		}
		b.nodes[at[i]] = boostedNode{cut, uint32(number), next}
		for k, side := range sides {
			if node := next + uint32(k); side.Values == nil {
				at[side.Split], depth[side.Split] = node, depth[i]+1
			} else {
				copy(b.values[int(node)*b.width:], side.Values)
			}
		}
	}
	if b.trees%together == 0 {
		g := treeGroup{}
		for k := range g.roots {
			g.roots[k] = uint32(len(b.nodes) - 1) // the last node is an end
		}
		b.groups = append(b.groups, g)
	}
	g := &b.groups[len(b.groups)-1]
	g.roots[b.trees%together], g.depth = root, max(g.depth, longest)
	b.trees++
}

// extend adds ends.
func (b *compiledBooster) extend(ends int) {
	for range ends {
		b.nodes = append(b.nodes, boostedNode{cut: math.NaN(), next: uint32(len(b.nodes))})
	}
	b.values = append(b.values, make([]float64, ends*b.width)...)
}
