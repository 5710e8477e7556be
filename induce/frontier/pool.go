package frontier

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
)

// Pool is the set of the candidates with their prunings: the trees among which one is
// chosen.
type Pool struct {
	Candidates []Candidate
	Prunings   []Pruning // by candidate, then by currency
	Points     []Point   // the prunings that compete, in the order of Prunings and steps
}

// Pruning is a candidate's sequence of prunings in one currency, with the scores of
// each step.
type Pruning struct {
	Candidate  int // index in Pool.Candidates
	Sequence   *prune.Sequence
	Validation []prune.Score // by step, on the validation rows
	Test       []prune.Score // by step, on the test rows
}

// NewPool prunes the candidates in all currencies of the settings and scores each step
// on the validation and test rows. It adds 1 to done for each sequence, of which there
// are Settings.Sequences. If the context ends first, the error is its cause.
func NewPool(ctx context.Context, candidates []Candidate, s *Settings, done *atomic.Int64) (*Pool, error) {
	currencies := s.currencies()
	p := &Pool{Candidates: candidates, Prunings: make([]Pruning, s.Sequences(len(candidates)))}
	err := parallel.EachUntil(ctx, len(p.Prunings), done, func(i int) {
		at := i / len(currencies)
		c := &candidates[at]
		q := c.Prune(c.Tree, currencies[i%len(currencies)])
		p.Prunings[i] = Pruning{
			Candidate: at, Sequence: q,
			Validation: q.Sweep(c.Counts[dataset.Validation]), Test: q.Sweep(c.Counts[dataset.Test]),
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range p.Prunings {
		q := &p.Prunings[i]
		from, to := s.competing(q.Sequence)
		for step := from; step < to; step++ {
			p.Points = append(p.Points, q.point(&candidates[q.Candidate], step))
		}
	}
	return p, nil
}

// point returns the point of a step.
func (p *Pruning) point(c *Candidate, step int) Point {
	s := &p.Sequence.Steps[step]
	return Point{
		Tree: p.Candidate, Lambda: c.lambda(), Currency: p.Sequence.Currency(), Step: step, Alpha: s.Alpha,
		Complexity: s.Complexity, AUC: p.Validation[step].AUC, LogLoss: p.Validation[step].LogLoss,
		TestAUC: p.Test[step].AUC,
	}
}

// PruningOf returns the index of a point's pruning. The point must be one of the pool.
func (p *Pool) PruningOf(q *Point) int {
	return slices.IndexFunc(p.Prunings, func(r Pruning) bool {
		return r.Candidate == q.Tree && r.Sequence.Currency() == q.Currency
	})
}

// Candidate returns the pruned tree of a point.
func (p *Pool) Candidate(q *Point) *Candidate {
	return p.Candidates[q.Tree].Pruned(p.Prunings[p.PruningOf(q)].Sequence, q.Step)
}
