package train

import (
	"context"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// GrownTrees are the trees of one algorithm at one set of costs, before one of them is chosen.
type GrownTrees struct {
	Algorithm  string
	Costs      string // URL of the costs; empty: each test costs 1
	Candidates []frontier.Candidate
	Seconds    float64 // time to grow the trees and count rows at their leaves
}

// GrowAll grows the trees of a configuration, separately by algorithm, once for each file of
// costs. They are the trees that Train would choose from. The rows are read once for
// all trees, and nothing is written.
func GrowAll(
	ctx context.Context, c config.Train, costs []string, reporter engine.Reporter,
) (grown []GrownTrees, err error) {
	var p *config.Parsed
	setup := session.Setup{Storage: c.StorageConfig, Engine: c.EngineConfig, Check: func() (err error) {
		p, err = c.Parse()
		return err
	}}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		in, err := s.OpenInput(ctx, c.Input)
		if err != nil {
			return err
		}
		plan, err := newPlan(ctx, s.Files, &c, p, in)
		if err != nil {
			return err
		}
		r := &run{stage: stage{plan, s.Driver, s.Files, placeInMemory(s.Temporary)}, journal: new(journal)}
		o, err := newObjects(ctx, r.stage)
		if err != nil {
			return err
		}
		for _, url := range costs {
			more, err := r.growAt(ctx, o, url)
			if err != nil {
				return err
			}
			grown = append(grown, more...)
		}
		return nil
	})
	return grown, err
}

// growAt grows the trees of each algorithm at the costs of a file.
func (r *run) growAt(ctx context.Context, o *objects, url string) ([]GrownTrees, error) {
	training := *r.config
	training.CostsFile = url
	costs, err := tables.ReadCosts(ctx, r.files, &training, r.input.Names())
	if err != nil {
		return nil, err
	}
	training.Prices = costs.Prices
	priced := *o.fitted
	priced.features = slices.Clone(o.features)
	if err := costs.Apply(priced.features, priced.weight()); err != nil {
		return nil, err
	}
	var grown []GrownTrees
	for _, algorithm := range r.config.Algorithm {
		start := time.Now()
		one := *r
		p := *r.plan
		parsed := *r.parsed
		one.plan = &p
		p.config = &training
		p.costs = costs
		p.parsed = &parsed
		parsed.Grid = slices.DeleteFunc(slices.Clone(parsed.Grid), func(m grid.Member) bool {
			return m.Params.Algorithm != algorithm
		})
		at := &objects{&priced, o.parts, o.reader}
		grower := one.grower(at)
		g, err := grower.grow(ctx, grower.begin())
		if err != nil {
			return nil, err
		}
		s, err := (&scorer{one.stage}).score(ctx, g)
		if err != nil {
			return nil, err
		}
		grown = append(grown, GrownTrees{
			Algorithm: algorithm.String(), Costs: url, Candidates: s.candidates, Seconds: time.Since(start).Seconds(),
		})
	}
	return grown, nil
}
