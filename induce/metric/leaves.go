package metric

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// OfLeaves returns the metrics of a tree on counted rows. scale is as in Evaluate.
func OfLeaves(t *tree.Tree, counts *tree.LeafCounts, scale float64) *Metrics {
	weights := judging.ClassWeights(counts, len(t.Label.Classes))
	return of(t, Leaves(t, counts), counts.Groups, judging.FactorsOf(judging.Frequencies(t), weights), scale)
}

// OfScores returns the metrics of a tree with leaf models on counted rows, by the factors of the part that the rows
// are from: see FactorsOf. scale is as in Evaluate.
func OfScores(t *tree.Tree, counts *tree.ScoreCounts, factors *judging.Factors, scale float64) *Metrics {
	groups := counts.Groups()
	return of(t, scores(t, counts, groups), groups, factors, scale)
}

func of(t *tree.Tree, leaves []Leaf, groups *tree.GroupCounts, factors *judging.Factors, scale float64) *Metrics {
	e := newEffects(t, groups)
	m := evaluate(leaves, t.Label.Classes, scale, e, t.Label.ErrorCosts)
	return judged(&m, t, leaves, factors, scale, e)
}

// Leaves returns the table of a tree's leaves with the rows counted at each leaf.
func Leaves(t *tree.Tree, counts *tree.LeafCounts) []Leaf {
	p := newPaths(t)
	var leaves []Leaf
	var nodes []int
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			leaves = append(leaves, p.leaf(i, counts))
			nodes = append(nodes, i)
		}
	}
	setSquares(leaves, nodes, counts.Groups)
	setKnown(leaves, nodes, t, counts)
	return leaves
}

// scores returns a table of the rows by their predictions, for a tree with leaf models. It
// has an entry for each leaf without a model, and for each distinct prediction of a leaf
// with one, in any order. For a tree without models it is the same as Leaves.
func scores(t *tree.Tree, counts *tree.ScoreCounts, groups *tree.GroupCounts) []Leaf {
	p := newPaths(t)
	var leaves []Leaf
	var nodes []int
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() && n.Model == nil {
			leaves = append(leaves, p.leaf(i, counts.Plain()))
			nodes = append(nodes, i)
		}
	}
	leaves = slices.Grow(leaves, counts.Predictions())
	for s := range counts.Unordered() {
		leaf := p.leaf(s.Leaf, counts.Plain())
		leaf.Probabilities = s.Probabilities
		leaf.Class = s.Class
		leaf.Weights = s.Weights
		leaf.Rows = s.Rows
		leaves = append(leaves, leaf)
		nodes = append(nodes, s.Leaf)
	}
	setSquares(leaves, nodes, groups)
	if t.HasPresenceTests() {
		setKnown(leaves, nodes, t, counts.ByLeaf())
	}
	return leaves
}

// setKnown replaces the weights in a table of leaves by the known ones, see tree.Tree.Known. The table has one leaf or
// several for each of the nodes, whose counts are given. The squared weights of the rows follow.
func setKnown(leaves []Leaf, nodes []int, t *tree.Tree, counts *tree.LeafCounts) {
	if !t.HasPresenceTests() {
		return
	}
	each := weightOfRow(leaves)
	known := t.KnownCounts(counts)
	ofRows, alone := t.KnownSquares(counts, known)
	for i := range leaves {
		l := &leaves[i]
		weights := make([]int64, len(l.Weights))
		squares := make([]float64, len(l.Weights))
		for k, w := range l.Weights {
			whole := known.Weights[nodes[i]][k]
			all := counts.Weights[nodes[i]][k]
			if all == 0 { // divided as the training rows: evidence of a single row
				weights[k] = whole
				squares[k] = alone[nodes[i]][k]
				continue
			}
			share := float64(w) / float64(all)
			weights[k] = int64(math.RoundToEven(float64(float64(whole) / float64(all) * float64(w))))
			one := float64(float64(w) * each)
			if l.Squares != nil {
				one = l.Squares[k]
			}
			squares[k] = float64(one*ofRows[nodes[i]][k]) + float64(share*alone[nodes[i]][k])
		}
		l.Weights = weights
		l.Squares = squares
	}
}

// weightOfRow returns the weight of a row if all rows have the same weight.
func weightOfRow(leaves []Leaf) float64 {
	var rows, weight int64
	for i := range leaves {
		rows += leaves[i].Rows
		weight += portable.Sum(leaves[i].Weights)
	}
	return float64(weight) / float64(max(1, rows))
}

// setSquares sets the squared weights of leaves, given their nodes, if groups are classes of weights. The rows of such a
// class, a leaf and a true class have weights that differ by a factor of at most the square root of 2, so the square of
// their mean stands for each of them: it is lower than the mean square by at most 3 %. The squares of a leaf with a model
// are divided among its predictions by weight.
func setSquares(leaves []Leaf, nodes []int, groups *tree.GroupCounts) {
	if groups == nil || groups.Keyed {
		return
	}
	type cell struct {
		node  int
		class uint16
	}
	weights := make(map[cell]int64)
	squares := make(map[cell]float64)
	for _, list := range groups.Buckets {
		for _, c := range list {
			if c.Rows > 0 {
				at := cell{c.Leaf, c.Class}
				w := float64(c.Weight)
				weights[at] += c.Weight
				squares[at] += float64(w*w) / float64(c.Rows)
			}
		}
	}
	each := groups.WeightEffect // mean of the squared weights, divided by the mean weight
	if each > 0 {
		each *= weightOfRow(leaves)
	}
	for i := range leaves {
		l := &leaves[i]
		l.Squares = make([]float64, len(l.Weights))
		for k, w := range l.Weights {
			if at := (cell{nodes[i], uint16(k)}); weights[at] > 0 {
				l.Squares[k] = float64(float64(w) * (squares[at] / float64(weights[at])))
			} else {
				l.Squares[k] = float64(float64(w) * each)
			}
		}
	}
}

// paths has by node the tests on its path, and their billed costs.
type paths struct {
	tree    *tree.Tree
	tests   []int
	costs   []float64
	further []dataset.FurtherCosts // nil: no further currencies
}

func newPaths(t *tree.Tree) *paths {
	tests, costs := t.PathCosts()
	p := &paths{tree: t, tests: tests, costs: costs}
	if units := dataset.FurtherUnits(t.Features); len(units) > 0 {
		for _, amounts := range t.PathFurther(t.FurtherDues(units)) {
			p.further = append(p.further, dataset.NewFurtherCosts(units, dataset.Amounts{}, amounts))
		}
	}
	return p
}

// leaf returns the entry of a leaf without a model.
func (p *paths) leaf(node int, counts *tree.LeafCounts) Leaf {
	n := &p.tree.Nodes[node]
	l := Leaf{
		Probabilities: n.Probabilities, Class: n.Class, Weights: counts.Weights[node], Rows: counts.Rows[node],
		Cost: p.costs[node], Tests: p.tests[node],
	}
	if p.further != nil {
		l.Further = &p.further[node]
	}
	return l
}
