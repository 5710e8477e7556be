package pipelines

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/forecast"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// rehearsalRows is the greatest number of rows of a rehearsal. sampleRows replaces it if --rows
// tells a dry run that the input is a sample of more rows: what the sample shows is extrapolated
// further.
//
// A rehearsal with which a run begins has at most the inverse of rehearsedShare of the rows, so that it takes little of
// the run's time, but leastRows in any case.
const (
	rehearsalRows  = 1 << 18
	sampleRows     = 1 << 20
	rehearsedShare = 16
	leastRows      = 1 << 14
)

// rehearsed returns the number of rows of a dry run's rehearsal, which take a small part of the memory.
func (p *plan) rehearsed() int64 {
	const part, rowBytes = 16, 32 // inverse share of the memory; bytes of a value while it is read, summarised and coded
	columns, most := int64(len(p.schema.rows.Columns())), int64(rehearsalRows)
	if p.config.Rows > 0 {
		most = sampleRows
	}
	return min(most, max(1<<12, p.memory/(part*rowBytes*max(1, columns))))
}

// foretell estimates the time and memory of a run that is about to begin, and shows the estimate to
// the user. It returns nil if no estimate is made, or if the rehearsal fails: the run begins all the
// same, as a sample may have faults that all rows together do not have.
func (r *run) foretell(ctx context.Context) (*runfolder.Estimate, error) {
	if !r.leavesCheckpoints() || r.kept != nil { // the run would end about as soon as the rehearsal
		return nil, nil //nolint:nilnil // no estimate is made
	}
	rows := min(r.rehearsed(), max(leastRows, r.rows()/rehearsedShare))
	e, _, err := r.foresee(ctx, r.driver, rows)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		r.driver.Reporter.Note(fmt.Sprintf("what the run takes cannot be foreseen from a sample: %v", err))
		return nil, nil //nolint:nilnil // no estimate can be made
	}
	r.driver.Reporter.Note(e.String())
	return e, nil
}

// foresee rehearses a run on about this many rows and returns an estimate of its time and memory, and the trees of the
// rehearsal.
func (p *plan) foresee(ctx context.Context, d *engine.Driver, rows int64) (*runfolder.Estimate, *grown, error) {
	sampled, share := p.sample(rows)
	scratch := session.NewFolder()
	defer d.Files.Store.RemoveAll(context.WithoutCancel(ctx), scratch) //nolint:errcheck // scratch in memory
	here := &engine.Driver{Engine: engine.Default(), Reporter: rehearsing{d.Reporter}, Files: d.Files}
	r := &run{stage: stage{sampled, here, d.Files, placeInMemory(scratch)}, journal: new(journal)}
	g, s, err := r.rehearse(ctx, share)
	if err != nil {
		return nil, nil, err
	}
	o := forecast.New(p.foreseen(d), s)
	folds, err := r.rehearseChoice(ctx, g, func(rare float64) int {
		return p.parsed.Selection.Folds.Decide(rare/share, o.TrainObjects()).Folds
	})
	if err != nil {
		return nil, nil, err
	}
	s.Timings = r.driver.Timings
	e := o.Estimate(folds)
	e.ColumnBytes = int64(float64(p.columnBytes(&g.spec)) * float64(p.rows()) / float64(p.input.Rows))
	return e, g, nil
}

// rehearse trains on a sample, up to the grown trees. The caller removes the scratch folder.
func (r *run) rehearse(ctx context.Context, share float64) (*grown, *forecast.Sample, error) {
	f, err := (&fitter{r.stage}).fit(ctx)
	if err != nil {
		return nil, nil, err
	}
	sent := r.driver.Figures.Exchanged
	o, err := (&coalescer{r.stage}).coalesce(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	grower := r.grower(o)
	g, err := grower.grow(ctx, grower.begin())
	if err != nil {
		return nil, nil, err
	}
	s := &forecast.Sample{
		Share: share, Setting: grower.growSetting(), Layout: o.layout(), Trees: g.roots, Sent: sent,
	}
	for part := range dataset.Part(dataset.Parts) {
		if s.Tally[part], s.Bytes[part], err = o.tally(ctx, part); err != nil {
			return nil, nil, err
		}
	}
	s.Memory = memlimit.PeakMemory()
	s.Half, err = r.rehearseHalf(ctx, o)
	return g, s, err
}

// rehearseHalf grows the trees from half of the training objects and returns the seconds. The growth
// of the time from half of the sample to the whole sample is extrapolated to the run. It returns 0 if
// the first half of the blocks has too many objects, or none.
func (r *run) rehearseHalf(ctx context.Context, o *objects) (float64, error) {
	parts := *o.parts
	parts[dataset.Train] = jobs.ObjectStats{
		ObjectCounts: *dataset.NewObjectCounts(dataset.Train, len(o.label.Classes), nil),
		Blocks:       o.train().Blocks[:(len(o.train().Blocks)+1)/2],
	}
	half := &objects{o.fitted, &parts, o.reader}
	err := half.eachClasses(ctx, dataset.Train, func(block *dataset.Objects, _ int) { parts[dataset.Train].Count(block) })
	if err != nil {
		return 0, err
	}
	if 2*half.train().Objects > 3*o.train().Objects/2 || half.train().Objects == 0 { // not about half
		return 0, nil
	}
	before := len(r.driver.Timings)
	grower := r.grower(half)
	if _, err := grower.grow(ctx, grower.begin()); err != nil {
		return 0, err
	}
	d := forecast.DurationsOf(r.driver.Timings[before:])
	r.driver.Timings = r.driver.Timings[:before]
	return d.Growth, nil
}

// rehearseChoice scores and prunes the trees of a rehearsal, to measure the time. It returns
// the number of folds of the run, which folds decides by the validation rows of the rarest
// class in the sample.
func (r *run) rehearseChoice(ctx context.Context, g *grown, folds func(rare float64) int) (int, error) {
	if !r.undecided() {
		return 0, nil
	}
	s, err := (&scorer{r.stage}).score(ctx, g)
	if err != nil {
		return 0, err
	}
	if _, err = selection.NewPool(ctx, host{r.driver}, s.candidates, &r.parsed.Selection.Settings); err != nil {
		return 0, err
	}
	rare := crossvalidate.Rarest(s.candidates[0].Counts[dataset.Validation], len(g.label.Classes))
	return folds(rare), nil
}

// foreseen describes the run for a forecast.
func (p *plan) foreseen(d *engine.Driver) *forecast.Run {
	c := p.config
	r := &forecast.Run{
		Rows: p.rows(), Columns: len(p.schema.rows.Columns()),
		Weighted: c.Weight != "" || c.WeighsClasses(), Soft: len(p.schema.rows.Soft.Columns) > 0,
		Local: d.Local(), HandsOn: d.Local(), InMemory: !p.leavesCheckpoints(), Levels: c.LevelsPerJob,
		Workers:   forecast.Workers{Processes: d.Processes(), Each: d.Workers()},
		Memory:    forecast.Memory{Process: p.memory, Histogram: c.HistogramMemory, Objects: c.MemoryObjects},
		Copies:    1,
		Certified: c.Certificate,
	}
	if r.Local {
		r.Memory.Tables = p.memory / 4
	}
	for _, rows := range p.input.TaskRows() {
		r.LargestPiece = max(r.LargestPiece, rows/jobs.RowPieces(rows))
	}
	return r
}

// columnBytes returns the bytes that the two passes over the rows read. The second pass leaves
// constant columns out.
func (p *plan) columnBytes(second *jobs.RowSpec) int64 {
	n := int64(0)
	for _, f := range p.input.Files {
		n += f.ColumnBytes(p.schema.rows.Columns()) + f.ColumnBytes(second.Columns())
	}
	return n
}

// rehearsing shows the jobs of a rehearsal. It drops warnings and notes, as the run itself
// repeats them.
type rehearsing struct{ engine.Reporter }

// Job implements engine.Reporter.
func (r rehearsing) Job(name string, total int64, unit string) {
	r.Reporter.Job("rehearse "+name, total, unit)
}

// Warn implements engine.Reporter.
func (rehearsing) Warn(string) {}

// Note implements engine.Reporter.
func (rehearsing) Note(string) {}
