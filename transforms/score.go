package transforms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // plain paths
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Model says which tree scores rows. Either JSON or URL is set.
type Model struct {
	// JSON is a tree.json.
	JSON []byte

	// URL names a tree.json that workers read: with package pipelines in the
	// program, by its stores (plain paths, file://, gs://, s3://); without it, by
	// the file systems that are registered with Beam, of which plain paths always
	// are.
	URL string
	// Every is the time after which the URL is read anew, each worker for itself,
	// when the next row comes. What cannot be read or decoded, or asks for columns
	// that the rows do not have, does not take the place of the tree before it: it
	// is logged and counted as models_refused. 0: the URL is read once.
	Every time.Duration
	// Later says that the URL need not name a model yet when the pipeline is built,
	// or cannot be read there. It is then looked at by the first row of a worker,
	// which fails where there is still no model. Without it the URL is read and held
	// against the rows when the pipeline is built, and once more by each worker.
	Later bool
}

// Prediction is what a tree says of a row.
type Prediction struct {
	Class         string
	Probabilities []float64 // by class, in the order of the tree's label.classes
	Leaf          int       // id of the node
	Tests         int       // asked on the way there
	Cost          float64   // of these tests, by their own prices
	Billed        float64   // what is really paid for them, see tree.Test.Billed
	Model         string    // see ModelID
}

// ModelID names a tree.json: the first 16 hexadecimal digits of its SHA-256.
func ModelID(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

// Score scores rows, a PCollection<T>, and returns a PCollection<KV<T,
// Prediction>>: every row once, in its window and at its time. The collection may
// be unbounded.
//
// T is a struct, a pointer to one, or a named type of maps from string to strings
// or to anything (Beam takes maps as elements only by a name that is registered).
// A feature of the tree is the exported field of its name, which a tag
// gives (espalier, parquet, beam or json, in this order), or is the field's own;
// the name "-" is no column. The parquet tag is that of parquet-go ("age,optional")
// or of Beam's parquetio ("name=age, type=INT64"). Fields of embedded structs count
// as the struct's own unless one that lies less deep has their name.
// Fields may be numbers, strings, bools, time.Time and pointers to these, of
// which nil is a missing value, as are NaN, a zero time and what a map does not
// have. Texts from maps, which have no types, are read as numbers where the
// feature is numeric, and in ISO 8601 where it is a date, a time or a timestamp. A
// time.Time is a timestamp, in UTC, or what the tag's options say: "date" is its
// day, "time" its time of day, "timestamp(millisecond)" is precise to that. The
// options apply to whole numbers, too: they make them points in time, or decimals
// ("decimal(2:9)" is 2 digits behind the point).
//
// Columns that the tree does not test need not be there. Those that it does are
// looked for when the pipeline is built, unless Model.Later is set. A key that a map
// does not have cannot be told from a missing value: the counter rows_scored has the
// rows, values_missing the values that the tree tests and rows do not have, and a
// worker logs the features that none of its first 100 maps has. Score panics where
// TryScore returns an error.
//
// User structs should be registered with beam.RegisterType, as for any DoFn.
func Score(s beam.Scope, rows beam.PCollection, m Model) beam.PCollection {
	return beam.Must(TryScore(s, rows, m))
}

// TryScore is Score with an error: of a model that is not a tree.json, or of rows
// that lack a field that it tests, or have it of another type; and, unless
// Model.Later is set, of a URL that cannot be read.
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
		return fail(errors.New("want a model by its JSON or by its URL: one of them"))
	case m.Every < 0 || m.Every > 0 && m.URL == "":
		return fail(fmt.Errorf("the interval Every is %v: want a time of at least 0, and 0 where the model is not a URL",
			m.Every))
	case m.Later && m.URL == "":
		return fail(errors.New("the field Later is set: want the URL of a model that comes later"))
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

// checkTime bounds the reading of a model when a pipeline is built.
const checkTime = time.Minute

// check binds the model to the rows.
func (m *Model) check(schema *rowSchema) error {
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
		return fmt.Errorf("%s: %w (set Later for a model that is there only when rows come)", m.URL, err)
	}
	return nil
}

// scorer is a tree that is bound to rows.
type scorer struct {
	id     string
	scorer *tree.Scorer
	reader *rowReader
	inputs []tree.Input
	loose  []bool // by input: the type of its values is known only when the row is seen
}

// newScorer decodes a tree.json and finds the columns that it tests.
func newScorer(encoded []byte, schema *rowSchema) (*scorer, error) {
	model, err := tree.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("the model: %w", err)
	}
	b := &scorer{id: ModelID(encoded), scorer: model.Scorer()}
	inputs := b.scorer.Features()
	b.inputs = inputs
	names := make([]string, len(inputs))
	for i := range inputs {
		names[i] = inputs[i].Name
	}
	b.reader, err = schema.reader(names)
	faults := []error{err}
	for i := range inputs {
		c := &b.reader.columns[i]
		in := &inputs[i]
		switch {
		case c.Type == dataset.Text && (in.Kind == dataset.Numeric || in.Unit != dataset.Plain):
			faults = append(faults,
				fmt.Errorf("rows of type %s: column %q is a text, want a %s: the tree's feature is one of %s", schema.Type, c.Name,
					thing(in.Unit), in.Unit.Things()))
		case c.Type == dataset.Number && c.Unit != in.Unit:
			faults = append(faults, fmt.Errorf("rows of type %s: column %q has %s, want %s as the tree's feature: say so "+
				"with a tag, as in `espalier:\",date\"`, or train anew", schema.Type, c.Name, c.Unit.Things(), in.Unit.Things()))
		case c.Type == 0:
			c.Unit = in.Unit // of a time.Time
		}
		b.loose = append(b.loose, c.Type == 0)
	}
	return b, errors.Join(faults...)
}

// thing returns what one number of a unit is.
func thing(u dataset.Unit) string { return strings.TrimSuffix(u.Things(), "s") }

// scoreFn scores rows.
type scoreFn struct {
	Schema []byte // rowSchema
	Model  Model

	schema *rowSchema
	scorer *scorer
	due    time.Time // when the URL is read next; zero: never

	cells  []cell
	values []tree.Value
	seen   keysSeen
}

// Setup binds a model that travels with the pipeline.
func (f *scoreFn) Setup() error {
	f.schema = new(rowSchema)
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

func (f *scoreFn) predict(row any) (*tree.Prediction, error) {
	var err error
	if f.cells, err = f.scorer.reader.read(row, f.cells[:0]); err != nil {
		return nil, err
	}
	f.values = f.values[:0]
	for i := range f.cells {
		if f.scorer.loose[i] {
			if err := f.cells[i].fit(&f.scorer.inputs[i]); err != nil {
				return nil, err
			}
		}
		f.values = append(f.values, f.cells[i].value())
	}
	return f.scorer.scorer.Predict(f.values)
}

// keysSeen tells the columns of rows that no row has had a value of.
type keysSeen struct {
	model string // whose columns these are
	rows  int    // of that model
	seen  []bool // by column

	scored, missing int64 // rows and values without one, of the bundle
}

// keysLooked is the number of rows after which columns without a value are told.
const keysLooked = 100

// count counts a row, and tells once a model what it asks for and no row has.
func (f *scoreFn) count(ctx context.Context) {
	k := &f.seen
	if k.model != f.scorer.id {
		k.model, k.rows, k.seen = f.scorer.id, 0, make([]bool, len(f.cells))
	}
	k.scored++
	for i := range f.cells {
		if f.cells[i].typ == 0 {
			k.missing++
		} else {
			k.seen[i] = true
		}
	}
	if k.rows++; k.rows != keysLooked || !f.schema.Map {
		return
	}
	var names []string
	for i := range f.scorer.reader.columns {
		if !k.seen[i] {
			names = append(names, f.scorer.reader.columns[i].Name)
		}
	}
	if len(names) > 0 {
		log.Warnf(ctx, "transforms.Score: none of the first %d rows of type %s has a value of %q, which model %s tests: "+
			"are the keys misspelled?", keysLooked, f.schema.Type, names, f.scorer.id)
	}
}

// FinishBundle counts what the bundle has scored: a counter costs more than a row.
func (f *scoreFn) FinishBundle(ctx context.Context, _ func(beam.T, Prediction)) {
	rowsScored.Inc(ctx, f.seen.scored)
	valuesMissing.Inc(ctx, f.seen.missing)
	f.seen.scored, f.seen.missing = 0, 0
}

var (
	rowsScored    = beam.NewCounter(jobs.CounterNamespace, "rows_scored")
	valuesMissing = beam.NewCounter(jobs.CounterNamespace, "values_missing")
	modelsRead    = beam.NewCounter(jobs.CounterNamespace, "models_read")
	modelsRefused = beam.NewCounter(jobs.CounterNamespace, "models_refused")
)

// renew reads the model's URL where that is due. Only the first tree must be
// there: later a stream goes on with the one it has.
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

// maxModelBytes bounds a tree.json.
const maxModelBytes = 1 << 30

// readModel reads a file by the stores of package pipelines if the program has
// them, else by those registered with Beam.
func readModel(ctx context.Context, url string) ([]byte, error) {
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
