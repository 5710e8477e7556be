package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	_ "github.com/espalier-ml/espalier/io/objectstore/gcsstore" // gs://
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestEngines: each engine of the list answers as its runs need it. An engine that is added
// is added here.
func TestEngines(t *testing.T) {
	want := []struct {
		traits     Traits
		translates bool
	}{
		{Traits{Name: "direct", Title: "the direct runner", Local: true, Levels: 1}, false},
		{Traits{Name: "flink", Title: "Flink", Levels: 1}, false},
		{Traits{Name: "spark", Title: "Spark", Levels: 1}, false},
		{Traits{Name: "dataflow", Title: "Dataflow", Levels: 16}, true},
		{Traits{Name: "prism", Title: "prism", Levels: 1}, false},
	}
	if len(engines) != len(want) {
		t.Fatalf("%d engines, want %d", len(engines), len(want))
	}
	for i, e := range engines {
		t.Run(want[i].traits.Name, func(t *testing.T) {
			if got := e.Traits(); got != want[i].traits {
				t.Errorf("got %+v, want %+v", got, want[i].traits)
			}
			j := &Driver{Engine: e}
			if j.Translates() != want[i].translates {
				t.Errorf("translates: %v", j.Translates())
			}
			if named, err := Named(want[i].traits.Name); err != nil || named != e {
				t.Errorf("its name gives %v: %v", named, err)
			}
			if IsLocal(want[i].traits.Name) != want[i].traits.Local || Title(want[i].traits.Name) != want[i].traits.Title {
				t.Error("the list says something else than the engine")
			}
			if want[i].traits.Local && (j.CancelLeftovers(t.Context()) != nil || j.Processes() != 1) {
				t.Error("a local engine has leftovers, or several processes")
			}
			if !want[i].traits.Local && j.Workers() != 1 {
				t.Errorf("%d goroutines a bundle", j.Workers())
			}
		})
	}
	if DefaultRunner() != "direct" {
		t.Errorf("the default is %s", DefaultRunner())
	}
	if _, err := Named("flonk"); err == nil || !strings.Contains(err.Error(), "want one of [direct flink spark dataflow prism]") {
		t.Errorf("an unknown name: %v", err)
	}
}

// added is an engine that a test adds: it keeps what it is given, and runs nothing.
type added struct {
	local                  bool
	urls, names, cancelled []string
	fault                  error
}

func (e *added) Traits() Traits {
	return Traits{Name: "added", Title: "Added", Local: e.local, Levels: 1}
}

func (e *added) Check(_ context.Context, urls []string) error {
	e.urls = urls
	return e.fault
}

func (e *added) Run(_ context.Context, job Submission) error {
	e.names = append(e.names, job.Name)
	job.Progress.Tasks.Add(1)
	return e.fault
}

func (e *added) Cancel(_ context.Context, runID string) error {
	e.cancelled = append(e.cancelled, runID)
	return nil
}

// TestAddedEngine: an engine in the list is a choice of --runner, and its jobs run through
// the driver. Nothing else has to know it.
func TestAddedEngine(t *testing.T) {
	before := engines
	t.Cleanup(func() { engines = before })
	e := new(added)
	engines = append(slices.Clone(before), e)
	if !slices.Contains(Runners(), "added") || IsLocal("added") {
		t.Errorf("runners %v", Runners())
	}
	input, output := []string{"gs://bucket/*.parquet"}, "run"
	settled, err := Settle(t.Context(), new(Config), "added", &input, &output)
	if err != nil || settled != Engine(e) || len(e.urls) != 2 || !strings.HasPrefix(output, "/") || e.urls[1] != output {
		t.Fatalf("settled %v with %v: %v", settled, e.urls, err)
	}
	h := new(heard)
	j := &Driver{Engine: settled, Reporter: h, RunID: "abc", Files: source.Process}
	build := func(beam.Scope, beam.PCollection) {}
	run := func() error {
		return j.Run(t.Context(), Job{"level 1", 4, "blocks", TasksDone}, []jobs.Task{{File: "a"}}, build)
	}
	err = run()
	last := len(h.steps) - 1 // earlier ones are shown on a slow machine only
	if err != nil || !slices.Equal(e.names, []string{"espalier-abc-level-1"}) || last < 0 || h.steps[last] != 4 {
		t.Errorf("jobs %v, steps %v: %v", e.names, h.steps, err)
	}
	if err := j.CancelLeftovers(t.Context()); err != nil || !slices.Equal(e.cancelled, []string{"abc"}) {
		t.Errorf("cancelled %v: %v", e.cancelled, err)
	}
	if err := j.CheckTranslation(t.Context(), "rows"); err != nil || len(e.urls) != 2 {
		t.Errorf("an engine that does not translate is asked: %v, %v", e.urls, err)
	}
	e.fault = errors.New("it is down")
	var failed *RunnerError
	if err := run(); !errors.As(err, &failed) || failed.Runner != "added" || failed.Job != "level 1" {
		t.Errorf("a job that failed: %v", err)
	}
	if _, err := Settle(t.Context(), new(Config), "added", &input, &output); !errors.Is(err, e.fault) {
		t.Errorf("an engine that is down: %v", err)
	}
	input, e.local, e.fault = []string{"rows"}, true, nil
	if _, err := Settle(t.Context(), new(Config), "added", &input); err != nil || input[0] != "rows" {
		t.Errorf("a local engine reads %v: %v", input, err)
	}
}

// translating is an engine that also translates jobs.
type translating struct {
	added

	translated []string
}

func (e *translating) Translate(_ context.Context, job Submission) error {
	e.translated = append(e.translated, job.Name)
	return e.fault
}

// TestTranslate: a job is built and translated, and is not run.
func TestTranslate(t *testing.T) {
	e := new(translating)
	j := &Driver{Engine: e}
	if err := j.CheckTranslation(t.Context(), "gs://bucket/rows"); err != nil || !slices.Equal(e.urls, []string{"gs://bucket/rows"}) {
		t.Errorf("checked %v: %v", e.urls, err)
	}
	translate := func(build Build) error {
		return j.Translate(t.Context(), "level 1", []jobs.Task{{File: "a"}}, build)
	}
	if err := translate(func(beam.Scope, beam.PCollection) {}); err != nil || len(e.names) > 0 ||
		!slices.Equal(e.translated, []string{"espalier-dry-run-level-1"}) {
		t.Errorf("translated %v, run %v: %v", e.translated, e.names, err)
	}
	var failed *RunnerError
	if err := translate(func(beam.Scope, beam.PCollection) { panic("no such step") }); !errors.As(err, &failed) ||
		!strings.Contains(err.Error(), "no such step") || len(e.translated) != 1 {
		t.Errorf("a job that cannot be built: %v", err)
	}
	e.fault = errors.New("refused")
	if err := translate(func(beam.Scope, beam.PCollection) {}); !errors.As(err, &failed) || failed.Runner != "added" {
		t.Errorf("a job that is refused: %v", err)
	}
}
