package transforms

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Model selects the tree that scores rows. Set exactly one of JSON, Tree, URL and Trees; Latest also allows a first
// model.
type Model struct {
	// JSON is the content of a tree.json.
	JSON []byte
	// Tree is a tree in memory.
	Tree *tree.Tree

	// URL is the location of a run folder, of a tree.json, or of the LATEST.json of retrain.
	// Workers read it. It is a plain path, a file:// URL, a URL of a driver that the program imports, such as
	// io/objectstore/s3store, or of a file system registered with Beam.
	URL string
	// Every is the interval after which each worker reads the URL again, when the next row comes.
	// If the new model cannot be read or decoded, or tests columns that the rows lack, the worker
	// keeps the previous tree; this is logged, and counted as models_refused. 0: the URL is read
	// once.
	Every time.Duration
	// Later allows a URL that cannot be read, or has no model yet, when the pipeline is built. Each
	// worker then reads it at its first row, and fails if there is still no model. By default the
	// model is also read when the pipeline is built, and checked against the type of the rows.
	Later bool

	// Strict refuses rows that are maps without the key of a tested column, because the key is
	// probably misspelled. By default such values are missing, and keys_missing counts them.
	Strict bool

	// Trees are trees of the same pipeline: the Trees of Train or of WindowedTree. They are a side
	// input: a row waits for the tree of its window, encoded on every runner, and is scored by the
	// tree of the latest pane. If trees of several windows meet in its window, the tree of the window
	// that ends last scores it. A tree of the global window scores rows of all windows. A row cannot
	// be scored if its window has no tree. Spark does not support side inputs of Go pipelines.
	Trees beam.PCollection
	// Latest scores each row by the newest tree whose window ended at or before the time of the row. No tree
	// scores rows that it was grown from, and a tree stays in use while later windows have no tree. Trees has to be the
	// output of a WindowedTree with fixed or sliding windows.
	//
	// In bounded collections, the tree of a row depends on nothing but the rows and the settings. In a stream, a row
	// waits until the watermark has reached the end of the last window that may have ended before it; usually the
	// watermark is already there. So all trees that fired on time have come, and the row is scored by the newest of
	// them, or by a late pane of its window that has come meanwhile. A row may be as late as the AllowedLateness of the
	// trees. The state is the trees that such rows need, and the rows that wait.
	//
	// Streams need a runner with state and timers, such as Flink and Dataflow; the direct runner has none. On prism,
	// which is for tests, rows also wait until AllowedLateness has passed, and --experiments=prism_disable_sdf_split
	// is required: prism loses the state of bundles that it splits (https://github.com/apache/beam/issues/35771).
	//
	// JSON or Tree may be set in addition: it is the first model, which scores rows before the first tree. Without a
	// first model such rows are unusable: they make the pipeline fail or are dead letters, unless Unscored is set. So are
	// rows of a stream that are too late.
	Latest bool
	// Unscored emits the rows without a tree as Scored.Unscored. It needs Latest.
	Unscored bool
	// Shards is the number of keys among which Latest divides the rows; a worker of a stream holds the rows of a key
	// that wait, and a copy of the trees. 0: 4 in a stream, otherwise 16.
	Shards int64
}

// Prediction is the prediction of a tree for a row.
type Prediction struct {
	Class         string
	Classes       []string  // all classes, in the order of label.classes in the tree.json
	Probabilities []float64 // by class, in the order of Classes
	Leaf          int64     // id of the leaf among the nodes
	Tests         int64     // tests on the path to the leaf
	Cost          float64   // billed cost of these tests
	Model         string    // digest of the tree.json, see ModelID

	// Billed is Cost.
	//
	// Deprecated: use Cost, which was the cost of the tests at their own prices in version 0.3.
	Billed float64
}

// Scored is what Score returns.
type Scored struct {
	Predictions beam.PCollection // PCollection<KV<T, Prediction>>, or PCollection<KV<K, Prediction>> if rows have keys
	DeadLetters beam.PCollection // PCollection<DeadLetter> with the option DeadLetters, otherwise invalid
	Unscored    beam.PCollection // rows that no tree scores, with their keys, if Model.Unscored is set, otherwise invalid
}

// ModelID returns the digest of a tree.json: see tree.ID.
func ModelID(encoded []byte) string { return tree.ID(encoded) }

// Score scores rows, a PCollection<T> or, with keys, a PCollection<KV<K, T>>. It emits every row
// once, in its window and at its time. The collection may be unbounded.
//
// T is a struct, a pointer to a struct, or a named map type from string to string or to any. (Beam
// accepts maps as elements only if their type has a name and is registered.)
//
// Names: a column is an exported field. Its name comes from the first of the tags espalier,
// parquet, beam, bigquery and json that has a name; otherwise it is the name of the field. The name "-"
// leaves the field out. The parquet tag has the form of parquet-go ("age,optional") or of Beam's
// parquetio ("name=age, type=INT64"). Fields of embedded structs are also columns, by Go's rules: a
// less deeply embedded field of the same name hides them.
//
// Values: fields may be numbers, strings, bools, time.Time, or pointers to these. A nil pointer,
// NaN, a zero time and an absent key of a map are missing values; an empty string is a value. A
// text in a map becomes a number if the feature is numeric, and is parsed as ISO 8601 if the
// feature is a date, a time or a timestamp. A time.Time is a timestamp in UTC, unless an option in
// the tag changes that: "date" takes its day, "time" its time of day, and "timestamp(millisecond)"
// rounds it down to milliseconds. The same options turn integers into points in time, and
// "decimal(2:9)" turns them into decimals with 2 digits after the decimal point.
//
// Rows may lack columns that the tree does not test. The tested columns are looked up when the
// pipeline is built, unless Model.Later is set. A misspelled key of a map looks like a missing
// value: Model.Strict refuses rows without a tested key. Otherwise the counter keys_missing counts
// them, and a worker logs the features that are missing in all of its first 100 maps.
//
// Counters in the namespace espalier count rows: rows_scored, rows_refused and class_NAME by the
// predicted class; values of tested features: values_missing, keys_missing, values_unseen
// (categories that did not occur in training) and values_outside (numbers outside the range in
// training); and models: models_read and models_refused. The distributions tests_per_row and
// cost_per_row (in thousandths of the cost's unit) show how many tests rows take and what they
// cost.
//
// A row with a value that cannot be read makes the pipeline fail, or is a dead letter: see
// DeadLetters.
//
// Score panics if the model is not a tree.json, if the rows have no field for a tested feature or a
// field of another type, and if the URL cannot be read, unless Model.Later is set. Register structs
// with beam.RegisterType, as for any DoFn.
func Score(s beam.Scope, rows beam.PCollection, m Model, opts ...Option) Scored {
	const step = "transforms.Score"
	scored, err := m.score(s.Scope(step), rows, step, opts)
	if err != nil {
		panic(fmt.Errorf("%s: %w", step, err))
	}
	return scored
}

// score scores rows.
func (m *Model) score(s beam.Scope, rows beam.PCollection, step string, opts []Option) (Scored, error) {
	o, err := newOptions(step, opts)
	if err != nil {
		return Scored{}, err
	}
	schema, keyed, err := schemaOfRows(rows)
	if err != nil {
		return Scored{}, err
	}
	if err := m.validate(schema); err != nil {
		return Scored{}, err
	}
	fn := scoring{Schema: elements.MustJSON(schema), Refusal: o.refusal(), Strict: m.Strict}
	out, err := m.parDo(s, rows, fn, keyed)
	if err != nil {
		return Scored{}, err
	}
	scored := Scored{Predictions: out[0], DeadLetters: o.limit(s, out[1])}
	if m.Unscored {
		scored.Unscored = out[2]
	}
	return scored, nil
}

// parDo adds the DoFn that scores rows.
func (m *Model) parDo(s beam.Scope, rows beam.PCollection, fn scoring, keyed bool) ([]beam.PCollection, error) {
	if m.Latest {
		return m.latest(s, rows, fn)
	}
	if m.Trees.IsValid() {
		return scorePacked(s, rows, m.Trees, fn)
	}
	source := modelSource{JSON: m.JSON, URL: m.URL, Every: m.Every}
	if m.Tree != nil {
		source.JSON = m.Tree.Encode()
	}
	if keyed {
		return beam.TryParDo(s, &scoreKeyedFn{scoring: fn, Source: source}, rows)
	}
	return beam.TryParDo(s, &scoreFn{scoring: fn, Source: source}, rows)
}

// validate checks the settings of a model and, unless it comes later, the model.
func (m *Model) validate(schema *rowtype.Schema) error {
	given := 0
	for _, is := range []bool{len(m.JSON) > 0, m.Tree != nil, m.URL != "", m.Trees.IsValid()} {
		if is {
			given++
		}
	}
	first := m.Latest && m.Trees.IsValid() && m.URL == "" && given == 2
	switch {
	case m.Latest && !m.Trees.IsValid() || m.Unscored && !m.Latest:
		return errors.New("the field Latest needs Trees, and Unscored needs Latest")
	case m.Shards < 0 || m.Shards > 0 && !m.Latest:
		return fmt.Errorf("the Shards are %d: want a number of at least 0, and Latest", m.Shards)
	case given != 1 && !first:
		return errors.New("want a model: set one of JSON, Tree, URL and Trees; with Latest, JSON or Tree may be the first model")
	case m.Every < 0 || m.Every > 0 && m.URL == "":
		return fmt.Errorf("the interval Every is %v: want a duration of at least 0, and 0 for a model without a URL", m.Every)
	case m.Later && m.URL == "":
		return errors.New("the field Later is set: want a URL, too, where the model comes later")
	case m.Trees.IsValid():
		if err := m.checkTrees(); err != nil || !first {
			return err
		}
		return m.check(schema)
	case m.Later:
		return nil
	default:
		return m.check(schema)
	}
}

// checkTrees checks the type and the windows of the trees.
func (m *Model) checkTrees() error {
	t := m.Trees.Type().Type()
	if t != reflect.TypeFor[WindowTree]() && (m.Latest || t != reflect.TypeFor[[]byte]()) {
		return fmt.Errorf("the Trees are of type %v: want the output of Train or of WindowedTree, and of WindowedTree for Latest",
			m.Trees.Type())
	}
	w := m.Trees.WindowingStrategy().Fn
	if length, _ := stretch(w); m.Latest && length <= 0 {
		return fmt.Errorf("the Trees are in windows of kind %v: want fixed or sliding windows for Latest", w.Kind)
	}
	return nil
}

// checkTime is the longest time for reading a model when a pipeline is built.
const checkTime = time.Minute

// check reads the model and binds it to the rows, to find errors early.
func (m *Model) check(schema *rowtype.Schema) error {
	encoded, err := m.read(context.Background())
	if err == nil {
		_, err = newScorer(encoded, schema)
	}
	if err != nil && m.URL != "" {
		return fmt.Errorf("%s: %w (set Later if the model comes only after the pipeline is built)", m.URL, err)
	}
	return err
}

// read returns the tree.json of a model from outside the pipeline.
func (m *Model) read(ctx context.Context) ([]byte, error) {
	switch {
	case m.Tree != nil:
		return m.Tree.Encode(), nil
	case m.URL == "":
		return m.JSON, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return readModel(ctx, m.URL)
}
