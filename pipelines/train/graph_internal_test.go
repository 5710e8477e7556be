package train

import (
	"bytes"
	"context"
	"encoding/json"
	"flag" //nolint:depguard // the SDK's settings for Dataflow are flags only
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// update reports whether golden files are written anew: the flag -update, as in other
// packages. The SDK's Dataflow runner has declared it already.
func update() bool { return flag.Lookup("update").Value.String() == "true" }

// trained trains on made-up rows in memory and returns the training, set for
// Dataflow.
func trained(t *testing.T, rows int, theta float64) (*run, *grown) {
	t.Helper()
	ctx := t.Context()
	x, class := make([]float64, rows), make([]string, rows)
	for i := range x {
		x[i], class[i] = float64(i)+0.5, fmt.Sprint("c", i/3%2)
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{{Name: "x", Values: x}, {Name: "class", Values: class}}
	if err := parquetio.Write(ctx, objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c := config.DefaultTrain()
	c.Select = frontier.First
	c.Input, c.Label, c.Output, c.Theta, c.Bins, c.LevelsPerJob = []string{url}, "class", "gs://bucket/run", []float64{theta}, 1000, 2
	p, err := c.Parse()
	if err != nil {
		t.Fatal(err)
	}
	in, err := source.OpenInput(ctx, source.Process, c.Input, new(parallel.Steps))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := newPlan(ctx, source.Process, &c, p, in)
	if err != nil {
		t.Fatal(err)
	}
	driver := &engine.Driver{Engine: engine.Default(), Reporter: engine.Silent{}, Files: source.Process}
	there := place{scratch: "mem://" + t.Name(), blocks: "mem://" + t.Name() + "/blocks"}
	r := &run{stage: stage{plan, driver, source.Process, there}, journal: new(journal)}
	r.narrow(true)
	from, err := r.prepare(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.grower(from.objects).grow(ctx, from.growth)
	if err != nil {
		t.Fatal(err)
	}
	if r.driver.Engine, err = engine.Named("dataflow"); err != nil {
		t.Fatal(err)
	}
	r.place.spills, r.place.scratch = true, "gs://bucket/run/checkpoints/scratch/one"
	return r, g
}

// TestLevelsPerJob: a job grows the levels that the setting asks for, by default as many as suit the engine, and one with a
// deadline.
func TestLevelsPerJob(t *testing.T) {
	for _, c := range []struct {
		runner    string
		deadline  float64
		set, want int
	}{{"dataflow", 0, 0, 16}, {"dataflow", 0, 3, 3}, {"direct", 0, 0, 1}, {"flink", 0, 0, 1}, {"dataflow", 60, 0, 1}, {"dataflow", 60, 3, 3}} {
		e, err := engine.Named(c.runner)
		if err != nil {
			t.Fatal(err)
		}
		resources := config.Resources{LevelsPerJob: c.set, Deadline: c.deadline}
		g := &grower{stage: stage{plan: &plan{config: &config.Train{Resources: resources}}, driver: &engine.Driver{Engine: e}}}
		if got := g.levelsPerJob(); got != c.want {
			t.Errorf("%+v: %d levels", c, got)
		}
	}
}

// protos translates the jobs of a training over objects into the model that all engines take.
func protos(t *testing.T, r *run, o *objects) map[string]*pipepb.Pipeline {
	t.Helper()
	models := make(map[string]*pipepb.Pipeline)
	for _, g := range r.graphs(o) {
		p, err := engine.NewPipeline(r.input.Tasks, true, g.build)
		if err != nil {
			t.Fatal(err)
		}
		edges, _, err := p.Build()
		if err != nil {
			t.Fatal(err)
		}
		environment, err := graphx.CreateEnvironment(context.Background(), "beam:env:docker:v1", func(context.Context) string { return "image" })
		if err != nil {
			t.Fatal(err)
		}
		model, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
		if err != nil {
			t.Fatal(err)
		}
		models[g.name] = model
	}
	return models
}

// describe lists a job's steps with the coders of what goes in and out.
func describe(t *testing.T, model *pipepb.Pipeline) string {
	t.Helper()
	c := model.GetComponents()
	var coder func(id string) string
	coder = func(id string) string {
		spec := c.GetCoders()[id]
		name := strings.TrimSuffix(strings.TrimPrefix(spec.GetSpec().GetUrn(), "beam:coder:"), ":v1")
		var parts []string
		for _, part := range spec.GetComponentCoderIds() {
			parts = append(parts, coder(part))
		}
		if parts != nil {
			name += "<" + strings.Join(parts, ",") + ">"
		}
		return name
	}
	coders := func(collections map[string]string) string {
		var names []string
		for _, tag := range slices.Sorted(maps.Keys(collections)) {
			names = append(names, coder(c.GetPcollections()[collections[tag]].GetCoderId()))
		}
		return strings.Join(names, ",")
	}
	var lines []string
	for _, step := range c.GetTransforms() {
		var pardo pipepb.ParDoPayload
		urn := step.GetSpec().GetUrn()
		if urn == graphx.URNParDo {
			if err := proto.Unmarshal(step.GetSpec().GetPayload(), &pardo); err != nil {
				t.Fatal(err)
			}
		}
		if len(pardo.GetSideInputs())+len(pardo.GetStateSpecs())+len(pardo.GetTimerFamilySpecs()) > 0 {
			t.Errorf("%s has side inputs, state or timers", step.GetUniqueName())
		}
		lines = append(lines, fmt.Sprintf("%s [%s] %s -> %s\n", step.GetUniqueName(), urn, coders(step.GetInputs()), coders(step.GetOutputs())))
	}
	slices.Sort(lines)
	// The inside of a reshuffle is the SDK's, whose random keys have a coder of its
	// own. Engines put their own reshuffle in its place.
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "Reshuffle/") })
	for _, line := range lines {
		if strings.Contains(line, "custom") {
			t.Errorf("a coder of the SDK's own: %s", line)
		}
	}
	return strings.Join(lines, "")
}

// TestGraphs: the jobs have the steps and coders that they had, no side input and
// no coder that is not the model's own.
func TestGraphs(t *testing.T) {
	var got strings.Builder
	r, done := trained(t, 60, 0.1)
	models := protos(t, r, done.objects)
	for name, unread := range protos(t, r, r.unread()) {
		if diff := cmp.Diff(describe(t, models[name]), describe(t, unread)); diff != "" {
			t.Errorf("%s: other steps before the rows are read (-read +unread):\n%s", name, diff)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		fmt.Fprintf(&got, "== %s\n%s", name, describe(t, models[name]))
	}
	file := filepath.Join("testdata", "graphs.golden")
	if update() {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("graphs (-want +got; accept with go test ./pipelines/train -run TestGraphs -update):\n%s", diff)
	}
}

// TestGraphSize: the graphs do not grow with the tree.
func TestGraphSize(t *testing.T) {
	smallRun, small := trained(t, 600, 0.5)
	largeRun, large := trained(t, 600, 0)
	size := func(g *grown) int { return len(elements.MustJSON(g.trees[0])) }
	if size(small)*10 > size(large) {
		t.Fatalf("trees of %d and %d bytes: want very different ones", size(small), size(large))
	}
	a, b := protos(t, smallRun, small.objects), protos(t, largeRun, large.objects)
	for name := range a {
		grown := proto.Size(b[name]) - proto.Size(a[name])
		if grown > 100 { // other names and numbers
			t.Errorf("%s: the graph has grown by %d bytes", name, grown)
		}
	}
}

// sdkLog collects the SDK's log.
type sdkLog struct{ bytes.Buffer }

func (h *sdkLog) Log(_ context.Context, _ beamlog.Severity, _ int, text string) {
	h.WriteString(text + "\n")
}

// TestTranslate: Dataflow's own translation takes each job, with the flags of the
// workers.
func TestTranslate(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none"))
	for name, value := range map[string]string{
		"project": "project", "region": "europe-west1", "staging_location": "gs://bucket/staging", "max_num_workers": "7",
		"worker_machine_type": "n2-standard-4", "number_of_worker_harness_threads": "4", "environment_type": "",
	} {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, before) })
	}
	t.Cleanup(func() { _ = flag.Set("dry_run", "false") })
	log := new(sdkLog)
	beamlog.SetLogger(log)
	t.Cleanup(func() { beamlog.SetLogger(&beamlog.Structural{}) })
	slog.SetLogLoggerLevel(slog.LevelError)
	r, _ := trained(t, 60, 0.1)
	if _, err := r.translate(t.Context()); err != nil {
		t.Fatal(err)
	}
	type worker struct {
		Threads int64 `json:"numThreadsPerWorker"`
		Machine string
		Scaling struct {
			Max int64 `json:"maxNumWorkers"`
		} `json:"autoscalingSettings"`
		Packages []struct{ Name, Location string }
	}
	var got []string
	for _, text := range jobsIn(log.String()) {
		var job struct {
			Name, Type, ProjectID string
			Environment           struct {
				Experiments []string
				WorkerPools []worker
			}
		}
		if err := json.Unmarshal([]byte(text), &job); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		w := job.Environment.WorkerPools[0]
		got = append(got, fmt.Sprintf("%s %s %d %d %v %s", job.Name, job.Type, w.Threads, w.Scaling.Max, slices.Contains(job.Environment.Experiments, "use_runner_v2"), w.Packages[0].Name))
	}
	var want []string
	for _, name := range []string{"summarise", "coalesce", "level", "grow", "evaluate"} {
		want = append(want, "espalier-dry-run-"+name+" JOB_TYPE_BATCH 4 7 true worker")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

// jobsIn returns the JSON objects that begin a line of a log.
func jobsIn(log string) []string {
	var found []string
	for {
		at := strings.Index(log, "\n{\n")
		if at < 0 {
			return found
		}
		log = log[at+1:]
		var raw json.RawMessage
		d := json.NewDecoder(strings.NewReader(log))
		if d.Decode(&raw) == nil {
			found = append(found, string(raw))
		}
		log = log[1:]
	}
}
