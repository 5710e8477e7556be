package bylevel

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
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
	Nodes *grow.Nodes
	Large []*Open // nodes to be split by counts, level after level
	Small []*Open // nodes whose whole subtrees are to be grown in memory

	Classes int
}

// NewGrowth returns the given number of trees, all with the same open root. objects and weight are
// the number and weight of all training objects by class. Nodes with up to budget objects are small;
// -1: all nodes are.
func NewGrowth(trees int, objects, weight []int64, budget int64) *Growth {
	g := &Growth{Nodes: grow.NewNodes(trees), Classes: len(objects)}
	g.deal([]*Open{{Open: grow.NewRoot(g.Nodes, induce.Place{}, objects, weight)}}, budget)
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
	g.Large = nil
	g.Small = nil
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
	Classes int        `json:"classes"`
	Trees   [][]byte   `json:"trees"` // number of the nodes, and tree.AppendNodes
	Large   []openJSON `json:"large"`
	Small   []openJSON `json:"small"`
}

type openJSON struct {
	Trees    []int         `json:"trees"`
	Path     []induce.Step `json:"path"`
	Presence int           `json:"presence,omitempty"` // presence tests on the path, see split.Column.Presence
	Objects  []int64       `json:"objects"`
	Weight   []int64       `json:"weight"`
}

// MarshalJSON encodes the trees with their open nodes.
func (g *Growth) MarshalJSON() ([]byte, error) {
	list := func(open []*Open) []openJSON {
		nodes := make([]openJSON, len(open))
		for i, o := range open {
			nodes[i] = openJSON{Trees: o.Trees(), Path: o.Path.Steps(), Objects: o.Objects, Weight: o.Weight}
			nodes[i].Presence = len(nodes[i].Path) - o.Depth
		}
		return nodes
	}
	j := growthJSON{Classes: g.Classes, Large: list(g.Large), Small: list(g.Small)}
	for _, nodes := range g.Nodes.Trees() {
		j.Trees = append(j.Trees, EncodeTree(nodes))
	}
	return json.Marshal(j)
}

// EncodeTree encodes grown nodes.
func EncodeTree(nodes []tree.Node) []byte {
	return tree.AppendNodes(wire.Writer(nil).Length(len(nodes)), nodes)
}

// DecodeTree decodes what EncodeTree has encoded.
func DecodeTree(b []byte, classes int) ([]tree.Node, error) {
	r := wire.Reader{Rest: b}
	return tree.ReadNodes(&r, r.Length(1), classes, math.MaxInt32)
}

var errGrowth = errors.New("an open node that the trees do not have, or with other objects")

// UnmarshalJSON decodes what MarshalJSON has encoded. It fails if an open node is not a node of its
// tree.
func (g *Growth) UnmarshalJSON(b []byte) error {
	var j growthJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if len(j.Trees) == 0 {
		return errors.New("no tree")
	}
	g.Classes, g.Nodes = j.Classes, grow.NewNodes(len(j.Trees))
	for i, root := range g.Nodes.Roots() {
		nodes, err := DecodeTree(j.Trees[i], j.Classes)
		if err != nil {
			return err
		}
		g.Nodes.Graft(root, nodes)
	}
	var err error
	if g.Large, err = g.reopen(j.Large); err == nil {
		g.Small, err = g.reopen(j.Small)
	}
	return err
}

// reopen returns the open nodes of a JSON.
func (g *Growth) reopen(open []openJSON) ([]*Open, error) {
	var opened []*Open
	for i := range open {
		j := &open[i]
		if len(j.Trees) == 0 || len(j.Objects) != g.Classes || len(j.Weight) != g.Classes || slices.Min(j.Objects) < 0 ||
			j.Presence < 0 || j.Presence > len(j.Path) {
			return nil, errGrowth
		}
		place := induce.Place{Depth: len(j.Path) - j.Presence, Path: induce.NewPath(j.Path)}
		o := &Open{Open: grow.Open{Place: place, Objects: j.Objects, Weight: j.Weight}}
		for _, n := range j.Objects {
			o.Count += n
		}
		for _, at := range j.Trees {
			n := g.Nodes.Follow(at, j.Path)
			if n == nil || !n.Leaf() {
				return nil, errGrowth
			}
			o.Members = append(o.Members, grow.Member{Tree: at, Node: n})
		}
		opened = append(opened, o)
	}
	return opened, nil
}

// Check returns an error if an open node has more than objects objects.
func (g *Growth) Check(objects int64) error {
	for _, o := range slices.Concat(g.Large, g.Small) {
		left := objects
		for _, n := range o.Objects {
			if left -= n; n < 0 || left < 0 {
				return errGrowth
			}
		}
	}
	return nil
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
