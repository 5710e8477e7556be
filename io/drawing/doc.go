// Package drawing draws trees as SVG, without any other program. It only deals with boxes, texts, shares and groups, not with how a tree was made.
//
// It is not meant for other programs.
package drawing

// Tree is what a drawing shows. Node 0 is the root, and each node stands before its
// children. Texts may have any characters. A drawing replaces characters that are not
// allowed in its format.
type Tree struct {
	Title  string
	Notes  []string // lines below the title
	Groups []string // the legend: a name for each Node.Group
	Nodes  []Node
}

// Node is a box of a drawing.
type Node struct {
	ID       int     // number for readers
	Children []int   // positions in Tree.Nodes, in their order
	Edge     string  // condition of the branch to the node
	Label    string  // class and probability
	Detail   string  // figures
	Tip      string  // the long text, shown under the mouse
	Folded   string  // note on nodes omitted below; empty if none are
	Share    float64 // share of the whole, 0 to 1, shown by the widths of lines or the heights of an icicle
	Group    int     // decides on the colour
	Strength float64 // strength of the colour, 0 to 1
	Leaf     bool
	Lit      bool // whether it is on the highlighted path
}

// levels returns the depth of each node, and the number of levels.
func (t *Tree) levels() (depth []int, levels int) {
	depth = make([]int, len(t.Nodes))
	for i := range t.Nodes {
		levels = max(levels, depth[i]+1)
		for _, child := range t.Nodes[i].Children {
			depth[child] = depth[i] + 1
		}
	}
	return depth, levels
}
