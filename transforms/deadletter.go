package transforms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"google.golang.org/grpc/metadata"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Option changes the behaviour of a transform: DeadLetters, and Reports for Train and WindowedTree.
type Option interface{ set(*options) }

// options are the options of a transform.
type options struct {
	step    string       // name of the transform
	letters *DeadLetters // nil: an unusable row makes the pipeline fail
	reports *Reports     // nil: there are no reports
}

// newOptions collects the options of a transform.
func newOptions(step string, list []Option) (*options, error) {
	o := &options{step: step}
	for _, option := range list {
		option.set(o)
	}
	if o.reports != nil && step != trainStep && step != windowedStep {
		return o, errors.New("the option Reports is for Train and WindowedTree")
	}
	if o.letters != nil && o.letters.Limit < 0 {
		return o, fmt.Errorf("the limit of dead letters is %d: want a number of at least 0", o.letters.Limit)
	}
	return o, nil
}

// checkTypes checks that dead letters are possible: that each row shows whether its values fit.
func (o *options) checkTypes(columns []dataset.FeatureColumn, ordered map[string][]string) error {
	if o.letters == nil {
		return nil
	}
	var names []string
	for i := range columns {
		if _, text := ordered[columns[i].Name]; !text && columns[i].Kind == 0 {
			names = append(names, columns[i].Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("the option DeadLetters needs the types of the features %q: name each in Numeric, Categorical or Ordered, "+
		"or let rows be of a struct", names)
}

// checkReports checks the earlier tree of the option Reports.
func (o *options) checkReports() error {
	if o.reports == nil || len(o.reports.Against) == 0 {
		return nil
	}
	if _, err := tree.Decode(o.reports.Against); err != nil {
		return fmt.Errorf("the tree Against: %w", err)
	}
	_, err := o.reports.bins()
	return err
}

// refusal returns how unusable rows are handled.
func (o *options) refusal() refusal { return refusal{Fails: o.letters == nil, Step: o.step} }

// DeadLetters is the option to return unusable rows as dead letters. Without it an unusable row
// makes the pipeline fail. Train and WindowedTree of rows that are maps then need the type of each
// feature, in Numeric, Categorical or Ordered, as otherwise all rows together decide on it. Labels and
// categories of maps are then texts: the number 7 is the class or category "7".
type DeadLetters struct {
	Limit int64 // the pipeline fails if a window has more dead letters; 0: unlimited
}

func (d DeadLetters) set(o *options) { o.letters = &d }

// DeadLetter is an unusable row, with the reason.
type DeadLetter struct {
	Row    string // as JSON; at most its first 64 KiB
	Key    string // key of a row with keys, as JSON
	Column string // column at fault; empty if there is no single such column
	Value  string // value in the column; empty if it has no text
	Reason string // the fault, and the expected value
	Hint   string // the remedy
	Millis int64  // time of the row, in milliseconds since 1970; 0 if it is unknown
	Step   string // the transform, such as transforms.Score
}

// maxLetter is the most bytes of a row in a dead letter.
const maxLetter = 64 << 10

// letter is a row with the fields of its dead letter that describe its place.
type letter struct {
	row, key any // key is nil without keys
	at       beam.EventTime
}

// refusal describes how unusable rows are handled.
type refusal struct {
	Fails bool   // whether the pipeline fails
	Step  string // name in dead letters
}

// began is when this process began, about.
var began = mtime.Now() //nolint:gochecknoglobals // a constant

// millis returns the time of a row, in milliseconds since 1970; 0 if it is unknown. The direct runner gives rows without
// a time the time at which the pipeline runs.
func millis(ctx context.Context, at beam.EventTime) int64 {
	isClock := !inWorker(ctx) && began <= at && at <= mtime.Now()
	if isClock || at <= mtime.MinTimestamp || mtime.EndOfGlobalWindowTime <= at {
		return 0
	}
	return int64(at)
}

// inWorker reports whether a DoFn runs in a worker, which Beam's SDK identifies in the context, and not in the direct
// runner.
func inWorker(ctx context.Context) bool {
	fields, _ := metadata.FromOutgoingContext(ctx)
	return len(fields.Get("worker_id")) > 0
}

var rowsRefused = beam.NewCounter(elements.CounterNamespace, "rows_refused")

// of refuses a row: it calls refuse with a dead letter, or returns an error if the pipeline should
// fail.
func (r *refusal) of(ctx context.Context, l letter, fault error, refuse func(DeadLetter)) error {
	if r.Fails {
		return elements.Carry(fault)
	}
	rowsRefused.Inc(ctx, 1)
	d := DeadLetter{Row: inJSON(l.row), Reason: fault.Error(), Millis: millis(ctx, l.at), Step: r.Step}
	if l.key != nil {
		d.Key = inJSON(l.key)
	}
	var e *dataset.DataError
	if errors.As(fault, &e) {
		d.Column = e.Column
		d.Value = e.Value
		d.Reason = e.Problem
		d.Hint = e.Hint
	}
	refuse(d)
	return nil
}

// inJSON returns a row or a key as JSON, or as Go prints it if JSON cannot hold it, such as NaN.
func inJSON(x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		b = fmt.Appendf(nil, "%+v", x)
	}
	return strings.ToValidUTF8(string(b[:min(len(b), maxLetter)]), "")
}

// limit returns the dead letters, and makes the pipeline fail if a window has more than the limit.
// Without the option it returns the zero PCollection.
func (o *options) limit(s beam.Scope, dead beam.PCollection) beam.PCollection {
	if o.letters == nil {
		return beam.PCollection{}
	}
	if o.letters.Limit > 0 {
		counts := beam.CombinePerKey(s, &addFn{}, beam.ParDo(s, &oneFn{}, dead))
		beam.ParDo0(s, &limitFn{Limit: o.letters.Limit}, counts)
	}
	return dead
}

// oneFn counts each dead letter once, under a single key.
type oneFn struct{}

func (*oneFn) ProcessElement(DeadLetter) (key, count int64) { return 0, 1 }

// addFn adds counts.
type addFn struct{}

func (*addFn) MergeAccumulators(a, b int64) int64 { return a + b }

// limitFn fails if there are too many dead letters.
type limitFn struct{ Limit int64 }

func (f *limitFn) ProcessElement(_, count int64) error {
	if count <= f.Limit {
		return nil
	}
	return elements.Carry(&dataset.DataError{
		Problem: fmt.Sprintf("%d rows cannot be used, and the limit of dead letters is %d", count, f.Limit),
		Hint:    "look at the dead letters, and correct the source of the rows or raise the limit",
	})
}
