package engine

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // deprecated, but opens no port
)

// directName is the name of the direct runner in the SDK.
const directName = "direct"

// direct is the SDK's direct runner: one worker in this process, to which DoFns and
// elements are handed over as Go values. It opens no port.
type direct struct{}

func (direct) Traits() Traits {
	return Traits{Name: directName, Title: "the direct runner", Local: true, Levels: 1}
}

func (direct) Check(context.Context, []string) error { return nil }

func (direct) Run(ctx context.Context, job Submission) error {
	_, err := beam.Run(ctx, directName, job.Pipeline)
	return err
}

func (direct) Cancel(context.Context, string) error { return nil } // its jobs end with their process
