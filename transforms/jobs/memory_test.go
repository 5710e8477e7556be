package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	//nolint:staticcheck // the embedded default, see package pipelines
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// TestMain lets the tests run on prism, which serialises, unless --runner says
// otherwise.
func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// run is the run of the test.
var run *jobs.Run

// inRun returns a context of the run.
func inRun(t *testing.T) context.Context {
	t.Helper()
	return run.Context(t.Context())
}

// memoryFiles is a Storage in memory. The local runners run the DoFns in this process, so
// that they can use it.
type memoryFiles struct {
	mu     sync.Mutex
	files  map[string][]byte
	groups map[string]map[string]*dataset.Vector // by "file#group", then by column

	predictions func(output string, columns []jobs.PredictionColumn) jobs.Predictions // nil: none are written
}

func newMemory(t *testing.T) *memoryFiles {
	t.Helper()
	m := &memoryFiles{files: make(map[string][]byte), groups: make(map[string]map[string]*dataset.Vector)}
	run = jobs.NewRun(m, jobs.DefaultFilesConfig())
	t.Cleanup(run.Close)
	return m
}

func (m *memoryFiles) RowGroup(_ context.Context, task jobs.Task, columns []string) (dataset.RowGroup, error) {
	g := m.groups[fmt.Sprintf("%s#%d", task.File, task.RowGroup)]
	if g == nil {
		return nil, fmt.Errorf("%s, row group %d: %w", task.File, task.RowGroup, fs.ErrNotExist)
	}
	r := &memoryGroup{}
	for _, c := range columns {
		if g[c] == nil {
			return nil, &dataset.DataError{File: task.File, Column: c, Problem: "the column is missing"}
		}
		r.columns = append(r.columns, g[c])
	}
	return r, nil
}

func (m *memoryFiles) Predictions(_ context.Context, task jobs.Task, _ []string,
	columns []jobs.PredictionColumn, _ map[string]string,
) (jobs.Predictions, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.predictions == nil {
		return nil, errors.New("no files are written here")
	}
	return m.predictions(task.Output, columns), nil
}

func (m *memoryFiles) Read(_ context.Context, url string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[url]
	if !ok {
		return nil, fmt.Errorf("%s: %w", url, fs.ErrNotExist)
	}
	return b, nil
}

func (m *memoryFiles) Write(_ context.Context, url string, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[url] = b
	return nil
}

type memoryGroup struct{ columns []*dataset.Vector }

func (g *memoryGroup) Rows() int { return g.columns[0].Rows() }

func (g *memoryGroup) ReadColumn(i int, dst *dataset.Vector) error {
	return g.ReadRows(i, 0, g.Rows(), dst)
}

func (g *memoryGroup) ReadRows(i, from, to int, dst *dataset.Vector) error {
	*dst = *g.columns[i]
	if dst.Index != nil {
		dst.Index = dst.Index[from:to]
	} else {
		dst.Numbers = dst.Numbers[from:to]
	}
	return nil
}

func (g *memoryGroup) PageRows() int { return 0 }

func (g *memoryGroup) Close() error { return nil }

// put stores the table as row groups of the given size and returns their tasks.
func put(t *conformance.Table, m *memoryFiles, file string, size int) []jobs.Task {
	var tasks []jobs.Task
	for from := 0; from < len(t.Number); from += size {
		to := min(from+size, len(t.Number))
		m.groups[fmt.Sprintf("%s#%d", file, len(tasks))] = map[string]*dataset.Vector{
			"number": {Type: dataset.Number, Numbers: t.Number[from:to]},
			"text":   texts(t.Text[from:to]),
			"label":  texts(t.Label[from:to]),
		}
		tasks = append(tasks, jobs.Task{File: file, RowGroup: len(tasks)})
	}
	return tasks
}

func texts(values []string) *dataset.Vector {
	v := &dataset.Vector{Type: dataset.Text}
	at := make(map[string]int32)
	for _, s := range values {
		if s == "" {
			v.Index = append(v.Index, -1)
			continue
		}
		if _, ok := at[s]; !ok {
			at[s] = int32(len(v.Texts))
			v.Texts = append(v.Texts, s)
		}
		v.Index = append(v.Index, at[s])
	}
	return v
}

func spec() *jobs.RowSpec {
	return &jobs.RowSpec{
		Features: []dataset.FeatureColumn{
			{Name: "number", Kind: dataset.Numeric, Type: dataset.Number},
			{Name: "text", Kind: dataset.Categorical, Type: dataset.Text},
		},
		Label: "label", Parting: dataset.Parting{Shares: dataset.Shares{1}, Seed: 1}, DropNullLabels: true,
	}
}

// run runs a job over tasks on the given runner.
func runJob(t *testing.T, runner string, tasks []jobs.Task, build func(s beam.Scope, tasks beam.PCollection)) error {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	elements := make([][]byte, len(tasks))
	for i := range tasks {
		elements[i] = tasks[i].Encode()
	}
	build(s, beam.CreateList(s, elements))
	_, err := beam.Run(context.Background(), runner, p)
	return err
}

// config returns the settings of a job with a number of workers.
func config(workers int) jobs.Config {
	return jobs.Config{Workers: workers, Out: "out", Run: run.Name()}
}

func limits() binning.Limits { return binning.DefaultLimits() }
