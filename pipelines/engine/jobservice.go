package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"strings"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/espalier-ml/espalier/transforms/elements"
)

// patience is how long a job service may take.
type patience struct {
	ready     time.Duration // to answer a request; the SDK would wait for two minutes
	cancel    time.Duration // to accept an order to cancel a job, and then again to end the job
	leftovers time.Duration // to end all jobs that a dead process has left running
	lost      time.Duration // between two answers while a job runs
	interval  time.Duration // between two requests for the state of a job
}

// defaultPatience is the patience of runs; tests have less.
func defaultPatience() patience {
	return patience{
		ready: 5 * time.Second, cancel: 5 * time.Second, leftovers: 30 * time.Second,
		lost: time.Minute, interval: time.Second,
	}
}

// jobService is a client of an engine's Beam job service. It keeps the ids of its jobs and can
// cancel them. The SDK's own client cannot: its jobs continue when the client has ended.
type jobService struct {
	patience

	endpoint string
	conn     *grpc.ClientConn
	client   jobpb.JobServiceClient
}

// openJobService connects to an endpoint and makes sure that a job service listens there.
func openJobService(ctx context.Context, endpoint string, p patience) (*jobService, error) {
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, err
	}
	s := &jobService{patience: p, endpoint: endpoint, conn: conn, client: jobpb.NewJobServiceClient(conn)}
	if err := s.identify(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *jobService) close() { _ = s.conn.Close() } // nothing waits to be sent

// identify lists the jobs, as only a job service can, and returns an error if it cannot.
func (s *jobService) identify(ctx context.Context) error {
	const hint = "--endpoint wants the port of the job service, often 8099, not the engine's own"
	soon, cancel := context.WithTimeout(ctx, s.ready)
	defer cancel()
	var dialer net.Dialer
	// The error of a plain connection is more informative than the error of a gRPC client.
	c, err := dialer.DialContext(soon, "tcp", s.endpoint)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("no job service at %s: %w", s.endpoint, err)
	}
	if err == nil {
		_ = c.Close() // it has shown that something listens
		_, err = s.client.GetJobs(soon, &jobpb.GetJobsRequest{})
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case soon.Err() != nil:
		return fmt.Errorf("what listens at %s does not answer as a job service within %v: %s", s.endpoint, s.ready, hint)
	default:
		return fmt.Errorf("what listens at %s is no job service (%v): %s", s.endpoint, status.Code(err), hint)
	}
}

// run runs a job and waits for its end. It cancels the job if the context ends, or if the job
// service no longer answers. The folder of the lease is for the workers; empty if they hold no
// lease.
func (s *jobService) run(ctx context.Context, job Submission, lease string) error {
	m, err := newJobModel(ctx, job.Pipeline)
	if err != nil {
		return err
	}
	defer m.release(ctx)
	m.lease = lease
	id, err := s.submit(ctx, job.Name, m)
	if err != nil {
		return err
	}
	// The stream of messages stays open until the job has ended, also if the job is
	// cancelled: job services cope badly with a client that closes the stream early.
	watched, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	outcome := make(chan error, 1)
	go func() { outcome <- s.follow(watched, stop, id, job.Progress) }()
	select {
	case err = <-outcome:
		if err == nil || errors.As(err, new(*endedError)) {
			return err
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	fault := s.cancelJobs(context.WithoutCancel(ctx), []string{id}, s.cancel)
	return orLeft(err, job.Name, fault)
}

// submit submits a job and returns its id.
func (s *jobService) submit(ctx context.Context, name string, m *jobModel) (string, error) {
	request, err := m.request(name)
	if err != nil {
		return "", err
	}
	prepared, err := s.client.Prepare(ctx, request)
	if err != nil {
		return "", endOf(ctx, err)
	}
	token, err := runnerlib.Stage(ctx, prepared.GetPreparationId(), prepared.GetArtifactStagingEndpoint().GetUrl(),
		m.worker, prepared.GetStagingSessionToken())
	if err != nil {
		return "", endOf(ctx, err)
	}
	// Without its id a job cannot be cancelled: a request that is under way when the
	// context ends may go on for a while, until it returns the id.
	outliving, cancel := outlive(ctx, s.cancel)
	defer cancel()
	id, err := runnerlib.Submit(outliving, s.client, prepared.GetPreparationId(), token)
	if err != nil {
		return "", orLeft(endOf(ctx, err), name, s.cancelNamed(context.WithoutCancel(ctx), name, s.cancel))
	}
	return id, nil
}

// endOf returns the cause of the context's end, or the error if the context has not ended.
func endOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// outlive returns a context that ends a grace period after another context.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	outliving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return outliving, func() { stop(); cancel() }
}

// endedError is the error of a job that has ended, but not as done.
type endedError struct {
	state jobpb.JobState_Enum
	said  string // the engine's last error message; empty if absent
}

// Error returns the engine's error message, or the state in which the job has ended.
func (e *endedError) Error() string {
	switch {
	case e.state == jobpb.JobState_CANCELLED:
		return "the job was cancelled in the engine, by someone else than this run"
	case e.state != jobpb.JobState_FAILED:
		return fmt.Sprintf("the engine ended the job as %v", e.state)
	case e.said == "":
		return "the engine gives no reason: look into its log"
	default:
		return e.said
	}
}

// leftError is the error of a job that could not be cancelled, and may continue.
type leftError struct {
	err   error // why the job was to be cancelled
	job   string
	fault error // why that failed
}

// Error returns the reason and the warning.
func (e *leftError) Error() string { return e.err.Error() + "; " + e.warning() }

// Unwrap returns the reason why the job was to be cancelled.
func (e *leftError) Unwrap() error { return e.err }

func (e *leftError) warning() string {
	return fmt.Sprintf("the job %s may go on in the engine: cancel it there (%v)", e.job, e.fault)
}

// orLeft adds a warning to an error if the job could not be cancelled; fault is the reason.
func orLeft(err error, job string, fault error) error {
	if fault == nil {
		return err
	}
	return &leftError{err, job, fault}
}

// follow waits for the end of a job, or until stop has ended the context. It returns nil for a
// job that is done, and an endedError for one that has ended otherwise.
func (s *jobService) follow(
	ctx context.Context, stop context.CancelCauseFunc, id string, progress *elements.Progress,
) error {
	polling, enough := context.WithCancel(ctx)
	defer enough()
	go s.poll(polling, stop, id, progress)
	end := endedError{}
	for {
		err := s.listen(ctx, id, &end)
		var polled *endedError
		if errors.As(context.Cause(ctx), &polled) {
			end.state = polled.state
			err = nil
		}
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		slog.WarnContext(ctx, "the messages of the job broke off and are asked for again", "job", id, "error", err)
		wait(ctx, s.interval)
	}
	s.count(context.WithoutCancel(ctx), id, progress)
	if end.state == jobpb.JobState_DONE {
		return nil
	}
	return &end
}

// wait waits for a time, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// listen reads the messages of a job until the job has ended, and keeps its state and the last
// error message in end. An error is one of the connection. After a failure listen waits for
// an error message: poll ends the context if none comes.
func (s *jobService) listen(ctx context.Context, id string, end *endedError) error {
	stream, err := s.client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	if err != nil {
		return err
	}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			end.state, err = s.state(ctx, id)
			if err == nil && !terminal(end.state) {
				err = io.ErrUnexpectedEOF
			}
		}
		if err != nil {
			return err
		}
		if m := message.GetMessageResponse(); m != nil {
			tell(ctx, m)
			if m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
				end.said = m.GetMessageText()
			}
		}
		if state := message.GetStateResponse(); state != nil {
			end.state = state.GetState()
			slog.InfoContext(ctx, "the engine's job is "+end.state.String(), "job", id)
		}
		if terminal(end.state) && (end.state != jobpb.JobState_FAILED || end.said != "") {
			return nil
		}
	}
}

// tell logs a message of the engine at its level.
func tell(ctx context.Context, m *jobpb.JobMessage) {
	level := slog.LevelDebug
	switch m.GetImportance() {
	case jobpb.JobMessage_JOB_MESSAGE_ERROR:
		level = slog.LevelError
	case jobpb.JobMessage_JOB_MESSAGE_WARNING:
		level = slog.LevelWarn
	case jobpb.JobMessage_JOB_MESSAGE_BASIC:
		level = slog.LevelInfo
	default: // details
	}
	slog.Log(ctx, level, m.GetMessageText())
}

// terminal reports whether a job in this state has ended.
func terminal(s jobpb.JobState_Enum) bool {
	switch s {
	case jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED,
		jobpb.JobState_UPDATED, jobpb.JobState_DRAINED:
		return true
	default:
		return false
	}
}

// state asks for the state of a job.
func (s *jobService) state(ctx context.Context, id string) (jobpb.JobState_Enum, error) {
	ctx, cancel := context.WithTimeout(ctx, s.ready)
	defer cancel()
	r, err := s.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: id})
	return r.GetState(), err
}

// poll requests the state and the counters of a job until the context ends. It calls stop, and so
// ends listen, in three cases: the job has ended without a message, the job service no longer has
// the job, or the job service has not answered for long. The stream of messages shows none of the
// three: it may be silent for hours.
func (s *jobService) poll(ctx context.Context, stop context.CancelCauseFunc, id string, progress *elements.Progress) {
	answered := time.Now()
	over := 0
	for {
		wait(ctx, s.interval)
		if ctx.Err() != nil {
			return
		}
		state, err := s.state(ctx, id)
		switch {
		case err == nil && terminal(state):
			if over++; over == 2 { // the message had an interval of time to come
				stop(&endedError{state: state})
			}
		case err == nil:
			answered = time.Now()
			s.count(ctx, id, progress)
		case status.Code(err) == codes.NotFound:
			stop(errors.New("the job service no longer knows the job: it may have been restarted"))
		case time.Since(answered) > s.lost:
			stop(fmt.Errorf("the job service has not answered for %v: %w", s.lost, err))
		}
	}
}

// userCounter is Beam's name of the type of user counters.
const userCounter = "beam:metric:user:sum_int64:v1"

// count sets the progress to the counters of a job, if the engine gives any.
func (s *jobService) count(ctx context.Context, id string, progress *elements.Progress) {
	if progress == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.ready)
	defer cancel()
	r, err := s.client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: id})
	if err != nil {
		slog.DebugContext(ctx, "no counters of the job", "job", id, "error", err)
		return
	}
	progress.Set(sums(r.GetMetrics().GetAttempted()))
}

// sums adds up this program's counters over the steps of a job, by the name of the counter.
func sums(infos []*pipepb.MonitoringInfo) map[string]int64 {
	sums := make(map[string]int64)
	for _, info := range infos {
		if info.GetUrn() == userCounter && info.GetLabels()["NAMESPACE"] == elements.CounterNamespace {
			n, _ := binary.Uvarint(info.GetPayload()) // 0 if the payload is damaged
			sums[info.GetLabels()["NAME"]] += int64(n)
		}
	}
	return sums
}

// cancelJobs cancels jobs and waits until they have ended, at most the given time.
func (s *jobService) cancelJobs(ctx context.Context, ids []string, within time.Duration) error {
	var faults []error
	for _, id := range ids {
		if err := s.cancelJob(ctx, id); err != nil {
			faults = append(faults, err)
		}
	}
	ctx, stop := context.WithTimeout(ctx, within)
	defer stop()
	for _, id := range ids {
		state, err := s.state(ctx, id)
		for err == nil && !terminal(state) {
			wait(ctx, s.interval/10)
			state, err = s.state(ctx, id)
		}
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
	}
	return nil // all jobs have ended: an order that failed came too late
}

func (s *jobService) cancelJob(ctx context.Context, id string) error {
	ctx, stop := context.WithTimeout(ctx, s.cancel)
	defer stop()
	_, err := s.client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: id})
	return err
}

// cancelNamed cancels the jobs whose names begin with a prefix, and waits until they have
// ended, at most the given time.
func (s *jobService) cancelNamed(ctx context.Context, prefix string, within time.Duration) error {
	soon, stop := context.WithTimeout(ctx, s.ready)
	defer stop()
	r, err := s.client.GetJobs(soon, &jobpb.GetJobsRequest{})
	if err != nil {
		return err
	}
	var ids []string
	for _, job := range r.GetJobInfo() {
		if strings.HasPrefix(job.GetJobName(), prefix) && !terminal(job.GetState()) {
			ids = append(ids, job.GetJobId())
		}
	}
	return s.cancelJobs(ctx, ids, within)
}

// cancelLeftovers cancels the jobs that a dead process has left running for a run, and waits
// until they have ended.
func (s *jobService) cancelLeftovers(ctx context.Context, runID string) error {
	prefix := jobName(runID, "")
	if err := s.cancelNamed(ctx, prefix, s.leftovers); err != nil {
		return fmt.Errorf("jobs named %s* of the interrupted run may still go on: "+
			"cancel them in the engine first: %w", prefix, err)
	}
	return nil
}

// jobName returns the name by which an engine lists a job of a run.
func jobName(runID, step string) string {
	return "espalier-" + runID + "-" + strings.ReplaceAll(step, " ", "-")
}
