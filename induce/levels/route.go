package levels

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Route is a target node, or a node on the path to target nodes. It represents the nodes of all
// trees with the same path.
type Route struct {
	At    int    `json:"at"` // position among the target nodes; -1: not a target node
	Forks []Fork `json:"forks,omitempty"`
}

// Fork is a test with the routes of its outcomes. Trees with other tests at the same place
// have forks of their own.
type Fork struct {
	Test     split.Test `json:"test"`
	Outcomes []int32    `json:"outcomes,omitempty"` // multiway tests: code of each route
	To       []int      `json:"to"`                 // by outcome: number of the route; -1: no target node there
}

// Routes returns the routes to open nodes, the target nodes. The first route is the root. A nil node
// has no route, and without nodes the list is empty.
func (g *Growth) Routes(to []*Open) []Route {
	r := routes{at: make(map[*induce.Node]int)}
	for i, o := range to {
		if o == nil {
			continue
		}
		first := o.Members[0]
		n := g.Roots[first.Tree]
		for _, step := range o.path.Steps() {
			if _, ok := r.at[n]; !ok {
				r.at[n] = -1
			}
			n = n.Children[step.Outcome]
		}
		r.at[n] = i
	}
	roots := make([]Member, len(g.Roots))
	for i, root := range g.Roots {
		roots[i] = Member{i, root}
	}
	r.add(roots)
	return r.list
}

// routes collects routes.
type routes struct {
	at   map[*induce.Node]int // by node of its first tree: position of a target node; -1: a node on the path to one
	list []Route
}

// add adds the route of nodes with the same path, and all routes below it. It returns the number of
// the route; -1 if it leads to no target node.
func (r *routes) add(nodes []Member) int {
	number, route := len(r.list), Route{At: -1}
	nodes = slices.DeleteFunc(nodes, func(m Member) bool {
		at, ok := r.at[m.Node]
		if ok {
			route.At = max(route.At, at)
		}
		return !ok
	})
	if len(nodes) == 0 {
		return -1
	}
	r.list = append(r.list, route)
	for _, group := range byTest(nodes) {
		first := group[0].Node
		fork, leads := Fork{Test: first.Test.Test, Outcomes: first.Outcomes}, false
		for outcome := range first.Children {
			to := r.add(below(group, outcome))
			fork.To, leads = append(fork.To, to), leads || to >= 0
		}
		if leads {
			route.Forks = append(route.Forks, fork)
		}
	}
	r.list[number] = route
	return number
}

// Router sends training objects on their routes. It is read only and may be shared by
// goroutines.
type Router struct {
	routes []routerNode
	memory sync.Pool // of *routing
}

type routerNode struct {
	at    int
	forks []routerFork
	lanes []lane
}

// routerFork is a Fork with the outcome of each code.
type routerFork struct {
	feature int
	two     bool     // whether the test has two outcomes, and every code has one of them
	outcome []uint16 // by code; len(to): the code has no outcome
	to      []int
}

// lane is a chain of forks with only one outcome each that leads to target nodes. An object passes
// one gate for each feature that the chain tests, however many tests the chain has.
type lane struct {
	gates []gate
	to    int
}

// gate lets objects pass that have one of some codes of a feature.
type gate struct {
	feature int
	open    []uint8 // by code: 1 or 0
}

// NewRouter returns the router of routes. It only routes objects that the trees are grown from: at a
// multiway test, a code that no object of the node has leads nowhere.
func NewRouter(list []Route, columns []split.Column) *Router {
	r := &Router{routes: make([]routerNode, len(list))}
	if len(list) > 0 {
		r.build(0, list, columns)
	}
	return r
}

// build builds a route and the routes that objects take from it. The routes inside a lane are not built.
func (r *Router) build(number int, list []Route, columns []split.Column) {
	n := &r.routes[number]
	n.at = list[number].At
	for at := range list[number].Forks {
		fork := &list[number].Forks[at]
		if fork.only() >= 0 {
			l := newLane(fork, list, columns)
			n.lanes = append(n.lanes, l)
			r.build(l.to, list, columns)
			continue
		}
		f := fork.Test.Feature
		n.forks = append(n.forks, routerFork{
			f, fork.Test.Kind != split.Multiway, fork.byCode(columns[f].Codes), fork.To,
		})
		for _, to := range fork.To {
			if to >= 0 {
				r.build(to, list, columns)
			}
		}
	}
}

// only returns the outcome of a fork that leads to target nodes, if it is the only one; otherwise -1.
func (f *Fork) only() int {
	only := -1
	for outcome, to := range f.To {
		if to >= 0 && only >= 0 {
			return -1
		}
		if to >= 0 {
			only = outcome
		}
	}
	return only
}

// newLane returns the lane that begins with a fork. The gates that are open for the smallest share of
// codes come first, as the fewest objects pass them.
func newLane(fork *Fork, list []Route, columns []split.Column) lane {
	var l lane
	for {
		f, only := fork.Test.Feature, fork.only()
		at := slices.IndexFunc(l.gates, func(g gate) bool { return g.feature == f })
		if at < 0 {
			at = len(l.gates)
			l.gates = append(l.gates, gate{f, bytes.Repeat([]byte{1}, columns[f].Codes)})
		}
		for code, outcome := range fork.byCode(columns[f].Codes) {
			if int(outcome) != only {
				l.gates[at].open[code] = 0
			}
		}
		l.to = fork.To[only]
		next := &list[l.to]
		if next.At >= 0 || len(next.Forks) != 1 || next.Forks[0].only() < 0 {
			break
		}
		fork = &next.Forks[0]
	}
	share := func(g gate) float64 { return float64(bytes.Count(g.open, []byte{1})) / float64(len(g.open)) }
	slices.SortStableFunc(l.gates, func(a, b gate) int { return cmp.Compare(share(a), share(b)) })
	return l
}

// pass returns the objects of ids that pass all gates of a lane, in the memory of below.
func (l *lane) pass(o *dataset.Objects, below, ids []int32) []int32 {
	for i := range l.gates {
		g := &l.gates[i]
		if codes := &o.Codes[g.feature]; codes.U8 != nil {
			ids = below[:sift(below, ids, codes.U8, g.open)]
		} else {
			ids = below[:sift(below, ids, codes.U16, g.open)]
		}
	}
	return ids
}

// sift copies the objects that pass a gate to below, which may be the same slice as ids, and returns
// their number.
func sift[T uint8 | uint16](below, ids []int32, codes []T, open []uint8) int {
	n := 0
	for _, id := range ids {
		below[n] = id
		n += int(open[codes[id]])
	}
	return n
}

// byCode returns the outcome of each code of the tested feature.
func (f *Fork) byCode(codes int) []uint16 {
	outcome := make([]uint16, codes)
	if f.Test.Kind != split.Multiway {
		for code := range outcome {
			outcome[code] = uint16(f.Test.Outcome(code, codes-1))
		}
		return outcome
	}
	for code := range outcome {
		outcome[code] = uint16(len(f.To))
	}
	for i, code := range f.Outcomes {
		outcome[code] = uint16(i)
	}
	return outcome
}

// routing is the memory of one call of Route: the objects of a route by depth.
type routing struct{ ids [][]int32 }

// Route sends all objects along the routes. It calls visit for each target node that objects reach,
// with the numbers of these objects, ascending or descending; visit must not keep the slice.
func (r *Router) Route(o *dataset.Objects, visit func(at int, objects []int32)) {
	if len(r.routes) == 0 || o.Len() == 0 {
		return
	}
	m, ok := r.memory.Get().(*routing)
	if !ok {
		m = new(routing)
	}
	defer r.memory.Put(m)
	all := m.at(0, o.Len())
	for i := range all {
		all[i] = int32(i)
	}
	r.route(o, 0, 0, all, m, visit)
}

// at returns the memory for n objects at a depth.
func (m *routing) at(depth, n int) []int32 {
	if depth == len(m.ids) {
		m.ids = append(m.ids, nil)
	}
	if cap(m.ids[depth]) < n {
		m.ids[depth] = make([]int32, n)
	}
	return m.ids[depth][:n]
}

func (r *Router) route(
	o *dataset.Objects, number, depth int, ids []int32, m *routing, visit func(at int, objects []int32),
) {
	n := &r.routes[number]
	if n.at >= 0 {
		visit(n.at, ids)
	}
	for i := range n.forks {
		f := &n.forks[i]
		below, ends := m.at(depth+1, len(ids)), make([]int, len(f.to)+1)
		if codes := &o.Codes[f.feature]; codes.U8 != nil {
			divide(f, below, ids, codes.U8, ends)
		} else {
			divide(f, below, ids, codes.U16, ends)
		}
		from := 0
		for outcome, to := range f.to {
			if list := below[from:ends[outcome]]; to >= 0 && len(list) > 0 {
				r.route(o, to, depth+1, list, m, visit)
			}
			from = ends[outcome]
		}
	}
	for i := range n.lanes {
		l := &n.lanes[i]
		if list := l.pass(o, m.at(depth+1, len(ids)), ids); len(list) > 0 {
			r.route(o, l.to, depth+1, list, m, visit)
		}
	}
}

// divide sorts the objects of ids by outcome into below, and sets ends, the position where the objects
// of each outcome end. It is the innermost loop of routing.
func divide[T uint8 | uint16](f *routerFork, below, ids []int32, codes []T, ends []int) {
	if f.two {
		no, yes := 0, len(below)
		for _, id := range ids { // without a branch, which the processor would often mispredict
			outcome := int(f.outcome[codes[id]])
			below[no], below[yes-1] = id, id
			no, yes = no+1-outcome, yes-outcome
		}
		ends[0], ends[1] = no, len(below)
		return
	}
	for _, id := range ids {
		ends[f.outcome[codes[id]]]++
	}
	starts, sum := make([]int, len(ends)), 0
	for outcome, n := range ends {
		starts[outcome] = sum
		sum += n
		ends[outcome] = sum
	}
	for _, id := range ids {
		outcome := f.outcome[codes[id]]
		below[starts[outcome]] = id
		starts[outcome]++
	}
}
