package selection

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Host is the program that runs a choice.
type Host interface {
	// Phase does work that takes total steps, and returns its error. If the context ends, it may
	// return before the work does.
	Phase(ctx context.Context, name string, total int64, unit string, work func(s *parallel.Steps) error) error
	// Note shows a remark to the user.
	Note(text string)
	// Warn shows a warning to the user: a setting has no effect, or the tree is not the tree that the
	// user may expect.
	Warn(text string)
	// Setting returns a setting as users write it: for "folds" it may return "--folds".
	Setting(name string) string
}

// Training is the size of the training data.
type Training struct {
	Objects, Rows, Weight int64

	Scale float64 // mean weight of a training row, in units

	WeightEffect float64 // design effect of the weights, see dataset.WeightSums; 0: rows have no weights
}

// Chooser chooses a tree.
type Chooser struct {
	Host     Host
	Settings *Settings

	Features []dataset.Feature
	Columns  []split.Column // columns of the features, for growing trees
	Classes  int
	Losses   induce.LossTable // what errors cost
	Training Training
	Memory   int64 // bytes that growing trees may use

	Transfer *distill.TransferSet // transfer set that the last candidates are grown from; may be nil

	// Objects returns all training objects. It is called several times.
	Objects func(ctx context.Context) (*dataset.Objects, error)
	// Sample returns objects of a part, in the order of leafmodel.Sorted. If there are many objects, it
	// returns the ones with the least hashes.
	Sample func(ctx context.Context, part dataset.Part) (*dataset.Objects, error)
	// Grouped reads objects with the groups of their rows. It is nil if rows have neither keys nor times nor weights.
	Grouped *Grouping
	Ordered bool // whether the groups are blocks of time: folds then follow one another
	// Scored returns the metrics of a tree with leaf models on the validation rows. It is nil if rows cannot be scored.
	Scored func(ctx context.Context, t *tree.Tree) (*metric.Metrics, error)
	// Model makes a tree of nodes that were grown with the parameters of a candidate.
	Model func(nodes []tree.Node, candidate int) *tree.Tree
}

// Winner is the chosen tree and the competition that it has won.
type Winner struct {
	Candidate *frontier.Candidate
	Models    []*leafmodel.Model // by node of the tree; nil: no models, or no competition

	Competition *Competition // nil: no competition
}

// Competition is a choice among several trees, with the data that it was based on.
type Competition struct {
	Pool   *frontier.Pool
	Choice *frontier.Choice
	Folds  []crossvalidate.Fold // nil: no cross-validation
	Number int                  // number of folds that were wanted

	// Optimism is by how much the figures of the listed points on the folds are too good, without leaf models: see
	// crossvalidate.Optimism. Figures are nil if not known; the list is nil without folds.
	Optimism []metric.Judgement

	stages []*modelled
}

// Choose returns the winner of a competition, or the only candidate, with the threshold that the settings demand.
func (c *Chooser) Choose(ctx context.Context, candidates []frontier.Candidate) (*Winner, error) {
	w, err := c.choosePlain(ctx, candidates)
	if err == nil {
		err = c.keepDemand(ctx, w)
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// choosePlain is Choose without the demand.
func (c *Chooser) choosePlain(ctx context.Context, candidates []frontier.Candidate) (*Winner, error) {
	if c.Settings.Constrained && c.Settings.LeafModel == Auto {
		c.leftOut("leaf_model", "no models, as a model in a leaf")
	}
	if c.Settings.Undecided(len(candidates)) {
		return c.compete(ctx, candidates)
	}
	sole, err := c.sole(&c.Settings.Settings, &candidates[0])
	if err != nil {
		return nil, err
	}
	switch a := &sole.Tree.Algorithm; {
	case a.Ridge > 0 || a.BoosterTrees > 0: // a refit keeps the kind of the tree's models
		sole, err = c.refitModels(ctx, sole)
	case c.wantsModels():
		sole, err = c.soleWithModels(ctx, sole)
	}
	if err != nil {
		return nil, err
	}
	return &Winner{Candidate: sole}, nil
}

// sole returns the only tree, pruned as the settings ask.
func (c *Chooser) sole(s *frontier.Settings, only *frontier.Candidate) (*frontier.Candidate, error) {
	t, err := s.Sole(only)
	if err != nil {
		return nil, c.noChoice(err)
	}
	if s.Alpha == nil && t != only {
		c.Host.Warn(fmt.Sprintf("the tree of %d leaves is pruned to %d, within the limit of %s",
			only.Tree.CountLeaves(), t.Tree.CountLeaves(), s.Limits))
	}
	return t, nil
}

// compete prunes the candidates, cross-validates the prunings, and chooses one.
func (c *Chooser) compete(ctx context.Context, candidates []frontier.Candidate) (*Winner, error) {
	pool, err := prunings(ctx, c.Host, candidates, &c.Settings.Settings)
	if err != nil {
		return nil, err
	}
	pool.WeightEffect = c.Training.WeightEffect
	if err := c.setGroups(ctx, pool); err != nil {
		return nil, err
	}
	number := c.foldsWanted(candidates[0].Counts[dataset.Validation])
	folds, err := c.crossValidate(ctx, pool, number)
	if err != nil {
		return nil, err
	}
	if err := c.smooth(ctx, pool, folds); err != nil {
		return nil, err
	}
	if err := score(ctx, c.Host, pool, folds); err != nil {
		return nil, err
	}
	crossvalidate.SetAreas(folds, pool)
	choice, err := c.choose(ctx, pool)
	if errors.Is(err, frontier.ErrNoMerit) && candidates[0].Counts[dataset.Validation].TotalRows() == 0 {
		c.Host.Warn("no training row with a label is left for the folds to choose a tree by: the tree is the first of the grid")
		unjudged := c.Settings.Unjudged()
		sole, err := c.sole(&unjudged, &candidates[0])
		return &Winner{Candidate: sole}, err
	}
	if err != nil {
		return nil, c.noChoice(err)
	}
	w := &Competition{Pool: pool, Choice: choice, Folds: folds, Number: number}
	if c.wantsModels() {
		if w.Choice, w.stages, err = c.withModels(ctx, pool, choice, number, folds); err != nil {
			return nil, c.noChoice(err)
		}
	}
	if w.Optimism, err = crossvalidate.Optimism(folds, pool, &c.Settings.Settings, w.Choice.Listed); err != nil {
		return nil, c.noChoice(err)
	}
	if w.Choice.Reason != "" {
		c.Host.Note(c.Host.Setting("select") + " " + c.Settings.Rule.String() + ": " + w.Choice.Reason)
	}
	candidate := pool.Candidate(&w.Choice.Chosen)
	candidate.Tree = w.TreeOf(&w.Choice.Chosen)
	return &Winner{Candidate: candidate, Models: w.modelsOf(&w.Choice.Chosen), Competition: w}, nil
}

// choose chooses a point of a pool. If the trees do not show that the rows have a signal, it tests whether a feature is
// associated with the class, whatever the rule, as a later choice may be by the rule Best.
func (c *Chooser) choose(ctx context.Context, pool *frontier.Pool) (*frontier.Choice, error) {
	s := &c.Settings.Settings
	choice, err := pool.Choose(s)
	if err != nil || !pool.Doubtful() {
		return choice, err
	}
	if pool.Association, err = c.association(ctx); err != nil || s.Rule != frontier.Best && s.Rule != frontier.Total || !pool.Association.Suspected() {
		return choice, err
	}
	leaves := choice.Chosen.Leaves
	choice, err = pool.Choose(s)
	if err == nil && leaves == 1 && choice.Chosen.Leaves > 1 && pool.Association.Believed() {
		c.Host.Note(fmt.Sprintf("%s %s: the class depends on %s beyond chance (p = %.2g), so that %d leaves are taken though an AUC "+
			"of %.3f alone would not show it", c.Host.Setting("select"), s.Rule, naming.Printable(pool.Association.Feature), pool.Association.P,
			choice.Chosen.Leaves, choice.Chosen.Merit))
	}
	return choice, err
}

// wantsModels reports whether leaves may have models: a single class needs none.
func (c *Chooser) wantsModels() bool { return c.Classes > 1 && c.Settings.WantsModels() }

// RuleError is the error of a rule that cannot choose a tree.
type RuleError struct {
	Setting string // setting as users write it, with its value
	Err     error
}

// Error implements error.
func (e *RuleError) Error() string { return fmt.Sprintf("%s: %v", e.Setting, e.Err) }

// Unwrap returns the reason.
func (e *RuleError) Unwrap() error { return e.Err }

// noChoice returns the error of a rule that cannot choose a tree, for the given reason.
func (c *Chooser) noChoice(err error) error {
	return &RuleError{c.Host.Setting("select") + " " + c.Settings.Rule.String(), err}
}

// NewPool prunes candidates and returns a pool of the scored prunings. If another label is given, with other error costs,
// the candidates are pruned by their own label, and
// decide and are scored by the other label.
func NewPool(
	ctx context.Context, h Host, candidates []frontier.Candidate, settings *frontier.Settings, other *tree.Label,
) (*frontier.Pool, error) {
	pool, err := prunings(ctx, h, candidates, settings)
	if err != nil {
		return nil, err
	}
	for i := range pool.Candidates {
		if t := pool.Candidates[i].Tree; other != nil {
			t.Label = *other
			*t = *t.WithDecision(other.Decision)
		}
	}
	return pool, score(ctx, h, pool, nil)
}

// prunings prunes candidates.
func prunings(
	ctx context.Context, h Host, candidates []frontier.Candidate, settings *frontier.Settings,
) (*frontier.Pool, error) {
	return compute(ctx, h, "prune", int64(len(candidates)), "trees", func(s *parallel.Steps) (*frontier.Pool, error) {
		return frontier.NewPool(ctx, candidates, settings, &s.Done)
	})
}

// smooth chooses how strongly leaves are smoothed, if smoothing is wanted.
func (c *Chooser) smooth(ctx context.Context, pool *frontier.Pool, folds []crossvalidate.Fold) error {
	if pool.Candidates[0].Tree.Algorithm.LeafEstimate != tree.Smoothed {
		return nil
	}
	return c.Host.Phase(ctx, "smoothing", 1, "steps", func(s *parallel.Steps) error {
		crossvalidate.Smooth(folds, pool, c.Settings.Criterion(c.Classes))
		s.Done.Add(1)
		return nil
	})
}

// score scores the prunings of a pool and of folds.
func score(ctx context.Context, h Host, pool *frontier.Pool, folds []crossvalidate.Fold) error {
	steps := int64(len(pool.Candidates) + len(folds))
	return h.Phase(ctx, "score", steps, "trees", func(s *parallel.Steps) error {
		for i := range folds {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			folds[i].Score()
			s.Done.Add(1)
		}
		return pool.Score(ctx, &s.Done)
	})
}

// compute does work as a phase of the host, and returns what the work returns.
func compute[T any](
	ctx context.Context, h Host, name string, total int64, unit string, work func(s *parallel.Steps) (T, error),
) (T, error) {
	found := make(chan T, 1)
	err := h.Phase(ctx, name, total, unit, func(s *parallel.Steps) error {
		result, err := work(s)
		found <- result
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return <-found, nil
}

// Certify returns the certificate of a tree: a lower bound on the cost of any tree that
// separates the training objects as well as tree t did before it was pruned. grown is
// the number of trees that the run has grown. The certificate is nil if the settings or
// the size of the data rule it out.
func (c *Chooser) Certify(ctx context.Context, t *frontier.Candidate, grown int64) (*tree.Certificate, error) {
	return compute(ctx, c.Host, "certificate", 1, "steps", func(s *parallel.Steps) (*tree.Certificate, error) {
		bytes, fits := certify.Room(c.Features, c.Training.Objects)
		if c.Settings.Certificate && bytes > certify.MaxBytes {
			c.Host.Note(fmt.Sprintf(
				"the tree has no certificate: it takes all training objects in memory, %d MiB", bytes>>20))
		}
		unordered := slices.ContainsFunc(c.Features, func(f dataset.Feature) bool { return f.Unordered })
		if c.Settings.Certificate && unordered {
			c.Host.Note("the tree has no certificate: a lower bound on costs needs the values that nobody ordered")
		}
		if !c.Settings.Certificate || !fits || unordered {
			return nil, nil
		}
		objects, err := c.Objects(ctx)
		if err != nil {
			return nil, err
		}
		run := certify.Run{
			Trees: grown, Objects: int64(objects.Len()), Rows: c.Training.Rows, Features: int64(len(c.Features)),
		}
		options := certify.ForTree(t.Grown, t.Params)
		options.Budget = run.Budget()
		options.Workers = runtime.GOMAXPROCS(0)
		options.Stop = func() bool { return ctx.Err() != nil }
		options.Progress = s.Done.Store
		options.Planned = func(steps int64) { s.Total.Store(max(1, steps)) }
		bound := certify.Certify(certify.Data{Objects: objects, Features: c.Features}, options)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		made := bound.Certificate(certify.Describe(t.Grown))
		made.Pruned = len(t.Grown.Nodes) != len(t.Tree.Nodes)
		return &made, nil
	})
}

// Grown returns the number of trees that were grown for a choice among the given number of candidates,
// including the trees of the folds.
func (w *Winner) Grown(candidates int) int64 {
	if w.Competition != nil {
		candidates *= 1 + w.Competition.Number
	}
	return int64(candidates)
}

// foldsWanted returns the number of folds. If the data decide against folds, a note
// gives the reason.
func (c *Chooser) foldsWanted(validation *tree.LeafCounts) int {
	rare := crossvalidate.Rarest(validation, c.Classes)
	objects := c.Training.Objects
	folds := c.Host.Setting("folds")
	d := c.Settings.Folds.Decide(rare, float64(objects))
	switch d.Reason {
	case crossvalidate.Enough:
		c.Host.Note(fmt.Sprintf("%s auto: no cross-validation, as the validation rows have %.0f of "+
			"the rarest class, and %d are enough", folds, rare, crossvalidate.EnoughRows))
	case crossvalidate.TooMany:
		c.Host.Warn(fmt.Sprintf("%s auto: no cross-validation, as %d training objects are more "+
			"than %d, though the validation rows have only %.0f of the rarest class: "+
			"%s %d cross-validates all the same",
			folds, objects, crossvalidate.MostAuto, rare, folds, crossvalidate.AutoFolds))
	case crossvalidate.Asked, crossvalidate.Few, crossvalidate.RareRows:
	}
	bytes := objects * int64(dataset.NewLayout(c.Features).Stride)
	if d.Folds > 0 && bytes > crossvalidate.MaxBytes {
		c.Host.Warn(fmt.Sprintf("%s %s: no cross-validation, as it takes all training objects in "+
			"memory, %d MiB, and at most %d MiB are allowed", folds, c.Settings.Folds, bytes>>20,
			int64(crossvalidate.MaxBytes)>>20))
		return 0
	}
	return d.Folds
}

// crossValidate grows the trees of the folds, and sets the mean areas of the pool's
// points.
func (c *Chooser) crossValidate(ctx context.Context, pool *frontier.Pool, number int) ([]crossvalidate.Fold, error) {
	if number == 0 {
		return nil, nil
	}
	work := func(s *parallel.Steps) ([]crossvalidate.Fold, error) {
		g, err := c.growth(ctx, number)
		if err != nil {
			return nil, err
		}
		s.Total.Store(g.Weight(pool))
		return g.Grow(ctx, pool, &s.Done)
	}
	return compute(ctx, c.Host, "folds", c.Training.Weight, "units of weight", work)
}

// growth returns the data that the trees of the folds are grown from.
func (c *Chooser) growth(ctx context.Context, folds int) (*crossvalidate.Growth, error) {
	objects, err := c.Objects(ctx)
	if err != nil {
		return nil, err
	}
	return &crossvalidate.Growth{
		Objects: objects, Columns: c.Columns, Folds: folds, Seed: c.Settings.Seed, Ordered: c.Ordered, Model: c.Model, Memory: c.Memory,
		Transfer: c.Transfer,
	}, nil
}
