package selection

import (
	"context"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// InMemory trains a tree from objects in memory.
type InMemory struct {
	Host     Host
	Settings Settings
	Members  []grid.Member // members of the grid
	Modeller *grid.Modeller
	Columns  []split.Column                  // columns of the modeller's features
	Parts    [dataset.Parts]*dataset.Objects // training objects are required
	Options  inmemory.Options                // options for growing trees
	Keyed    bool                            // whether rows have keys; the rows of a group stay together

	WeightEffect float64 // see Training
}

// Train grows the trees of the grid and, with a teacher, taught trees, and returns the chosen tree.
// The competition is nil if there was only one tree.
func (m *InMemory) Train(ctx context.Context) (*tree.Tree, *Competition, error) {
	settings, members := m.Settings.Narrowed(m.Members, m.Parts[dataset.Validation].Len() > 0, m.Host)
	m.Modeller.MaxLeaves = settings.GrownLeaves()
	training := m.Modeller.Training
	params := make([]induce.Params, len(members))
	for i := range members {
		params[i] = members[i].Params
	}
	grown := inmemory.GrowEach(m.Parts[dataset.Train], m.Columns, params, training.Weight, m.Options)
	c := &Chooser{
		Host: m.Host, Settings: &settings, Features: m.Modeller.Features, Columns: m.Columns,
		Classes: len(m.Modeller.Label.Classes), Losses: LossesOf(&m.Modeller.Label),
		Training: Training{training.Objects, training.Rows, training.Weight, m.Modeller.Scale, m.WeightEffect}, Memory: m.Options.Memory,
		Objects: func(context.Context) (*dataset.Objects, error) { return m.Parts[dataset.Train], nil },
		Sample: func(_ context.Context, part dataset.Part) (*dataset.Objects, error) {
			return leafmodel.Sorted(m.Parts[part], Most(part)), nil
		},
	}
	if m.Keyed || m.WeightEffect > 1 {
		c.Grouped = &Grouping{
			Keyed: m.Keyed, WeightEffect: m.WeightEffect,
			Objects: func(_ context.Context, part dataset.Part) (*dataset.Objects, error) { return m.Parts[part], nil },
		}
	}
	again, err := c.Regrow(ctx, members, m.Parts[dataset.Train].Soft(), m.Options)
	if err != nil {
		return nil, nil, err
	}
	c.Transfer = again.Transfer
	grown = append(grown, again.Trees...)
	members = slices.Concat(members, again.Members)
	c.Model = func(nodes []tree.Node, candidate int) *tree.Tree { return m.Modeller.Model(nodes, members[candidate]) }
	w, err := c.Choose(ctx, m.candidates(grown, members, c))
	if err != nil {
		return nil, nil, err
	}
	if w.Candidate.Tree.Certificate, err = c.Certify(ctx, w.Candidate, w.Grown(len(grown))); err != nil {
		return nil, nil, err
	}
	return w.Candidate.Tree.Tested(), w.Competition, nil
}

// candidates returns the grown trees, with the counts of each part's rows at their leaves.
func (m *InMemory) candidates(grown [][]tree.Node, members []grid.Member, c *Chooser) []frontier.Candidate {
	list := make([]frontier.Candidate, len(grown))
	for i, nodes := range grown {
		list[i] = frontier.NewCandidate(c.Model(nodes, i), members[i].Params)
	}
	parts := []dataset.Part{dataset.Validation, dataset.Test}
	if c.Transfer != nil { // trees have the soft weights of their training rows, not the labels
		parts = append(parts, dataset.Train)
	}
	for i := range list {
		for _, part := range parts {
			list[i].Counts[part] = list[i].Tree.CountObjects(m.Parts[part])
		}
	}
	return list
}
