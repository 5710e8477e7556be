package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// engineJobs returns the states of an engine's jobs by their names.
func engineJobs(t *testing.T, service jobpb.JobServiceClient) map[string]string {
	t.Helper()
	r, err := service.GetJobs(t.Context(), &jobpb.GetJobsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[string]string)
	for _, j := range r.GetJobInfo() {
		states[j.GetJobName()] = j.GetState().String()
	}
	return states
}

// within waits for a condition.
func within(t *testing.T, d time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, d)
		}
	}
}

// TestFlinkInterrupt: what a run has under way on Flink ends with it, in the job
// service and in the workers, and leaves no temporary files.
func TestFlinkInterrupt(t *testing.T) {
	endpoint := flink.start(t).endpoint
	connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }() // nothing is left to be sent
	service := jobpb.NewJobServiceClient(connection)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	input := mixed(t, 500_000, parquetio.WriteOptions{RowsPerGroup: 50_000})
	args := func(environment string) []string {
		return []string{
			"train", "--select", "first", "--certificate", "none", "--input", input, "--label", "class", "--output",
			filepath.Join(t.TempDir(), "run"), "--progress", "plain",
			"--runner", "flink", "--endpoint", endpoint, "--environment_type", environment, "--parallelism", "2",
		}
	}
	for i, environment := range []string{"LOOPBACK", "PROCESS"} {
		c := exec.CommandContext(t.Context(), binary, args(environment)...)
		var stderr strings.Builder
		c.Stderr = &stderr
		before := len(engineJobs(t, service))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		within(t, deadline, environment+": the second job begins", func() bool {
			return len(engineJobs(t, service)) == before+2
		})
		if environment == "PROCESS" {
			within(t, deadline, "a worker begins", func() bool { return len(workerProcesses(t, binary)) > 0 })
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // the exit code is looked at
		outcome{code: c.ProcessState.ExitCode(), stderr: stderr.String()}.wants(t, 130, "interrupted")
		cancelled := 0
		for name, state := range engineJobs(t, service) {
			switch {
			case !strings.HasPrefix(name, "espalier-") || state != "DONE" && state != "CANCELLED":
				t.Errorf("%s: %s is %s after the run", environment, name, state)
			case state == "CANCELLED":
				cancelled++
			}
		}
		if cancelled != i+1 {
			t.Errorf("%s: %d jobs are cancelled, want that of each interrupted run", environment, cancelled)
		}
		within(t, 20*time.Second, environment+": the workers end", func() bool { return len(workerProcesses(t, binary)) == 0 })
	}
	o := espalier(t, append(args("LOOPBACK"), "--job_timeout", "0.3")...)
	o.wants(t, 5, "summarise", "cancelled after 300ms", "--job_timeout")
	if left := files(t, temporary); len(left) > 0 {
		t.Errorf("left in TMPDIR: %v", left)
	}
}
