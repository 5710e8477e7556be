package bylevel

import (
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
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
	roots := g.Nodes.Roots()
	r := routes{nodes: g.Nodes, at: make(map[*tree.Node]int)}
	for i, o := range to {
		if o == nil {
			continue
		}
		n := roots[o.Members[0].Tree]
		for _, step := range o.Path.Steps() {
			if _, ok := r.at[n.Node]; !ok {
				r.at[n.Node] = -1
			}
			n.Node = g.Nodes.Child(n, step.Outcome)
		}
		r.at[n.Node] = i
	}
	r.add(roots)
	return r.list
}

// routes collects routes.
type routes struct {
	nodes *grow.Nodes
	at    map[*tree.Node]int // by node of its first tree: position of a target node; -1: a node on the path to one
	list  []Route
}

// add adds the route of nodes with the same path, and all routes below it. It returns the number of
// the route; -1 if it leads to no target node.
func (r *routes) add(nodes grow.Members) int {
	number := len(r.list)
	route := Route{At: -1}
	nodes = slices.DeleteFunc(nodes, func(m grow.Member) bool {
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
	inner := slices.DeleteFunc(nodes, func(m grow.Member) bool { return m.Node.Test == nil })
	for _, group := range inner.Groups(func(a, b grow.Member) bool { return a.Node.Test.Test == b.Node.Test.Test }) {
		first := group[0].Node
		fork := Fork{Test: first.Test.Test, Outcomes: first.Outcomes()}
		leads := false
		for outcome := range first.Branches {
			to := r.add(group.Below(func(m grow.Member) *tree.Node { return r.nodes.Child(m, outcome) }))
			fork.To = append(fork.To, to)
			leads = leads || to >= 0
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
	routes  []Route
	missing []int     // by feature: the code of missing
	memory  sync.Pool // of *routing
}

// NewRouter returns the router of routes. It only routes objects that the trees are grown from: at a
// multiway test, a code that no object of the node has leads nowhere.
func NewRouter(list []Route, columns []split.Column) *Router {
	r := &Router{routes: list, missing: make([]int, len(columns))}
	for f := range columns {
		r.missing[f] = columns[f].Codes - 1
	}
	return r
}

// routing is the memory of one call of Route: the objects of a route by depth.
type routing struct{ ids [][]int32 }

// Route sends all objects along the routes. It calls visit for each target node that objects reach,
// with the numbers of these objects, ascending; visit must not keep the slice.
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
	if n.At >= 0 {
		visit(n.At, ids)
	}
	for i := range n.Forks {
		f := &n.Forks[i]
		feature := f.Test.Feature
		parts := f.Test.Partition(&o.Codes[feature], r.missing[feature], f.Outcomes, ids, m.at(depth+1, len(ids)))
		for outcome, to := range f.To {
			if len(parts[outcome]) > 0 && to >= 0 {
				r.route(o, to, depth+1, parts[outcome], m, visit)
			}
		}
	}
}
