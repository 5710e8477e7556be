package prune

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Score is how good one step is on counted rows. The fields are those of
// metric.Metrics; what the rows do not define is nil, for all steps of a
// sequence alike.
type Score struct {
	AUC                *float64 // one-vs-rest, macro; of the second class with two
	LogLoss            *float64 // nats
	Accuracy           *float64
	ExpectedCost       *float64 // of the tests, each at its own price
	ExpectedBilledCost *float64 // what is really paid for them
	ExpectedTests      *float64
}

// Sweep scores every step on rows counted by leaf of the un-pruned tree, as
// metric.Evaluate does the pruned tree: the area and the accuracy to the last
// bit, the means but for rounding. It panics on counts of another tree.
//
// It takes O(nodes * classes * log(nodes)) for the whole sequence.
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
		scores[k].ExpectedCost, scores[k].ExpectedBilledCost, scores[k].ExpectedTests = defined(e.cost),
			defined(e.billed), defined(e.tests)
	}
	return scores
}

// reached counts rows by the nodes on their paths.
type reached struct {
	classes int
	classed []int64 // weight by node, then by class
	weight  []int64 // by node
	rows    []int64 // by node
}

// of returns the weight by class that reaches a node.
func (r *reached) of(node int) []int64 {
	return r.classed[node*r.classes : (node+1)*r.classes : (node+1)*r.classes]
}

// gather adds up counts of leaves towards the root.
func (s *Sequence) gather(counts *tree.LeafCounts) *reached {
	nodes, classes := len(s.tree.Nodes), len(s.tree.Label.Classes)
	if len(counts.Weights) != nodes || len(counts.Rows) != nodes {
		panic(fmt.Sprintf("prune: counts of %d nodes for a tree of %d", len(counts.Weights), nodes))
	}
	r := &reached{classes: classes, classed: make([]int64, nodes*classes), weight: make([]int64, nodes),
		rows: make([]int64, nodes)}
	for v := nodes - 1; v >= 0; v-- {
		if s.tree.Nodes[v].Leaf() {
			r.rows[v] = counts.Rows[v]
			copy(r.of(v), counts.Weights[v])
		}
		for _, w := range r.of(v) {
			r.weight[v] += w
		}
		if v == 0 {
			break
		}
		up := int(s.parent[v])
		r.rows[up] += r.rows[v]
		for c, w := range r.of(v) {
			r.classed[up*classes+c] += w
		}
	}
	return r
}

// moves are, by step, the nodes that become leaves and those that cease to be.
type moves struct{ in, out [][]int32 }

// moves lists every node at most once on either side, in order.
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

// scoreLeaves fills in accuracy and log loss.
func (s *Sequence) scoreLeaves(scores []Score, r *reached, m *moves) {
	loss := make([]float64, len(s.tree.Nodes))
	for v := range loss {
		for c, w := range r.of(v) {
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
			hits -= r.of(int(v))[s.tree.Nodes[v].Class]
			losses.add(-loss[v])
		}
		for _, v := range m.in[k] {
			hits += r.of(int(v))[s.tree.Nodes[v].Class]
			losses.add(loss[v])
		}
		scores[k].Accuracy = defined(float64(hits) / total)
		scores[k].LogLoss = defined(losses.sum() / total)
	}
}

// compensated is a sum that keeps what rounding takes from it (Neumaier 1974;
// the error by Knuth's two-sum).
type compensated struct{ high, low float64 }

func (c *compensated) add(x float64) {
	sum := c.high + x
	part := sum - c.high
	c.low += (c.high - (sum - part)) + (x - part)
	c.high = sum
}

func (c *compensated) sum() float64 { return c.high + c.low }

func defined(x float64) *float64 { return &x }
