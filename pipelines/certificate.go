package pipelines

import (
	"context"
	"fmt"
	"runtime"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// maxCertified bounds the bytes of the training objects that a certificate is made
// from: the driver holds them.
const maxCertified = 2 << 30

// The certificates that there are. A quick one draws fewer objects and looks less
// far for each, so that it takes about a tenth of the run: see certificateBudget.
const (
	certificateNone  = "none"
	certificateQuick = "quick"
	certificateFull  = "full"

	quickSample = 100
	quickWork   = 1 << 17
)

// certify bounds from below what any tree costs that separates the training
// objects as far as this one does, a pruned one before it was, and says so in the
// tree. It counts its steps.
func (t *training) certify(ctx context.Context, c *candidate, s *parallel.Steps) error {
	m := c.tree
	if c.grown != nil {
		m = c.grown
	}
	train := &t.objects[dataset.Train]
	if t.config.Certificate == certificateNone || len(t.features) == 0 {
		return nil
	}
	if bytes := train.Objects * int64(dataset.NewLayout(t.features).Stride+16); bytes > maxCertified {
		t.driver.Reporter.Note(fmt.Sprintf("the tree has no certificate: it takes all training objects in memory, %d MiB", bytes>>20))
		return nil
	}
	objects, err := t.trainingObjects(ctx)
	if err != nil {
		return err
	}
	family, err := split.ParseFamily(m.Algorithm.Tests)
	if err != nil {
		return err
	}
	theta, limited := mixed(m)
	options := certify.Options{
		Algorithm: algorithmOf(m), Family: family, Theta: theta, Lambda: m.Algorithm.Lambda, Subset: c.subset,
		RepeatFree: t.config.RepeatCost == tree.RepeatFree, Seed: t.config.Seed, Workers: runtime.GOMAXPROCS(0),
	}
	if t.config.Certificate == certificateQuick {
		options.Sample, options.Work, options.Budget = quickSample, quickWork, t.certificateBudget(objects)
	}
	options.Stop = func() bool { return ctx.Err() != nil }
	options.Progress = s.Done.Store
	options.Planned = func(steps int64) { s.Total.Store(max(1, steps)) }
	bound := certify.Certify(certify.Data{Objects: objects, Features: t.features}, options)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a := &m.Algorithm
	complete := !limited && m.Training.CutLeaves == 0 && a.MaxDepth == 0 && a.MinRows == 0 && a.MaxLeaves == 0
	free := len(a.First) == 0 && len(a.Monotone) == 0 // to choose by the criterion alone
	billed, _ := m.Complexity.Billed()
	certificate := bound.Certificate(certify.Grown{ExpectedCost: billed, Complete: complete && free})
	certificate.Pruned = len(m.Nodes) != len(c.tree.Nodes)
	c.tree.Certificate = &certificate
	return nil
}

// The budget of a certificate, in steps: a share for each code of an object and grown
// tree, a share for each value that the run reads, and a fixed number. By measurement
// on the public data sets these steps take about a tenth of the run's time.
const (
	stepsPerGrown = 3 // for four codes
	stepsPerRead  = 4
	stepsOfRun    = 10_000_000
)

// certificateBudget returns the steps that a quick certificate may take. It depends on
// the shape of the data and of the grid alone, so that the certificate does.
func (t *training) certificateBudget(objects *dataset.Objects) int64 {
	trees := int64(len(t.grid))
	if t.frontier != nil {
		trees *= int64(1 + t.frontier.Folds)
	}
	train := &t.objects[dataset.Train]
	features := int64(len(t.features))
	return stepsPerGrown*trees*int64(objects.Len())*features/4 + stepsPerRead*train.Rows*features + stepsOfRun
}

// mixed returns the theta that a tree separates to: the share of its heaviest leaf
// with objects of several classes, if limits have made that more than the theta that
// it was grown to.
func mixed(t *tree.Tree) (theta float64, limited bool) {
	theta = t.Algorithm.Theta
	most := int64(0)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		classes := 0
		for _, w := range n.ClassWeights {
			if w > 0 {
				classes++
			}
		}
		if n.Leaf() && classes > 1 {
			most = max(most, n.Weight)
		}
	}
	if share := float64(most) / float64(max(1, t.Nodes[0].Weight)); share > theta*(1+1e-9) {
		return share, true
	}
	return theta, false
}
