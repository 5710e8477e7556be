package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// compiledBooster is a booster as a scorer needs it. First it turns the values of a row into
// leads; its trees then ask only whether a lead is at or above a cut.
type compiledBooster struct {
	leads []lead
	trees []compiledTree
	nodes []boostedNode // of all trees
	ends  []float64     // numbers of all ends, each as many as there are scores
}

// compiledTree is a tree of a booster. Walks take as many steps as its longest path has: an
// end leads back to itself. So the processor foresees the end of the walk, and begins the
// next tree's walk before this one's has ended.
type compiledTree struct{ root, depth int32 }

// boostedNode is a split or an end of a booster's tree.
type boostedNode struct {
	cut  float64
	lead int32
	to   [2]int32 // node if the lead is below the cut or missing, node if not
	end  int32    // end: position of its numbers
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
	nodes := b.nodes
	for _, t := range b.trees {
		at := t.root
		for range t.depth {
			n := &nodes[at]
			side := 0
			if leads[n.lead] >= n.cut {
				side = 1
			}
			at = n.to[side]
		}
		values := b.ends[nodes[at].end:]
		for k, score := range raised {
			scores[k] += values[score]
		}
	}
}

// compileBoosters compiles the boosters of the leaves.
func (s *Scorer) compileBoosters(t *Tree) map[*boost.Booster]*compiledBooster {
	compiled := make(map[*boost.Booster]*compiledBooster)
	for _, b := range t.boosters() {
		c := new(compiledBooster)
		leadOf := func(split *boost.Split) lead {
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
		for _, tree := range b.Trees {
			for i := range tree {
				c.leads = append(c.leads, leadOf(&tree[i]))
			}
		}
		slices.SortFunc(c.leads, lead.compare)
		c.leads = slices.Compact(c.leads)
		for _, tree := range b.Trees {
			c.add(tree, func(split *boost.Split) (number int32, cut float64) {
				at, _ := slices.BinarySearchFunc(c.leads, leadOf(split), lead.compare)
				if f := &t.Features[split.Feature]; f.Kind == dataset.Numeric {
					return int32(at), f.Cuts[split.Code-1]
				}
				return int32(at), 1
			})
		}
		compiled[b] = c
	}
	return compiled
}

// compare orders leads by their inputs, so those of an input lie together.
func (l lead) compare(other lead) int {
	return cmp.Or(cmp.Compare(l.input, other.input), cmp.Compare(l.code, other.code), cmp.Compare(l.sign, other.sign))
}

// add compiles a tree: its splits, then its ends. leadOf returns the lead of a split, and its
// cut.
func (b *compiledBooster) add(tree boost.Tree, leadOf func(*boost.Split) (number int32, cut float64)) {
	root, ends := int32(len(b.nodes)), int32(len(b.nodes)+len(tree))
	depth := make([]int32, len(tree)) // steps to the split
	longest := int32(0)
	b.nodes = append(b.nodes, make([]boostedNode, 2*len(tree)+1)...)
	for i := range tree {
		s := &tree[i]
		to := func(side *boost.Side) int32 {
			longest = max(longest, depth[i]+1)
			if side.Values == nil {
				depth[side.Split] = depth[i] + 1
				return root + int32(side.Split)
			}
			b.nodes[ends] = boostedNode{to: [2]int32{ends, ends}, end: int32(len(b.ends))}
			b.ends = append(b.ends, side.Values...)
			ends++
			return ends - 1
		}
		n := &b.nodes[int(root)+i]
		yes, no := to(&s.Yes), to(&s.No)
		n.lead, n.cut = leadOf(s)
		n.to = [2]int32{no, yes}
		if s.Missing { // -x is above -cut
			n.cut, n.to = math.Nextafter(-n.cut, math.Inf(1)), [2]int32{yes, no}
		}
	}
	b.trees = append(b.trees, compiledTree{root, longest})
}
