package levels

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce"
)

// Open is an open node of a tree that is grown by levels. Only its counts are known:
// its objects lie in blocks elsewhere.
type Open struct {
	Node    *induce.Node
	Depth   int
	Objects []int64 // by class
	Weight  []int64 // by class

	path   *induce.Path
	family *family // nil: its histogram cannot be inferred
}

// family is the children of one node, with the node's histogram. The histogram of one
// child is that of the parent less those of all other children.
type family struct {
	cells    []int64 // of the parent, over all features
	children []*Open
}

// Place returns where in the tree the node is.
func (o *Open) Place() induce.Place { return induce.Place{Depth: o.Depth, Path: o.path} }

// NewOpen returns an open node with the given objects and weight by class,
// which it keeps.
func NewOpen(objects, weight []int64, depth int) *Open {
	n := &induce.Node{Class: weight, Raw: make([]int64, len(weight))}
	for k := range objects {
		n.Objects += objects[k]
		n.Weight += weight[k]
	}
	return &Open{Node: n, Depth: depth, Objects: objects, Weight: weight}
}

// Growth is a tree that is being grown by levels: its nodes, and the open nodes among
// them.
type Growth struct {
	Root  *induce.Node
	Large []*Open // to be split by counts, level after level
	Small []*Open // to be grown in memory, each as a whole
}

// NewGrowth returns a tree of an open root, from the number and weight of all training
// objects by class. Nodes of up to budget objects are small; -1: all nodes are.
func NewGrowth(objects, weight []int64, budget int64) *Growth {
	root := NewOpen(objects, weight, 0)
	g := &Growth{Root: root.Node}
	g.deal([]*Open{root}, budget)
	return g
}

// deal adds open nodes to the small ones, of up to budget objects, or to the large ones;
// -1: all are small.
func (g *Growth) deal(open []*Open, budget int64) {
	for _, o := range open {
		if budget < 0 || o.Node.Objects <= budget {
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

// Redeal deals all open nodes anew, by another budget.
func (g *Growth) Redeal(budget int64) {
	open := slices.Concat(g.Large, g.Small)
	g.Large, g.Small = nil, nil
	g.deal(open, budget)
}

// Weight returns the weight of the open nodes.
func (g *Growth) Weight() int64 {
	weight := int64(0)
	for _, list := range [][]*Open{g.Large, g.Small} {
		for _, o := range list {
			weight += o.Node.Weight
		}
	}
	return weight
}

// numbers numbers the nodes of the tree breadth-first, the children of a node in their
// order.
func (g *Growth) numbers() map[*induce.Node]int {
	numbers := make(map[*induce.Node]int)
	g.Root.Walk(func(n *induce.Node, _ int) { numbers[n] = len(numbers) })
	return numbers
}

// paths returns the nodes by number, and the path to each.
func (g *Growth) paths() (nodes []*induce.Node, paths []*induce.Path) {
	paths = []*induce.Path{nil}
	g.Root.Walk(func(n *induce.Node, _ int) {
		weights := make([][]int64, len(n.Children))
		for i, child := range n.Children {
			weights[i] = child.Class
		}
		for i := range n.Children {
			below := paths[len(nodes)]
			if n.Test != nil {
				below = below.Below(n.Test.Test, weights, i)
			}
			paths = append(paths, below)
		}
		nodes = append(nodes, n)
	})
	return nodes, paths
}

// growthJSON is the JSON of a Growth.
type growthJSON struct {
	Root  *induce.Node `json:"root"`
	Large []openJSON   `json:"large"`
	Small []openJSON   `json:"small"`
}

type openJSON struct {
	Number  int     `json:"number"` // see numbers
	Depth   int     `json:"depth"`
	Objects []int64 `json:"objects"`
	Weight  []int64 `json:"weight"`
}

// MarshalJSON encodes the tree with its open nodes.
func (g *Growth) MarshalJSON() ([]byte, error) {
	numbers := g.numbers()
	list := func(open []*Open) []openJSON {
		nodes := make([]openJSON, len(open))
		for i, o := range open {
			nodes[i] = openJSON{numbers[o.Node], o.Depth, o.Objects, o.Weight}
		}
		return nodes
	}
	return json.Marshal(growthJSON{g.Root, list(g.Large), list(g.Small)})
}

// UnmarshalJSON decodes what MarshalJSON has encoded. It refuses open nodes whose number
// no node of the tree has.
func (g *Growth) UnmarshalJSON(b []byte) error {
	var j growthJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Root == nil {
		return errors.New("a tree without a root")
	}
	g.Root = j.Root
	nodes, paths := g.paths()
	list := func(open []openJSON) ([]*Open, error) {
		var opened []*Open
		for _, o := range open {
			classes := len(g.Root.Class)
			if o.Number < 0 || o.Number >= len(nodes) || len(o.Objects) != classes || len(o.Weight) != classes {
				return nil, errors.New("an open node that the tree does not have")
			}
			opened = append(opened, &Open{
				Node: nodes[o.Number], Depth: o.Depth, Objects: o.Objects, Weight: o.Weight, path: paths[o.Number],
			})
		}
		return opened, nil
	}
	var err error
	if g.Large, err = list(j.Large); err == nil {
		g.Small, err = list(j.Small)
	}
	return err
}

// Close makes leaves of the large nodes, as time has run out. The returned pass counts
// their rows and raw class weights, which Grower.Fill then sets.
func (g *Growth) Close() *Pass {
	numbers := g.numbers()
	p := &Pass{open: g.Large}
	for _, o := range g.Large {
		o.Node.Stopped = true
		p.Nodes = append(p.Nodes, PassNode{Number: numbers[o.Node], Weight: o.Node.Weight})
	}
	g.Large = nil
	return p
}

// Numbered returns the position in Small of each small node, by the node's number in the
// tree (see NewRouter).
func (g *Growth) Numbered() map[int]int {
	numbers := g.numbers()
	at := make(map[int]int, len(g.Small))
	for i, o := range g.Small {
		at[numbers[o.Node]] = i
	}
	return at
}
