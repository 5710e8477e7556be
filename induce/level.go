package induce

import (
	"encoding/binary"
	"errors"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Open is a node of a tree that is grown level by level: known by its counts
// alone, its objects lie in blocks elsewhere.
type Open struct {
	Node    *Node
	Depth   int
	Objects []int64 // by class
	Weight  []int64 // by class
}

// NewOpen returns an open node with the given objects and weight by class,
// which it keeps.
func NewOpen(objects, weight []int64, depth int) *Open {
	n := &Node{Class: weight, Raw: make([]int64, len(weight))}
	for k := range objects {
		n.Objects += objects[k]
		n.Weight += weight[k]
	}
	return &Open{Node: n, Depth: depth, Objects: objects, Weight: weight}
}

// LevelNode is an open node as the workers of one level need to know it.
type LevelNode struct {
	ID     int   // in the tree so far
	Weight int64 // w_v
	Split  bool  // wants histograms; else its class weights only
}

// Levels is what all levels of one training share.
type Levels struct {
	columns   []split.Column
	params    Params
	criterion *split.Criterion
	layout    layout
	heavyAt   []int // first code of each feature among the heavy sums, len(columns)+1
}

// NewLevels prepares training by levels. total is W, the weight of all
// training objects.
func NewLevels(columns []split.Column, p Params, classes int, total int64) *Levels {
	l := &Levels{
		columns: columns, params: p, layout: newLayout(columns, classes),
		criterion: split.NewCriterion(p.Algorithm, p.Family, p.Lambda, p.Theta, total),
		heavyAt:   make([]int, len(columns)+1),
	}
	for f := range columns {
		l.heavyAt[f+1] = l.heavyAt[f] + columns[f].Codes
	}
	return l
}

// Bytes returns the memory of one open node's histogram.
func (l *Levels) Bytes() int { return 8 * l.layout.cells() }

// WantsSplit reports whether an open node is split if a test splits it and it
// has rows enough.
func (l *Levels) WantsSplit(o *Open) bool {
	leaf := l.criterion.IsLeaf(l.criterion.NewTotals(o.Objects, o.Weight))
	return !leaf && (l.params.MaxDepth <= 0 || o.Depth < l.params.MaxDepth)
}

// Level counts objects into the histograms of the open nodes of one level.
// Levels over different objects add up by their encoded parts.
type Level struct {
	*Levels

	router *tree.Router
	nodes  []LevelNode
	at     []int32 // position in nodes by tree node, -1: none
	cells  [][]int64
	heavy  [][]split.Heavy
	raw    [][]int64 // weight by class, then rows
}

// Level returns an empty level: nodes are the open nodes of t.
func (l *Levels) Level(t *tree.Tree, nodes []LevelNode) *Level {
	level := &Level{
		Levels: l, nodes: nodes, router: t.Router(), at: make([]int32, len(t.Nodes)),
		cells: make([][]int64, len(nodes)), heavy: make([][]split.Heavy, len(nodes)), raw: make([][]int64, len(nodes)),
	}
	for i := range level.at {
		level.at[i] = -1
	}
	for i, n := range nodes {
		level.at[n.ID] = int32(i)
		level.raw[i] = make([]int64, l.layout.classes+1)
		if n.Split {
			level.cells[i] = make([]int64, l.layout.cells())
		}
	}
	return level
}

// Add counts objects, the features dealt to so many workers.
func (l *Level) Add(o *dataset.Objects, workers int) {
	counted := make([]rows, len(l.nodes))
	none := make([]int64, l.layout.classes) // sums that only a common code needs
	for i := range o.Len() {
		at := l.at[l.router.Leaf(o, i)]
		if at < 0 {
			continue
		}
		raw := l.raw[at]
		for _, cw := range o.Raw(i) {
			raw[cw.Class] += cw.Weight
		}
		raw[len(raw)-1] += o.RowsOf(i)
		if l.nodes[at].Split {
			r := &counted[at]
			r.order, r.class, r.weight, r.n = append(r.order, int32(i)), append(r.class, o.Class[i]), append(r.weight, o.Weight[i]), none
		}
	}
	l.addHeavy(o, counted)
	var next atomic.Int64
	inParallel(min(workers, len(l.columns)), func(int) {
		for f := int(next.Add(1) - 1); f < len(l.columns); f = int(next.Add(1) - 1) {
			c := counter{&o.Codes[f], -1}
			for i := range l.nodes {
				if len(counted[i].order) > 0 {
					c.count(l.layout.of(l.cells[i], f), &counted[i])
				}
			}
		}
	})
}

func (l *Level) addHeavy(o *dataset.Objects, counted []rows) {
	for at := range counted {
		for _, id := range counted[at].order {
			if !l.criterion.IsHeavy(o.Weight[id]) || o.Weight[id] >= l.nodes[at].Weight {
				continue
			}
			if l.heavy[at] == nil {
				l.heavy[at] = make([]split.Heavy, l.heavyAt[len(l.columns)])
			}
			h := split.NewHeavy(o.Weight[id], l.nodes[at].Weight)
			for f := range l.columns {
				l.heavy[at][l.heavyAt[f]+o.Codes[f].At(int(id))].Add(&h)
			}
		}
	}
}

// Counts are what all levels together have counted of one open node.
type Counts struct {
	Raw   []int64 // weight by the rows' class
	Rows  int64
	cells []int64
	heavy []split.Heavy
}

// A part is a run of features of one open node, or with from = to its raw
// class weights and rows. Encoded, parts are added by AddPart:
//
//	raw part       varints: class weights, rows
//	feature part   varints: cells; then per code, if there are heavy objects,
//	               varint weight and two uvarints
type part struct{ node, from, to int }

// Parts calls emit with each part of the level that is not empty, in pieces of
// about maxBytes. The key says which node and features a part belongs to.
func (l *Level) Parts(maxBytes int, emit func(key int64, b []byte)) {
	for i := range l.nodes {
		emit(part{node: i}.key(), appendVarints(nil, l.raw[i]))
		if !l.nodes[i].Split {
			continue
		}
		for from := 0; from < len(l.columns); {
			to := l.partEnd(from, maxBytes)
			emit(part{i, from, to}.key(), l.encode(i, from, to))
			from = to
		}
	}
}

// PartKeys returns the keys of the parts of an open node, as Parts cuts them.
func (l *Levels) PartKeys(node int, histogram bool, maxBytes int) []int64 {
	keys := []int64{part{node: node}.key()}
	if !histogram {
		return keys
	}
	for from := 0; from < len(l.columns); {
		to := l.partEnd(from, maxBytes)
		keys = append(keys, part{node, from, to}.key())
		from = to
	}
	return keys
}

// partEnd returns where the part that starts at a feature ends. It depends on
// the columns alone, so that all workers cut alike.
func (l *Levels) partEnd(from, maxBytes int) int {
	to := from + 1
	for to < len(l.columns) && 10*(l.layout.offsets[to+1]-l.layout.offsets[from]) <= maxBytes {
		to++
	}
	return to
}

func (l *Level) encode(node, from, to int) []byte {
	return l.encodePart(l.cells[node], l.heavy[node], from, to)
}

func (l *Levels) encodePart(cells []int64, heavy []split.Heavy, from, to int) []byte {
	b := appendVarints(nil, cells[l.layout.offsets[from]:l.layout.offsets[to]])
	if heavy == nil {
		return b
	}
	for i := l.heavyAt[from]; i < l.heavyAt[to]; i++ {
		h := &heavy[i]
		b = binary.AppendUvarint(binary.AppendUvarint(binary.AppendVarint(b, h.Weight), h.Hi), h.Lo)
	}
	return b
}

// partFeatureBits leaves 23 bits of a key to the open node.
const partFeatureBits = 20

func (p part) key() int64 {
	return int64(p.node)<<(2*partFeatureBits) | int64(p.from)<<partFeatureBits | int64(p.to)
}

func partOf(key int64) part {
	const mask = 1<<partFeatureBits - 1
	return part{int(key >> (2 * partFeatureBits)), int(key >> partFeatureBits & mask), int(key & mask)}
}

func appendVarints(b []byte, xs []int64) []byte {
	for _, x := range xs {
		b = binary.AppendVarint(b, x)
	}
	return b
}

var errPart = errors.New("not a part of this level")

// AddPart adds the encoded part b of the given key to the counts of the open
// node that it belongs to. counts come from NewCounts.
func (l *Levels) AddPart(counts []Counts, key int64, b []byte) error {
	p := partOf(key)
	if p.node >= len(counts) || !l.has(p) {
		return errPart
	}
	return l.addPart(&counts[p.node], p, b)
}

// has reports whether the levels can have a part of that name: keys come out of
// files, which may be damaged.
func (l *Levels) has(p part) bool {
	return p.node >= 0 && p.from <= p.to && p.to <= len(l.columns)
}

func (l *Levels) addPart(c *Counts, p part, b []byte) error {
	if p.from == p.to {
		raw := make([]int64, l.layout.classes+1)
		if b = addVarints(raw, b); b == nil {
			return errPart
		}
		for k := range c.Raw {
			c.Raw[k] += raw[k]
		}
		c.Rows += raw[len(raw)-1]
		return nil
	}
	if c.cells == nil {
		c.cells = make([]int64, l.layout.cells())
	}
	b = addVarints(c.cells[l.layout.offsets[p.from]:l.layout.offsets[p.to]], b)
	if b == nil {
		return errPart
	}
	if len(b) == 0 {
		return nil
	}
	if c.heavy == nil {
		c.heavy = make([]split.Heavy, l.heavyAt[len(l.columns)])
	}
	return addHeavies(c.heavy[l.heavyAt[p.from]:l.heavyAt[p.to]], b)
}

// NewCounts returns zero counts of so many open nodes.
func (l *Levels) NewCounts(nodes int) []Counts {
	counts := make([]Counts, nodes)
	for i := range counts {
		counts[i].Raw = make([]int64, l.layout.classes)
	}
	return counts
}

// MergeParts returns the sum of encoded parts of one key.
func (l *Levels) MergeParts(key int64, parts [][]byte) ([]byte, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	p, c := partOf(key), &l.NewCounts(1)[0]
	if !l.has(p) {
		return nil, errPart
	}
	for _, b := range parts {
		if err := l.addPart(c, p, b); err != nil {
			return nil, err
		}
	}
	if p.from == p.to {
		return appendVarints(nil, append(c.Raw, c.Rows)), nil
	}
	return l.encodePart(c.cells, c.heavy, p.from, p.to), nil
}

// addVarints adds encoded numbers to dst and returns the rest of b, nil when it
// is too short.
func addVarints(dst []int64, b []byte) []byte {
	for i := range dst {
		x, n := binary.Varint(b)
		if n <= 0 {
			return nil
		}
		dst[i] += x
		b = b[n:]
	}
	return b[:len(b):len(b)]
}

func addHeavies(dst []split.Heavy, b []byte) error {
	for i := range dst {
		weight, n := binary.Varint(b)
		if n <= 0 {
			return errPart
		}
		hi, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return errPart
		}
		lo, k := binary.Uvarint(b[n+m:])
		if k <= 0 {
			return errPart
		}
		dst[i].Add(&split.Heavy{Weight: weight, Hi: hi, Lo: lo})
		b = b[n+m+k:]
	}
	return nil
}

// Expand settles an open node by its counts: it fills in the node and returns
// its children, none when it is a leaf.
func (l *Levels) Expand(o *Open, c *Counts) []*Open {
	n := o.Node
	totals := l.criterion.NewTotals(o.Objects, o.Weight)
	n.Objects, n.Weight, n.Class, n.Raw, n.Rows = totals.Objects, totals.Weight, o.Weight, c.Raw, c.Rows
	if c.cells == nil || l.params.MinRows > 0 && c.Rows < l.params.MinRows {
		return nil
	}
	var heavy split.Heavy
	if c.heavy != nil {
		for i := range c.heavy[:l.heavyAt[1]] {
			heavy.Add(&c.heavy[i])
		}
	}
	s := split.NewScanner(l.criterion)
	s.Node(totals, heavy)
	load := func(f int) { s.Load(f, &l.columns[f], l.histogram(c, f), nil) }
	scores := make([]float64, len(l.columns))
	for f := range l.columns {
		load(f)
		scores[f] = s.Scan()
	}
	found := s.Choose(scores, load)
	if found.Kind == 0 {
		return nil
	}
	n.Test = &found
	load(found.Feature)
	var cells [][]int64
	n.Parts, cells, n.Outcomes = s.Parts(&found)
	return o.children(cells)
}

// children makes the child nodes from the cells of each outcome.
func (o *Open) children(outcomes [][]int64) []*Open {
	children := make([]*Open, len(outcomes))
	for i, cells := range outcomes {
		objects, weight := make([]int64, len(o.Objects)), make([]int64, len(o.Objects))
		for k := range objects {
			objects[k], weight[k] = cells[2*k], cells[2*k+1]
		}
		child := NewOpen(objects, weight, o.Depth+1)
		children[i] = child
		o.Node.Children = append(o.Node.Children, child.Node)
	}
	return children
}

func (l *Levels) histogram(c *Counts, f int) split.Histogram {
	h := split.Histogram{Cells: l.layout.of(c.cells, f)}
	if c.heavy != nil {
		h.Heavy = c.heavy[l.heavyAt[f]:l.heavyAt[f+1]]
	}
	return h
}
