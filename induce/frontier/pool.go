package frontier

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Pool is the set of candidates with their prunings, from which a tree is chosen.
type Pool struct {
	Candidates []Candidate
	Prunings   []Pruning // by candidate, then by currency
	Points     []Point   // the competing prunings, in the order of Prunings and steps

	// Groups returns how far the rows of a part are independent, counted by the leaves of a tree; nil: rows are
	// independent, and have the same weight. It is called concurrently.
	Groups func(t *tree.Tree, part dataset.Part) *tree.GroupCounts

	// GroupEffect is the design effect of groups on the standard error of an area, at least 1; 0 if
	// unknown. Choose measures it if Groups is set.
	GroupEffect float64

	// WeightEffect is the design effect of the weights of the rows, see dataset.WeightSums; 0 if
	// rows have no weights.
	WeightEffect float64

	// Association is how strongly a feature is associated with the class; nil if not known. It counts where the trees alone
	// do not show that the rows have a signal, see Doubtful.
	Association *Association

	rows [dataset.Parts][]rowsOnce // by candidate: see rowsOf
}

// rowsOnce computes the rows of a part at the nodes of a candidate on the first call.
type rowsOnce struct {
	sync.Once

	rows *prune.Rows
}

// rowsOf returns the rows of a part at the nodes of a candidate. It may be called concurrently.
func (p *Pool) rowsOf(candidate int, part dataset.Part) *prune.Rows {
	at := &p.rows[part][candidate]
	at.Do(func() { at.rows = p.Candidates[candidate].rows(part) })
	return at.rows
}

// rows returns the rows of a part at the nodes of the tree, as they judge it.
func (c *Candidate) rows(part dataset.Part) *prune.Rows {
	weights := judging.ClassWeights(c.Counts[part], len(c.Tree.Label.Classes))
	return prune.NewRows(c.Tree, c.Counts[part], judging.FactorsOf(judging.Frequencies(c.Tree), weights))
}

// Pruning is a pruning sequence of a candidate in one currency, with the scores of each step.
type Pruning struct {
	Candidate  int // index in Pool.Candidates
	Sequence   *prune.Sequence
	Validation []prune.Score // by step, on the validation rows
	Test       []prune.Score // by step, on the test rows
}

// NewPool prunes the candidates in all currencies of the settings. The points have no figures until
// Score is called. NewPool adds 1 to done for each candidate. If the context ends first, NewPool
// returns its cause.
func NewPool(ctx context.Context, candidates []Candidate, s *Settings, done *atomic.Int64) (*Pool, error) {
	currencies := s.currencies(candidates[0].Tree)
	p := &Pool{Candidates: candidates, Prunings: make([]Pruning, len(candidates)*len(currencies))}
	err := parallel.EachUntil(ctx, len(candidates), done, func(i int) {
		c := &candidates[i]
		for k, q := range c.Prune(c.Tree, currencies...) {
			p.Prunings[i*len(currencies)+k] = Pruning{Candidate: i, Sequence: q}
		}
	})
	if err != nil {
		return nil, err
	}
	for part := range p.rows {
		p.rows[part] = make([]rowsOnce, len(candidates))
	}
	for i := range p.Prunings {
		q := &p.Prunings[i]
		c := &candidates[q.Candidate]
		from, to := s.competing(q.Sequence, c.Tree.Training.Rows)
		for step := from; step < to; step++ {
			p.Points = append(p.Points, q.point(c, step))
		}
	}
	return p, nil
}

// Part returns the part of the pool with some of the candidates, in order, and the indexes of its points.
func (p *Pool) Part(candidates []int) (part *Pool, points []int) {
	part = new(Pool)
	index := make(map[int]int, len(candidates))
	for _, c := range candidates {
		index[c] = len(part.Candidates)
		part.Candidates = append(part.Candidates, p.Candidates[c])
	}
	for _, q := range p.Prunings {
		if at, ok := index[q.Candidate]; ok {
			q.Candidate = at
			part.Prunings = append(part.Prunings, q)
		}
	}
	for i, q := range p.Points {
		if at, ok := index[q.Tree]; ok {
			q.Tree = at
			part.Points = append(part.Points, q)
			points = append(points, i)
		}
	}
	return part, points
}

// point returns the point of a step, without figures.
func (p *Pruning) point(c *Candidate, step int) Point {
	s := &p.Sequence.Steps[step]
	return Point{
		Tree: p.Candidate, Lambda: c.lambda(), Currency: p.Sequence.Currency(), Step: step,
		Complexity: s.Complexity, PaidTests: s.PaidTests,
	}
}

// Score scores each step of all prunings on the validation and test rows, with the current
// probabilities of the trees, and sets the figures of the points. It adds 1 to done for each
// candidate. If the context ends first, Score returns its cause.
func (p *Pool) Score(ctx context.Context, done *atomic.Int64) error {
	each := len(p.Prunings) / len(p.Candidates)
	err := parallel.EachUntil(ctx, len(p.Candidates), done, func(i int) {
		c := &p.Candidates[i]
		prunings := p.Prunings[i*each : (i+1)*each]
		validation := prune.Sweep(sequences(prunings), p.rowsOf(i, dataset.Validation))
		test := prune.Sweep(sequences(prunings), c.rows(dataset.Test))
		for k := range prunings {
			prunings[k].Validation = validation[k]
			prunings[k].Test = test[k]
		}
	})
	if err != nil {
		return err
	}
	at := 0
	for i := range p.Points {
		q := &p.Points[i]
		if i == 0 || !sameSequence(q, &p.Points[i-1]) {
			at = p.PruningOf(q)
		}
		p.Prunings[at].score(q)
	}
	return nil
}

// score sets the figures of a point of the pruning.
func (p *Pruning) score(q *Point) {
	q.Validation = p.Validation[q.Step].Judgement
	q.Test = p.Test[q.Step].Judgement
}

func sequences(prunings []Pruning) []*prune.Sequence {
	list := make([]*prune.Sequence, len(prunings))
	for i := range prunings {
		list[i] = prunings[i].Sequence
	}
	return list
}

// Losses returns the log loss on the validation rows for each step of the prunings of the first
// trees candidates, by pruning and step, with the current probabilities, to which a wrong prediction adds a number of nats.
// The lists are empty without rows.
func (p *Pool) Losses(trees int, wrong float64) [][]float64 {
	each := len(p.Prunings) / len(p.Candidates)
	losses := make([][]float64, trees*each)
	parallel.Each(trees, trees, func(i int) {
		copy(losses[i*each:], prune.Losses(sequences(p.Prunings[i*each:(i+1)*each]), p.rowsOf(i, dataset.Validation), wrong))
	})
	return losses
}

// Smooth estimates the first trees candidates again, smoothed so strongly.
func (p *Pool) Smooth(by tree.Smoothing, trees int) {
	parallel.Each(trees, trees, func(i int) { p.Candidates[i].Tree.Smooth(by) })
}

// PruningOf returns the index of the pruning that a point of the pool belongs to.
func (p *Pool) PruningOf(q *Point) int {
	return slices.IndexFunc(p.Prunings, func(r Pruning) bool {
		return r.Candidate == q.Tree && r.Sequence.Currency() == q.Currency
	})
}

// Candidate returns the pruned tree of a point, with the rows at its leaves.
func (p *Pool) Candidate(q *Point) *Candidate {
	return p.Candidates[q.Tree].Pruned(p.Prunings[p.PruningOf(q)].Sequence, q.Step)
}

// Tree returns the pruned tree of a point.
func (p *Pool) Tree(q *Point) *tree.Tree { return pruned(p.Prunings[p.PruningOf(q)].Sequence, q.Step) }

// Interval returns the interval of the area under the ROC curve of the pruned tree t of a point, on the rows of a part.
// It is nil if the rows do not define the area. Interval may be called concurrently.
func (p *Pool) Interval(q *Point, t *tree.Tree, part dataset.Part) *metric.Interval {
	s := p.Prunings[p.PruningOf(q)].Sequence
	counts := s.Counts(t, q.Step, p.rowsOf(q.Tree, part))
	if p.Groups != nil {
		counts.Groups = p.Groups(t, part)
	}
	area := metric.AreaOf(t, counts)
	if area == nil {
		return nil
	}
	return &area.Interval
}
