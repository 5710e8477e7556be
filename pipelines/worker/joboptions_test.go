package worker_test

import (
	"context"
	"net"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/espalier-ml/espalier/pipelines/worker"
)

// jobService keeps the options of jobs.
type jobService struct {
	jobpb.UnimplementedJobServiceServer

	options map[string]any
}

func (s *jobService) Prepare(_ context.Context, r *jobpb.PrepareJobRequest) (*jobpb.PrepareJobResponse, error) {
	s.options = r.GetPipelineOptions().AsMap()
	return &jobpb.PrepareJobResponse{}, nil
}

// TestJobOptions: a job service receives the options together with the options of the SDK.
func TestJobOptions(t *testing.T) {
	before := grpcx.Dial
	t.Cleanup(func() { grpcx.Dial = before })
	if err := worker.JobOptions(map[string]any{"checkpointing_interval": make(chan int)}); err == nil {
		t.Error("a channel is taken for an option")
	}
	if err := worker.JobOptions(map[string]any{"checkpointing_interval": 1000, "savepoint_path": "file:///s"}); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // local
	if err != nil {
		t.Fatal(err)
	}
	service := new(jobService)
	server := grpc.NewServer()
	jobpb.RegisterJobServiceServer(server, service)
	go server.Serve(listener) //nolint:errcheck // ends with the test
	t.Cleanup(server.Stop)
	c, err := grpcx.Dial(t.Context(), listener.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) //nolint:errcheck // a test
	given, err := structpb.NewStruct(map[string]any{"beam:option:parallelism:v1": 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jobpb.NewJobServiceClient(c).Prepare(t.Context(), &jobpb.PrepareJobRequest{PipelineOptions: given}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"beam:option:parallelism:v1": 2., "beam:option:checkpointing_interval:v1": 1000., "beam:option:savepoint_path:v1": "file:///s",
	} {
		if got := service.options[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
