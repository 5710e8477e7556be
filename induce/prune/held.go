package prune

import "github.com/espalier-ml/espalier/induce/tree"

// Held has the rows at the leaves of a step, by which its predictions have a cost whatever errors cost.
type Held struct {
	Probabilities [][]float64 `json:"probabilities"` // by leaf, then by class
	Weights       [][]int64   `json:"weights"`       // likewise: how much the rows count
}

// Held returns the rows at the leaves of a step that have any.
func (s *Sequence) Held(step int, r *Rows) *Held {
	h := new(Held)
	for v := range s.tree.Nodes {
		if int(s.gone(v)) <= step || !s.leafAt(v, step) || r.judged.weight[v] == 0 {
			continue
		}
		weights := make([]int64, len(s.tree.Label.Classes))
		for _, w := range r.judged.of(v) {
			weights[w.class] = w.weight
		}
		h.Probabilities = append(h.Probabilities, s.tree.Nodes[v].Probabilities)
		h.Weights = append(h.Weights, weights)
	}
	return h
}

// ErrorCost returns the mean cost of the predictions by the error costs of a label; 0 without rows.
func (h *Held) ErrorCost(l *tree.Label) float64 {
	var cost, all float64
	for i, p := range h.Probabilities {
		class := l.Decide(p)
		for actual, w := range h.Weights[i] {
			cost += float64(float64(w) * l.ErrorCosts[actual][class])
			all += float64(w)
		}
	}
	return cost / max(1, all)
}
