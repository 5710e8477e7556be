package prune

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Score holds the metrics of one step, as in metric.Metrics. A metric that the rows
// do not define is nil, in all steps of a sequence.
type Score struct {
	AUC                *float64 // one-vs-rest, macro-averaged; of two classes, the area of the second
	LogLoss            *float64 // nats
	Accuracy           *float64
	ExpectedCost       *float64 // mean cost of the tests that a row is asked, at their own prices
	ExpectedBilledCost *float64 // mean billed cost of the tests
	ExpectedTests      *float64 // mean number of the tests
}

// Sweep scores every step on rows counted by leaf of the un-pruned tree. The area
// and the accuracy equal those of metric.Evaluate for the step's tree to the last
// bit; the means may differ by rounding. It panics on counts of another tree.
//
// The time is O(nodes * classes * log(nodes)) for the whole sequence.
func (s *Sequence) Sweep(counts *tree.LeafCounts) []Score {
	r := s.gather(counts)
	scores := make([]Score, len(s.Steps))
	if r.weight[0] == 0 {
		return scores
	}
	moves := s.moves()
	s.scoreAreas(scores, r, moves)
	s.scoreLeaves(scores, r, moves)
	for k, e := range s.expected(r.weight) {
		score := &scores[k]
		score.ExpectedCost, score.ExpectedBilledCost, score.ExpectedTests = new(e.cost), new(e.billed), new(e.tests)
	}
	return scores
}

// reached holds the rows that reach each node.
type reached struct {
	classes int
	classed []int64 // weight by node, then by class
	weight  []int64 // by node
	rows    []int64 // by node
}

// classWeights returns the weight, by class, of the rows that reach a node.
func (r *reached) classWeights(node int) []int64 {
	return r.classed[node*r.classes : (node+1)*r.classes : (node+1)*r.classes]
}

// gather adds up the counts of the leaves towards the root.
func (s *Sequence) gather(counts *tree.LeafCounts) *reached {
	nodes, classes := len(s.tree.Nodes), len(s.tree.Label.Classes)
	if len(counts.Weights) != nodes || len(counts.Rows) != nodes {
		panic(fmt.Sprintf("prune: counts of %d nodes for a tree of %d", len(counts.Weights), nodes))
	}
	r := &reached{
		classes: classes, classed: make([]int64, nodes*classes), weight: make([]int64, nodes),
		rows: make([]int64, nodes),
	}
	for v := nodes - 1; v >= 0; v-- {
		if s.tree.Nodes[v].Leaf() {
			r.rows[v] = counts.Rows[v]
			copy(r.classWeights(v), counts.Weights[v])
		}
		for _, w := range r.classWeights(v) {
			r.weight[v] += w
		}
		if v == 0 {
			break
		}
		up := int(s.parent[v])
		r.rows[up] += r.rows[v]
		for c, w := range r.classWeights(v) {
			r.classed[up*classes+c] += w
		}
	}
	return r
}

// moves lists by step the nodes that become leaves (in), and the leaves that their
// parent's cut removes (out).
type moves struct{ in, out [][]int32 }

// moves lists every node at most once in each of the two lists, in order.
func (s *Sequence) moves() *moves {
	m := &moves{in: make([][]int32, len(s.Steps)), out: make([][]int32, len(s.Steps)+1)}
	for v := range s.tree.Nodes {
		from, to := s.cut[v], s.gone(v)
		if from < to {
			m.in[from] = append(m.in[from], int32(v))
			m.out[to] = append(m.out[to], int32(v))
		}
	}
	return m
}

// scoreLeaves sets the accuracies and log losses.
func (s *Sequence) scoreLeaves(scores []Score, r *reached, m *moves) {
	loss := make([]float64, len(s.tree.Nodes))
	for v := range loss {
		for c, w := range r.classWeights(v) {
			if w > 0 {
				loss[v] += float64(float64(w) * metric.Surprise(s.tree.Nodes[v].Probabilities[c]))
			}
		}
	}
	var hits int64
	var losses compensated
	total := float64(r.weight[0])
	for k := range scores {
		for _, v := range m.out[k] {
			hits -= r.classWeights(int(v))[s.tree.Nodes[v].Class]
			losses.add(-loss[v])
		}
		for _, v := range m.in[k] {
			hits += r.classWeights(int(v))[s.tree.Nodes[v].Class]
			losses.add(loss[v])
		}
		scores[k].Accuracy = new(float64(hits) / total)
		scores[k].LogLoss = new(losses.sum() / total)
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
