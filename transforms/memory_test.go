package transforms_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // the embedded default, see package pipelines
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms"
)

// TestMain lets the tests run on prism, which serialises, unless --runner says
// otherwise.
func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// memory is a Storage of which the row groups are columns in memory. The local
// runners run the DoFns in this process.
type memory struct {
	mu     sync.Mutex
	files  map[string][]byte
	groups map[string]map[string]*dataset.Vector // by "file#group", then by column

	predictions func(output string, columns []transforms.PredictionColumn) transforms.Predictions // nil: none are written
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	m := &memory{files: make(map[string][]byte), groups: make(map[string]map[string]*dataset.Vector)}
	transforms.SetStorage(func([]byte) (transforms.Storage, error) { return m, nil })
	return m
}

func (m *memory) RowGroup(_ context.Context, task transforms.Task, columns []string) (dataset.RowGroup, error) {
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

func (m *memory) Predictions(_ context.Context, task transforms.Task, _ []string, columns []transforms.PredictionColumn) (transforms.Predictions, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.predictions == nil {
		return nil, errors.New("no files are written here")
	}
	return m.predictions(task.Output, columns), nil
}

func (m *memory) Read(_ context.Context, url string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[url]
	if !ok {
		return nil, fmt.Errorf("%s: %w", url, fs.ErrNotExist)
	}
	return b, nil
}

func (m *memory) Write(_ context.Context, url string, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[url] = b
	return nil
}

type memoryGroup struct{ columns []*dataset.Vector }

func (g *memoryGroup) Rows() int { return g.columns[0].Rows() }

func (g *memoryGroup) ReadColumn(i int, dst *dataset.Vector) error {
	*dst = *g.columns[i]
	return nil
}

func (g *memoryGroup) Close() error { return nil }

// table is a small data set: a numeric feature with gaps, a categorical one, and
// a label with a null.
type table struct {
	number []float64
	text   []string
	label  []string
}

func newTable(rows int) *table {
	random := rand.New(rand.NewPCG(1, 2))
	t := &table{}
	for r := range rows {
		x := float64(random.IntN(40)) / 4
		if random.IntN(10) == 0 {
			x = math.NaN()
		}
		t.number = append(t.number, x)
		t.text = append(t.text, string(rune('a'+random.IntN(5))))
		label := "no"
		if x > 5 != (random.IntN(8) == 0) {
			label = "yes"
		}
		if r == 3 {
			label = ""
		}
		t.label = append(t.label, label)
	}
	return t
}

// put stores the table as row groups of the given size and returns their tasks.
func (t *table) put(m *memory, file string, size int) []transforms.Task {
	var tasks []transforms.Task
	for from := 0; from < len(t.number); from += size {
		to := min(from+size, len(t.number))
		m.groups[fmt.Sprintf("%s#%d", file, len(tasks))] = map[string]*dataset.Vector{
			"number": {Type: dataset.Number, Numbers: t.number[from:to]},
			"text":   texts(t.text[from:to]),
			"label":  texts(t.label[from:to]),
		}
		tasks = append(tasks, transforms.Task{File: file, RowGroup: len(tasks)})
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

func spec() *transforms.RowSpec {
	return &transforms.RowSpec{
		Features: []transforms.FeatureColumn{
			{Name: "number", Kind: dataset.Numeric, Type: dataset.Number},
			{Name: "text", Kind: dataset.Categorical, Type: dataset.Text},
		},
		Label: "label", WeightScale: 1, Shares: dataset.Shares{1}, Seed: 1, DropNullLabels: true,
	}
}

// run runs a job over tasks on the given runner.
func runJob(t *testing.T, runner string, tasks []transforms.Task, build func(s beam.Scope, tasks beam.PCollection)) error {
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

func limits() binning.Limits { return binning.DefaultLimits() }
