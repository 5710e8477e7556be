package worker

import (
	"context"
	"fmt"
	"maps"
	"math"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

// JobOptions sends options of the runner with each later job, besides those for which Beam's Go SDK has flags, such as these
// of Flink:
//
//   - "checkpointing_interval": time between the checkpoints of a stream, in ms. Without it, a stream has no checkpoints
//     while it reads a source, and begins again if a TaskManager dies. With it, the job of a stream does not end.
//   - "finish_bundle_before_checkpointing": true lets no watermark overtake the output of a bundle.
//   - "max_bundle_time_mills": time after which a bundle ends, in ms.
//   - "savepoint_path": the savepoint of an earlier job, from which the job goes on.
//
// Values are values of JSON; JobOptions returns an error for others. Only runners with a job service get the options: Flink,
// Spark and prism. Call it once, before pipelines run: it sets grpcx.Dial, in place of what was there.
func JobOptions(options map[string]any) error {
	fields := make(map[string]any, len(options))
	for name, value := range options {
		fields["beam:option:"+name+":v1"] = value
	}
	more, err := structpb.NewStruct(fields)
	if err != nil {
		return fmt.Errorf("options of jobs: %w", err)
	}
	grpcx.Dial = func(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		//nolint:staticcheck // as grpcx.DefaultDial, which has no options
		c, err := grpc.DialContext(ctx, endpoint, grpc.WithInsecure(), grpc.WithBlock(),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)), grpc.WithUnaryInterceptor(
				func(ctx context.Context, method string, request, reply any, c *grpc.ClientConn, next grpc.UnaryInvoker, o ...grpc.CallOption) error {
					if prepare, ok := request.(*jobpb.PrepareJobRequest); ok && prepare.GetPipelineOptions().GetFields() != nil {
						maps.Copy(prepare.GetPipelineOptions().GetFields(), more.GetFields())
					}
					return next(ctx, method, request, reply, c, o...)
				}))
		if err != nil {
			return nil, fmt.Errorf("failed to dial server at %s: %w", endpoint, err)
		}
		return c, nil
	}
	return nil
}
