package pipelines

import (
	"context"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// readInput is openInput as a phase of a run.
func readInput(ctx context.Context, j *driver, patterns []string) (*input, error) {
	var in *input
	err := j.phase(ctx, footersPhase, 0, "files", func(s *parallel.Steps) (err error) {
		in, err = openInput(ctx, j.files, patterns, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}

// footersPhase is the name of the phase in which footers are read.
const footersPhase = "footers"
