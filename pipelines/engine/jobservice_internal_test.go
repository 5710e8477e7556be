package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// fakeEngine is a job service that a test scripts.
type fakeEngine struct {
	jobpb.UnimplementedJobServiceServer
	jobpb.UnimplementedArtifactStagingServiceServer

	// The script of the test; nil: a job runs for ever, and ends when it is cancelled.
	run       func(j *fakeJob) error // called when a job is submitted; an error is the answer
	cancelled func(j *fakeJob)
	state     func(ctx context.Context) error // called before each answer on a state

	endpoint string
	mu       sync.Mutex
	jobs     []*fakeJob
	requests []*jobpb.PrepareJobRequest
	orders   []string // ids of jobs, one for each order to cancel
}

type fakeJob struct {
	id, name string

	mu      sync.Mutex
	state   jobpb.JobState_Enum
	events  []*jobpb.JobMessagesResponse
	news    chan struct{} // closed when there is a further event
	breaks  int           // number of streams of messages that break off at once
	metrics []*pipepb.MonitoringInfo
}

func (j *fakeJob) tell(e *jobpb.JobMessagesResponse) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
	close(j.news)
	j.news = make(chan struct{})
}

// become changes the state and sends a message of it.
func (j *fakeJob) become(s jobpb.JobState_Enum) {
	j.silently(s)
	j.tell(&jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{StateResponse: &jobpb.JobStateEvent{State: s}}})
}

func (j *fakeJob) silently(s jobpb.JobState_Enum) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state = s
}

func (j *fakeJob) now() jobpb.JobState_Enum {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

// say sends an error message.
func (j *fakeJob) say(text string) {
	j.tell(&jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_MessageResponse{
		MessageResponse: &jobpb.JobMessage{Importance: jobpb.JobMessage_JOB_MESSAGE_ERROR, MessageText: text},
	}})
}

func (f *fakeEngine) Prepare(_ context.Context, r *jobpb.PrepareJobRequest) (*jobpb.PrepareJobResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	return &jobpb.PrepareJobResponse{
		PreparationId: r.GetJobName(), StagingSessionToken: "token",
		ArtifactStagingEndpoint: &pipepb.ApiServiceDescriptor{Url: f.endpoint},
	}, nil
}

func (f *fakeEngine) ReverseArtifactRetrievalService(s jobpb.ArtifactStagingService_ReverseArtifactRetrievalServiceServer) error {
	_, err := s.Recv()
	return err
}

func (f *fakeEngine) add(name string, s jobpb.JobState_Enum) *fakeJob {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := &fakeJob{id: fmt.Sprintf("%s_%d", name, len(f.jobs)), name: name, state: s, news: make(chan struct{})}
	f.jobs = append(f.jobs, j)
	return j
}

func (f *fakeEngine) Run(_ context.Context, r *jobpb.RunJobRequest) (*jobpb.RunJobResponse, error) {
	j := f.add(r.GetPreparationId(), jobpb.JobState_RUNNING)
	if f.run != nil {
		if err := f.run(j); err != nil {
			return nil, err
		}
	}
	return &jobpb.RunJobResponse{JobId: j.id}, nil
}

func (f *fakeEngine) job(id string) (*fakeJob, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		if j.id == id {
			return j, nil
		}
	}
	return nil, status.Error(codes.NotFound, "no such job")
}

func (f *fakeEngine) GetState(ctx context.Context, r *jobpb.GetJobStateRequest) (*jobpb.JobStateEvent, error) {
	if f.state != nil {
		if err := f.state(ctx); err != nil {
			return nil, err
		}
	}
	j, err := f.job(r.GetJobId())
	if err != nil {
		return nil, err
	}
	return &jobpb.JobStateEvent{State: j.now()}, nil
}

func (f *fakeEngine) Cancel(_ context.Context, r *jobpb.CancelJobRequest) (*jobpb.CancelJobResponse, error) {
	j, err := f.job(r.GetJobId())
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.orders = append(f.orders, j.id)
	f.mu.Unlock()
	if f.cancelled != nil {
		f.cancelled(j)
	} else {
		j.become(jobpb.JobState_CANCELLED)
	}
	return &jobpb.CancelJobResponse{State: j.now()}, nil
}

func (f *fakeEngine) GetJobs(context.Context, *jobpb.GetJobsRequest) (*jobpb.GetJobsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := new(jobpb.GetJobsResponse)
	for _, j := range f.jobs {
		r.JobInfo = append(r.JobInfo, &jobpb.JobInfo{JobId: j.id, JobName: j.name, State: j.now()})
	}
	return r, nil
}

func (f *fakeEngine) GetJobMetrics(_ context.Context, r *jobpb.GetJobMetricsRequest) (*jobpb.GetJobMetricsResponse, error) {
	j, err := f.job(r.GetJobId())
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return &jobpb.GetJobMetricsResponse{Metrics: &jobpb.MetricResults{Attempted: j.metrics}}, nil
}

func (f *fakeEngine) GetMessageStream(r *jobpb.JobMessagesRequest, s jobpb.JobService_GetMessageStreamServer) error {
	j, err := f.job(r.GetJobId())
	if err != nil {
		return err
	}
	j.mu.Lock()
	broken := j.breaks > 0
	j.breaks--
	j.mu.Unlock()
	if broken {
		return status.Error(codes.Unavailable, "broken")
	}
	for at := 0; ; {
		j.mu.Lock()
		events, news := j.events[at:], j.news
		j.mu.Unlock()
		for _, e := range events {
			if err := s.Send(e); err != nil {
				return err
			}
		}
		at += len(events)
		select {
		case <-news:
		case <-s.Context().Done():
			return s.Context().Err()
		}
	}
}

func serve(t *testing.T, register func(s *grpc.Server)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	register(s)
	go func() { _ = s.Serve(l) }() // ends with Stop
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// start serves the engine, sets the SDK's flags to its endpoint, and returns a client.
func (f *fakeEngine) start(t *testing.T) *jobService {
	t.Helper()
	f.endpoint = serve(t, func(s *grpc.Server) {
		jobpb.RegisterJobServiceServer(s, f)
		jobpb.RegisterArtifactStagingServiceServer(s, f)
	})
	endpoint, environment := *jobopts.Endpoint, *jobopts.EnvironmentType
	*jobopts.Endpoint, *jobopts.EnvironmentType = f.endpoint, "LOOPBACK"
	t.Cleanup(func() { *jobopts.Endpoint, *jobopts.EnvironmentType = endpoint, environment })
	const soon = 300 * time.Millisecond
	s, err := openJobService(t.Context(), f.endpoint, patience{ready: soon, cancel: soon, leftovers: soon, lost: soon, interval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// states returns the states of all jobs.
func (f *fakeEngine) states() []jobpb.JobState_Enum {
	f.mu.Lock()
	defer f.mu.Unlock()
	var states []jobpb.JobState_Enum
	for _, j := range f.jobs {
		states = append(states, j.now())
	}
	return states
}

func somePipeline() *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.Impulse(s)
	return p
}

// TestJobEnds: only a job in the state done is a success; the message of it may be lost.
func TestJobEnds(t *testing.T) {
	fails := func(j *fakeJob) error {
		go func() {
			j.become(jobpb.JobState_FAILED)
			j.say("the data are bad")
		}()
		return nil
	}
	for name, c := range map[string]struct {
		run    func(j *fakeJob) error
		state  func(ctx context.Context) error
		want   string // in the error; empty: none
		orders int    // to cancel
	}{
		"done":                   {run: func(j *fakeJob) error { go j.become(jobpb.JobState_DONE); return nil }},
		"done, but not told":     {run: func(j *fakeJob) error { j.silently(jobpb.JobState_DONE); return nil }},
		"messages broke off":     {run: func(j *fakeJob) error { j.breaks = 3; go j.become(jobpb.JobState_DONE); return nil }},
		"failed":                 {run: fails, want: "the data are bad"},
		"failed without reason":  {run: func(j *fakeJob) error { j.become(jobpb.JobState_FAILED); return nil }, want: "no reason"},
		"cancelled by another":   {run: func(j *fakeJob) error { go j.become(jobpb.JobState_CANCELLED); return nil }, want: "cancelled in the engine"},
		"drained":                {run: func(j *fakeJob) error { go j.become(jobpb.JobState_DRAINED); return nil }, want: "DRAINED"},
		"submitted, but refused": {run: func(*fakeJob) error { return status.Error(codes.Internal, "lost answer") }, want: "lost answer", orders: 1},
		"the engine falls silent": {
			state: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			want:  "has not answered for 300ms", orders: 1,
		},
		"the engine has forgotten the job": {
			state: func(context.Context) error { return status.Error(codes.NotFound, "?") },
			want:  "no longer knows the job", orders: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeEngine{run: c.run, state: c.state}
			s := f.start(t)
			err := s.run(t.Context(), Submission{Name: "espalier-1-step", Pipeline: somePipeline()}, "")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got the error %v, want %q", err, c.want)
			}
			if len(f.orders) != c.orders {
				t.Errorf("%d orders to cancel, want %d", len(f.orders), c.orders)
			}
		})
	}
}

// TestInterruptedJob: when the context ends, run returns after the job has ended; if the job
// does not end, the error names it.
func TestInterruptedJob(t *testing.T) {
	f := &fakeEngine{}
	s := f.start(t)
	interrupted := func() error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(100*time.Millisecond, cancel)
		return s.run(ctx, Submission{Name: "espalier-1-step", Pipeline: somePipeline()}, "")
	}
	f.cancelled = func(j *fakeJob) { time.AfterFunc(100*time.Millisecond, func() { j.become(jobpb.JobState_CANCELLED) }) }
	if err := interrupted(); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v", err)
	}
	if got := f.states(); !slices.Equal(got, []jobpb.JobState_Enum{jobpb.JobState_CANCELLED}) {
		t.Errorf("states %v after run", got)
	}
	f.cancelled = func(*fakeJob) {} // goes on
	err := interrupted()
	var left *leftError
	if !errors.As(err, &left) || !errors.Is(err, context.Canceled) || !strings.Contains(left.warning(), "espalier-1-step may go on") {
		t.Errorf("got the error %v", err)
	}
}

// TestInterruptedSubmission: a job whose submission is under way when the context ends is also
// cancelled.
func TestInterruptedSubmission(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fakeEngine{run: func(j *fakeJob) error {
		j.name = "as engines rename jobs" // so that its id alone is of use
		cancel()
		time.Sleep(50 * time.Millisecond)
		return nil
	}}
	s := f.start(t)
	if err := s.run(ctx, Submission{Name: "espalier-1-step", Pipeline: somePipeline()}, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v", err)
	}
	if got := f.states(); !slices.Equal(got, []jobpb.JobState_Enum{jobpb.JobState_CANCELLED}) {
		t.Errorf("states %v after run", got)
	}
}

// heard is a Reporter that keeps steps, notes and warnings.
type heard struct {
	steps    []int64
	notes    []string
	warnings []string
}

func (h *heard) Job(string, int64, string) {}
func (h *heard) Step(done int64, note string) {
	h.steps, h.notes = append(h.steps, done), append(h.notes, note)
}
func (h *heard) Note(string)      {}
func (h *heard) Warn(text string) { h.warnings = append(h.warnings, text) }

func runJob(t *testing.T, j *Driver) error {
	t.Helper()
	j.Files = source.Process
	return j.Run(t.Context(), Job{"level 1", 4, "blocks", TasksDone}, []jobs.Task{{File: "a"}}, func(beam.Scope, beam.PCollection) {})
}

// TestJobTimeout: a job that exceeds its time limit is cancelled, and the error names the flag.
func TestJobTimeout(t *testing.T) {
	f := &fakeEngine{}
	f.start(t)
	err := runJob(t, &Driver{Engine: flink(), Reporter: &heard{}, RunID: "abc", Config: Config{JobTimeout: 0.2}})
	var failed *RunnerError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "cancelled after 200ms: raise --job_timeout") {
		t.Errorf("got the error %v", err)
	}
	if got := f.states(); !slices.Equal(got, []jobpb.JobState_Enum{jobpb.JobState_CANCELLED}) {
		t.Errorf("states %v after run", got)
	}
	r := f.requests[0]
	if option := r.GetPipelineOptions().GetFields()["beam:option:job_name:v1"].GetStringValue(); r.GetJobName() != "espalier-abc-level-1" || option != r.GetJobName() {
		t.Errorf("the job is named %q and %q", r.GetJobName(), option)
	}
	if got := (&Config{}).jobTimeout(); got != 6*time.Hour {
		t.Errorf("a job may take %v by default", got)
	}
	for _, seconds := range []float64{0, -1, 1e10} {
		if setting.Faults((&Config{JobTimeout: seconds}).Settings()) == nil {
			t.Errorf("a timeout of %v s is valid", seconds)
		}
	}
}

// TestLeftovers: the jobs of the run that still go on are cancelled, and no others.
func TestLeftovers(t *testing.T) {
	f := &fakeEngine{}
	s := f.start(t)
	mine, done := f.add("espalier-abc-level-1", jobpb.JobState_RUNNING), f.add("espalier-abc-summarise", jobpb.JobState_DONE)
	other, longer := f.add("espalier-x-level-1", jobpb.JobState_RUNNING), f.add("espalier-abcd-level-1", jobpb.JobState_RUNNING)
	if err := s.cancelLeftovers(t.Context(), "abc"); err != nil {
		t.Fatal(err)
	}
	if mine.now() != jobpb.JobState_CANCELLED || done.now() != jobpb.JobState_DONE || other.now() != jobpb.JobState_RUNNING || longer.now() != jobpb.JobState_RUNNING {
		t.Errorf("states %v", f.states())
	}
	if err := (&Driver{Engine: flink(), RunID: "abcd"}).CancelLeftovers(t.Context()); err != nil || longer.now() != jobpb.JobState_CANCELLED {
		t.Errorf("states %v: %v", f.states(), err)
	}
	f.cancelled = func(*fakeJob) {}
	if err := s.cancelLeftovers(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "espalier-x-*") {
		t.Errorf("a job that goes on: got the error %v", err)
	}
}

// TestCounters: the progress of a job is the sum of its counters over the steps.
func TestCounters(t *testing.T) {
	info := func(urn, namespace, name string, n uint64) *pipepb.MonitoringInfo {
		return &pipepb.MonitoringInfo{Urn: urn, Payload: binary.AppendUvarint(nil, n), Labels: map[string]string{"NAMESPACE": namespace, "NAME": name}}
	}
	f := &fakeEngine{run: func(j *fakeJob) error {
		j.metrics = []*pipepb.MonitoringInfo{
			info(userCounter, "espalier", "tasks", 2), info(userCounter, "espalier", "tasks", 1), info(userCounter, "espalier", "rows", 70_000),
			info(userCounter, "other", "rows", 1), info("beam:metric:element_count:v1", "espalier", "rows", 1),
		}
		time.AfterFunc(2500*time.Millisecond, func() { j.become(jobpb.JobState_DONE) })
		return nil
	}}
	f.start(t)
	*jobopts.EnvironmentType, *jobopts.WorkerBinary = "PROCESS", "/dev/null"
	*jobopts.EnvironmentConfig = `{"command":"none"}`
	t.Cleanup(func() { *jobopts.WorkerBinary, *jobopts.EnvironmentConfig = "", "" })
	h := &heard{}
	if err := runJob(t, &Driver{Engine: flink(), Reporter: h}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(h.steps, 3) || !slices.Contains(h.notes, "70000 rows") {
		t.Errorf("shown while the job ran: %v %v", h.steps, h.notes)
	}
}

// TestReadiness: an endpoint without a job service is refused soon, in a sentence with a hint.
func TestReadiness(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }() // never accepts
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ endpoint, want string }{
		"silent":        {silent.Addr().String(), "does not answer as a job service within 300ms"},
		"web":           {web.Listener.Addr().String(), "is no job service"},
		"other service": {serve(t, func(*grpc.Server) {}), "is no job service (Unimplemented)"},
		"nothing":       {closed.Addr().String(), "refused"},
		"no port":       {"127.0.0.1", "missing port"},
	} {
		_, err := openJobService(t.Context(), c.endpoint, patience{ready: 300 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.endpoint) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got the error %v, want %q", name, err, c.want)
		}
		if name != "nothing" && name != "no port" && !strings.Contains(err.Error(), "8099") {
			t.Errorf("%s: no hint in %v", name, err)
		}
	}
}
