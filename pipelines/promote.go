package pipelines

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
	Run      string              // folder of the run
	Frontier *runfolder.Frontier // the frontier with the new choice
	Metrics  *runfolder.Metrics  // metrics of the new tree; nil: nothing was written
	Now      *runfolder.Point    // the chosen point of Frontier
	Before   *runfolder.Point    // the point of Frontier that was chosen before; Now if nothing has changed
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
		return nil, "", usage.Errorf("%s has no %s: the run had one tree and nothing to choose; train with a rule that "+
			"chooses, such as --select best", run, runfolder.FrontierName)
	}
	return there.Frontier, run, nil
}

// Promote makes another tree of a run's frontier the run's tree, without training again. The
// tree and its metrics are the same as from a training with the settings of the choice.
func Promote(ctx context.Context, c config.Promote, reporter engine.Reporter) (r *Promoted, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		_, run, err := readFrontier(ctx, s.Files.Store, c.Run) // otherwise the lock would make a folder
		if err != nil {
			return err
		}
		c.Run = run
		reads := func(work func() error) error { return readsFile(objectstore.Join(c.Run, runfolder.GrownName), work) }
		if c.DryRun {
			return reads(func() error {
				p, err := newPromotion(ctx, &c, s)
				if err == nil {
					r = p.result(nil)
				}
				return err
			})
		}
		return s.Locked(ctx, c.Run, func(ctx context.Context) error {
			return reads(func() (err error) {
				r, err = promote(ctx, &c, s)
				return err
			})
		})
	})
	return r, ofRun(err)
}

// ofRun returns an error that names --output, as train calls the run folder, with the words "run folder".
func ofRun(err error) error {
	var one *usage.Error
	if errors.As(err, &one) && one.Setting == "output" {
		return usage.Errorf("the run folder%s", one.Problem)
	}
	return err
}

// promote chooses and writes in a locked folder.
func promote(ctx context.Context, c *config.Promote, s *session.Session) (*Promoted, error) {
	output, err := runfolder.Open(ctx, s.Files.Store, c.Run, runfolder.Training, true)
	if err != nil {
		return nil, err
	}
	p, err := newPromotion(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if err := output.CanReplace(p.manifest); err != nil {
		return nil, err
	}
	if p.now == p.before && output.Finished() {
		return p.result(nil), nil
	}
	if url := latest.InUse(ctx, s.Files.Store, c.Run); url != "" {
		return nil, usage.Errorf("the run folder %s is in use: %s names it, and programs that read that file refuse any tree but "+
			"the one that has passed the gate; give retrain the choice instead, such as --max_expected_cost, or promote in a copy "+
			"of the folder", c.Run, url)
	}
	r, err := p.describe(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.write(ctx, r, output); err != nil {
		return nil, err
	}
	return p.result(r.metrics), nil
}

// promotion is a choice of another tree of a run.
type promotion struct {
	*session.Session

	wish     *config.Promote
	manifest *runfolder.Manifest
	grown    *runfolder.Grown // nil: an earlier version, which did not save it, has trained the run
	config   *TrainConfig     // settings of the run and of the new choice
	parsed   *config.Parsed
	features []dataset.Feature // features of the run; nil if grown is nil
	pool     *frontier.Pool    // nil if grown is nil

	frontier     *runfolder.Frontier     // the frontier with the new choice
	now, before  int                     // indexes of points of frontier
	distribution *runfolder.Distribution // nil: an earlier version has trained the run
	schema       *tree.Schema            // for the report
}

// newPromotion reads a run and chooses a tree.
func newPromotion(ctx context.Context, c *config.Promote, s *session.Session) (*promotion, error) {
	p := &promotion{Session: s, wish: c}
	var err error
	if p.manifest, err = runfolder.ReadManifest(ctx, s.Files.Store, c.Run); err != nil {
		return nil, err
	}
	there, err := runfolder.Read(ctx, s.Files.Store, c.Run, runfolder.Training, runfolder.FrontierName,
		runfolder.GrownName, runfolder.DistributionName, runfolder.SchemaName)
	if err != nil {
		return nil, err
	}
	p.frontier, p.grown = there.Frontier, there.Grown
	p.distribution = there.Distribution
	p.schema = there.Schema
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
	return p, p.choose()
}

// choose marks another point of the frontier as chosen: the point with a given number, or the point that
// the settings choose, as in training. With leaf models it chooses among the listed trees, because only
// these have models.
func (p *promotion) choose() (err error) {
	s, f := &p.parsed.Selection, p.frontier
	f.Select, f.Tolerance, f.Limits = p.config.Select.String(), 0, s.Limits
	if s.Rule == frontier.Best {
		f.Tolerance = s.Tolerance
	}
	switch {
	case p.wish.Number >= 0:
		f.Select, f.Tolerance, f.Limits = runfolder.SelectNumber, 0, frontier.Limits{}
		name := runfolder.FrontierTree(p.wish.Number)
		if p.now = slices.IndexFunc(f.Points, func(q runfolder.Point) bool { return q.Tree == name }); p.now < 0 {
			err = fmt.Errorf("--promote %d: the frontier has no tree of this number; espalier frontier %s lists them",
				p.wish.Number, p.wish.Run)
		}
		_ = p.markBest() // if no point keeps the limits, the marks stay
	case p.pool != nil && !s.WantsModels():
		err = p.amongAll(&s.Settings)
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
		q.Highest, q.LeastTotal = i == highest, i == leastTotal
	}
}

// markBest marks the listed points that are best within the limits.
func (p *promotion) markBest() error {
	highest, err := p.amongListed(frontier.Highest)
	if err != nil {
		return err
	}
	leastTotal, err := p.amongListed(frontier.Total)
	if err != nil { // errors have no costs
		leastTotal = -1
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
	highest, leastTotal := -1, -1
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
	if p.now = p.listed(&choice.Chosen); p.now < 0 {
		p.list(choice.Chosen)
	}
	return nil
}

// listed returns the index of a point in frontier.json; -1 if it is not listed.
func (p *promotion) listed(q *frontier.Point) int {
	return slices.IndexFunc(p.frontier.Points, func(of runfolder.Point) bool {
		one := listedPoint(&of, p.frontier.Evidence)
		return one.Same(canonical(*q))
	})
}

// amongListed returns the index of the point in frontier.json that the rule chooses within the limits.
func (p *promotion) amongListed(rule frontier.Rule) (int, error) {
	points := make([]frontier.Point, len(p.frontier.Points))
	for i := range points {
		points[i] = listedPoint(&p.frontier.Points[i], p.frontier.Evidence)
		points[i].Tree = i // earlier versions did not save which grown tree a point is from
	}
	query := p.parsed.Selection.Query
	query.Rule = rule
	chosen, err := frontier.Select(points, query)
	return chosen.Tree, err
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
	point := frontierPoint(next, &frontier.Listed{Point: q}, t, poolPart(p.pool))
	at := sort.Search(len(p.frontier.Points), func(i int) bool {
		return p.frontier.Points[i].ExpectedCost > point.ExpectedCost
	})
	if at <= p.before {
		p.before++
	}
	p.frontier.Points, p.now = slices.Insert(p.frontier.Points, at, point), at
}

// result describes the choice.
func (p *promotion) result(metrics *runfolder.Metrics) *Promoted {
	points := p.frontier.Points
	return &Promoted{Run: p.wish.Run, Frontier: p.frontier, Metrics: metrics, Now: &points[p.now], Before: &points[p.before]}
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

// describe returns the chosen tree with the documents that describe it. A tree without leaf models is
// measured by its counts in grown.bin.
func (p *promotion) describe(ctx context.Context) (*chosen, error) {
	point, rows := &p.frontier.Points[p.now], &reopened{promotion: p}
	plain := p.candidate(point)
	r := &chosen{candidate: new(frontier.Candidate), frontier: p.frontier}
	if plain != nil {
		*r.candidate = *plain
	}
	var err error
	if a := &point.Algorithm; plain == nil || a.Ridge != 0 || a.BoosterTrees != 0 {
		if r.candidate.Tree, err = p.stored(ctx, point); err != nil {
			return nil, err
		}
	}
	d := describing{driver: p.Driver, shuffled: p.shuffled, count: rows.count, slice: rows.slice}
	if p.grown != nil {
		d.scales = p.grown.Scales
	}
	if p.grown != nil && (p.config.Key != "" || p.grown.WeightEffect > 1) {
		d.groups = func(context.Context, *tree.Tree, dataset.Part) (*tree.GroupCounts, error) {
			return p.unknownGroups(), nil
		}
	}
	t := r.candidate.Tree
	err = d.measure(ctx, r, func(s *runfolder.Shuffled) *runfolder.Importance {
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

// write replaces the documents that describe the tree chosen before.
func (p *promotion) write(ctx context.Context, r *chosen, output *runfolder.Folder) error {
	p.manifest.Promotions = append(p.manifest.Promotions, p.record())
	p.manifest.Counters["nodes"] = int64(r.candidate.Tree.Complexity.Nodes)
	documents := r.documents()
	documents.Manifest = p.manifest
	documents.Distribution = p.distribution
	documents.Schema = p.schema
	names := []string{runfolder.TreeName, runfolder.MetricsName, runfolder.FrontierName}
	if r.importance != nil {
		names = append(names, runfolder.ImportanceName)
	}
	if p.distribution != nil {
		p.distribution.Leaves = nil
		r.countLeaves(p.distribution)
		names = append(names, runfolder.DistributionName)
	}
	if slices.Contains(p.manifest.Files, runfolder.ReportName) {
		if err := p.report(ctx, documents); err != nil {
			return err
		}
		names = append(names, runfolder.ReportName)
	}
	file := runfolder.File{Name: p.frontier.Points[p.now].Tree, Content: r.tree.Encode()}
	if err := output.Replace(ctx, documents, names, file); err != nil {
		return err
	}
	if slices.Contains(p.manifest.Files, runfolder.CardName) {
		p.Reporter.Note(fmt.Sprintf("%s still describes the previous tree: write it again by espalier report %s "+
			"--format markdown --overwrite", runfolder.CardName, p.wish.Run))
	}
	return nil
}

// report makes the report of the run with its new tree. The tree file of the chosen point may not be
// written yet.
func (p *promotion) report(ctx context.Context, documents *runfolder.Run) (err error) {
	others := *p.frontier
	others.Points = slices.Clone(others.Points)
	others.Points[p.now].Tree = runfolder.TreeName // any tree, because the page shows the run's tree in its place
	if documents.Trees, err = pages.Trees(ctx, p.Files.Store, p.wish.Run, &others); err != nil {
		return err
	}
	documents.Trees[p.now] = documents.Tree
	documents.Report, err = pages.Of(documents)
	return err
}

// candidate returns the pruned tree of a listed point, without leaf models; nil if the grown
// trees were not saved.
func (p *promotion) candidate(point *runfolder.Point) *frontier.Candidate {
	if p.pool == nil {
		return nil
	}
	q := listedPoint(point, p.frontier.Evidence)
	at := slices.IndexFunc(p.pool.Points, func(of frontier.Point) bool {
		of.Ridge, of.Boosted = q.Ridge, q.Boosted
		return q.Same(canonical(of))
	})
	if at < 0 {
		return nil
	}
	return p.pool.Candidate(&p.pool.Points[at])
}

// stored reads the tree file of a point.
func (p *promotion) stored(ctx context.Context, point *runfolder.Point) (*tree.Tree, error) {
	return runfolder.ReadPoint(ctx, p.Files.Store, p.wish.Run, point)
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
	return p.grown.Folds[n]
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
	once := []string{p.frontier.Points[p.before].Tree, p.frontier.Points[p.now].Tree} // present and former trees of the run
	for _, past := range p.manifest.Promotions {
		once = append(once, past.Tree, past.Before)
	}
	for i := range p.frontier.Points {
		q := &p.frontier.Points[i]
		if q.Grown != p.frontier.Points[p.now].Grown || !slices.Contains(once, q.Tree) || !slices.Contains(p.manifest.Files, q.Tree) {
			continue
		}
		other, err := p.stored(ctx, q)
		if err != nil {
			return nil, err
		}
		if made := other.Certificate; made != nil {
			made.Pruned = len(c.Grown.Nodes) != len(t.Nodes)
			return made, nil
		}
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
