package bylevel

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow"
)

// Open is an open node of trees that are grown by levels. It only has counts: the objects are in blocks elsewhere.
type Open struct {
	grow.Open

	family *family // nil: the histogram cannot be inferred
}

// family is the children of one node by one test, with the node's counts. The counts of one
// child are the parent's counts minus the counts of all other children.
type family struct {
	cells      []int64 // histogram of the parent, over all features
	complement []int64 // complement of the class weights of the parent, see grow.Rules.Describe
	rows       int64   // rows of the parent
	children   []*Open
}

// Growth has the nodes of trees that are being grown by levels, and the open nodes among
// them.
type Growth struct {
	Roots []*induce.Node // by tree
	Large []*Open        // nodes to be split by counts, level after level
	Small []*Open        // nodes whose whole subtrees are to be grown in memory
}

// NewGrowth returns the given number of trees, all with the same open root. objects and weight are
// the number and weight of all training objects by class. Nodes with up to budget objects are small;
// -1: all nodes are.
func NewGrowth(trees int, objects, weight []int64, budget int64) *Growth {
	root := &Open{Open: grow.NewRoot(trees, induce.Place{}, objects, weight)}
	g := new(Growth)
	for _, m := range root.Members {
		g.Roots = append(g.Roots, m.Node)
	}
	g.deal([]*Open{root}, budget)
	return g
}

// deal adds open nodes with up to budget objects to the small nodes, and all other open nodes to the
// large nodes. If budget is -1, all nodes are small.
func (g *Growth) deal(open []*Open, budget int64) {
	for _, o := range open {
		if budget < 0 || o.Count <= budget {
			g.Small = append(g.Small, o)
		} else {
			g.Large = append(g.Large, o)
		}
	}
}

// Next replaces the large nodes by their children, see Grower.Expand.
func (g *Growth) Next(children []*Open, budget int64) {
	g.Large = nil
	g.deal(children, budget)
}

// Redeal divides all open nodes again into small and large nodes, by another budget.
func (g *Growth) Redeal(budget int64) {
	open := slices.Concat(g.Large, g.Small)
	g.Large, g.Small = nil, nil
	g.deal(open, budget)
}

// Done reports whether no node is open.
func (g *Growth) Done() bool { return len(g.Large)+len(g.Small) == 0 }

// Weight returns the weight of the open nodes, summed over the trees.
func (g *Growth) Weight() int64 {
	weight := int64(0)
	for _, list := range [][]*Open{g.Large, g.Small} {
		for _, o := range list {
			for _, m := range o.Members {
				weight += m.Node.Weight
			}
		}
	}
	return weight
}

// growthJSON is the JSON of a Growth.
type growthJSON struct {
	Roots []*induce.Node `json:"roots"`
	Large []openJSON     `json:"large"`
	Small []openJSON     `json:"small"`
}

type openJSON struct {
	Members [][2]int      `json:"members"` // tree, and number of the node: see numbered
	Path    []induce.Step `json:"path"`
	Objects []int64       `json:"objects"`
	Weight  []int64       `json:"weight"`
}

// numbered returns the nodes of a tree breadth-first, the children of a node in their order.
func numbered(root *induce.Node) []*induce.Node {
	var nodes []*induce.Node
	root.Walk(func(n *induce.Node, _ int) { nodes = append(nodes, n) })
	return nodes
}

// MarshalJSON encodes the trees with their open nodes.
func (g *Growth) MarshalJSON() ([]byte, error) {
	numbers := make(map[*induce.Node]int)
	for _, root := range g.Roots {
		for i, n := range numbered(root) {
			numbers[n] = i
		}
	}
	list := func(open []*Open) []openJSON {
		nodes := make([]openJSON, len(open))
		for i, o := range open {
			nodes[i] = openJSON{Path: o.Path.Steps(), Objects: o.Objects, Weight: o.Weight}
			for _, m := range o.Members {
				nodes[i].Members = append(nodes[i].Members, [2]int{m.Tree, numbers[m.Node]})
			}
		}
		return nodes
	}
	return json.Marshal(growthJSON{g.Roots, list(g.Large), list(g.Small)})
}

var errGrowth = errors.New("an open node that the trees do not have")

// UnmarshalJSON decodes what MarshalJSON has encoded. It fails if an open node is not a node of its
// tree.
func (g *Growth) UnmarshalJSON(b []byte) error {
	var j growthJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if len(j.Roots) == 0 || slices.Contains(j.Roots, nil) {
		return errors.New("a tree without a root")
	}
	g.Roots = j.Roots
	nodes := make([][]*induce.Node, len(g.Roots))
	for i, root := range g.Roots {
		nodes[i] = numbered(root)
	}
	var err error
	if g.Large, err = reopenAll(j.Large, nodes); err == nil {
		g.Small, err = reopenAll(j.Small, nodes)
	}
	return err
}

// reopenAll returns the open nodes of a JSON. nodes has the nodes of each tree, see numbered.
func reopenAll(open []openJSON, nodes [][]*induce.Node) ([]*Open, error) {
	var opened []*Open
	for i := range open {
		j := &open[i]
		if len(j.Members) == 0 || len(j.Objects) != len(j.Weight) {
			return nil, errGrowth
		}
		place := induce.Place{Depth: len(j.Path), Path: induce.NewPath(j.Path)}
		o := &Open{Open: grow.Open{Place: place, Objects: j.Objects, Weight: j.Weight}}
		for _, n := range j.Objects {
			o.Count += n
		}
		for _, m := range j.Members {
			at, number := m[0], m[1]
			if at < 0 || at >= len(nodes) || number < 0 || number >= len(nodes[at]) ||
				len(nodes[at][number].Class) != len(o.Weight) {
				return nil, errGrowth
			}
			if follow(nodes[at][0], j.Path) != nodes[at][number] {
				return nil, errGrowth
			}
			o.Members = append(o.Members, grow.Member{Tree: at, Node: nodes[at][number]})
		}
		opened = append(opened, o)
	}
	return opened, nil
}

// follow returns the node to which a path leads from a root; nil if there is no such node.
func follow(root *induce.Node, path []induce.Step) *induce.Node {
	n := root
	for _, step := range path {
		if step.Outcome < 0 || step.Outcome >= len(n.Children) {
			return nil
		}
		n = n.Children[step.Outcome]
	}
	return n
}

// Close makes the large nodes leaves, because time has run out. The returned pass counts
// their rows and class weights, which Fill then sets.
func (g *Grower) Close(growth *Growth) *Pass {
	p := &Pass{open: growth.Large, Routes: growth.Routes(growth.Large)}
	for _, o := range growth.Large {
		for _, m := range o.Members {
			m.Node.Stopped = g.rules.MayTest(&o.Open, m.Tree)
		}
		p.Nodes = append(p.Nodes, PassNode{Weight: o.Members[0].Node.Weight})
	}
	growth.Large = nil
	return p
}
