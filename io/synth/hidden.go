package synth

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// node is a node of the hidden tree. The child for no follows the child for yes.
type node struct {
	column int
	level  int // answer yes: at least this level (numeric), or exactly this level
	equals bool
	yes    int // child for yes; 0 if the node is a leaf
	class  int

	depth int
	rows  []int32 // rows of the sample, while the tree grows
}

func (n *node) leaf() bool { return n.yes == 0 }

// step is a node in the form for routing. The answer is yes if level - least < width as
// unsigned numbers, so Null answers no. A leaf always answers no, and no leads back to it.
type step struct {
	least, width uint16
	no           uint16
}

func (p *Plan) steps() []step {
	steps := make([]step, len(p.nodes))
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.leaf() {
			steps[i].no = uint16(i)
			continue
		}
		steps[i] = step{least: uint16(n.level), width: Null - uint16(n.level), no: uint16(n.yes + 1)}
		if n.equals {
			steps[i].width = 1
		}
	}
	return steps
}

// sampleRows is the number of first rows on which the hidden tree is grown.
const sampleRows = 1 << 14

// growHidden grows the hidden tree on a sample and gives its leaves classes.
func (p *Plan) growHidden(r *random, from *candidates) {
	s := &sample{plan: p, levels: make(map[int][]uint16)}
	g := p.NewGroup()
	g.Reset(0, sampleRows)
	for _, column := range slices.Concat(from.dear, from.cheap) {
		s.levels[column] = make([]uint16, sampleRows)
		p.levels(s.levels[column], g.ids, column)
	}
	all := make([]int32, sampleRows)
	for i := range all {
		all[i] = int32(i)
	}
	p.nodes = []node{{rows: all}}
	least := max(8, sampleRows>>(p.config.Depth+2)) // least number of the sample's rows in a leaf
	for i := 0; i < len(p.nodes); i++ {
		if p.nodes[i].depth == p.config.Depth {
			continue
		}
		q, ok := s.ask(r, from, i, least)
		if !ok {
			continue
		}
		n := &p.nodes[i]
		n.column, n.level, n.equals, n.yes = q.column, q.level, q.equals, len(p.nodes)
		if !slices.Contains(p.asked, q.column) {
			p.asked = append(p.asked, q.column)
		}
		p.nodes = append(p.nodes, node{rows: q.yes, depth: n.depth + 1}, node{rows: q.no, depth: n.depth + 1})
	}
	p.label(r)
	for i := range p.nodes {
		p.nodes[i].rows = nil
	}
}

type sample struct {
	plan   *Plan
	levels map[int][]uint16 // by column, then by row
}

// question is a test for a node, with its outcomes on the sample.
type question struct {
	column, level int
	equals        bool
	yes, no       []int32
}

const (
	tries      = 12
	evenEnough = 5 // inverse of the least share of rows on the smaller side
)

// ask draws questions for a node until one splits its rows evenly enough. It returns the most
// even question; ok is false if this question leaves too few rows on a side.
func (s *sample) ask(r *random, from *candidates, i, least int) (best question, ok bool) {
	n := &s.plan.nodes[i]
	percent := r.between(42, 58)
	if n.depth > 0 && n.depth == s.plan.config.Depth-1 {
		percent = r.between(22, 30) // an uneven split is visible to a greedy learner
		if r.Below(2) == 0 {
			percent = 100 - percent
		}
	}
	even := least - 1
	for range tries {
		columns := from.cheap
		if len(from.dear) > 0 && (i == 0 || len(columns) == 0 || r.Below(2) == 0) {
			columns = from.dear
		}
		q := s.draw(r, columns[r.Below(len(columns))], n.rows, percent)
		if smaller := min(len(q.yes), len(q.no)); smaller > even {
			best, even, ok = q, smaller, true
		}
		if even*evenEnough >= len(n.rows) {
			break
		}
	}
	return best, ok
}

// draw draws a question on a column: a threshold with the given percentage of the rows below
// it, or one of the values, in proportion to its frequency.
func (s *sample) draw(r *random, column int, rows []int32, percent int) question {
	levels, c := s.levels[column], &s.plan.Columns[column]
	q := question{column: column, equals: c.Kind == dataset.Categorical}
	counts := make([]int, c.levels)
	present := 0
	for _, row := range rows {
		if level := levels[row]; level != Null {
			counts[level]++
			present++
		}
	}
	upTo := present * percent / 100
	if q.equals {
		upTo = r.Below(present + 1)
	}
	for below := 0; q.level < c.levels-1 && below+counts[q.level] <= upTo; q.level++ {
		below += counts[q.level]
	}
	for _, row := range rows {
		level := int(levels[row])
		if level == q.level || !q.equals && level > q.level && level != Null {
			q.yes = append(q.yes, row)
		} else {
			q.no = append(q.no, row)
		}
	}
	return q
}

// Limits on the exchanges of two leaves' labels: their number, and the steps for counting the
// classes of all nodes.
const (
	exchanges    = 4000
	exchangeWork = 1 << 25
)

// label gives the leaves classes. At first neighbours differ, and all classes are about
// equally frequent. Then labels are exchanged as long as this makes single tests more
// informative for a greedy learner. With some labellings, such as a checkerboard, no single
// test is informative.
func (p *Plan) label(r *random) {
	p.labelEvenly(r)
	var leaves []int
	for i := range p.nodes {
		if p.nodes[i].leaf() {
			leaves = append(leaves, i)
		}
	}
	score := p.visible()
	for range min(exchanges, exchangeWork/p.CountsLen()) {
		a, b := leaves[r.Below(len(leaves))], leaves[r.Below(len(leaves))]
		p.exchange(a, b)
		if now := p.visible(); now >= score && p.tellsApart(a) && p.tellsApart(b) {
			score = now
		} else {
			p.exchange(a, b)
		}
	}
}

func (p *Plan) exchange(a, b int) {
	p.nodes[a].class, p.nodes[b].class = p.nodes[b].class, p.nodes[a].class
}

// tellsApart reports whether the classes of a leaf and of its sibling differ.
func (p *Plan) tellsApart(leaf int) bool {
	return leaf == 0 || p.nodes[leaf].class != p.nodes[sibling(leaf)].class
}

// sibling returns the other child of a node's parent. After the root the nodes are pairs of
// siblings.
func sibling(i int) int { return (i - 1) ^ 1 + 1 }

// labelEvenly visits the leaves in random order. It gives each leaf the class with the fewest rows
// so far, except the sibling's class.
func (p *Plan) labelEvenly(r *random) {
	sizes := make([]int, len(p.Classes))
	for i := range p.nodes {
		p.nodes[i].class = -1
	}
	for _, i := range r.permutation(len(p.nodes)) {
		n := &p.nodes[i]
		if !n.leaf() {
			continue
		}
		taken := -1
		if i > 0 {
			taken = p.nodes[sibling(i)].class
		}
		for _, class := range r.permutation(len(sizes)) {
			if class != taken && (n.class < 0 || sizes[class] < sizes[n.class]) {
				n.class = class
			}
		}
		sizes[n.class] += len(n.rows)
	}
}

// most is the greatest percentage of the rows that a class should have.
const most = 58

// visible returns the weighted sum of the tests' decreases of the sample's Gini impurity.
// Tests high in the tree have more weight.
func (p *Plan) visible() int64 {
	classes := len(p.Classes)
	counts := make([]int64, len(p.nodes)*classes)
	impurity := make([]int64, len(p.nodes))
	score := int64(0)
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n, own := &p.nodes[i], counts[i*classes:(i+1)*classes]
		rows := int64(len(n.rows))
		if n.leaf() {
			own[n.class] = rows
			continue
		}
		squares := int64(0)
		for k := range own {
			own[k] = counts[n.yes*classes+k] + counts[(n.yes+1)*classes+k]
			squares += own[k] * own[k]
		}
		impurity[i] = rows - squares/max(1, rows)
		height := int64(p.config.Depth - n.depth)
		score += height * height * (impurity[i] - impurity[n.yes] - impurity[n.yes+1])
	}
	if slices.Max(counts[:classes])*100 > most*int64(len(p.nodes[0].rows)) {
		score -= 1 << 40
	}
	return score
}

// CountsLen returns the length of the counts of Group.Count.
func (p *Plan) CountsLen() int { return len(p.nodes) * len(p.Classes) }

// Tree returns the hidden tree in the form of a trained tree. Its weights are the counts of
// rows by leaf and class, with the label noise. The number of objects is the number of rows,
// scores are 0, and the parameters of the algorithm have no meaning.
func (p *Plan) Tree(counts []int64) *tree.Tree {
	t := &tree.Tree{
		Label: tree.Label{Column: Label, Classes: p.Classes},
		Algorithm: tree.Algorithm{
			Name: "ec45", Tests: "threshold", Bins: 2, Binning: "quantile", LeafEstimate: "raw",
			Prune: "none", Seed: p.config.Seed,
		},
		Nodes: make([]tree.Node, len(p.nodes)),
	}
	cuts := p.features(t)
	classes := len(p.Classes)
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n, node := &p.nodes[i], &t.Nodes[i]
		weights := slices.Clone(counts[i*classes : (i+1)*classes])
		if !n.leaf() {
			for k := range weights {
				weights[k] = t.Nodes[n.yes].RawClassWeights[k] + t.Nodes[n.yes+1].RawClassWeights[k]
			}
			node.Test = n.test(t, cuts[n.column])
			node.Branches = []tree.Branch{
				{Outcome: 1, Child: n.yes},
				{Outcome: 0, Child: n.yes + 1, Missing: true, Other: n.equals},
			}
		}
		for _, w := range weights {
			node.Rows += w
		}
		node.Objects, node.Weight = node.Rows, node.Rows
		node.ClassWeights, node.RawClassWeights = weights, weights
	}
	rows := t.Nodes[0].Rows
	t.Training = tree.Training{Rows: rows, Objects: rows, Weight: rows}
	t.Estimate(tree.Raw, 1)
	for i := range p.nodes { // a leaf without rows, or with mostly noise, keeps its class
		if n := &p.nodes[i]; n.leaf() {
			t.Nodes[i].Class = n.class
		}
	}
	t.Measure()
	return t
}

// features describes the columns with only the cuts of the hidden tree. It returns the levels
// of the cuts by column.
func (p *Plan) features(t *tree.Tree) [][]int {
	cuts := make([][]int, len(p.Columns))
	for i := range p.nodes {
		if n := &p.nodes[i]; !n.leaf() && !n.equals && !slices.Contains(cuts[n.column], n.level) {
			cuts[n.column] = append(cuts[n.column], n.level)
		}
	}
	for i := range p.Columns {
		c := &p.Columns[i]
		f := dataset.Feature{Name: c.Name, Kind: c.Kind, Cost: c.Cost}
		if values, ok := c.Dictionary.([]string); ok {
			f.Values = values
		}
		slices.Sort(cuts[i])
		for _, level := range cuts[i] {
			f.Cuts = append(f.Cuts, c.number(level))
		}
		t.Features = append(t.Features, f)
	}
	return cuts
}

// number returns the least value of a level of a numeric column.
func (c *Column) number(level int) float64 {
	switch d := c.Dictionary.(type) {
	case []float64:
		return d[level]
	case []int64:
		return float64(d[level])
	default:
		return float64(uint64(level)<<(32-continuousBits)) * continuousStep
	}
}

func (n *node) test(t *tree.Tree, cuts []int) *tree.Test {
	test := split.Test{Feature: n.column, Kind: split.Equals, Code: n.level}
	if !n.equals {
		at, _ := slices.BinarySearch(cuts, n.level)
		test.Kind, test.Code = split.Threshold, at+1
	}
	return &tree.Test{Test: test, Cost: t.Features[n.column].Cost}
}
