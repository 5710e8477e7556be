package engine

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism" // the SDK's own engine
)

// prismName is the name of prism in the SDK.
const prismName = "prism"

// prism is the SDK's own engine: it runs in this process, and encodes DoFns and elements as
// other engines do.
type prism struct {
	server string // address at which prism serves this process; empty if it does not yet
}

func (*prism) Traits() Traits {
	return Traits{
		Name: prismName, Title: "prism", Local: true, Serialises: true, Spreads: true,
		ShuffleCopies: 8,
	}
}

func (*prism) Check(context.Context, []string) error { return checkInit(prismName) }

// Run runs a pipeline on prism. The SDK writes the address of the server that it starts
// into its flags, where other engines would take the address for their own: the flags are
// put back.
func (p *prism) Run(ctx context.Context, job Submission) error {
	endpoint, environment := *jobopts.Endpoint, *jobopts.EnvironmentType
	defer setFlag(jobopts.Endpoint, endpoint)()
	defer setFlag(jobopts.EnvironmentType, environment)()
	if endpoint == "" {
		*jobopts.Endpoint = p.server
		defer func() { p.server = *jobopts.Endpoint }()
	}
	if endpoint == "" && environment == "" {
		*jobopts.EnvironmentType = "loopback"
	}
	_, err := beam.Run(ctx, prismName, job.Pipeline)
	return err
}

func (*prism) Cancel(context.Context, string) error { return nil } // its jobs end with their process
