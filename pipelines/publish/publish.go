// Package publish puts the tree that a Beam pipeline trains in use: it writes a run folder and moves LATEST.json. With
// transforms.Train, a nightly retraining is one Beam job.
//
//	night, err := publish.Open(ctx, publish.Default("gs://trees", "2026-11-29"))
//	trained := transforms.Train(s, rows, c, night.Reports())
//	outcomes := night.Publish(s, trained)
//
// `espalier retrain` writes the same run folders, LATEST.json and history, and makes the same checks.
package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/pages"
	"github.com/espalier-ml/espalier/pipelines/retraining"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/elements"
)

// Config says where a tree is published, and on which conditions. Replace also lets the new tree take the place of a tree
// that cannot be compared with it. The Destination is the same for all workers.
type Config struct {
	config.Published

	Date string // day of the run, such as 2026-11-29; empty: today in UTC
}

// Default returns the conditions of `espalier retrain`.
func Default(destination, date string) Config {
	c := Config{Published: config.DefaultPublished(), Date: date}
	c.Destination = destination
	return c
}

// Settings declares the settings that set the fields of c. They may be the flags of a program, and the parameters of a
// template: see worker.TemplateMetadata.
func (c *Config) Settings() []setting.Setting {
	day := setting.In(setting.Run, []setting.Setting{
		{Name: "date", Value: setting.Text(&c.Date), Help: "day of the run, such as 2026-11-29 (default: today in UTC)"},
	})
	return slices.Concat(day, c.Published.Settings())
}

// Outcome describes what has become of a tree.
type Outcome struct {
	Outcome string // gate.Promoted, Backfilled, Held, Refused or Overtaken
	Date    string
	Run     string       // folder of the run, below the destination
	Before  string       // run in use before this run, when the pipeline was built; empty if there was none
	Digest  string       // digest of the run's tree.json, in hex
	Checks  []gate.Check // conditions, with their values
	AUC     *float64     // on the test rows; nil if unknown
	Cost    *float64     // expected cost of a test row; nil if unknown
	Rows    int64        // rows for training, validation and test
}

// Night publishes the tree of a day.
type Night struct {
	fn      publishFn
	reports transforms.Reports
}

// Open reads the LATEST.json of the destination and the tree in use. A destination that is a path may be relative. Errors
// are usage errors.
func Open(ctx context.Context, c Config) (*Night, error) {
	c.Date = cmp.Or(c.Date, time.Now().UTC().Format(time.DateOnly))
	if _, err := time.Parse(time.DateOnly, c.Date); err != nil || c.Destination == "" {
		return nil, usage.Errorf("publish: the Date is %q and the Destination %q: want a day such as 2026-11-29, and a folder", c.Date,
			c.Destination)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	folder, err := engine.Absolute(c.Destination) // workers may have another working directory
	if err != nil {
		return nil, err
	}
	c.Destination = folder[0]
	n := &Night{fn: publishFn{Config: c, Started: time.Now()}}
	before, err := latest.Read(ctx, store(), c.Destination)
	if err != nil || before == nil {
		return n, err
	}
	n.fn.Before = before
	inUse := n.fn.inUse()
	t, _, lost, err := inUse.Tree(ctx, func(text string) { log.Warn(ctx, "publish: "+text) })
	switch {
	case err != nil:
		return nil, err
	case lost != nil && !c.Replace:
		return nil, usage.Errorf("publish: the tree in use is lost: %v; put the run before it in use (espalier retrain use %s previous), "+
			"or let the new tree take its place by Replace: then no gate compares the two trees", lost, c.Destination)
	case lost != nil:
		n.fn.Lost = lost.Error()
		return n, nil //nolint:nilerr // Lost has it
	}
	n.reports.Against = t.Encode()
	trained, why, err := inUse.Distribution(ctx)
	if err != nil || why != "" { // the check of the drift has the reason
		return n, err
	}
	n.reports.Schema = trained.Schema.Encode()
	n.reports.Codes = make(map[string][]int64)
	for i := range trained.Distribution.Columns {
		n.reports.Codes[trained.Distribution.Columns[i].Column] = trained.Distribution.Columns[i].Rows
	}
	return n, nil
}

// store returns the store of all schemes.
var store = sync.OnceValue(func() *objectstore.Store { //nolint:gochecknoglobals // it keeps connections and no content
	return source.New(config.DefaultStorageConfig()).Store
})

// Reports is the option of Train by which the tree can be published: Train compares it with the tree in use, and counts
// the rows by the bins of the run in use.
func (n *Night) Reports() transforms.Option { return n.reports }

// Publish writes the run folder of the tree, whose Train had the option Reports; it panics otherwise. If all checks pass,
// it moves LATEST.json to the run. It returns a PCollection<Outcome>: a refused tree does not make the pipeline fail.
//
// A runner may repeat the work at any point, at several workers at once. They take the lock of the destination, as
// `espalier retrain` does. The folder of a run is named after the day and the tree, and a complete one is not written
// again. LATEST.json is moved by a conditional write, if it is still the one that Open has read: a retry finds that its
// run is in use, and a pipeline that was built earlier is overtaken.
func (n *Night) Publish(s beam.Scope, t transforms.Trained) beam.PCollection {
	if !t.Reports.IsValid() || t.Refused.IsValid() { // WindowedTree has refused windows
		panic(errors.New("publish.Publish: want the output of Train with the option Reports of the Night"))
	}
	s = s.Scope("publish.Publish")
	// The report does not change if the work after it is repeated.
	return beam.ParDo(s, &n.fn, beam.Reshuffle(s, t.Reports))
}

// publishFn publishes a tree.
type publishFn struct {
	Config  Config
	Before  *latest.Pointer // run in use when the pipeline was built; nil if there was none
	Lost    string          // why the tree in use cannot be read; empty: it can
	Started time.Time
}

func (f *publishFn) ProcessElement(ctx context.Context, r transforms.Report, emit func(Outcome)) error {
	t, err := tree.Decode(r.JSON)
	if err != nil {
		return err
	}
	o := &Outcome{Date: f.Config.Date, Digest: tree.Digest(r.JSON)}
	const digits = 16
	o.Run = objectstore.Join("runs", o.Date+"-"+o.Digest[:digits])
	if f.Before != nil {
		o.Before = f.Before.Run
	}
	for _, rows := range r.Rows {
		o.Rows += rows
	}
	if m := r.Metrics[dataset.Test]; m != nil {
		o.AUC, o.Cost = m.AUCOvRMacro, m.ExpectedCost
	}
	if err := f.publish(ctx, &r, t, o); err != nil {
		return elements.Carry(err)
	}
	emit(*o)
	return nil
}

// publish writes, judges and promotes the run, under the lock of the destination.
func (f *publishFn) publish(ctx context.Context, r *transforms.Report, t *tree.Tree, o *Outcome) error {
	lock, locked, err := f.acquire(ctx)
	if err != nil {
		return err
	}
	defer lock.Release(ctx)
	if err := f.write(locked, r, t, o); err != nil {
		return err
	}
	warn := func(text string) { log.Warn(ctx, "publish: "+text) }
	history, err := retraining.OpenHistory(locked, store(), f.Config.Destination, warn)
	if err != nil {
		return err
	}
	a := retraining.Begin(history, f.Config.Destination, o.Date, f.Started)
	defer f.retain(locked, warn)
	if a.Judged() && a.Run == o.Run && a.Digest == o.Digest { // by an earlier try, since when LATEST.json may have moved on
		o.Outcome, o.Checks = a.Outcome, a.Checks
		return nil
	}
	a.Outcome, a.Run, a.Before, a.Digest, a.Rows = retraining.Running, o.Run, o.Before, o.Digest, o.Rows
	if a.Before == a.Run { // a job that was killed after it had promoted the run, or a repeated one
		a.Continue(history)
		o.Before = a.Before
	}
	a.AUC, a.Cost, a.Error, a.Seconds = o.AUC, o.Cost, "", time.Since(f.Started).Seconds()
	if err := a.Record(locked, store(), f.Config.Destination); err != nil {
		return err
	}
	if o.Checks, err = f.judge(locked, r, t, o, warn); err != nil {
		return err
	}
	if err := f.promote(locked, history, o); err != nil {
		return err
	}
	a.Outcome, a.Checks, a.Seconds = o.Outcome, o.Checks, time.Since(f.Started).Seconds()
	return a.Record(locked, store(), f.Config.Destination)
}

// retain removes old runs.
func (f *publishFn) retain(locked context.Context, warn func(text string)) {
	if err := retraining.Retain(locked, store(), f.Config.Destination, f.Config.KeepRuns); err != nil {
		warn(fmt.Sprintf("old runs stay: %v", err))
	}
}

// A worker tries for this long to take the lock of the destination, which a retry of the same work or `espalier retrain`
// may hold.
const (
	patience = 10 * time.Minute
	pause    = time.Second / 2
)

// acquire takes the lock of the destination.
func (f *publishFn) acquire(ctx context.Context) (*runfolder.Lock, context.Context, error) {
	end := time.Now().Add(patience)
	for try := 0; ; try++ {
		lock, locked, _, err := runfolder.Acquire(ctx, store(), f.Config.Destination, func(text string) { log.Warn(ctx, text) })
		if err == nil || usage.NatureOf(err) != usage.TryAgain || time.Now().After(end) {
			return lock, locked, err
		}
		if try == 0 {
			log.Infof(ctx, "publish: waits for %s: %v", f.Config.Destination, err)
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// write writes the run folder, unless it is complete.
func (f *publishFn) write(ctx context.Context, r *transforms.Report, t *tree.Tree, o *Outcome) error {
	s := store()
	url := objectstore.Join(f.Config.Destination, o.Run)
	complete := func() bool {
		encoded, err := s.ReadAll(ctx, latest.TreeURL(url), 0)
		_, unfinished := s.Stat(ctx, objectstore.Join(url, runfolder.SuccessName))
		return err == nil && unfinished == nil && tree.Digest(encoded) == o.Digest
	}
	if complete() {
		return nil
	}
	folder, err := runfolder.Open(ctx, s, url, runfolder.Training, true)
	if err != nil {
		return err
	}
	documents, err := f.documents(r, t, url)
	if err == nil {
		_, err = folder.Write(ctx, documents)
	}
	return err
}

// documents returns the documents of the run.
func (f *publishFn) documents(r *transforms.Report, t *tree.Tree, url string) (*runfolder.Run, error) {
	schema, err := tree.DecodeSchema(r.Schema)
	if err != nil {
		return nil, err
	}
	c := config.DefaultTrain()
	c.Training = r.Settings
	c.Output = url
	d := &runfolder.Run{Tree: t, Schema: schema, Metrics: &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1}}
	var features []dataset.Feature
	var codes [][]int64
	for i := range schema.Columns {
		if f := schema.Columns[i].Feature; f != nil {
			features = append(features, *f)
			codes = append(codes, r.Own.Codes[f.Name])
		}
	}
	d.Distribution = runfolder.NewDistribution(r.Rows[dataset.Train], features, codes)
	d.Distribution.SetLeaves(t, &tree.LeafCounts{Rows: r.Own.Nodes})
	for i := range d.Distribution.Columns {
		column := &d.Distribution.Columns[i]
		column.DesignEffect, column.Keys = r.Own.Effects[column.Column], r.Own.Keys[column.Column]
	}
	counters := map[string]int64{
		"dropped_null_labels": r.Dropped, "nodes": int64(t.Complexity.Nodes), "features": int64(len(t.Features)),
	}
	for part := range dataset.Part(dataset.Parts) {
		counters["rows"] += r.Rows[part]
		counters["rows_"+part.String()] = r.Rows[part]
		d.Metrics.Set(part, metricsOf(r, part))
	}
	d.Manifest = &runfolder.Manifest{
		Format: runfolder.ManifestFormat, Version: 1, Espalier: runfolder.Version(), Started: f.Started.UTC(),
		Seconds: time.Since(f.Started).Seconds(), Config: c, Inputs: []runfolder.Input{}, Counters: counters,
		Timings: []runfolder.Timing{},
	}
	if page, err := pages.Of(d); err == nil { // the report is for people: a run is complete without it
		d.Report = page
	}
	return d, nil
}

// metricsOf returns a copy of the metrics of a part, as runfolder removes curves; nil if absent.
func metricsOf(r *transforms.Report, part dataset.Part) *metric.Metrics {
	m := r.Metrics[part]
	if m == nil {
		return nil
	}
	c := *m
	c.PerClass = append([]metric.Class(nil), m.PerClass...)
	return &c
}

// judge checks the new tree, both alone and against the tree in use.
func (f *publishFn) judge(ctx context.Context, r *transforms.Report, t *tree.Tree, o *Outcome, warn func(string)) ([]gate.Check, error) {
	j := &retraining.Judged{
		Gate: &f.Config.Gate, Replace: f.Config.Replace, Warn: warn, Leaf: len(t.Nodes) == 1, AUC: o.AUC, InUse: f.Before != nil,
		Area: r.Metrics[dataset.Test].Area(), Lost: f.Lost != "",
	}
	apart := func(why string) {
		j.Apart = "the tree in use cannot be compared: " + why + "; Replace lets the new tree take its place"
	}
	switch {
	case f.Before == nil:
		return j.Judge()
	case f.Lost != "":
		apart(f.Lost)
	case r.Incomparable != "":
		apart(r.Incomparable)
	case r.Compared == nil && o.AUC != nil:
		return nil, usage.Errorf("publish: Train has compared no tree: give it the option Reports of this Night")
	}
	j.Before = func() (*metric.Estimate, string, error) { return f.inUse().Area(ctx) }
	j.Compare = func() ([]gate.Check, error) { return j.Compared(r.Compared, r.Flips), nil }
	j.Drift = func() (*runfolder.Drift, string, error) { return f.drift(ctx, r) }
	return j.Judge()
}

// drift measures how far the rows have moved from the training rows of the run in use. why says why it cannot.
func (f *publishFn) drift(ctx context.Context, r *transforms.Report) (found *runfolder.Drift, why string, err error) {
	there, why, err := f.inUse().Distribution(ctx)
	switch {
	case err != nil || why != "":
		return nil, why, err
	case r.Earlier == nil:
		return nil, "the run in use had no rows by bin when the pipeline was built", nil
	}
	rows := &runfolder.Compared{Key: r.Settings.Group}
	for _, feature := range there.Schema.Features() {
		rows.Codes = append(rows.Codes, r.Earlier.Codes[feature.Name])
		if r.Earlier.Effects != nil {
			rows.Effects = append(rows.Effects, r.Earlier.Effects[feature.Name])
		}
	}
	if len(r.Uncounted) > 0 {
		why = "the run in use has " + strings.Join(r.Uncounted, "; ")
	}
	found, err = pipelines.DriftOfCounts(f.inUse().URL(), there, rows, r.Earlier.Nodes, f.Config.Drift.Limits())
	return found, why, err
}

// inUse returns the run that was in use when the pipeline was built.
func (f *publishFn) inUse() *retraining.InUse {
	return &retraining.InUse{Store: store(), Destination: f.Config.Destination, Run: f.Before.Run, Replace: f.Config.Replace}
}

// promote moves LATEST.json to a run that has passed its checks, and sets the outcome.
func (f *publishFn) promote(ctx context.Context, history []*retraining.Attempt, o *Outcome) error {
	now, err := latest.Read(ctx, store(), f.Config.Destination)
	if err != nil {
		return err
	}
	switch {
	case now != nil && now.Run == o.Run && now.Digest == o.Digest: // by an earlier try
		o.Outcome = gate.Promoted
	case !same(now, f.Before): // the checks compare with a run that is not in use any more, and may be gone
		o.Outcome = gate.Overtaken
	case len(gate.Refusals(o.Checks)) > 0:
		o.Outcome = gate.Refused
	case now != nil && !f.Config.Replace && retraining.DateOf(history, now.Run).Format(time.DateOnly) > o.Date:
		o.Outcome = gate.Backfilled
	case now.HeldAt(time.Now()):
		o.Outcome = gate.Held
	default:
		o.Outcome = gate.Promoted
		_, err = latest.Promote(ctx, store(), f.Config.Destination, latest.Pointer{Run: o.Run, Promoted: time.Now()}, now)
		if errors.Is(err, latest.ErrOvertaken) {
			o.Outcome = gate.Overtaken
			err = nil
		}
	}
	return err
}

// same reports whether two pointers name the same run. A hold that has begun or ended changes only the time.
func same(a, b *latest.Pointer) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Run == b.Run && a.Digest == b.Digest
}

func init() {
	beam.RegisterDoFn(reflect.TypeFor[publishFn]())
	register.Emitter1[Outcome]()
	beam.RegisterCoder(reflect.TypeFor[Outcome](), encodeOutcome, decodeOutcome)
}

// Beam's own coder of structs drops values that have no field.
func encodeOutcome(o Outcome) ([]byte, error) { return json.Marshal(o) }

func decodeOutcome(b []byte) (o Outcome, err error) {
	if err = json.Unmarshal(b, &o); err != nil {
		err = fmt.Errorf("publish: an outcome: %w", err)
	}
	return o, err
}
