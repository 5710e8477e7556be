package transforms

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tallies"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Reports is the option of Train and WindowedTree to report on each training, as Trained.Reports: the rows by part, the
// trees among which the tree was chosen, and its metrics by part. The tallies then have the groups of the rows, and are
// read once more. WindowedTree reports on each pane, also on a pane that is refused.
type Reports struct {
	// Against is the tree.json of an earlier tree, with which the new tree is compared on the test rows; empty: the
	// report has no comparison.
	Against []byte
	// Schema and Codes are the schema.json of the training of the earlier tree and its rows by feature and code, as in
	// distribution.json: all rows are counted by its bins, so that their drift can be measured; empty: they are not.
	Schema []byte
	Codes  map[string][]int64
}

func (r Reports) set(o *options) { o.reports = &r }

// Report describes a training.
type Report struct {
	// Start, End, Pane, Timing and Last describe the pane of WindowedTree, as in WindowTree; zero from Train.
	Start, End int64
	Pane       int64
	Timing     string
	Last       bool
	// Refused is why the pane has no tree; nil if it has a tree. Fields that describe a tree are empty then.
	Refused *RefusedWindow

	Model   string               // digest of the tree.json, see ModelID
	JSON    []byte               // tree.json
	Rows    [dataset.Parts]int64 // rows for training, validation and test, with a label and a weight above 0
	Dropped int64                // rows without a label
	Choice  []ReportedTree       // trees among which this one was chosen; empty if there was no choice
	Notes   []string             // why some settings have no effect, and why no better tree was chosen

	// Metrics are the metrics by part that `espalier train` writes, with the ROC curves of all parts; nil for a part
	// without rows.
	Metrics [dataset.Parts]*metric.Metrics
	// Compared are the metrics of the earlier tree, A, and of this tree, B, on the test rows; nil without an earlier tree
	// or test rows. Flips is the share of these rows with another class.
	Compared *metric.Paired
	Flips    float64
	// Incomparable is why the earlier tree cannot be compared: it predicts another label or other classes, or tests a
	// column that is not a feature of this training. Empty: it can.
	Incomparable string

	Settings settings.Settings
	Schema   []byte // schema.json: the use of each column

	// Own are the training rows by the bins of this training, and the validation and test rows by the nodes of its tree.
	Own Counted
	// Earlier are all rows by the bins of the training of the earlier tree, and by the nodes of that tree; nil if it has
	// none, or cannot be compared. Uncounted lists the features of that training that the rows do not have, each with the
	// reason, as in: the column "ward", which is not a feature of this training.
	Earlier   *Counted
	Uncounted []string
}

// Counted has rows by the bins of a training and by the nodes of its tree.
type Counted struct {
	Codes map[string][]int64 // by feature and code
	Nodes []int64            // by node of the tree at which they end
	// Effects are the design effects by feature, and Keys the numbers of buckets of keys by categorical feature and code, as
	// in distribution.json; nil if rows have no keys.
	Effects map[string]float64
	Keys    map[string][]int64
}

// newCounted returns the counts by the names of features.
func newCounted(b *tallies.BinCounts) *Counted {
	c := &Counted{Codes: make(map[string][]int64), Nodes: b.Nodes}
	if b.Keys != nil {
		c.Effects, c.Keys = make(map[string]float64), make(map[string][]int64)
	}
	for i, f := range b.Features {
		name := f.Name
		c.Codes[name] = b.Codes[i]
		if b.Keys == nil {
			continue
		}
		c.Effects[name] = b.Keys.Effect(i)
		if keys := b.Keys.Keys(i); keys != nil {
			c.Keys[name] = keys
		}
	}
	return c
}

// ReportedTree is a tree that could be chosen.
type ReportedTree struct {
	Leaves, Depth int
	Cost          float64 // expected cost of a training row
	Merit         float64 // score for selection, higher is better
	Chosen        bool
}

// draft is what a report needs from the growth of the tree.
type draft struct {
	Plan    json.RawMessage
	Report  Report
	Earlier Reports // Against is empty if there is no comparison, Schema if the rows are not counted by earlier bins
}

// newDraft drafts the report on a grown tree.
func (s *trainSpec) newDraft(p *tallies.Plan, g *tallies.Grown, notes []string, earlier Reports) (*draft, error) {
	encoded := g.Tree.Encode()
	d := &draft{Plan: elements.MustJSON(p), Report: Report{
		Model: tree.ID(encoded), JSON: encoded, Rows: g.Rows, Dropped: p.Dropped, Notes: notes, Settings: s.Settings,
		Schema: s.schemaFile(p, g.Tree.Label).Encode(),
	}}
	d.Report.Own.Codes = make(map[string][]int64)
	for i, f := range p.Features() {
		d.Report.Own.Codes[f.Name] = g.Codes[i]
	}
	for i := range g.Frontier {
		x := &g.Frontier[i]
		d.Report.Choice = append(d.Report.Choice, ReportedTree{x.Leaves, x.Depth, x.ExpectedCost, x.Merit, x.Chosen})
	}
	if len(earlier.Against) == 0 {
		return d, nil
	}
	t, err := tree.Decode(earlier.Against)
	if err != nil {
		return nil, err
	}
	m, err := s.NewMeasured(p, g.Tree, t)
	if err != nil {
		d.Report.Incomparable = err.Error()
		return d, nil //nolint:nilerr // the report has it
	}
	d.Earlier = earlier
	bins, err := earlier.bins()
	if err != nil {
		return nil, err
	}
	d.Report.Uncounted = m.MeasureBins(g.Codes, bins)
	return d, nil
}

// bins returns the bins of the training of the earlier tree; nil if unknown.
func (r *Reports) bins() (*tallies.Bins, error) {
	if len(r.Schema) == 0 {
		return nil, nil //nolint:nilnil // unknown
	}
	schema, err := tree.DecodeSchema(r.Schema)
	if err != nil {
		return nil, err
	}
	b := &tallies.Bins{Features: schema.Features()}
	for i := range b.Features {
		f := &b.Features[i]
		rows := r.Codes[f.Name]
		if len(rows) != f.Codes() {
			return nil, fmt.Errorf("the option Reports: Codes has %d codes of %q, and Schema has %d", len(rows), f.Name, f.Codes())
		}
		b.Rows = append(b.Rows, rows)
	}
	return b, nil
}

// open decodes the trees of a draft, and returns zero counts of them.
func (d *draft) open(encodedSpec []byte) (*tallies.Measured, error) {
	spec, err := openSpec(encodedSpec)
	if err != nil {
		return nil, err
	}
	p, err := tallies.OpenPlan(d.Plan)
	if err != nil {
		return nil, err
	}
	grown, err := tree.Decode(d.Report.JSON)
	if err != nil {
		return nil, err
	}
	var earlier *tree.Tree
	if len(d.Earlier.Against) > 0 {
		if earlier, err = tree.Decode(d.Earlier.Against); err != nil {
			return nil, err
		}
	}
	m, err := spec.NewMeasured(p, grown, earlier)
	if err != nil {
		return nil, err
	}
	bins, err := d.Earlier.bins()
	if err != nil {
		return nil, err
	}
	rows := make([][]int64, 0, len(p.Features()))
	for _, f := range p.Features() {
		rows = append(rows, d.Report.Own.Codes[f.Name])
	}
	m.MeasureBins(rows, bins)
	return m, nil
}

// schemaFile returns the schema.json of a training on rows of Go types.
func (s *trainSpec) schemaFile(p *tallies.Plan, label tree.Label) *tree.Schema {
	list := &tree.Schema{Label: tree.Label{Column: label.Column, Classes: label.Classes}}
	add := func(name, role string, f *dataset.Feature) {
		if name == "" {
			return
		}
		physical, logical := "DOUBLE", ""
		if c, err := s.Schema.Column(name); err == nil && c.Type == dataset.Text {
			physical, logical = "BYTE_ARRAY", "STRING"
		}
		list.Columns = append(list.Columns, tree.SchemaColumn{Name: name, Role: role, Physical: physical, Logical: logical, Feature: f})
	}
	fitted := make(map[string]bool)
	for _, f := range p.Features() { // in the order in which their tests break ties
		add(f.Name, "feature", &f)
		fitted[f.Name] = true
	}
	for i := range s.Columns {
		if name := s.Columns[i].Name; !fitted[name] {
			add(name, "constant", nil)
		}
	}
	add(s.Settings.Label, "label", nil)
	add(s.Settings.Weight, "weight", nil)
	add(s.Settings.Group, "key", nil)
	add(s.Settings.SplitColumn, "split", nil)
	return list
}

// report adds the DoFns that measure the tree. drafts are the drafts for each shard, merged its tally.
//
//	tallies of shards, with the draft -> counts by prediction and class -> GroupByKey with the draft -> report
func (s *trainSpec) report(scope beam.Scope, merged, drafts beam.PCollection) beam.PCollection {
	encoded := elements.MustJSON(s)
	counts := beam.ParDo(scope, &measureFn{Spec: encoded}, beam.GroupByKey(scope, beam.Flatten(scope, merged, drafts)))
	return beam.ParDo(scope, &reportFn{Spec: encoded}, beam.GroupByKey(scope, counts))
}

// measureFn counts the rows of a shard by the predictions of the tree. It emits the counts, and the draft of shard 0.
type measureFn struct{ Spec []byte }

func (f *measureFn) ProcessElement(_ context.Context, shard int64, values func(*[]byte) bool, emit func(int64, []byte)) error {
	encoded, tally := cutTally(values)
	if encoded == nil {
		return nil // no tree was grown
	}
	if shard == 0 {
		emit(0, encoded)
	}
	if tally == nil {
		return nil
	}
	var d draft
	if err := json.Unmarshal(encoded, &d); err != nil {
		return err
	}
	m, err := d.open(f.Spec)
	if err != nil {
		return err
	}
	if err := m.Add(tally); err != nil {
		return elements.Carry(err)
	}
	emit(0, append([]byte{countsMark}, m.Encode()...))
	return nil
}

// countsMark opens counts; a draft in JSON does not begin with it.
const countsMark = 0

// reportFn completes the report.
type reportFn struct{ Spec []byte }

func (f *reportFn) ProcessElement(_ context.Context, _ int64, values func(*[]byte) bool, emit func(Report)) error {
	var d draft
	var counts [][]byte
	for _, b := range elements.Collect(values) {
		if len(b) > 0 && b[0] == countsMark {
			counts = append(counts, b[1:])
		} else if err := json.Unmarshal(b, &d); err != nil {
			return err
		}
	}
	m, err := d.open(f.Spec)
	if err != nil {
		return err
	}
	for _, b := range counts {
		if err := m.Merge(b); err != nil {
			return err
		}
	}
	emit(*d.complete(m))
	return nil
}

// complete adds the figures of the measured tree to the report.
func (d *draft) complete(m *tallies.Measured) *Report {
	r := &d.Report
	r.Metrics = m.Metrics()
	paired, flips := m.Paired()
	if r.Compared = paired; flips != nil {
		r.Flips = flips.Share
	}
	own := newCounted(m.Own)
	own.Codes = r.Own.Codes
	r.Own = *own
	if m.Earlier != nil {
		r.Earlier = newCounted(m.Earlier)
	}
	return r
}

// reportTally reports on the tree of a single tally. notes are the notes of the choice.
func (s *trainSpec) reportTally(p *tallies.Plan, g *tallies.Grown, notes []string, earlier Reports, tally []byte) (*Report, error) {
	d, err := s.newDraft(p, g, notes, earlier)
	if err != nil {
		return nil, err
	}
	m, err := d.open(elements.MustJSON(s))
	if err != nil {
		return nil, err
	}
	if err := m.Add(tally); err != nil {
		return nil, err
	}
	return d.complete(m), nil
}

// Beam's own coder of structs drops values that have no field.
func encodeReport(r Report) ([]byte, error) { return json.Marshal(r) }

func decodeReport(b []byte) (r Report, err error) {
	err = json.Unmarshal(b, &r)
	return r, err
}
