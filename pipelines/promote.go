package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/pages"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Promoted says which tree of a frontier has become the run's.
type Promoted struct {
	Frontier *runfolder.Frontier // with the new choice
	Metrics  *runfolder.Metrics  // of the new tree; nil: nothing was written
	Now      *runfolder.Point    // the chosen point of Frontier
	Before   *runfolder.Point    // the point chosen before, of Frontier; Now itself: nothing has changed
}

// ReadFrontier reads the frontier.json of a run folder. The error of a run without one is a
// usage error.
func ReadFrontier(ctx context.Context, run string) (*runfolder.Frontier, error) {
	return readFrontier(ctx, source.Process.Store, run)
}

func readFrontier(ctx context.Context, s *objectstore.Store, run string) (*runfolder.Frontier, error) {
	if _, err := runfolder.ReadManifest(ctx, s, run); err != nil {
		return nil, err
	}
	there, err := runfolder.Read(ctx, s, run, runfolder.Training, runfolder.FrontierName)
	if err != nil {
		return nil, err
	}
	if there.Frontier == nil {
		return nil, usage.Errorf("%s has no %s: the run had one tree and nothing to choose; train with a rule that "+
			"chooses, such as --select best", run, runfolder.FrontierName)
	}
	return there.Frontier, nil
}

// Promote makes another tree of a run's frontier the run's tree, without training again. The
// tree and its metrics are those that training with the settings of the choice gives.
func Promote(ctx context.Context, c config.Promote, reporter engine.Reporter) (r *Promoted, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		if _, err := readFrontier(ctx, s.Files.Store, c.Run); err != nil { // else the lock would make a folder
			return err
		}
		reads := func(work func() error) error { return readsFile(objectstore.Join(c.Run, runfolder.GrownName), work) }
		if c.DryRun {
			return reads(func() error {
				p, err := newPromotion(ctx, &c, s.Driver)
				if err == nil {
					r = p.result(nil)
				}
				return err
			})
		}
		return s.Locked(ctx, c.Run, func(ctx context.Context) error {
			return reads(func() (err error) {
				r, err = promote(ctx, &c, s.Driver)
				return err
			})
		})
	})
	return r, ofRun(err)
}

// ofRun names the run folder in an error that names it as --output, which train has.
func ofRun(err error) error {
	var one *usage.Error
	if errors.As(err, &one) && one.Setting == "output" {
		return usage.Errorf("the run folder%s", one.Problem)
	}
	return err
}

// promote chooses and writes in a locked folder.
func promote(ctx context.Context, c *config.Promote, d *engine.Driver) (*Promoted, error) {
	output, err := runfolder.Open(ctx, d.Files.Store, c.Run, runfolder.Training, true)
	if err != nil {
		return nil, err
	}
	p, err := newPromotion(ctx, c, d)
	if err != nil {
		return nil, err
	}
	if err := output.CanReplace(p.manifest); err != nil {
		return nil, err
	}
	if p.now == p.before && output.Finished() {
		return p.result(nil), nil
	}
	if url := latest.InUse(ctx, d.Files.Store, c.Run); url != "" {
		return nil, usage.Errorf("the run folder %s is in use: %s names it, and programs that read that file refuse any tree but "+
			"the one that has passed the gate; give retrain the choice instead, such as --max_expected_cost, or promote in a copy "+
			"of the folder", c.Run, url)
	}
	t, metrics, err := p.tree(ctx)
	if err != nil {
		return nil, err
	}
	p.manifest.Promotions = append(p.manifest.Promotions, p.record())
	p.manifest.Counters["nodes"] = int64(t.Complexity.Nodes)
	point := &p.frontier.Points[p.now]
	file := runfolder.File{Name: point.Tree, Content: t.Tested().Encode()}
	names := []string{runfolder.TreeName, runfolder.MetricsName, runfolder.FrontierName}
	weighed, err := p.importance(t)
	if err != nil {
		return nil, err
	}
	if weighed != nil {
		names = append(names, runfolder.ImportanceName)
	}
	if p.redistribute(t); p.distribution != nil {
		names = append(names, runfolder.DistributionName)
	}
	documents := &runfolder.Run{
		Tree: t.Tested(), Metrics: metrics, Frontier: p.frontier, Manifest: p.manifest, Importance: weighed,
		Distribution: p.distribution,
	}
	if slices.Contains(p.manifest.Files, runfolder.ReportName) {
		if err := p.report(ctx, documents); err != nil {
			return nil, err
		}
		names = append(names, runfolder.ReportName)
	}
	err = output.Replace(ctx, documents, names, file)
	if err != nil {
		return nil, err
	}
	if slices.Contains(p.manifest.Files, runfolder.CardName) {
		p.driver.Reporter.Note(fmt.Sprintf("%s still tells of the tree before: write it again by espalier report %s "+
			"--format markdown --overwrite", runfolder.CardName, p.wish.Run))
	}
	return p.result(metrics), nil
}

// report makes the report of the run with its new tree. The tree of the chosen point may not lie
// among the others yet.
func (p *promotion) report(ctx context.Context, documents *runfolder.Run) (err error) {
	others := *p.frontier
	others.Points = slices.Clone(others.Points)
	others.Points[p.now].Tree = runfolder.TreeName // any tree: the page has the run's in its place
	if documents.Trees, err = pages.Trees(ctx, p.driver.Files.Store, p.wish.Run, &others); err != nil {
		return err
	}
	documents.Trees[p.now] = documents.Tree
	documents.Report, err = pages.Of(documents)
	return err
}

// promotion is a choice of another tree of a run.
type promotion struct {
	wish     *config.Promote
	driver   *engine.Driver
	manifest *runfolder.Manifest
	grown    *runfolder.Grown // nil: a version that did not save it has trained
	config   *TrainConfig     // of the run, with the settings of the new choice
	parsed   *config.Parsed
	pool     *frontier.Pool // nil: see grown

	frontier     *runfolder.Frontier     // with the new choice
	now, before  int                     // indexes of its points
	distribution *runfolder.Distribution // nil: an earlier version has trained the run
}

// newPromotion reads a run and chooses a tree.
func newPromotion(ctx context.Context, c *config.Promote, d *engine.Driver) (*promotion, error) {
	p := &promotion{wish: c, driver: d}
	var err error
	if p.manifest, err = runfolder.ReadManifest(ctx, d.Files.Store, c.Run); err != nil {
		return nil, err
	}
	there, err := runfolder.Read(ctx, d.Files.Store, c.Run, runfolder.Training, runfolder.FrontierName,
		runfolder.GrownName, runfolder.DistributionName)
	if err != nil {
		return nil, err
	}
	p.frontier, p.grown, p.distribution = there.Frontier, there.Grown, there.Distribution
	trained, _ := p.manifest.Config.(json.RawMessage)
	if p.config, err = c.Of(trained); err != nil {
		return nil, err
	}
	if p.parsed, err = p.config.Parse(); err != nil {
		return nil, err
	}
	if err := p.rebuild(ctx); err != nil {
		return nil, err
	}
	p.before = slices.IndexFunc(p.frontier.Points, func(q runfolder.Point) bool { return q.Selected })
	if p.before < 0 {
		return nil, usage.Errorf("%s: %s marks no tree as chosen", c.Run, runfolder.FrontierName)
	}
	if c.Number >= 0 {
		return p, p.byNumber()
	}
	return p, p.byRule()
}

// byNumber chooses the tree that a person names.
func (p *promotion) byNumber() error {
	name := runfolder.FrontierTree(p.wish.Number)
	p.now = slices.IndexFunc(p.frontier.Points, func(q runfolder.Point) bool { return q.Tree == name })
	if p.now < 0 {
		return usage.Errorf("--promote %d: the frontier has no tree of this number; espalier frontier %s lists them",
			p.wish.Number, p.wish.Run)
	}
	p.frontier.Select, p.frontier.Tolerance = runfolder.SelectNumber, 0
	if highest, err := p.amongListed(frontier.Highest); err == nil { // the marks of an earlier budget go
		p.markBest(highest, p.leastListed())
	}
	p.mark()
	return nil
}

// markBest marks the points of the highest merit and of the least total cost; below 0: the point is
// not listed, or there is none.
func (p *promotion) markBest(highest, leastTotal int) {
	for i := range p.frontier.Points {
		q := &p.frontier.Points[i]
		q.Highest, q.LeastTotal = i == highest, i == leastTotal
	}
}

// leastListed returns the index of the listed point of the least total cost within the limits;
// below 0: errors have no costs.
func (p *promotion) leastListed() int {
	at, err := p.amongListed(frontier.Total)
	if err != nil {
		return -1
	}
	return at
}

// mark marks the chosen point.
func (p *promotion) mark() {
	for i := range p.frontier.Points {
		p.frontier.Points[i].Selected = i == p.now
	}
}

// byRule chooses by the rule and the limits of the settings, as training does. With leaf models
// it chooses among the listed trees, as others have no models.
func (p *promotion) byRule() error {
	s := &p.parsed.Selection
	p.frontier.Select, p.frontier.Tolerance = p.config.Select, 0
	if s.Rule == frontier.Best {
		p.frontier.Tolerance = s.Tolerance
	}
	var err error
	if p.pool != nil && !s.WantsModels() {
		err = p.amongAll(&s.Settings)
	} else {
		err = p.byList(s.Rule)
	}
	if err != nil {
		return usage.Errorf("%v", err)
	}
	p.mark()
	return nil
}

// amongAll chooses among all prunings, and lists the chosen one.
func (p *promotion) amongAll(s *frontier.Settings) error {
	choice, err := p.pool.Choose(s)
	if err != nil {
		return err
	}
	marked := func(of func(l *frontier.Listed) bool) int {
		for i := range choice.Listed {
			if of(&choice.Listed[i]) {
				return p.listed(&choice.Listed[i].Point)
			}
		}
		return -1
	}
	p.markBest(marked(func(l *frontier.Listed) bool { return l.Highest }),
		marked(func(l *frontier.Listed) bool { return l.LeastTotal }))
	if p.now = p.listed(&choice.Chosen); p.now < 0 {
		p.list(choice.Chosen)
	}
	return nil
}

// listed returns the index of a point among those of frontier.json; below 0: it is not there.
func (p *promotion) listed(q *frontier.Point) int {
	return slices.IndexFunc(p.frontier.Points, func(of runfolder.Point) bool {
		one := listedPoint(&of, p.frontier.Evidence)
		return one.Same(canonical(*q))
	})
}

// byList chooses among the points of frontier.json.
func (p *promotion) byList(rule frontier.Rule) (err error) {
	if rule == frontier.OneSE {
		return errors.New("--select one_se takes standard errors, which frontier.json lacks where leaves have models or " +
			"an earlier version has trained: choose by another rule, or name a tree by --promote")
	}
	highest, err := p.amongListed(frontier.Highest)
	if err != nil {
		return err
	}
	p.markBest(highest, p.leastListed())
	p.now, err = p.amongListed(rule)
	return err
}

// amongListed returns the index of the point of frontier.json that a rule chooses within the limits.
func (p *promotion) amongListed(rule frontier.Rule) (int, error) {
	points := make([]frontier.Point, len(p.frontier.Points))
	for i := range points {
		points[i] = listedPoint(&p.frontier.Points[i], p.frontier.Evidence)
		points[i].Tree = i // earlier versions do not tell the grown trees
	}
	query := p.parsed.Selection.Query
	query.Rule = rule
	chosen, err := frontier.Select(points, query)
	return chosen.Tree, err
}

// list adds a point of the pool to those of frontier.json, under the next free number.
func (p *promotion) list(q frontier.Point) {
	next := 0
	for i := range p.frontier.Points {
		if n, err := runfolder.PointNumber(p.frontier.Points[i].Tree); err == nil {
			next = max(next, n+1)
		}
	}
	t := p.pool.Tree(&q)
	point := frontierPoint(next, &frontier.Listed{Point: q}, t, poolPart(p.pool))
	cost, _ := point.Billed()
	at := slices.IndexFunc(p.frontier.Points, func(other runfolder.Point) bool {
		c, _ := other.Billed()
		return c > cost
	})
	if at < 0 {
		at = len(p.frontier.Points)
	}
	if at <= p.before {
		p.before++
	}
	p.frontier.Points, p.now = slices.Insert(p.frontier.Points, at, point), at
}

// result describes the choice.
func (p *promotion) result(metrics *runfolder.Metrics) *Promoted {
	points := p.frontier.Points
	return &Promoted{Frontier: p.frontier, Metrics: metrics, Now: &points[p.now], Before: &points[p.before]}
}

// record returns the entry of the manifest.
func (p *promotion) record() runfolder.Promotion {
	by := maps.Clone(p.wish.Choice)
	if p.wish.Number >= 0 {
		by = map[string]string{"promote": strconv.Itoa(p.wish.Number)}
	}
	return runfolder.Promotion{
		Promoted: time.Now().UTC(), Espalier: runfolder.Version(), Tree: p.frontier.Points[p.now].Tree,
		Before: p.frontier.Points[p.before].Tree, By: by,
	}
}

// tree returns the chosen tree with its certificate, and its metrics. A tree without leaf models
// has all features of the run.
func (p *promotion) tree(ctx context.Context) (*tree.Tree, *runfolder.Metrics, error) {
	point := &p.frontier.Points[p.now]
	q := listedPoint(point, p.frontier.Evidence)
	c := p.candidate(&q)
	rows := &promotionRows{promotion: p}
	defer rows.end(ctx)
	var t *tree.Tree
	var metrics *runfolder.Metrics
	var err error
	if c != nil && q.Ridge == 0 && q.Boosted == 0 {
		t = c.Tree
		metrics = newMetrics(t, c.Counts, p.grown.Scales)
	} else {
		if t, err = p.stored(ctx, point); err != nil {
			return nil, nil, err
		}
		if metrics, err = rows.measure(ctx, t); err != nil {
			return nil, nil, err
		}
	}
	if err := rows.slice(ctx, t, metrics); err != nil {
		return nil, nil, err
	}
	if p.config.Key != "" { // see rebuild
		for _, part := range metrics.Parts() {
			part.Metrics.Widen(new(metric.Effects))
		}
	}
	metrics.Folds = p.folds(point)
	if t.Training.Weights != "" {
		metrics.DescribeWeights()
	}
	if t.Certificate, err = p.certificate(ctx, t, c, rows); err != nil {
		return nil, nil, err
	}
	return t, metrics, nil
}

// importance measures the features of the new tree on the rows that training has saved; nil: it
// has saved none. Trees with leaf models have no loss of AUC: their models take the values.
func (p *promotion) importance(t *tree.Tree) (*runfolder.Importance, error) {
	if p.grown == nil {
		return nil, nil //nolint:nilnil // none can be made
	}
	features, err := dataset.DecodeFeatures(p.grown.Features)
	if err != nil {
		return nil, err
	}
	layout := dataset.NewLayout(features)
	s := &runfolder.Shuffled{
		Part: p.grown.SamplePart, Objects: dataset.NewObjects(layout, len(t.Label.Classes), p.grown.Weighted, 0),
	}
	if err := s.Objects.AppendFrom(p.grown.Sample, layout); err != nil {
		return nil, usage.Errorf("%s: %v", objectstore.Join(p.wish.Run, runfolder.GrownName), err)
	}
	if t.Modelled() {
		return runfolder.NewImportance(t, s, importance.NoAUC{}), nil
	}
	return runfolder.NewImportance(t, s, nil), nil
}

// redistribute sets the held-out rows at the leaves of the new tree.
func (p *promotion) redistribute(t *tree.Tree) {
	if p.distribution == nil {
		return
	}
	p.distribution.Leaves = nil
	q := listedPoint(&p.frontier.Points[p.now], p.frontier.Evidence)
	if c := p.candidate(&q); c != nil {
		p.distribution.SetLeaves(t.Tested(), c.Counts[dataset.Validation], c.Counts[dataset.Test])
	}
}

// candidate returns the pruned tree of a listed point, without leaf models; nil: the grown
// trees were not saved.
func (p *promotion) candidate(q *frontier.Point) *frontier.Candidate {
	if p.pool == nil {
		return nil
	}
	at := slices.IndexFunc(p.pool.Points, func(of frontier.Point) bool {
		of.Ridge, of.Boosted = q.Ridge, q.Boosted
		return q.Same(canonical(of))
	})
	if at < 0 {
		return nil
	}
	return p.pool.Candidate(&p.pool.Points[at])
}

// stored reads the tree of a point.
func (p *promotion) stored(ctx context.Context, point *runfolder.Point) (*tree.Tree, error) {
	return runfolder.ReadPoint(ctx, p.driver.Files.Store, p.wish.Run, point)
}

// folds returns what the folds say of a point, nil if that was not saved.
func (p *promotion) folds(point *runfolder.Point) *runfolder.Folds {
	n, err := runfolder.PointNumber(point.Tree)
	if err != nil || p.grown == nil || n >= len(p.grown.Folds) {
		if p.frontier.Folds > 0 {
			p.driver.Reporter.Note("the figures of the folds are known of the trees that training listed, not of this one: " +
				"metrics.json lacks them")
		}
		return nil
	}
	return p.grown.Folds[n]
}

// certificate returns the certificate of a tree. It is that of another pruning of the same
// grown tree, if there is one, else it takes the training rows. c is the tree without models.
func (p *promotion) certificate(
	ctx context.Context, t *tree.Tree, c *frontier.Candidate, rows *promotionRows,
) (*tree.Certificate, error) {
	if p.config.Certificate == config.CertificateNone {
		return nil, nil //nolint:nilnil // none was asked for
	}
	if c == nil {
		p.driver.Reporter.Note("the tree has no certificate, as an earlier version has trained it and did not save the " +
			"grown tree")
		return nil, nil //nolint:nilnil // none can be made
	}
	pruned := len(c.Grown.Nodes) != len(t.Nodes)
	for _, i := range p.kin() {
		other, err := p.stored(ctx, &p.frontier.Points[i])
		if err != nil {
			return nil, err
		}
		if other.Certificate != nil {
			made := *other.Certificate
			made.Pruned = pruned
			return &made, nil
		}
	}
	if _, fits := certify.Room(c.Grown.Features, p.manifest.Counters["objects_train"]); !fits {
		return nil, nil //nolint:nilnil // none can be made
	}
	if p.wish.WithoutRows {
		p.driver.Reporter.Note("--without_rows: the tree has no certificate")
		return nil, nil //nolint:nilnil // none was asked for
	}
	return rows.certify(ctx, c)
}

// kin lists the points of the chosen point's grown tree that have been the run's tree: their
// files have certificates.
func (p *promotion) kin() []int {
	once := []string{p.frontier.Points[p.before].Tree, p.frontier.Points[p.now].Tree}
	for _, past := range p.manifest.Promotions {
		once = append(once, past.Tree, past.Before)
	}
	var list []int
	for i := range p.frontier.Points {
		q := &p.frontier.Points[i]
		written := slices.Contains(p.manifest.Files, q.Tree)
		if q.Grown == p.frontier.Points[p.now].Grown && slices.Contains(once, q.Tree) && written {
			list = append(list, i)
		}
	}
	return list
}

// promotionRows reads the rows of the run's training again, once something needs them.
type promotionRows struct {
	*promotion

	run    *run
	fitted *fitted
	memory string // scratch folder; empty: there is none
}

// end removes the scratch data.
func (p *promotionRows) end(ctx context.Context) {
	if p.memory != "" {
		_ = p.driver.Files.Store.RemoveAll(context.WithoutCancel(ctx), p.memory) // scratch in memory
	}
}

// because says why the rows are read, and how to do without them.
func (p *promotionRows) because(what string, err error) error {
	remedy := "--input says where they lie now"
	switch what {
	case certificateOf:
		remedy += ", --without_rows promotes the tree without a certificate"
	case slicesOf:
		remedy += ", --without_rows promotes the tree without slices"
	}
	return usage.Errorf("%s takes the training rows: %v; %s", what, err, remedy)
}

// What takes the training rows.
const (
	certificateOf = "the certificate of this tree"
	figuresOf     = "measuring this tree"
	slicesOf      = "measuring this tree by --slice"
)

// fit reads the rows as training did, and fits the features to them.
func (p *promotionRows) fit(ctx context.Context, what string) error {
	if p.fitted != nil {
		return nil
	}
	in, err := p.driver.OpenInput(ctx, p.config.Input)
	if err != nil {
		return p.because(what, err)
	}
	if err := unchanged(p.manifest.Inputs, in.Manifest()); err != nil {
		return p.because(what, err)
	}
	parsed, err := p.config.Parse()
	if err != nil {
		return err
	}
	plan, err := newPlan(ctx, p.driver.Files, p.config, parsed, in)
	if err != nil {
		return p.because(what, err)
	}
	p.memory = session.NewFolder()
	p.run = &run{
		plan: plan, driver: p.driver, files: p.driver.Files, journal: new(journal),
		place: placeInMemory(p.memory),
	}
	if p.run, err = p.run.checked(ctx); err != nil {
		return p.because(what, err)
	}
	p.fitted, err = p.run.fit(ctx)
	return err
}

// unchanged compares the files of the input with those of training, wherever they lie.
func unchanged(before, now []runfolder.Input) error {
	if len(before) != len(now) {
		return fmt.Errorf("there are %d files now, and training read %d", len(now), len(before))
	}
	for i := range now {
		if now[i].FooterDigest != before[i].FooterDigest || now[i].Size != before[i].Size {
			return fmt.Errorf("%s has changed since training", now[i].URL)
		}
	}
	return nil
}

// measure measures a tree with leaf models.
func (p *promotionRows) measure(ctx context.Context, t *tree.Tree) (*runfolder.Metrics, error) {
	if p.wish.WithoutRows {
		return nil, usage.Errorf("--without_rows: this tree takes the training rows to be measured, as its leaves have " +
			"models or an earlier version has trained it")
	}
	if err := p.fit(ctx, figuresOf); err != nil {
		return nil, err
	}
	return p.run.measureModels(ctx, &objects{fitted: p.fitted}, t)
}

// slice measures a tree by the --slice of the run.
func (p *promotionRows) slice(ctx context.Context, t *tree.Tree, m *runfolder.Metrics) error {
	if len(p.config.Slice) == 0 {
		return nil
	}
	if p.wish.WithoutRows {
		p.driver.Reporter.Note("--without_rows: metrics.json has no slices of this tree")
		return nil
	}
	if err := p.fit(ctx, slicesOf); err != nil {
		return err
	}
	slicer, err := p.run.slicer(ctx, p.fitted)
	if err != nil {
		return err
	}
	return slicer.Measure(ctx, t, &p.fitted.spec, m)
}

// certify bounds the cost of trees that separate the training objects as far as a candidate.
func (p *promotionRows) certify(ctx context.Context, c *frontier.Candidate) (*tree.Certificate, error) {
	if err := p.fit(ctx, certificateOf); err != nil {
		return nil, err
	}
	o, err := p.run.coalesce(ctx, p.fitted)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(dataset.EncodeFeatures(o.features), p.grown.Features) {
		return nil, p.because(certificateOf, errors.New("their features are not those of training"))
	}
	all, err := p.run.trainingObjects(ctx, o)
	if err != nil {
		return nil, err
	}
	chooser := p.run.chooser(o)
	chooser.Settings = &p.parsed.Selection
	chooser.Objects = func(context.Context) (*dataset.Objects, error) { return all, nil }
	return chooser.Certify(ctx, c, int64(p.frontier.Grown*(1+p.frontier.Folds)))
}
