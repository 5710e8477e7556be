package transforms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // plain paths
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Model says which tree scores rows. Set either JSON or URL.
type Model struct {
	// JSON is the content of a tree.json.
	JSON []byte

	// URL is the place of a tree.json, or of the LATEST.json of retrain, which names one. Workers read it. A program with package pipelines
	// reads plain paths, file://, gs:// and s3://. Any other program reads the file
	// systems that are registered with Beam; plain paths always are.
	URL string
	// Every is the interval after which each worker reads the URL again, when the next
	// row comes. If the new model cannot be read or decoded, or tests columns that the
	// rows lack, the worker keeps the tree before it; this is logged, and counted as
	// models_refused. 0: the URL is read once.
	Every time.Duration
	// Later allows a URL without a model when the pipeline is built, or one that cannot be
	// read there. Each worker then reads it at its first row, and fails if there is still
	// no model. By default the model is also read when the pipeline is built, and checked
	// against the type of the rows.
	Later bool
}

// Prediction is the prediction of a tree for a row.
type Prediction struct {
	Class         string
	Probabilities []float64 // by class, in the order of label.classes in the tree.json
	Leaf          int       // id of the leaf among the nodes
	Tests         int       // tests on the path to the leaf
	Cost          float64   // sum of the tests' own costs
	Billed        float64   // sum of what is paid for the tests, see tree.Test.Billed
	Model         string    // see ModelID
}

// ModelID returns the name of a tree.json: see tree.ID.
func ModelID(encoded []byte) string { return tree.ID(encoded) }

// Score scores rows, a PCollection<T>, and returns a PCollection<KV<T, Prediction>>. It
// emits every row once, in its window and at its time. The collection may be unbounded.
//
// T is a struct, a pointer to a struct, or a named map type from string to string or to
// any. (Beam accepts maps as elements only if their type has a name and is registered.)
//
// Names: a column is an exported field. Its name comes from the first of the tags
// espalier, parquet, beam and json that has a name, else it is the field's own name. The
// name "-" leaves the field out. The parquet tag has the form of parquet-go
// ("age,optional") or of Beam's parquetio ("name=age, type=INT64"). Fields of embedded
// structs are columns too, by Go's rules: a less deeply embedded field of the same name
// hides them.
//
// Values: fields may be numbers, strings, bools, time.Time, or pointers to these. A nil
// pointer, NaN, a zero time and an absent key of a map are missing values. A text in a
// map becomes a number if the feature is numeric, and is read by ISO 8601 if the feature
// is a date, a time or a timestamp. A time.Time is a timestamp in UTC, unless an option
// in the tag says otherwise: "date" takes its day, "time" its time of day, and
// "timestamp(millisecond)" rounds it down to milliseconds. The same options turn whole
// numbers into points in time, and "decimal(2:9)" turns them into decimals with 2 digits
// behind the point.
//
// Rows may lack columns that the tree does not test. The tested columns are looked up
// when the pipeline is built, unless Model.Later is set. A misspelled key of a map looks
// like a missing value. So a worker logs the features that are missing in all of its
// first 100 maps, the counter rows_scored counts rows, and values_missing counts the
// missing values of tested features.
//
// Score panics where TryScore returns an error. Register structs with
// beam.RegisterType, as for any DoFn.
func Score(s beam.Scope, rows beam.PCollection, m Model) beam.PCollection {
	return beam.Must(TryScore(s, rows, m))
}

// TryScore is Score with an error instead of a panic. It refuses a model that is not a
// tree.json, rows without a field for a tested feature or with a field of another type
// and, unless Model.Later is set, a URL that cannot be read.
func TryScore(s beam.Scope, rows beam.PCollection, m Model) (beam.PCollection, error) {
	fail := func(err error) (beam.PCollection, error) {
		return beam.PCollection{}, fmt.Errorf("transforms.Score: %w", err)
	}
	schema, err := schemaOf(rows)
	if err != nil {
		return fail(err)
	}
	switch {
	case (len(m.JSON) > 0) == (m.URL != ""):
		return fail(errors.New("want a model: set either JSON or URL"))
	case m.Every < 0 || m.Every > 0 && m.URL == "":
		return fail(fmt.Errorf("the interval Every is %v: want a duration of at least 0, and 0 for a model without a URL",
			m.Every))
	case m.Later && m.URL == "":
		return fail(errors.New("the field Later is set: want a URL, too, where the model comes later"))
	case !m.Later:
		if err := m.check(schema); err != nil {
			return fail(err)
		}
	}
	s = s.Scope("transforms.Score")
	fn := &scoreFn{Schema: jobs.MustJSON(schema), Model: m}
	out, err := beam.TryParDo(s, fn, rows)
	if err != nil {
		return fail(err)
	}
	return out[0], nil
}

// checkTime is the longest time for reading a model when a pipeline is built.
const checkTime = time.Minute

// check reads the model and binds it to the rows, to find faults early.
func (m *Model) check(schema *gorows.Schema) error {
	if m.URL == "" {
		_, err := newScorer(m.JSON, schema)
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	encoded, err := readModel(ctx, m.URL)
	if err == nil {
		_, err = newScorer(encoded, schema)
	}
	if err != nil {
		return fmt.Errorf("%s: %w (set Later if the model comes only after the pipeline is built)", m.URL, err)
	}
	return nil
}

// scorer is a tree bound to the columns of rows.
type scorer struct {
	*gorows.Binding

	id string
}

// newScorer decodes a tree.json and finds the columns of its tests.
func newScorer(encoded []byte, schema *gorows.Schema) (*scorer, error) {
	model, err := tree.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("the model: %w", err)
	}
	b, err := gorows.Bind(model, schema)
	return &scorer{b, ModelID(encoded)}, err
}

// scoreFn scores rows.
type scoreFn struct {
	Schema []byte // rowSchema
	Model  Model

	schema *gorows.Schema
	scorer *scorer
	due    time.Time // time of the next reading of the URL; zero: never

	cells  []gorows.Cell
	values []tree.Value
	usage  columnUsage
}

// Setup binds a model that is part of the pipeline.
func (f *scoreFn) Setup() error {
	f.schema = new(gorows.Schema)
	if err := json.Unmarshal(f.Schema, f.schema); err != nil {
		return err
	}
	if f.Model.URL != "" {
		return nil
	}
	var err error
	f.scorer, err = newScorer(f.Model.JSON, f.schema)
	return err
}

func (f *scoreFn) ProcessElement(ctx context.Context, row beam.T, emit func(beam.T, Prediction)) error {
	if err := f.renew(ctx); err != nil {
		return jobs.Carry(err)
	}
	p, err := f.predict(row)
	if err != nil {
		return jobs.Carry(err)
	}
	f.count(ctx)
	emit(row, Prediction{
		Class: p.Class, Probabilities: p.Probabilities, Leaf: p.Leaf, Tests: p.Tests, Cost: p.Cost, Billed: p.Billed,
		Model: f.scorer.id,
	})
	return nil
}

// predict returns the prediction for a row. It leaves the row's cells in f.cells.
func (f *scoreFn) predict(row any) (*tree.Prediction, error) {
	var err error
	if f.cells, err = f.scorer.Read(row, f.cells[:0]); err != nil {
		return nil, err
	}
	f.values = gorows.AppendValues(f.values[:0], f.cells)
	return f.scorer.Scorer.Predict(f.values)
}

// columnUsage counts rows and missing values, and notes the columns with a value.
type columnUsage struct {
	model string // id of the model whose columns these are
	rows  int    // rows that the model has scored
	seen  []bool // by column: some row had a value

	scored, missing int64 // rows and missing values of the current bundle
}

// firstRows is the number of rows after which columns without any value are logged.
const firstRows = 100

// count counts the row in f.cells. Once for each model it logs the tested features that
// the first rows all lack.
func (f *scoreFn) count(ctx context.Context) {
	k := &f.usage
	if k.model != f.scorer.id {
		k.model, k.rows, k.seen = f.scorer.id, 0, make([]bool, len(f.cells))
	}
	k.scored++
	for i := range f.cells {
		if f.cells[i].Type == 0 {
			k.missing++
		} else {
			k.seen[i] = true
		}
	}
	if k.rows++; k.rows != firstRows || !f.schema.Map {
		return
	}
	var names []string
	for i := range f.scorer.Columns {
		if !k.seen[i] {
			names = append(names, f.scorer.Columns[i].Name)
		}
	}
	if len(names) > 0 {
		log.Warnf(ctx, "transforms.Score: none of the first %d rows of type %s has a value of %q, which model %s tests: "+
			"are the keys misspelled?", firstRows, f.schema.Type, names, f.scorer.id)
	}
}

// FinishBundle adds the bundle's counts to the counters: to increment a counter takes
// longer than to score a row.
func (f *scoreFn) FinishBundle(ctx context.Context, _ func(beam.T, Prediction)) {
	rowsScored.Inc(ctx, f.usage.scored)
	valuesMissing.Inc(ctx, f.usage.missing)
	f.usage.scored, f.usage.missing = 0, 0
}

var (
	rowsScored    = beam.NewCounter(jobs.CounterNamespace, "rows_scored")
	valuesMissing = beam.NewCounter(jobs.CounterNamespace, "values_missing")
	modelsRead    = beam.NewCounter(jobs.CounterNamespace, "models_read")
	modelsRefused = beam.NewCounter(jobs.CounterNamespace, "models_refused")
)

// renew reads the model's URL if that is due. Without a first model it fails; later a
// model that cannot be read is logged, and the tree in use stays.
func (f *scoreFn) renew(ctx context.Context) error {
	if f.Model.URL == "" || f.scorer != nil && (f.due.IsZero() || time.Now().Before(f.due)) {
		return nil
	}
	b, err := readModel(ctx, f.Model.URL)
	if err == nil && (f.scorer == nil || f.scorer.id != ModelID(b)) {
		var next *scorer
		if next, err = newScorer(b, f.schema); err == nil {
			f.scorer = next
			modelsRead.Inc(ctx, 1)
		}
	}
	if f.Model.Every > 0 {
		f.due = time.Now().Add(f.Model.Every)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("the model %s: %w", f.Model.URL, err)
	if f.scorer == nil {
		return err
	}
	log.Errorf(ctx, "transforms.Score goes on with model %s: %v", f.scorer.id, err)
	modelsRefused.Inc(ctx, 1)
	return nil
}

// maxModelBytes is the largest size of a tree.json.
const maxModelBytes = 1 << 30

// readModel reads a file through the stores of package pipelines if the program has
// them, else through the file systems that are registered with Beam.
func readModel(ctx context.Context, url string) ([]byte, error) {
	b, err := readFile(ctx, url)
	if err != nil || path.Base(url) != latestName {
		return b, err
	}
	var latest struct {
		Run string `json:"run"`
	}
	if err := json.Unmarshal(b, &latest); err != nil || latest.Run == "" {
		return nil, fmt.Errorf("%s names no run", url)
	}
	return readFile(ctx, strings.TrimSuffix(url, latestName)+latest.Run+"/tree.json")
}

// latestName is the file that names the run in use beside it. retrain writes it.
const latestName = "LATEST.json"

// readFile reads a file as readModel says.
func readFile(ctx context.Context, url string) ([]byte, error) {
	if s, err := jobs.OpenStorage(ctx); err == nil {
		return s.Read(ctx, url)
	}
	url = strings.TrimPrefix(url, "file://")
	fs, err := filesystem.New(ctx, url)
	if err != nil {
		return nil, err
	}
	defer fs.Close() //nolint:errcheck // only read
	r, err := fs.OpenRead(ctx, url)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, maxModelBytes+1))
	if err == nil && len(b) > maxModelBytes {
		err = fmt.Errorf("more than %d bytes, want a tree.json", maxModelBytes)
	}
	return b, err
}
