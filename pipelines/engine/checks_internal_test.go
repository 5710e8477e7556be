package engine

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag" //nolint:depguard // the SDK's settings for Dataflow are flags only
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"google.golang.org/protobuf/proto"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/worker/protocol"
	"github.com/espalier-ml/espalier/transforms/elements"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// sdkFlag sets a flag of the SDK until the test ends.
func sdkFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Value.Set(before); err != nil {
			t.Error(err)
		}
	})
}

// wantUsage wants an error of usage with this text.
func wantUsage(t *testing.T, what string, err error, text string) {
	t.Helper()
	if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want a usage error with %q", what, err, text)
	}
}

// TestDataflowCheck: what a run on Dataflow lacks is told at once, all of it.
func TestDataflowCheck(t *testing.T) {
	for _, name := range []string{"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "CLOUDSDK_COMPUTE_REGION", "CLOUDSDK_CONFIG"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", "") // no gcloud, which would tell a project
	var e dataflow
	wantUsage(t, "nothing given", e.Check(t.Context(), nil), "--runner dataflow needs --project, --region, --staging_location gs://BUCKET/FOLDER")
	sdkFlag(t, "project", "p")
	sdkFlag(t, "region", "europe-west1")
	wantUsage(t, "no staging", e.Check(t.Context(), nil), "--runner dataflow needs --staging_location gs://BUCKET/FOLDER")
	sdkFlag(t, "staging_location", "gs://bucket/staging")
	t.Run("template", func(t *testing.T) {
		sdkFlag(t, "template_location", "gs://bucket/template")
		wantUsage(t, "a template", e.Check(t.Context(), nil), "--template_location: a template has one job")
	})
	wantUsage(t, "a local file", e.Check(t.Context(), []string{"gs://bucket/a", "/data/b"}), "/data/b lies where its workers cannot see it")
	wantUsage(t, "all given, in a program that does not call beam.Init",
		e.Check(t.Context(), []string{"gs://bucket/a", "s3://bucket/b"}), "beam.Init was not called")
}

// TestPortableCheck: a job service must answer, and runs name their jobs themselves.
func TestPortableCheck(t *testing.T) {
	e := flink()
	sdkFlag(t, "endpoint", "")
	wantUsage(t, "no endpoint", e.Check(t.Context(), nil), "--runner flink needs --endpoint HOST:PORT")
	sdkFlag(t, "endpoint", "localhost:1")
	func() {
		defer setJobName("mine")()
		wantUsage(t, "a name", e.Check(t.Context(), nil), "--job_name and --async have no place here")
	}()
	if *jobopts.JobName != "" {
		t.Errorf("the name %q stays", *jobopts.JobName)
	}
	if beam.Initialized() {
		t.Fatal("this test wants a program that has not called beam.Init")
	}
	wantUsage(t, "no beam.Init", e.Check(t.Context(), nil), "--runner flink: beam.Init was not called")
}

// TestPortableFault: the error of an engine names it, unless the user has ended the run.
func TestPortableFault(t *testing.T) {
	e, down := portable{"flink", "Flink"}, errors.New("it is down")
	var failed *RunnerError
	if err := e.fault(t.Context(), "connect", down); !errors.As(err, &failed) || failed.Runner != "flink" || failed.Job != "connect" || !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.fault(ctx, "connect", down); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the user has ended it", err)
	}
}

// TestSelfAsWorker: in the environment PROCESS engines start this very program, unless another command is
// named, and next to nothing is staged.
func TestSelfAsWorker(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(t.TempDir(), "built")
	if err := os.WriteFile(built, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ environment, config, binary, command, staged string }{
		{"PROCESS", "", "", self, os.DevNull},
		{"process", "", built, self, built},
		{"PROCESS", `{"command":"other"}`, "", "other", self},
		{"LOOPBACK", "", built, "", os.DevNull},
	} {
		sdkFlag(t, "environment_type", c.environment)
		sdkFlag(t, "environment_config", c.config)
		sdkFlag(t, "worker_binary", c.binary)
		m, err := newJobModel(t.Context(), somePipeline())
		if err != nil {
			t.Fatal(err)
		}
		m.release(t.Context())
		command := ""
		for _, e := range m.pipeline.GetComponents().GetEnvironments() {
			var process pipepb.ProcessPayload
			if e.GetUrn() == "beam:env:process:v1" && proto.Unmarshal(e.GetPayload(), &process) == nil {
				command = process.GetCommand()
			}
		}
		if command != c.command || m.worker != c.staged {
			t.Errorf("%+v: command %s, staged %s", c, command, m.worker)
		}
	}
}

// TestConfigFlags: the fields of a configuration are the SDK's flags while a pipeline is admitted, and an empty field
// leaves its flag as it is.
func TestConfigFlags(t *testing.T) {
	sdkFlag(t, "endpoint", "before:1")
	sdkFlag(t, "environment_type", "DOCKER")
	sdkFlag(t, "num_workers", "3")
	values := func() string {
		var list []string
		for _, name := range []string{"endpoint", "environment_type", "environment_config", "parallelism", "num_workers", "resource_hints"} {
			list = append(list, flag.Lookup(name).Value.String())
		}
		return strings.Join(list, " ")
	}
	before := values()
	c := Config{
		Endpoint: "there:2", EnvironmentConfig: "image", Parallelism: 4,
		EngineOptions: []string{"num_workers=7", "resource_hints=min_ram=1GB", "resource_hints=cpu_count=2"},
	}
	for range 2 {
		leave, err := admit(t.Context(), &c)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := values(), "there:2 DOCKER image 4 7 [min_ram=1GB cpu_count=2]"; got != want {
			t.Errorf("flags %q, want %q", got, want)
		}
		leave()
		if got := values(); got != before {
			t.Errorf("after it flags %q, want %q", got, before)
		}
	}
	for option, want := range map[string]string{
		"num_workerz=7": "--engine_options num_workerz=***: want NAME=VALUE with the name of a flag of the Beam SDK",
		"num_workers":   "want NAME=VALUE", "num_workers=many": "--engine_options num_workers=***: ",
	} {
		_, err := admit(t.Context(), &Config{Endpoint: "there:2", EngineOptions: []string{option}})
		wantUsage(t, option, err, want)
		if got := values(); got != before {
			t.Errorf("after %s flags %q, want %q", option, got, before)
		}
	}
}

// TestConceal: documents have no secrets of settings.
func TestConceal(t *testing.T) {
	for text, want := range map[string]string{
		"image:1": "image:1", "{broken": "***", "": "",
		`{"command":"/opt/e","env":{"AWS_SECRET_ACCESS_KEY":"planted"},"other":"planted"}`: `{"command":"/opt/e","env":{"AWS_SECRET_ACCESS_KEY":"***"},"other":"***"}`,
	} {
		if got := concealEnvironment(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := concealOptions([]string{"job_name=planted", "verbose"}); !reflect.DeepEqual(got, []string{"job_name=***", "verbose"}) {
		t.Errorf("options %q", got)
	}
}

// TestTryWorker: a program that does not start as a worker is told before any job, with its exit code, the time
// and what it has said.
func TestTryWorker(t *testing.T) {
	program := func(script string) string {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := program(`test "$1 $2" = "--id=trial --provision_endpoint=trial" && echo starting && echo this program serves engines`)
	wantUsage(t, "not enabled", tryWorker(t.Context(), good), "--environment_type PROCESS: this program does not call worker.Main")
	if err := protocol.EnableWorkers(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hooks.DisableHook(protocol.WorkerHook) })
	if err := tryWorker(t.Context(), good); err != nil {
		t.Error(err)
	}
	for script, want := range map[string]string{
		"echo hello": "(exit code 0): main calls worker.Main first",
		"echo starting >&2; echo no file x >&2; exit 7":                           "(exit status 7: no file x): ",
		"echo 'panic: no table' >&2; echo 'goroutine 1:' >&2; exit 2":             "(exit status 2: panic: no table): ",
		"echo 'flag provided but not defined: -x' >&2; echo 'Usage:' >&2; exit 2": "(exit status 2: flag provided but not defined: -x): ",
		"kill -9 $$": "(signal: killed): ",
	} {
		wantUsage(t, script, tryWorker(t.Context(), program(script)), want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tryWorker(ctx, good); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the user has ended it", err)
	}
}

// TestTryCommand: a command of --environment_config that ends at once is told before any job. Programs that wait, and
// programs that are not on this machine, may be right.
func TestTryCommand(t *testing.T) {
	config := func(script string) string {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return `{"command":"` + file + `"}`
	}
	for _, right := range []string{
		config("exec sleep 60"), config("echo this program serves engines"), "", `{"command":"boot"}`, `{"command":"/none/such"}`,
	} {
		if err := tryCommand(t.Context(), right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
	wantUsage(t, "a wrong program", tryCommand(t.Context(), config("echo no such flag >&2; exit 2")),
		"(exit status 2: no such flag): want a program that calls worker.Main first, or Beam's boot program")
}

// TestPortableWithLease: workers in other processes hold a lease while their job runs. The
// engine here ends each job at once.
func TestPortableWithLease(t *testing.T) {
	f := &fakeEngine{run: func(*fakeJob) error { return errors.New("refused") }}
	f.start(t)
	e := portable{"flink", "Flink"}
	for _, environment := range []string{"LOOPBACK", "DOCKER"} {
		*jobopts.EnvironmentType = environment // put back by start
		for _, scratch := range []string{"", t.TempDir()} {
			job := Submission{Name: "espalier-1-step", Pipeline: somePipeline(), Progress: new(elements.Progress), Files: source.Process, Scratch: scratch}
			if err := e.Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), "refused") {
				t.Errorf("%s: %v", environment, err)
			}
			if scratch == "" {
				continue
			}
			if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
				t.Errorf("%s: %v stay, %v", environment, left, err)
			}
		}
	}
	sdkFlag(t, "endpoint", "localhost:1")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := e.Cancel(ctx, "abc"); err == nil {
		t.Error("leftovers on an engine that does not answer")
	}
}

// cloud serves Dataflow's API and tokens, with two active jobs.
func cloud(t *testing.T) (cancelled *[]string) {
	t.Helper()
	cancelled = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"access_token": "x", "token_type": "Bearer", "expires_in": 3600}`
		switch at := path.Base(r.URL.Path); {
		case r.Method == http.MethodPut:
			*cancelled = append(*cancelled, at)
			answer = "{}"
		case at == "jobs":
			answer = `{"jobs": [{"id": "1", "name": "espalier-abc-level-1"}, {"id": "2", "name": "mine"}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer)) // the client would tell
	}))
	t.Cleanup(s.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@example.com", "private_key": string(block), "token_uri": s.URL + "/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, account, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	sdkFlag(t, "dataflow_endpoint", s.URL)
	sdkFlag(t, "project", "p")
	sdkFlag(t, "region", "europe-west1")
	return cancelled
}

// TestDataflowCancels: only the jobs of the run are cancelled, not all active jobs on Dataflow.
func TestDataflowCancels(t *testing.T) {
	cancelled := cloud(t)
	if err := (dataflow{}).Cancel(t.Context(), "abc"); err != nil || !slices.Equal(*cancelled, []string{"1"}) {
		t.Errorf("cancelled %v, %v", *cancelled, err)
	}
}

// TestOrInterrupted: what fails after the end of a context failed because of the end.
func TestOrInterrupted(t *testing.T) {
	late, cause := errors.New("a file is gone"), errors.New("the user ended it")
	if err := OrInterrupted(t.Context(), late); !errors.Is(err, late) {
		t.Errorf("before the end: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := OrInterrupted(ctx, late); !errors.Is(err, cause) || OrInterrupted(ctx, nil) != nil {
		t.Errorf("after the end: %v", err)
	}
	told := &InterruptedError{Checkpoints: "run/checkpoints", Err: cause}
	if err := OrInterrupted(ctx, told); !errors.Is(err, cause) || err.Error() != "the user ended it; its checkpoints stay in run/checkpoints" {
		t.Errorf("with checkpoints: %v", err)
	}
}

// directDriver is the driver of a run on the direct runner.
func directDriver(t *testing.T, r Reporter) *Driver {
	t.Helper()
	f := source.Begin(source.DefaultConfig())
	t.Cleanup(f.End)
	e, err := Settle(t.Context(), new(Config), "direct", new([]string))
	if err != nil {
		t.Fatal(err)
	}
	return &Driver{Engine: e, Reporter: r, Files: f}
}

// TestDirect: a job runs in this process; its faults are told by their kind.
func TestDirect(t *testing.T) {
	h := new(heard)
	j := directDriver(t, OneAtATime(h))
	what := Job{"level 1", 4, "blocks", TasksDone}
	run := func(build Build) error { return j.Run(t.Context(), what, []jobs.Task{{File: "a"}}, build) }
	if err := run(func(beam.Scope, beam.PCollection) {}); err != nil || len(h.steps) == 0 || j.ID() == "" || !j.Local() {
		t.Errorf("steps %v, %v", h.steps, err)
	}
	if len(j.Timings) != 1 || j.Timings[0].Job != "level 1" {
		t.Errorf("timings %v", j.Timings)
	}
	fail := func(err error) Build {
		return func(s beam.Scope, _ beam.PCollection) { panic(err.Error()) }
	}
	var failed *RunnerError
	if err := run(fail(errors.New("no such step"))); !errors.As(err, &failed) || failed.Runner != "direct" {
		t.Errorf("a job that cannot be built: %v", err)
	}
	wantUsage(t, "a full disk", run(fail(usage.Mark(usage.OfOutput(errors.New("disk full"))))), "--output: disk full")
	var data *dataset.DataError
	if err := run(fail(&dataset.DataError{File: "a.parquet", Column: "x", Problem: "bad"})); errors.As(err, &data) && data.Column != "x" {
		t.Errorf("a fault of the data: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Run(ctx, what, nil, fail(errors.New("it runs"))); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that has ended: %v", err)
	}
}

// TestLeftBehind: a run that is interrupted leaves a local pipeline behind, after a while.
func TestLeftBehind(t *testing.T) {
	j := directDriver(t, Silent{})
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	start := time.Now()
	err := j.Run(ctx, Job{"level 1", 4, "blocks", TasksDone}, nil, func(beam.Scope, beam.PCollection) {
		cancel()
		<-release
	})
	if took := time.Since(start); !errors.Is(err, context.Canceled) || took < PatienceAfterEnd {
		t.Errorf("after %v: %v, want that the pipeline was left after %v", took, err, PatienceAfterEnd)
	}
	close(release)
	leave, err := admit(t.Context(), new(Config))
	if err != nil { // once the pipeline has ended
		t.Fatal(err)
	}
	leave()
}

// counting is a Reporter that is not safe for several goroutines.
type counting struct{ calls []string }

func (c *counting) Job(string, int64, string) { c.calls = append(c.calls, "job") }
func (c *counting) Step(int64, string)        { c.calls = append(c.calls, "step") }
func (c *counting) Warn(string)               { c.calls = append(c.calls, "warn") }
func (c *counting) Note(string)               { c.calls = append(c.calls, "note") }

func TestOneAtATime(t *testing.T) {
	c := new(counting)
	for _, r := range []Reporter{OneAtATime(c), OneAtATime(nil)} {
		r.Job("a", 1, "b")
		r.Step(1, "")
		r.Warn("c")
		r.Note("d")
	}
	if !slices.Equal(c.calls, []string{"job", "step", "warn", "note"}) {
		t.Errorf("calls %v", c.calls)
	}
}

// TestTasksDone: by hand.
func TestTasksDone(t *testing.T) {
	p := new(elements.Progress)
	p.Tasks.Store(3)
	p.Rows.Store(40)
	p.Objects.Store(7)
	if done, note := TasksDone(p); done != 3 || note != "40 rows, 7 objects" {
		t.Errorf("%d, %q", done, note)
	}
}

func TestRunnerSetting(t *testing.T) {
	runner := "direct"
	s := RunnerSetting(&runner)
	if err := s.Value.Set("spark"); err != nil || runner != "spark" || s.Name != "runner" || !s.Changeable {
		t.Errorf("%+v, %v", s, err)
	}
	if !strings.Contains(s.Help, "direct, flink") {
		t.Errorf("help %q, want it to name the runners", s.Help)
	}
	if Title("walker") != "walker" {
		t.Error("an unknown runner has another title than its name")
	}
	if j := (&Driver{Engine: flink()}); j.Processes() != max(1, *jobopts.Parallelism) || j.Workers() != 1 {
		t.Errorf("%d processes of %d workers", j.Processes(), j.Workers())
	}
	if IsLocal("walker") || (direct{}).Cancel(t.Context(), "abc") != nil {
		t.Error("the jobs of local engines have ended with their process")
	}
	_, err := Settle(t.Context(), new(Config), "walker", new([]string))
	wantUsage(t, "unknown", err, "--runner walker: want one of [direct flink spark dataflow prism]")
	_, err = Settle(t.Context(), new(Config), "flink", &[]string{"gs:/bucket/x"})
	wantUsage(t, "a damaged URL", err, "gs:/bucket/x")
}
