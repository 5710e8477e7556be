package comparison

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/region"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Kind is a kind of difference.
type Kind string

// The kinds of differences.
const (
	Added      Kind = "added"       // a leaf of A, or nothing, is a subtree of B
	Removed    Kind = "removed"     // a subtree of A is a leaf of B, or nothing
	MovedCut   Kind = "moved_cut"   // the same question at another cut
	OtherTest  Kind = "other_test"  // another question
	OtherClass Kind = "other_class" // another class at a leaf
)

// Difference is a place where the trees differ. A and B are the ids of the nodes there; -1 if the
// tree has no such node.
type Difference struct {
	Kind Kind
	A, B int
	// NodesA and NodesB count the nodes, from the place down, that the other tree does not have.
	NodesA, NodesB int
	// Rows counts the rows that reach the place in at least one of the trees. Weight is their
	// weight.
	Rows, Weight int64
	// OtherWay counts the rows that reach a moved cut in both trees, and take different branches
	// there.
	OtherWay, OtherWayWeight int64
}

// Matching describes which nodes of two trees are the same.
type Matching struct {
	// Unchanged nodes have the same question or class in both trees. Changed nodes are in both
	// trees, and differ. Removed nodes are only in A, Added nodes only in B.
	Unchanged, Changed, Removed, Added int
	// Estimates counts unchanged leaves whose probabilities differ, in the leaf itself or through
	// its model for at least one row. EstimateRows and EstimateWeight count the rows that reach
	// them.
	Estimates                    int
	EstimateRows, EstimateWeight int64
	Differences                  []Difference // by descending weight
}

// Match finds the nodes that two trees share. It starts at the roots, and follows equal answers
// down. Two tests are the same if their feature, kind and cut or value are. Below a moved cut the
// branches correspond. If the trees ask different questions at a place, nodes further down are
// matched if the same rows reach them, that is, if the answers on both paths allow the same values.
// list has the rows.
func Match(a, b *tree.Tree, list []Rows) *Matching {
	m := &matcher{
		a: newOutline(a), b: newOutline(b), m: new(Matching),
		leaves: make([]bool, len(a.Nodes)), other: make([]bool, len(a.Nodes)),
	}
	m.match(0, 0)
	m.m.Removed = len(a.Nodes) - m.matched
	m.m.Added = len(b.Nodes) - m.matched
	m.countNodes()
	m.countRows(list)
	slices.SortFunc(m.m.Differences, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return m.m
}

// outline is a tree with data for matching.
type outline struct {
	*tree.Tree

	parent  []int // by node; -1 for the root
	branch  []int // by node: the position of its branch
	partner []int // by node: the node of the other tree; -1 if absent
	from    []int // by node: its leaves are [from, to), in depth-first order
	to      []int
	regions []string // by node: values of the rows that reach it; computed on demand
}

func newOutline(t *tree.Tree) *outline {
	n := len(t.Nodes)
	o := &outline{
		Tree: t, parent: make([]int, n), branch: make([]int, n), partner: slices.Repeat([]int{-1}, n),
		from: make([]int, n), to: make([]int, n),
	}
	o.parent[0] = -1
	for i := range t.Nodes {
		for k, b := range t.Nodes[i].Branches {
			o.parent[b.Child] = i
			o.branch[b.Child] = k
		}
	}
	leaves := make([]int, n)
	for i := n - 1; i >= 0; i-- {
		if t.Nodes[i].Leaf() {
			leaves[i] = 1
		}
		for _, b := range t.Nodes[i].Branches {
			leaves[i] += leaves[b.Child]
		}
	}
	for i := range t.Nodes {
		at := o.from[i]
		for _, b := range t.Nodes[i].Branches {
			o.from[b.Child] = at
			at += leaves[b.Child]
		}
		o.to[i] = o.from[i] + leaves[i]
	}
	return o
}

// below lists a node and its descendants, nearer to the root first.
func (o *outline) below(node int) []int {
	list := []int{node}
	for at := 0; at < len(list); at++ {
		for _, b := range o.Nodes[list[at]].Branches {
			list = append(list, b.Child)
		}
	}
	return list
}

// matcher matches the nodes of two trees.
type matcher struct {
	a, b    *outline
	m       *Matching
	matched int
	leaves  []bool // by node of A: whether it is an unchanged leaf
	other   []bool // by node of A: whether it is an unchanged leaf whose partner has other estimates
}

// differ adds a difference.
func (m *matcher) differ(kind Kind, a, b int) {
	m.m.Differences = append(m.m.Differences, Difference{Kind: kind, A: a, B: b})
}

// match matches two nodes at the end of the same answers, then the nodes below.
func (m *matcher) match(a, b int) {
	m.a.partner[a], m.b.partner[b] = b, a
	m.matched++
	x, y := &m.a.Nodes[a], &m.b.Nodes[b]
	switch {
	case x.Leaf() && y.Leaf():
		m.matchLeaves(a, b)
	case x.Leaf():
		m.differ(Added, a, b)
	case y.Leaf():
		m.differ(Removed, a, b)
	case m.a.question(x) != m.b.question(y):
		m.differ(OtherTest, a, b)
		m.matchRegions(a, b)
	case m.a.cut(x) == m.b.cut(y):
		m.m.Unchanged++
		m.matchBranches(x, y)
		return
	case x.Test.Kind == split.Threshold || x.Test.Kind == split.Bin || m.a.Features[x.Test.Feature].Ordered:
		m.differ(MovedCut, a, b)
		m.matchBranches(x, y)
	default:
		m.differ(OtherTest, a, b)
		m.matchRegions(a, b)
	}
}

func (m *matcher) matchLeaves(a, b int) {
	x, y := &m.a.Nodes[a], &m.b.Nodes[b]
	if m.a.Label.Classes[x.Class] != m.b.Label.Classes[y.Class] {
		m.differ(OtherClass, a, b)
		return
	}
	m.m.Unchanged++
	m.leaves[a] = true
	m.other[a] = x.Model == nil && y.Model == nil &&
		!slices.Equal(x.Probabilities, m.b.inOrder(y.Probabilities, m.a.Label.Classes))
}

// inOrder returns probabilities in the order of another tree's classes.
func (o *outline) inOrder(p []float64, classes []string) []float64 {
	list := make([]float64, len(classes))
	for k, name := range classes {
		if at := slices.Index(o.Label.Classes, name); at >= 0 {
			list[k] = p[at]
		}
	}
	return list
}

// matchBranches matches the branches of two nodes that ask the same question.
func (m *matcher) matchBranches(x, y *tree.Node) {
	children := make(map[string]int)
	for k := range y.Branches {
		children[m.b.answer(y, k)] = y.Branches[k].Child
	}
	for k := range x.Branches {
		answer := m.a.answer(x, k)
		if child, ok := children[answer]; ok {
			delete(children, answer)
			m.match(x.Branches[k].Child, child)
		} else {
			m.differ(Removed, x.Branches[k].Child, -1)
		}
	}
	for k := range y.Branches {
		if _, left := children[m.b.answer(y, k)]; left {
			m.differ(Added, -1, y.Branches[k].Child)
		}
	}
}

// matchRegions matches the nodes below two nodes that are reached by the same rows.
func (m *matcher) matchRegions(a, b int) {
	nodes := make(map[string]int)
	for _, node := range m.a.below(a)[1:] {
		if key := m.a.region(node); nodes[key] == 0 { // the root is never below another node
			nodes[key] = node
		}
	}
	for _, node := range m.b.below(b)[1:] {
		if m.b.partner[node] >= 0 {
			continue
		}
		if other := nodes[m.b.region(node)]; other > 0 && m.a.partner[other] < 0 {
			m.match(other, node)
		}
	}
}

// question returns what a node asks, without its cut or value.
func (o *outline) question(n *tree.Node) string {
	f := &o.Features[n.Test.Feature]
	return fmt.Sprintf("%q %d %d %d", f.Name, f.Kind, f.Unit, n.Test.Kind)
}

// cut returns the cut or the value that a node asks for.
func (o *outline) cut(n *tree.Node) string {
	f := &o.Features[n.Test.Feature]
	for k := range n.Branches {
		if n.Test.Kind != split.Multiway && n.Branches[k].Outcome == 1 {
			return spelled(f, region.Of(n, f, k))
		}
	}
	return "" // the branches distinguish the values
}

// answer returns what takes a branch: its outcome or, for a multiway test, its values.
func (o *outline) answer(n *tree.Node, branch int) string {
	b := &n.Branches[branch]
	if n.Test.Kind != split.Multiway {
		return strconv.Itoa(b.Outcome)
	}
	f := &o.Features[n.Test.Feature]
	text := spelled(f, []region.Codes{{From: b.Outcome, To: b.Outcome}})
	return fmt.Sprintf("%s %v %v", text, b.Missing, b.Other)
}

// region returns the values that the rows at a node may have, by feature. Two nodes with the same
// text are reached by the same rows, whatever the order of the tests.
func (o *outline) region(node int) string {
	if o.regions == nil {
		o.regions = make([]string, len(o.Nodes))
	}
	if o.regions[node] != "" {
		return o.regions[node]
	}
	sets := make(map[int][]region.Codes)
	for at := node; o.parent[at] >= 0; at = o.parent[at] {
		n := &o.Nodes[o.parent[at]]
		f := &o.Features[n.Test.Feature]
		set := region.Of(n, f, o.branch[at])
		if earlier, ok := sets[n.Test.Feature]; ok {
			set = region.Both(set, earlier)
		}
		sets[n.Test.Feature] = set
	}
	var parts []string
	for feature, set := range sets {
		f := &o.Features[feature]
		parts = append(parts, fmt.Sprintf("%q %d %d %s", f.Name, f.Kind, f.Unit, spelled(f, set)))
	}
	slices.Sort(parts)
	o.regions[node] = strings.Join(parts, "\n")
	return o.regions[node]
}

// spelled returns a set of codes as cuts or values, which are comparable between trees.
func spelled(f *dataset.Feature, set []region.Codes) string {
	var parts []string
	if region.Has(set, f.MissingCode()) {
		parts = append(parts, "missing")
	}
	if f.Kind == dataset.Numeric {
		for _, c := range region.Both(set, []region.Codes{{From: 0, To: len(f.Cuts)}}) {
			low, high := "", ""
			if c.From > 0 {
				low = strconv.FormatFloat(f.Cuts[c.From-1], 'g', -1, 64)
			}
			if c.To < len(f.Cuts) {
				high = strconv.FormatFloat(f.Cuts[c.To], 'g', -1, 64)
			}
			parts = append(parts, "["+low+","+high+")")
		}
		return strings.Join(parts, " ")
	}
	if region.Has(set, f.OtherCode()) { // the set includes values that the feature does not list
		parts = append(parts, "all but")
		set = region.Without(set, f.MissingCode())
	}
	var values []string
	for _, c := range region.Both(set, []region.Codes{{From: 0, To: len(f.Values) - 1}}) {
		for code := c.From; code <= c.To; code++ {
			values = append(values, strconv.Quote(f.Values[code]))
		}
	}
	slices.Sort(values)
	return strings.Join(append(parts, values...), " ")
}

// countNodes counts the nodes of each difference.
func (m *matcher) countNodes() {
	for i := range m.m.Differences {
		d := &m.m.Differences[i]
		if d.A >= 0 && d.B >= 0 {
			m.m.Changed++
		}
		if d.Kind == MovedCut || d.Kind == OtherClass {
			continue
		}
		d.NodesA, d.NodesB = m.a.alone(d.A), m.b.alone(d.B)
	}
}

// alone counts the nodes from a place down that have no partner. It stops at nodes that have one,
// because differences below them are counted separately.
func (o *outline) alone(place int) int {
	if place < 0 {
		return 0
	}
	count := 0
	list := []int{place}
	for at := 0; at < len(list); at++ {
		node := list[at]
		if o.partner[node] >= 0 && node != place {
			continue
		}
		if o.partner[node] < 0 {
			count++
		}
		for _, b := range o.Nodes[node].Branches {
			list = append(list, b.Child)
		}
	}
	return count
}

// reaches reports whether the rows of a leaf pass a node.
func (o *outline) reaches(leaf, node int) bool {
	return node >= 0 && o.from[node] <= o.from[leaf] && o.to[leaf] <= o.to[node]
}

// countRows counts the rows of each difference.
func (m *matcher) countRows(list []Rows) {
	pairs := make(map[[2]int]*counted)
	var order []*counted
	for i := range list {
		key := [2]int{list[i].A.Leaf, list[i].B.Leaf}
		if pairs[key] == nil {
			pairs[key] = &counted{a: key[0], b: key[1]}
			order = append(order, pairs[key])
		}
		pairs[key].rows += list[i].Rows
		pairs[key].weight += portable.Sum(list[i].Weights)
		m.compare(&list[i])
	}
	for _, p := range order {
		for i := range m.m.Differences {
			m.countPair(&m.m.Differences[i], p)
		}
		if m.a.partner[p.a] == p.b && m.other[p.a] {
			m.m.EstimateRows += p.rows
			m.m.EstimateWeight += p.weight
		}
	}
	for _, other := range m.other {
		if other {
			m.m.Estimates++
		}
	}
}

// compare compares the predictions of rows at two leaves that are the same. Leaf models are only
// compared by their predictions: they are the same if all rows get the same probabilities.
func (m *matcher) compare(r *Rows) {
	modelled := m.a.Nodes[r.A.Leaf].Model != nil || m.b.Nodes[r.B.Leaf].Model != nil
	if leaf := r.A.Leaf; modelled && m.leaves[leaf] && m.a.partner[leaf] == r.B.Leaf &&
		!slices.Equal(r.A.Probabilities, r.B.Probabilities) {
		m.other[leaf] = true
	}
}

// counted holds the rows of a leaf of each tree.
type counted struct {
	a, b         int
	rows, weight int64
}

// countPair adds the rows of two leaves to a difference.
func (m *matcher) countPair(d *Difference, p *counted) {
	inA := m.a.reaches(p.a, d.A)
	inB := m.b.reaches(p.b, d.B)
	if !inA && !inB {
		return
	}
	d.Rows += p.rows
	d.Weight += p.weight
	if d.Kind != MovedCut || !inA || !inB {
		return
	}
	for k := range m.a.Nodes[d.A].Branches {
		child := m.a.Nodes[d.A].Branches[k]
		if !m.a.reaches(p.a, child.Child) {
			continue
		}
		for _, other := range m.b.Nodes[d.B].Branches {
			if other.Outcome == child.Outcome && !m.b.reaches(p.b, other.Child) {
				d.OtherWay += p.rows
				d.OtherWayWeight += p.weight
			}
		}
	}
}
