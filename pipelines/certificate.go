package pipelines

import (
	"context"
	"fmt"
	"runtime"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// certify returns the certificate of a tree: a lower bound on the cost of any tree that
// separates the training objects as far as this one did before it was pruned. grown is
// the number of trees that the run has grown. The certificate is nil if the run is to
// have none, or can have none.
func (c *choosing) certify(ctx context.Context, t *frontier.Candidate, grown int64) (*tree.Certificate, error) {
	var certificate *tree.Certificate
	err := c.driver.Phase(ctx, "certificate", 1, "steps", func(s *parallel.Steps) error {
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
		run := certify.Run{
			Trees: grown, Objects: int64(objects.Len()), Rows: c.train.Rows, Features: int64(len(c.features)),
		}
		options := certify.ForTree(t.Grown, t.Params, mode, run.Budget())
		options.Workers = runtime.GOMAXPROCS(0)
		options.Stop = func() bool { return ctx.Err() != nil }
		options.Progress = s.Done.Store
		options.Planned = func(steps int64) { s.Total.Store(max(1, steps)) }
		bound := certify.Certify(certify.Data{Objects: objects, Features: c.features}, options)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		made := bound.Certificate(certify.Describe(t.Grown))
		made.Pruned = len(t.Grown.Nodes) != len(t.Tree.Nodes)
		certificate = &made
		return nil
	})
	if err != nil { // the work may still be running, and set the certificate
		return nil, err
	}
	return certificate, nil
}
