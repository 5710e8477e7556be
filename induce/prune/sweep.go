package prune

import (
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Score holds the metrics of one step. A metric that the rows do not define is nil, in all steps of a
// sequence.
type Score struct {
	metric.Judgement

	ExpectedCost *float64 // mean billed cost of the tests that a row is asked
}

// AddUp sets TotalCost: the billed cost of the tests and the cost of the predictions.
func (s *Score) AddUp() {
	if s.ErrorCost != nil && s.ExpectedCost != nil {
		s.TotalCost = new(*s.ExpectedCost + *s.ErrorCost)
	}
}

// Sweep scores every step on rows counted by leaf of the un-pruned tree. See the
// function Sweep.
func (s *Sequence) Sweep(counts *tree.LeafCounts) []Score {
	return Sweep([]*Sequence{s}, NewRows(s.tree, counts, nil))[0]
}

// Sweep scores every step of sequences of one tree, by sequence and step. The area and
// the accuracy equal those of metric.Evaluate for the step's tree to the last bit; the
// means may differ by rounding. It panics on rows of another tree.
//
// The time is O(nodes * classes * log(nodes)) for each sequence.
func Sweep(sequences []*Sequence, r *Rows) [][]Score {
	scores := make([][]Score, len(sequences))
	paths := make([]moves, len(sequences))
	for i, s := range sequences {
		if s.tree != r.tree {
			panic("prune: rows of another tree")
		}
		scores[i] = make([]Score, len(s.Steps))
	}
	if r.weight[0] == 0 {
		return scores
	}
	loss := r.judged.losses(0)
	mistakes := r.judged.errorCosts()
	for i, s := range sequences {
		paths[i] = s.moves()
		r.judged.scoreLeaves(scores[i], &paths[i], loss)
		if mistakes != nil {
			r.judged.scoreErrors(scores[i], &paths[i], mistakes)
		}
		expected := s.expected(r.judged.weight)
		for k := range expected {
			scores[i][k].ExpectedCost = &expected[k].cost
			scores[i][k].AddUp()
		}
	}
	scoreAreas(sequences, paths, scores, r)
	return scores
}

// moves lists by step the nodes that become leaves (in) and the nodes that cease to be leaves
// (out). At this step the rows of the latter move to another leaf (to). Nodes are in order within a
// step. Each node is at most once in each of the two lists.
type moves struct {
	in, out, to     []int32
	inEnds, outEnds []int32 // by step: end of its part
}

func (s *Sequence) moves() moves {
	m := moves{inEnds: make([]int32, len(s.Steps)), outEnds: make([]int32, len(s.Steps))}
	host := make([]int32, len(s.cut)) // by node: the nearest node, from itself upwards, that is ever a leaf
	for v := range host {
		host[v] = int32(v)
		if !s.everLeaf(v) {
			host[v] = host[s.parent[v]]
			continue
		}
		m.inEnds[s.cut[v]]++
		if v > 0 {
			m.outEnds[s.gone(v)]++
		}
	}
	m.in, m.out = make([]int32, begins(m.inEnds)), make([]int32, begins(m.outEnds))
	m.to = make([]int32, len(m.out))
	for v := range host {
		if !s.everLeaf(v) {
			continue
		}
		k := s.cut[v]
		m.in[m.inEnds[k]] = int32(v)
		m.inEnds[k]++
		if v > 0 {
			k = s.gone(v)
			m.out[m.outEnds[k]], m.to[m.outEnds[k]] = int32(v), host[s.parent[v]]
			m.outEnds[k]++
		}
	}
	return m
}

// everLeaf reports whether a node is a leaf at some step.
func (s *Sequence) everLeaf(node int) bool { return s.cut[node] < s.gone(node) }

// begins replaces the lengths of parts by their beginnings, and returns the sum of all.
func begins(lengths []int32) int32 {
	all := int32(0)
	for k, n := range lengths {
		lengths[k] = all
		all += n
	}
	return all
}

// hits returns by node the weight of the rows of the node's class.
func (r *nodeWeights) hits() []int64 {
	hits := make([]int64, len(r.weight))
	for v := range hits {
		for _, s := range r.of(v) {
			if int(s.class) == r.tree.Nodes[v].Class {
				hits[v] = s.weight
			}
		}
	}
	return hits
}

// Losses returns the log loss of every step of sequences of one tree, in nats, by sequence and
// step, to which a wrong prediction adds a number of nats. The lists are empty if there are no rows. It is much faster than
// Sweep, and uses the current probabilities of the tree.
func Losses(sequences []*Sequence, r *Rows, wrong float64) [][]float64 {
	list := make([][]float64, len(sequences))
	if r.weight[0] == 0 {
		return list
	}
	loss := r.judged.losses(wrong)
	total := float64(r.judged.weight[0])
	for i, s := range sequences {
		changes := make([]compensated, len(s.Steps)) // against the step before
		for v := range loss {
			if s.everLeaf(v) {
				changes[s.cut[v]].add(loss[v])
				if end := int(s.gone(v)); end < len(changes) {
					changes[end].add(-loss[v])
				}
			}
		}
		var sum compensated
		list[i] = make([]float64, len(s.Steps))
		for k := range changes {
			sum.add(changes[k].high)
			sum.add(changes[k].low)
			list[i][k] = sum.sum() / total
		}
	}
	return list
}

// losses returns by node the log loss of the rows that reach the node, with the node as
// their leaf, and what their wrong predictions add.
func (r *nodeWeights) losses(wrong float64) []float64 {
	loss := make([]float64, len(r.weight))
	for v := range loss {
		for _, s := range r.of(v) {
			each := metric.Surprise(r.tree.Nodes[v].Probabilities[s.class])
			if int(s.class) != r.tree.Nodes[v].Class {
				each += wrong
			}
			loss[v] += float64(float64(s.weight) * each)
		}
	}
	return loss
}

// scoreLeaves sets the accuracies and log losses.
func (r *nodeWeights) scoreLeaves(scores []Score, m *moves, loss []float64) {
	var right int64
	var losses compensated
	hits := r.hits()
	total := float64(r.weight[0])
	values := make([]struct{ accuracy, loss float64 }, len(scores))
	in, out := int32(0), int32(0)
	for k := range scores {
		for ; out < m.outEnds[k]; out++ {
			right -= hits[m.out[out]]
			losses.add(-loss[m.out[out]])
		}
		for ; in < m.inEnds[k]; in++ {
			right += hits[m.in[in]]
			losses.add(loss[m.in[in]])
		}
		v := &values[k]
		v.accuracy, v.loss = float64(right)/total, losses.sum()/total
		scores[k].Accuracy = &v.accuracy
		scores[k].LogLoss = &v.loss
	}
}

// errorCosts returns by node the cost of the predictions for the rows that reach the node, with
// the node as their leaf; nil without error costs.
func (r *nodeWeights) errorCosts() []float64 {
	costs := r.tree.Label.ErrorCosts
	if costs == nil {
		return nil
	}
	sums := make([]float64, len(r.weight))
	for v := range sums {
		for _, s := range r.of(v) {
			sums[v] += float64(float64(s.weight) * costs[s.class][r.tree.Nodes[v].Class])
		}
	}
	return sums
}

// scoreErrors sets the expected costs of the predictions, given by node the cost of its rows.
func (r *nodeWeights) scoreErrors(scores []Score, m *moves, mistakes []float64) {
	var sum compensated
	values := make([]float64, len(scores))
	in, out := int32(0), int32(0)
	for k := range scores {
		for ; out < m.outEnds[k]; out++ {
			sum.add(-mistakes[m.out[out]])
		}
		for ; in < m.inEnds[k]; in++ {
			sum.add(mistakes[m.in[in]])
		}
		values[k] = max(0, sum.sum()/float64(r.weight[0]))
		scores[k].ErrorCost = &values[k]
	}
}

// compensated is a sum with its rounding error (Neumaier 1974; the error by Knuth's
// two-sum).
type compensated struct{ high, low float64 }

func (c *compensated) add(x float64) {
	sum := c.high + x
	part := sum - c.high
	c.low += (c.high - (sum - part)) + (x - part)
	c.high = sum
}

func (c *compensated) sum() float64 { return c.high + c.low }
