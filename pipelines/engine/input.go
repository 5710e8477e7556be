package engine

import (
	"context"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// OpenInput is source.OpenInput as a phase of a run. It warns of what is left out.
func (j *Driver) OpenInput(ctx context.Context, patterns []string) (*source.Input, error) {
	in, err := Compute(ctx, j, Footers, 0, "files", func(s *parallel.Steps) (*source.Input, error) {
		return source.OpenInput(ctx, j.Files, patterns, s)
	})
	if err != nil {
		return nil, err
	}
	j.WarnOfInput(in)
	return in, nil
}

// WarnOfInput warns of what was left out of an input.
func (j *Driver) WarnOfInput(in *source.Input) {
	for _, note := range in.Notes {
		j.Reporter.Warn(note)
	}
}
