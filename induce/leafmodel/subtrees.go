package leafmodel

import (
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/boost"
)

// subtrees finds nodes of several trees that have the same path, the same tests below, and leaves that
// start from the same models. Their boosters are the same, and are fitted once.
type subtrees struct {
	numbers [][]int // by tree and node: equal for the same subtrees at the end of the same path

	lock     sync.Mutex
	boosters map[int]func() *boost.Evaluator // by number of a node
	models   map[boostedLeaf]*Model
}

// boostedLeaf is a leaf, given by its number, with a booster.
type boostedLeaf struct {
	number  int
	booster *boost.Evaluator
}

// newSubtrees compares the nodes of trees. start returns the model from which a leaf starts.
func newSubtrees(w *walk, start func(leaf member) *Model) *subtrees {
	s := &subtrees{
		numbers: make([][]int, len(w.trees)), boosters: make(map[int]func() *boost.Evaluator), models: make(map[boostedLeaf]*Model),
	}
	for i, t := range w.trees {
		s.numbers[i] = make([]int, len(t.Nodes))
	}
	next := 0
	number := func(alike members) {
		next++
		for _, m := range alike {
			s.numbers[m.Tree][m.Node] = next
		}
	}
	below := func(m member) (numbers []int) {
		for _, b := range w.node(m).Branches {
			numbers = append(numbers, s.numbers[m.Tree][b.Child])
		}
		return numbers
	}
	var visit func(nodes members) // at the end of the same path
	visit = func(nodes members) {
		inner, leaves := w.byTest(nodes)
		for _, alike := range leaves.Groups(func(a, b member) bool { return start(a).same(start(b)) }) {
			number(alike)
		}
		for _, group := range inner {
			for at := range w.node(group[0]).Branches {
				visit(w.below(group, at))
			}
			for _, alike := range group.Groups(func(a, b member) bool { return slices.Equal(below(a), below(b)) }) {
				number(alike)
			}
		}
	}
	roots, _ := w.roots()
	visit(roots)
	return s
}

// same reports whether two models without boosters are the same model, or have the same intercept and no
// terms.
func (m *Model) same(other *Model) bool {
	return m == other || len(m.Leaf.Terms) == 0 && len(other.Leaf.Terms) == 0 &&
		slices.Equal(m.Leaf.Intercept, other.Leaf.Intercept)
}

// booster returns the booster of a node, given by its number. If no other tree has fitted it, fit does.
func (s *subtrees) booster(number int, fit func() *boost.Evaluator) *boost.Evaluator {
	s.lock.Lock()
	once := s.boosters[number]
	if once == nil {
		once = sync.OnceValue(fit)
		s.boosters[number] = once
	}
	s.lock.Unlock()
	return once()
}

// with returns the model of a leaf, given by its number, with a booster.
func (s *subtrees) with(number int, b *boost.Evaluator, start *Model) *Model {
	s.lock.Lock()
	defer s.lock.Unlock()
	key := boostedLeaf{number, b}
	if s.models[key] == nil {
		s.models[key] = start.with(b)
	}
	return s.models[key]
}
