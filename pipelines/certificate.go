package pipelines

import (
	"context"
	"fmt"
	"runtime"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/parallel"
)

// certify bounds from below the cost of any tree that separates the training objects
// as far as the chosen tree did before it was pruned. It sets the tree's certificate.
func (c *choosing) certify(ctx context.Context, r *chosen, trees int64, s *parallel.Steps) error {
	mode := certify.Mode(c.config.Certificate)
	d := mode.Decide(c.features, c.train.Objects)
	if d.Answer == certify.TooLarge {
		c.driver.Reporter.Note(fmt.Sprintf(
			"the tree has no certificate: it takes all training objects in memory, %d MiB", d.Bytes>>20))
	}
	if d.Answer != certify.Possible {
		return nil
	}
	objects, err := c.objects(ctx)
	if err != nil {
		return err
	}
	if r.frontier != nil {
		trees *= int64(1 + r.frontier.Folds)
	}
	run := certify.Run{
		Trees: trees, Objects: int64(objects.Len()), Rows: c.train.Rows, Features: int64(len(c.features)),
	}
	grown := r.candidate.Grown
	options := certify.ForTree(grown, r.candidate.Params, mode, run.Budget())
	options.Workers = runtime.GOMAXPROCS(0)
	options.Stop = func() bool { return ctx.Err() != nil }
	options.Progress = s.Done.Store
	options.Planned = func(steps int64) { s.Total.Store(max(1, steps)) }
	bound := certify.Certify(certify.Data{Objects: objects, Features: c.features}, options)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	certificate := bound.Certificate(certify.Describe(grown))
	certificate.Pruned = len(grown.Nodes) != len(r.candidate.Tree.Nodes)
	r.candidate.Tree.Certificate = &certificate
	return nil
}
