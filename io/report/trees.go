package report

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// The greatest sizes of the trees in a page, in bytes. The tree of the run comes first, and the
// trees of the frontier share the remaining room.
const (
	maxTrees   = 1_500_000
	maxRunTree = 1_000_000
)

// The form of a tree in a page.
type form struct {
	nodes  int  // greatest number of nodes; beyond it the rarest nodes are left out
	digits int  // digits of probabilities
	scores bool // whether the parts of the tests' scores are included
	models bool // whether the models of the leaves are included
	counts bool // whether the numbers of rows of the class of interest are included
}

const (
	exactDigits = 12
	fewDigits   = 5
	scoreDigits = 4
)

// fullClasses is the greatest number of classes whose probabilities are all listed. If there are
// more classes, a leaf lists the most probable ones.
const (
	fullClasses = 12
	topClasses  = 8
)

// album encodes the trees of a page.
type album struct {
	tests *tests
	left  int  // bytes for further trees
	plain bool // whether leaf models are left out
}

// add encodes a tree in at most room bytes, with as many details as fit. Larger trees first lose
// digits, then counts, then the scores of their tests, then the models of their leaves, then the nodes with the
// fewest rows.
func (a *album) add(t *tree.Tree, room int) []byte {
	room = min(room, a.left)
	forms := []form{
		{math.MaxInt, exactDigits, true, true, true},
		{math.MaxInt, fewDigits, true, true, true},
		{math.MaxInt, fewDigits, true, true, false},
		{math.MaxInt, fewDigits, false, true, false},
	}
	if t.Modelled() {
		forms = append(forms, form{math.MaxInt, fewDigits, true, false, false})
	}
	for _, f := range forms {
		f.models = f.models && !a.plain
		if estimate(t, &f) > 2*room {
			continue
		}
		if b, ok := a.try(t, &f, room); ok {
			return b
		}
	}
	f := form{len(t.Nodes), fewDigits, true, false, false}
	for each := max(1, estimate(t, &f)/len(t.Nodes)); f.nodes > 1; f.nodes = f.nodes * 2 / 3 {
		f.nodes = min(f.nodes, room/each)
		if b, ok := a.try(t, &f, room); ok {
			return b
		}
	}
	return nil
}

// estimate returns roughly how many bytes a tree takes.
func estimate(t *tree.Tree, f *form) int {
	wide := len(t.Label.Classes)
	leaves := t.CountLeaves()
	switch {
	case wide == 2:
		wide = 1
	case wide > fullClasses:
		wide = topClasses
	}
	size := 16*len(t.Nodes) + leaves*wide*(2+f.digits) + 40*(len(t.Nodes)-leaves)
	if f.counts {
		size += 5 * len(t.Nodes)
	}
	if f.scores {
		size += 28 * (len(t.Nodes) - leaves)
	}
	if f.models {
		size += modelNumbers(t) * leastDigits
	}
	return size
}

// leastDigits is roughly the least number of bytes that a number of a leaf model takes.
const leastDigits = 3

// modelNumbers returns how many numbers the leaf models of a tree have.
func modelNumbers(t *tree.Tree) int {
	total := 0
	for i := range t.Nodes {
		m := t.Nodes[i].Model
		if m == nil {
			continue
		}
		for k := range m.Terms {
			total += len(m.Terms[k].At) + (len(m.Terms[k].Values)+1)*len(m.Intercept)
		}
	}
	return total
}

// try encodes a tree in a form. It fails if the tree and its new tests have too many bytes.
func (a *album) try(t *tree.Tree, f *form, room int) (b []byte, ok bool) {
	to := a.tests.mark()
	size := a.tests.size
	e := &encoder{album: a, tree: t, form: f}
	e.choose()
	b = e.encode()
	taken := len(b) + a.tests.size - size
	if taken > room {
		a.tests.back(to)
		return nil, false
	}
	a.left -= taken
	return b, true
}

// encoder encodes one tree.
type encoder struct {
	*album
	*form

	tree   *tree.Tree
	list   []int // the nodes of the page, breadth first
	opened []bool
}

// heaviest is a heap of inner nodes with the greatest weight on top.
type heaviest struct {
	nodes []tree.Node
	queue []int
}

func (h *heaviest) Len() int { return len(h.queue) }
func (h *heaviest) Less(i, k int) bool {
	a, b := h.queue[i], h.queue[k]
	return cmp.Or(cmp.Compare(h.nodes[b].Weight, h.nodes[a].Weight), a-b) < 0
}
func (h *heaviest) Swap(i, k int) { h.queue[i], h.queue[k] = h.queue[k], h.queue[i] }
func (h *heaviest) Push(x any)    { h.queue = append(h.queue, x.(int)) } //nolint:errcheck // nodes are ints
func (h *heaviest) Pop() any {
	last := h.queue[len(h.queue)-1]
	h.queue = h.queue[:len(h.queue)-1]
	return last
}

// choose decides which nodes are on the page.
func (e *encoder) choose() {
	nodes := e.tree.Nodes
	e.opened = make([]bool, len(nodes))
	h := &heaviest{nodes: nodes}
	count := 1
	if len(nodes) <= e.nodes {
		for i := range nodes {
			e.opened[i] = !nodes[i].Leaf()
		}
	} else {
		heap.Push(h, 0)
	}
	for h.Len() > 0 {
		i := heap.Pop(h).(int) //nolint:errcheck // nodes are ints
		more := len(nodes[i].Branches)
		test := -1 // the test below a presence test is on the page if the presence test is
		if e.tree.Presence(&nodes[i]) {
			test = nodes[i].ByOutcome(0).Child
			more += len(nodes[test].Branches)
		}
		if nodes[i].Leaf() || count+more > e.nodes {
			continue
		}
		e.opened[i], count = true, count+more
		for k := range nodes[i].Branches {
			if child := nodes[i].Branches[k].Child; child != test {
				heap.Push(h, child)
			}
		}
		if test < 0 {
			continue
		}
		e.opened[test] = true
		for k := range nodes[test].Branches {
			heap.Push(h, nodes[test].Branches[k].Child)
		}
	}
	e.list = append(make([]int, 0, min(len(nodes), e.nodes)), 0)
	for at := 0; at < len(e.list); at++ {
		if i := e.list[at]; e.opened[i] {
			for k := range nodes[i].Branches {
				e.list = append(e.list, nodes[i].Branches[k].Child)
			}
		}
	}
}

// member begins a member of the JSON object.
func member(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	return append(append(b, name...), '"', ':')
}

// each writes a list with an element for each node of the page.
func (e *encoder) each(b []byte, name string, write func(b []byte, at, node int) []byte) []byte {
	b = append(member(b, name), '[')
	var l list
	for at, node := range e.list {
		b = write(l.next(b), at, node)
	}
	return append(b, ']')
}

// encode writes the tree as lists by node: see the type Tree in score.js.
func (e *encoder) encode() []byte {
	nodes := e.tree.Nodes
	b := append(make([]byte, 0, 64*len(e.list)), '{')
	b = e.each(b, "test", func(b []byte, _, node int) []byte {
		switch {
		case e.opened[node]:
			return strconv.AppendInt(b, int64(e.tests.add(e.tree, &nodes[node])), 10)
		case nodes[node].Leaf():
			return append(b, "-1"...)
		default: // there are nodes below it
			return append(b, "-2"...)
		}
	})
	b = e.each(b, "rows", func(b []byte, _, node int) []byte { return strconv.AppendInt(b, nodes[node].Rows, 10) })
	b = e.each(b, "class", func(b []byte, _, node int) []byte {
		return strconv.AppendInt(b, int64(nodes[node].Class), 10)
	})
	b = e.probabilities(b)
	shown, _ := textview.Interested(e.tree)
	if k := shown.Label.Positive(); e.counts && k >= 0 && textview.Counted(e.tree, &nodes[0]) {
		b = e.each(b, "of", func(b []byte, _, node int) []byte {
			if !textview.Counted(e.tree, &nodes[node]) { // the weights below a presence test are no counts: see tree.Known
				return append(b, "null"...)
			}
			return strconv.AppendInt(b, nodes[node].RawClassWeights[k], 10)
		})
	}
	if e.weighted() {
		b = e.each(b, "share", func(b []byte, _, node int) []byte {
			return appendDigits(b, float64(nodes[node].Weight)/float64(nodes[0].Weight), scoreDigits)
		})
	}
	if len(e.list) < len(nodes) {
		b = appendInts(member(b, "id"), e.list)
		b = appendInts(member(b, "leaves"), e.leavesBelow())
	}
	if e.tree.BillsApart() {
		b = e.inner(b, "price", func(b []byte, n *tree.Node) []byte { return appendFloat(b, n.Test.Paid()) })
	}
	if e.scores {
		b = e.inner(b, "score", func(b []byte, n *tree.Node) []byte {
			s := &n.Test.Score
			return appendFloats(b, []float64{s.Balance, s.Efficiency, s.Discrimination, s.Total}, scoreDigits)
		})
	}
	if e.scores && e.exact() {
		b = e.inner(b, "rival", func(b []byte, n *tree.Node) []byte {
			r := n.Test.RunnerUp
			if r == nil {
				return append(b, '0')
			}
			b = appendText(append(b, '['), textview.RunnerUp(e.tree, r))
			b = appendDigits(append(b, ','), r.Total, scoreDigits)
			return append(appendDigits(append(b, ','), r.Cost, scoreDigits), ']')
		})
	}
	if e.tree.Modelled() {
		b = e.modelled(b)
	}
	return append(b, '}')
}

// exact reports whether the form has all digits, and therefore room for runners-up, if there are
// any.
func (e *encoder) exact() bool {
	return e.digits == exactDigits && slices.ContainsFunc(e.tree.Nodes, func(n tree.Node) bool {
		return !n.Leaf() && n.Test.RunnerUp != nil
	})
}

// weighted reports whether rows have different weights.
func (e *encoder) weighted() bool {
	root := &e.tree.Nodes[0]
	if root.Weight <= 0 || root.Rows <= 0 {
		return false
	}
	return slices.ContainsFunc(e.tree.Nodes, func(n tree.Node) bool {
		return math.Abs(float64(n.Weight)/float64(root.Weight)-float64(n.Rows)/float64(root.Rows)) > 1e-9
	})
}

// inner writes a list with an element for each inner node of the page.
func (e *encoder) inner(b []byte, name string, write func(b []byte, n *tree.Node) []byte) []byte {
	b = append(member(b, name), '[')
	var l list
	for _, node := range e.list {
		if e.opened[node] {
			b = write(l.next(b), &e.tree.Nodes[node])
		}
	}
	return append(b, ']')
}

// leavesBelow returns by node of the page the number of leaves at or below it.
func (e *encoder) leavesBelow() []int {
	nodes := e.tree.Nodes
	leaves := make([]int, len(nodes))
	list := make([]int, len(e.list))
	for i := len(nodes) - 1; i >= 0; i-- { // children come after their parents
		if nodes[i].Leaf() {
			leaves[i] = 1
		}
		for k := range nodes[i].Branches {
			leaves[i] += leaves[nodes[i].Branches[k].Child]
		}
	}
	for at, node := range e.list {
		list[at] = leaves[node]
	}
	return list
}

// probabilities writes, for two classes, the probability of the second class at each node. For more
// classes it writes the probability of the predicted class at each inner node, and at each leaf the
// probabilities of all classes, or of the most probable classes.
func (e *encoder) probabilities(b []byte) []byte {
	nodes := e.tree.Nodes
	classes := len(e.tree.Label.Classes)
	if classes == 2 {
		return e.each(b, "p", func(b []byte, _, node int) []byte {
			return appendDigits(b, nodes[node].Probabilities[1], e.digits)
		})
	}
	return e.each(b, "p", func(b []byte, _, node int) []byte {
		n := &nodes[node]
		switch {
		case e.opened[node]:
			return appendDigits(b, n.Probabilities[n.Class], scoreDigits)
		case classes <= fullClasses:
			return appendFloats(b, n.Probabilities, e.digits)
		default:
			return e.top(b, n.Probabilities)
		}
	})
}

// top writes the most probable classes, each followed by its probability.
func (e *encoder) top(b []byte, probabilities []float64) []byte {
	order := make([]int, len(probabilities))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(probabilities[k], probabilities[i]) })
	var l list
	b = append(b, '[')
	for _, k := range order[:topClasses] {
		b = strconv.AppendInt(l.next(b), int64(k), 10)
		b = appendDigits(l.next(b), probabilities[k], e.digits)
	}
	return append(b, ']')
}

// modelled writes the threshold that decides, if there is one, and the models of the leaves by their
// position on the page: the range of each model and, if the form includes models, the model.
func (e *encoder) modelled(b []byte) []byte {
	rangeOf := e.tree.RangeModels()
	boosters := make(map[*boost.Booster]int)
	var used []*boost.Booster
	if l := &e.tree.Label; l.Thresholded() {
		b = appendFloats(member(b, "threshold"), []float64{float64(l.Positive()), l.Decision.Threshold}, -1)
	}
	b = append(member(b, "models"), '{')
	for at, node := range e.list {
		m := e.tree.Nodes[node].Model
		r := rangeOf(node)
		if r == nil {
			continue
		}
		b = append(member(b, strconv.Itoa(at)), '{')
		b = appendFloats(member(b, "range"), []float64{r.Low, r.High}, 2)
		b = append(member(b, "with"), '[')
		var l list
		for _, f := range r.Features {
			b = strconv.AppendInt(l.next(b), int64(e.tests.feature(&e.tree.Features[f])), 10)
		}
		b = append(b, ']')
		if e.models {
			b = e.model(b, m)
			if m.Booster != nil {
				if _, ok := boosters[m.Booster]; !ok {
					boosters[m.Booster] = len(used)
					used = append(used, m.Booster)
				}
				b = strconv.AppendInt(member(b, "booster"), int64(boosters[m.Booster]), 10)
			}
		}
		b = append(b, '}')
	}
	b = append(b, '}')
	if len(used) == 0 {
		return b
	}
	var l list
	b = append(member(b, "boosters"), '[')
	for _, booster := range used {
		b = e.booster(l.next(b), booster)
	}
	return append(b, ']')
}

// model writes the intercept and the terms of a leaf's model.
func (e *encoder) model(b []byte, m *tree.LeafModel) []byte {
	b = appendFloats(member(b, "intercept"), m.Intercept, -1)
	b = append(member(b, "terms"), '[')
	var terms list
	for i := range m.Terms {
		t := &m.Terms[i]
		b = append(terms.next(b), '[')
		b = strconv.AppendInt(b, int64(e.tests.feature(&e.tree.Features[t.Feature])), 10)
		b = append(b, ',')
		b = appendFloats(b, t.At, -1)
		b = append(b, ",["...)
		var l list
		for _, values := range t.Values {
			b = appendFloats(l.next(b), values, -1)
		}
		b = append(b, "],"...)
		b = append(appendFloats(b, t.Missing, -1), ']')
	}
	return append(b, ']')
}

// booster writes the trees of a booster, each as a list of splits: [feature, cut or codes, missing
// values go to yes, yes, no]. A side is the position of a split, or the list of the values that it
// adds.
func (e *encoder) booster(b []byte, booster *boost.Booster) []byte {
	var trees list
	b = append(b, '[')
	for _, t := range booster.Trees {
		b = append(trees.next(b), '[')
		var splits list
		for i := range t {
			s := &t[i]
			f := &e.tree.Features[s.Feature]
			number := e.tests.feature(f)
			b = append(strconv.AppendInt(append(splits.next(b), '['), int64(number), 10), ',')
			if f.Kind == dataset.Numeric {
				b = appendFloat(b, f.Cuts[s.Code-1])
			} else {
				var codes list
				b = append(b, '[')
				for _, code := range s.Codes {
					e.tests.used[answer{number, int(code)}] = true
					b = strconv.AppendInt(codes.next(b), int64(code), 10)
				}
				b = append(b, ']')
			}
			b = strconv.AppendBool(append(b, ','), s.Missing)
			for _, side := range []*boost.Side{&s.Yes, &s.No} {
				b = append(b, ',')
				if side.Values == nil {
					b = strconv.AppendInt(b, int64(side.Split), 10)
				} else {
					b = appendFloats(b, side.Values, -1)
				}
			}
			b = append(b, ']')
		}
		b = append(b, ']')
	}
	return append(b, ']')
}
