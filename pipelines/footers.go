package pipelines

import (
	"context"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/forecast"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// readInput is openInput as a phase of a run.
func readInput(ctx context.Context, j *engine.Driver, patterns []string) (*source.Input, error) {
	var in *source.Input
	err := j.Phase(ctx, forecast.Footers, 0, "files", func(s *parallel.Steps) (err error) {
		in, err = source.OpenInput(ctx, j.Files, patterns, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}
