package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/settings"
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

// Promoted is the result of Promote.
type Promoted struct {
	Run      string              // folder of the run that has the frontier
	Output   string              // folder of the new run
	Frontier *runfolder.Frontier // the frontier with the new choice; with Promote.ByLeaves the trees by their size
	Metrics  *runfolder.Metrics  // metrics of the new run's tree; nil after a dry run
	Decision *tree.Decision      // the threshold that keeps a demand, which the figures of Frontier leave out; nil: no demand
	Now      *runfolder.Point    // the point of Frontier that was chosen
	Before   *runfolder.Point    // the point of Frontier that is the tree of Run
}

// ReadFrontier reads the frontier.json of a run, given its folder or a LATEST.json. It also returns the folder. If
// the run does not have the file, the error is a usage error.
func ReadFrontier(ctx context.Context, run string) (f *runfolder.Frontier, folder string, err error) {
	return readFrontier(ctx, source.Process.Store, run)
}

func readFrontier(ctx context.Context, s *objectstore.Store, run string) (*runfolder.Frontier, string, error) {
	run, _, err := runfolder.FindRun(ctx, s, run)
	if err != nil {
		return nil, "", err
	}
	there, err := runfolder.Read(ctx, s, run, runfolder.Training, runfolder.FrontierName)
	if err != nil {
		return nil, "", err
	}
	if there.Frontier == nil {
		return nil, "", usage.Errorf("%s has no %s: the run had one tree and nothing to choose, or a Beam pipeline has trained it; "+
			"train with a rule that chooses, such as --select best", run, runfolder.FrontierName)
	}
	return there.Frontier, run, nil
}

// Promote writes a new run whose tree is another tree of a run's frontier, without training again. The
// tree and its metrics are the same as from a training with the settings of the choice, but for a maximum cost, which
// also guides growth.
func Promote(ctx context.Context, c config.Promote, reporter engine.Reporter) (r *Promoted, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		f, run, err := readFrontier(ctx, s.Files.Store, c.Run)
		if err != nil {
			return err
		}
		c.Run = run
		return readsFile(objectstore.Join(run, runfolder.GrownName), "train again", func() error {
			p, err := newPromotion(ctx, &c, s, f)
			if err != nil {
				return err
			}
			r = &Promoted{Run: run, Output: c.Output, Frontier: f, Now: &f.Points[p.now], Before: &f.Points[p.before]}
			if p.decided != nil {
				r.Decision = p.decided.Tree.Label.Decision
			}
			if c.ByLeaves {
				r.Frontier, err = p.bySize()
			}
			if err != nil || c.DryRun {
				return err
			}
			return s.Locked(ctx, c.Output, func(ctx context.Context) error {
				r.Metrics, err = p.write(ctx)
				return err
			})
		})
	})
	return r, err
}

// promotion is a choice of another tree of a run's frontier.
type promotion struct {
	*session.Session

	wish     *config.Promote
	manifest *runfolder.Manifest
	grown    *runfolder.Grown // nil: an earlier version, which did not save it, has trained the run
	config   *config.Train    // settings of the run and of the new choice
	parsed   *config.Parsed
	features []dataset.Feature // features of the run; nil if grown is nil
	priced   *tree.Label       // the run's label with the error costs of the choice; nil: the choice has none

	// pool has the prunings that are compared; nil if grown is nil. With other error costs than in training, these are the
	// prunings whose trees of the folds were kept, if any were.
	pool *frontier.Pool
	all  []frontier.Point // all prunings; only pool has the figures on folds that follow the error costs

	rejudged bool // whether points are compared by another figure than in training, so that their optimism is not known

	decided      *frontier.Candidate     // the chosen tree with the threshold of a demand; nil: no demand
	frontier     *runfolder.Frontier     // the frontier with the new choice
	trees        []*tree.Tree            // trees of the frontier's points; nil: the point is new
	now, before  int                     // indexes of points of frontier
	distribution *runfolder.Distribution // nil: an earlier version has trained the run
	schema       *tree.Schema
}

// newPromotion reads a run, and chooses a tree of its frontier.
func newPromotion(
	ctx context.Context, c *config.Promote, s *session.Session, f *runfolder.Frontier,
) (*promotion, error) {
	p := &promotion{Session: s, wish: c, frontier: f}
	var err error
	if p.manifest, err = runfolder.ReadFinished(ctx, s.Files.Store, c.Run); err != nil {
		return nil, err
	}
	if p.trees, err = pages.Trees(ctx, s.Files.Store, c.Run, f); err != nil {
		return nil, err
	}
	there, err := runfolder.Read(ctx, s.Files.Store, c.Run, runfolder.Training, runfolder.GrownName,
		runfolder.DistributionName, runfolder.SchemaName)
	if err != nil {
		return nil, err
	}
	p.grown = there.Grown
	p.distribution = there.Distribution
	p.schema = there.Schema
	trained, _ := p.manifest.Config.(json.RawMessage)
	if p.config, err = c.Of(trained, p.grown != nil && (p.grown.Label.ErrorCosts != nil || p.grown.ErrorCosts != nil)); err != nil {
		return nil, err
	}
	if p.parsed, err = p.config.Parse(); err != nil {
		return nil, err
	}
	if err := p.setErrorCosts(ctx); err != nil {
		return nil, err
	}
	if err := p.rebuild(ctx); err != nil {
		return nil, err
	}
	p.before = slices.IndexFunc(p.frontier.Points, func(q runfolder.Point) bool { return q.Selected })
	if p.before < 0 {
		return nil, usage.Errorf("%s: %s marks no tree as chosen", c.Run, runfolder.FrontierName)
	}
	return p, p.choose(ctx)
}

// choose marks another point of the frontier as chosen: the point with a given number, or the point that
// the settings choose, as in training. With leaf models it chooses among the listed trees, because only
// these have models.
func (p *promotion) choose(ctx context.Context) (err error) {
	s := &p.parsed.Selection
	f := p.frontier
	f.Select = s.Rule.String()
	f.Tolerance = 0
	f.Limits = s.Limits
	if s.Rule == frontier.Best {
		f.Tolerance = s.Tolerance
	}
	switch {
	case s.Merit > frontier.Auto:
	case f.Points[0].Merits == nil || f.Points[0].Merits.AUC == nil: // an earlier version, or no other figure
		s.Merit = f.Criterion()
	default:
		s.Merit = s.Criterion(len(p.grown.Label.Classes))
	}
	if err := p.config.CheckUnits(dataset.FurtherUnits(p.features), p.config.CostUnit, settings.FlagName); err != nil {
		return usage.Errorf("%v", err)
	}
	if err := p.priceListed(ctx); err != nil {
		return err
	}
	switch {
	case p.wish.Number >= 0:
		f.Select = runfolder.SelectNumber
		f.Tolerance = 0
		f.Limits = frontier.Limits{}
		name := runfolder.FrontierTree(p.wish.Number)
		if p.now = slices.IndexFunc(f.Points, func(q runfolder.Point) bool { return q.Tree == name }); p.now < 0 {
			err = fmt.Errorf("--promote %d: the frontier has no tree of this number; espalier frontier %s lists them",
				p.wish.Number, p.wish.Run)
		}
		_ = p.markBest() // if no point keeps the limits, the marks stay
	case p.pool != nil && !s.WantsModels():
		err = p.amongAll(&s.Settings)
	case s.Merit != f.Criterion():
		err = errors.New("--merit compares trees without leaf models that this version has trained: train again with --merit " +
			s.Merit.String())
	case s.Rule == frontier.OneSE:
		err = errors.New("--select one_se takes standard errors, which frontier.json lacks where leaves have models or " +
			"an earlier version has trained: choose by another rule, or name a tree by --promote")
	default:
		if err = p.markBest(); err == nil {
			p.now, err = p.amongListed(s.Rule)
		}
	}
	if err != nil {
		return usage.Errorf("%v", err)
	}
	if p.wish.Prices() && s.Rule == frontier.Total && p.wish.Number < 0 {
		p.leaveOutDominated()
	}
	if err := p.keepDemand(ctx); err != nil {
		return err
	}
	for i := range f.Points {
		f.Points[i].Selected = i == p.now
	}
	return nil
}

// mark marks the points with the highest merit and the least total cost, given by index. A negative
// index marks no point.
func (p *promotion) mark(highest, leastTotal int) {
	for i := range p.frontier.Points {
		q := &p.frontier.Points[i]
		q.Highest = i == highest
		q.LeastTotal = i == leastTotal
	}
}

// markBest marks the listed points that are best within the limits.
func (p *promotion) markBest() error {
	highest, err := p.amongListed(frontier.Highest)
	if err != nil {
		return err
	}
	leastTotal := -1
	if least, err := frontier.LeastTotal(p.listedPoints(), p.parsed.Selection.Limits); err == nil && least != nil {
		leastTotal = least.Tree
	}
	p.mark(highest, leastTotal)
	return nil
}

// amongAll chooses among all prunings, and lists the chosen one.
func (p *promotion) amongAll(s *frontier.Settings) error {
	choice, err := p.pool.Choose(s)
	if err != nil {
		return err
	}
	highest := -1
	leastTotal := -1
	for i := range choice.Listed {
		l := &choice.Listed[i]
		if l.Highest {
			highest = p.listed(&l.Point)
		}
		if l.LeastTotal {
			leastTotal = p.listed(&l.Point)
		}
	}
	p.mark(highest, leastTotal)
	if choice.Chosen.By != p.frontier.Criterion() {
		p.compareBy(&choice.Chosen)
	}
	if p.now = p.listed(&choice.Chosen); p.now < 0 {
		p.list(choice.Chosen)
		p.frontier.Points[p.now].LeastTotal = slices.ContainsFunc(choice.Listed, func(l frontier.Listed) bool { return l.Chosen && l.LeastTotal })
	}
	return nil
}

// compareBy gives the points of frontier.json that are compared the merits by the criterion of a point of the pool. The
// optimism is not known of a figure that has not chosen them before.
func (p *promotion) compareBy(by *frontier.Point) {
	for i := range p.pool.Points {
		if at := p.listed(&p.pool.Points[i]); at >= 0 {
			setMerits(&p.frontier.Points[at], &p.pool.Points[i], len(p.grown.Label.Classes))
		}
	}
	if before := p.frontier.Criterion(); before != by.By && (before == frontier.Accuracy || by.By == frontier.Accuracy) {
		p.rejudged = true
		for i := range p.frontier.Points {
			p.frontier.Points[i].Optimism = nil
			p.frontier.Points[i].AccuracyOptimism = nil
		}
	}
	describeMerits(p.frontier, by)
}

// listed returns the index of a point in frontier.json; -1 if it is not listed.
func (p *promotion) listed(q *frontier.Point) int {
	return slices.IndexFunc(p.frontier.Points, func(of runfolder.Point) bool {
		one := listedPoint(&of, p.frontier)
		return one.Same(canonical(*q))
	})
}

// amongListed returns the index of the point in frontier.json that the rule chooses within the limits.
func (p *promotion) amongListed(rule frontier.Rule) (int, error) {
	query := p.parsed.Selection.Query
	query.Rule = rule
	chosen, err := frontier.Select(p.listedPoints(), query)
	return chosen.Tree, err
}

// listedPoints returns the points of frontier.json. The number of a tree is the index of its point.
func (p *promotion) listedPoints() []frontier.Point {
	points := make([]frontier.Point, len(p.frontier.Points))
	for i := range points {
		points[i] = listedPoint(&p.frontier.Points[i], p.frontier)
		points[i].PaidTests = p.paidTests(i)
		points[i].Tree = i // earlier versions did not save which grown tree a point is from
	}
	frontier.MarkSignal(points, p.frontier.Association)
	return points
}

// paidTests returns how many tests of a point of frontier.json cost something, on the path with most of them.
func (p *promotion) paidTests(i int) int {
	if p.trees[i] == nil {
		return p.pool.Tree(new(listedPoint(&p.frontier.Points[i], p.frontier))).PaidTests()
	}
	return p.trees[i].PaidTests()
}

// list adds a point of the pool to frontier.json, with the next free number.
func (p *promotion) list(q frontier.Point) {
	next := 0
	for i := range p.frontier.Points {
		if n, err := runfolder.PointNumber(p.frontier.Points[i].Tree); err == nil {
			next = max(next, n+1)
		}
	}
	t := p.pool.Tree(&q)
	point := frontierPoint(next, &frontier.Listed{Point: q}, t, p.pool)
	at := sort.Search(len(p.frontier.Points), func(i int) bool {
		return p.frontier.Points[i].ExpectedCost > point.ExpectedCost
	})
	if at <= p.before {
		p.before++
	}
	p.frontier.Points = slices.Insert(p.frontier.Points, at, point)
	p.trees = slices.Insert(p.trees, at, nil)
	p.now = at
}

// origin returns the entry of the manifest that names the run and the choice.
func (p *promotion) origin(ctx context.Context) (*runfolder.Origin, error) {
	b, _, err := latest.Tree(ctx, p.Files.Store, p.wish.Run)
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	by := p.wish.Choice
	if p.wish.Number >= 0 {
		by = map[string]string{"promote": strconv.Itoa(p.wish.Number)}
		maps.Copy(by, p.wish.Choice)
	}
	return &runfolder.Origin{
		Run: p.wish.Run, Digest: tree.Digest(b), Promoted: time.Now().UTC(), Espalier: runfolder.Version(), By: by,
	}, nil
}

// describe returns the chosen tree with the documents that describe it. A tree without leaf models is
// measured by its counts in grown.bin.
func (p *promotion) describe(ctx context.Context) (*chosen, error) {
	point := &p.frontier.Points[p.now]
	rows := &reopened{promotion: p}
	plain := p.candidate(point)
	if p.decided != nil {
		plain = p.decided
	}
	r := &chosen{candidate: new(frontier.Candidate), frontier: p.frontier, frontierTrees: p.trees, grown: p.grown}
	if plain != nil {
		*r.candidate = *plain
	}
	if a := &point.Algorithm; plain == nil || a.Ridge != 0 || a.BoosterTrees != 0 {
		r.candidate.Tree = p.trees[p.now]
	}
	d := describing{driver: p.Driver, shuffled: p.shuffled, count: rows.count, slice: rows.slice}
	if p.grown != nil {
		d.scales = p.grown.Scales
	}
	if p.grown != nil && (p.dependent() || p.grown.WeightEffect > 1) {
		d.groups = func(context.Context, *tree.Tree, dataset.Part) (*tree.GroupCounts, error) {
			return p.unknownGroups(), nil
		}
	}
	t := r.candidate.Tree
	err := d.measure(ctx, r, func(s *runfolder.Shuffled) *runfolder.Importance {
		if t.Modelled() { // the models were not saved
			return runfolder.NewImportance(t, s, importance.NoAUC{})
		}
		return runfolder.NewImportance(t, s, nil)
	})
	if err != nil {
		return nil, err
	}
	r.metrics.Folds = p.folds(point)
	t.Certificate, err = p.certificate(ctx, t, plain, rows)
	r.tree = t.Tested()
	p.trees[p.now] = r.tree
	return r, err
}

// shuffled returns the rows that training has saved for the importance of features; nil if it has not
// saved any.
func (p *promotion) shuffled(context.Context) (*runfolder.Shuffled, error) {
	if p.grown == nil {
		return nil, nil //nolint:nilnil // none can be made
	}
	layout := dataset.NewLayout(p.features)
	s := &runfolder.Shuffled{
		Part: p.grown.SamplePart, Objects: dataset.NewObjects(layout, len(p.grown.Label.Classes), p.grown.Weighted, 0),
	}
	if err := s.Objects.AppendFrom(p.grown.Sample, layout); err != nil {
		return nil, usage.Errorf("%s: %v", objectstore.Join(p.wish.Run, runfolder.GrownName), err)
	}
	return s, nil
}

// write writes the new run, whose folder is locked, and returns the metrics of its tree.
func (p *promotion) write(ctx context.Context) (*runfolder.Metrics, error) {
	store := p.Files.Store
	output, err := runfolder.Open(ctx, store, p.wish.Output, runfolder.Training, p.wish.Overwrite)
	if err == nil {
		err = output.ProtectInputs([]runfolder.Reading{{Flag: "RUN", URL: objectstore.Join(p.wish.Run, runfolder.ManifestName)}})
	}
	if err == nil && p.wish.Overwrite {
		err = refuseInUse(ctx, store, p.wish.Output)
	}
	if err != nil {
		return nil, err
	}
	r, err := p.describe(ctx)
	if err != nil {
		return nil, err
	}
	documents := r.documents()
	if p.manifest.Origin, err = p.origin(ctx); err != nil {
		return nil, err
	}
	p.manifest.Counters["nodes"] = int64(r.candidate.Tree.Complexity.Nodes)
	documents.Manifest = p.manifest
	documents.Schema = p.schema
	if p.distribution != nil {
		documents.Distribution = p.distribution
		p.distribution.Leaves = nil
		r.countLeaves(p.distribution)
	}
	if p.config.Report == config.ReportHTML {
		documents.Report = reportOf(documents, p.Reporter)
	}
	_, err = output.Write(ctx, documents)
	return r.metrics, err
}

// candidate returns the pruned tree of a listed point, without leaf models; nil if the grown
// trees were not saved.
func (p *promotion) candidate(point *runfolder.Point) *frontier.Candidate {
	if p.pool == nil {
		return nil
	}
	q := listedPoint(point, p.frontier)
	at := slices.IndexFunc(p.all, func(of frontier.Point) bool {
		of.Ridge = q.Ridge
		of.Boosted = q.Boosted
		return q.Same(canonical(of))
	})
	if at < 0 {
		return nil
	}
	return p.pool.Candidate(&p.all[at])
}

// folds returns the results of the folds for a point; nil if they were not saved.
func (p *promotion) folds(point *runfolder.Point) *runfolder.Folds {
	n, err := runfolder.PointNumber(point.Tree)
	if err != nil || p.grown == nil || n >= len(p.grown.Folds) {
		if p.frontier.Folds > 0 {
			p.Reporter.Note("the figures of the folds are known of the trees that training listed, not of this one: " +
				"metrics.json lacks them")
		}
		return nil
	}
	f := *p.grown.Folds[n]
	if p.rejudged {
		f.Optimism = nil
		f.AccuracyOptimism = nil
		f.Interval = nil
	}
	if p.priced != nil { // accuracies are by the error costs of the training
		f.Each = slices.Clone(f.Each)
		for i := range f.Each {
			f.Each[i].Accuracy = nil
		}
		f.Mean.Accuracy = point.Accuracy
		f.StandardDeviation.Accuracy = nil
		f.AccuracyOptimism = nil
	}
	return &f
}

// certificate returns the certificate of a tree. It is the certificate of another pruning of the same
// grown tree, if there is one; otherwise the training rows are read. c is the tree without models.
func (p *promotion) certificate(
	ctx context.Context, t *tree.Tree, c *frontier.Candidate, rows *reopened,
) (*tree.Certificate, error) {
	if !p.config.Certificate {
		return nil, nil //nolint:nilnil // none was asked for
	}
	if c == nil {
		p.Reporter.Note("the tree has no certificate, as an earlier version has trained it and did not save the " +
			"grown tree")
		return nil, nil //nolint:nilnil // none can be made
	}
	for i, other := range p.trees {
		if other == nil || other.Certificate == nil || p.frontier.Points[i].Grown != p.frontier.Points[p.now].Grown {
			continue
		}
		made := *other.Certificate
		made.Pruned = len(c.Grown.Nodes) != len(t.Nodes)
		return &made, nil
	}
	if _, fits := certify.Room(c.Grown.Features, p.manifest.Counters["objects_train"]); !fits {
		return nil, nil //nolint:nilnil // none can be made
	}
	if p.wish.WithoutRows {
		p.Reporter.Note("--without_rows: the tree has no certificate")
		return nil, nil //nolint:nilnil // none was asked for
	}
	return rows.certify(ctx, c)
}
