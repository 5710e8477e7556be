package benchmark

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// The laws of costs.
const (
	UnitCosts   = "unit"   // each test costs 1
	RandomCosts = "random" // whole numbers from 1 to 10, by feature
)

// Figures has the figures of one tree.
type Figures struct {
	Costs     string  `json:"costs"`
	Algorithm string  `json:"algorithm"`
	Pruned    bool    `json:"pruned"`
	Lambda    float64 `json:"lambda,omitempty"` // lambda of the chosen tree
	Alpha     float64 `json:"alpha,omitempty"`  // alpha of its pruning
	AUC       float64 `json:"auc"`              // on the test rows, one class against the rest
	Cost      float64 `json:"cost"`             // expected, of the training rows
	Leaves    int     `json:"leaves"`
	Seconds   float64 `json:"seconds"` // for all trees of the algorithm, plain and pruned ones together
}

// LambdaFigures has the figures of the plain tree of one lambda.
type LambdaFigures struct {
	Costs      string  `json:"costs"`
	Algorithm  string  `json:"algorithm"`
	Lambda     float64 `json:"lambda"`
	Validation float64 `json:"validation_auc"`
	AUC        float64 `json:"auc"` // on the test rows
	Cost       float64 `json:"cost"`
	Leaves     int     `json:"leaves"`
}

// SplitFormat identifies the figures of a split. It has another number where they are chosen otherwise.
const SplitFormat = "espalier/benchmark-split-2"

// Split has the figures of one split of one data set.
type Split struct {
	Format   string    `json:"format"`
	Espalier string    `json:"espalier"` // version
	Files    []string  `json:"files"`    // with their generations: a split of other files is trained again
	Label    string    `json:"label"`
	Set      string    `json:"set"`
	Seed     uint64    `json:"seed"`
	Rows     int64     `json:"rows"`
	Features int       `json:"features"`
	Figures  []Figures `json:"figures"`

	Lambdas  []LambdaFigures `json:"lambdas"`
	Budgets  string          `json:"budgets"`            // preset of the frontier
	Frontier []FrontierPoint `json:"frontier,omitempty"` // where each test costs 1, by ascending cost
}

// has reports whether a split from a file is the wanted one, with figures of all algorithms.
func (s *Split) has(want *Split, algorithms []string) bool {
	if s.Format != want.Format || s.Espalier != want.Espalier || s.Label != want.Label || s.Set != want.Set ||
		s.Seed != want.Seed || s.Budgets != want.Budgets || !slices.Equal(s.Files, want.Files) {
		return false
	}
	for _, a := range algorithms {
		if !slices.ContainsFunc(s.Figures, func(f Figures) bool { return f.Algorithm == a }) {
			return false
		}
	}
	return true
}

// trainConfig returns the settings of all trees of a split: the settings of the paper, with its
// grid of lambda for the algorithms that have a lambda.
func trainConfig(c *Config, d *dataSet, s *Split, algorithms []string) (config.Train, error) {
	t, err := presetConfig(c, d, s, "paper")
	t.Algorithm, t.Select, t.Lambda = parsed(algorithms), frontier.Paper, paperLambdas()
	t.Output = objectstore.Join(c.Output, "unused") // nothing is written there
	return t, err
}

// parsed returns algorithms by their names, which the configuration has checked.
func parsed(names []string) []split.Algorithm {
	algorithms := make([]split.Algorithm, len(names))
	for i, name := range names {
		algorithms[i], _ = split.ParseAlgorithm(name)
	}
	return algorithms
}

// paperLambdas are the lambdas of the authors' recorded runs, from large to small.
func paperLambdas() []float64 { return []float64{100, 10, 1, 0.1, 0.01} }

// paperAlphas are the paper's logarithmic grid of alpha, from small to large.
func paperAlphas() []float64 { return []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1} }

// presetConfig returns the settings of a preset on a split.
func presetConfig(c *Config, d *dataSet, s *Split, preset string) (config.Train, error) {
	t, err := config.Preset(preset)
	if err != nil {
		return t, err
	}
	t.FreeRepeats = false // the paper counts tests
	t.Label = d.label
	t.Categorical = d.categorical
	t.Seed = s.Seed
	t.StorageConfig = c.StorageConfig
	t.Theta = scaled(t.Theta, s.Rows)
	t.Input = d.urls()
	return t, nil
}

// scaled raises thetas on small data sets as the paper does: so far that nodes of two training rows
// are leaves at the theta of 0.005. The number of training rows is not known to a row here.
func scaled(thetas []float64, rows int64) []float64 {
	const usual, least, training = 0.005, 2.1, 0.7
	factor := least / float64(usual*training*float64(rows))
	if factor <= 1 {
		return thetas
	}
	list := make([]float64, len(thetas))
	for i, theta := range thetas {
		list[i], _ = strconv.ParseFloat(strconv.FormatFloat(min(1, float64(theta*factor)), 'g', 4, 64), 64) // four digits
	}
	return list
}

// work is one split of one data set.
type work struct {
	config *Config
	files  *source.Files
	set    *dataSet
	seed   uint64
}

// url returns the file of the split in a folder of the output.
func (w *work) url(folder, ending string) string {
	return objectstore.Join(w.config.Output, folder, fmt.Sprintf("%s-%d%s", w.set.name, w.seed, ending))
}

// generations returns the files of the data set with their generations, however the folder of the
// data sets is spelled.
func (w *work) generations() []string {
	var list []string
	for _, f := range w.set.files {
		list = append(list, path.Join(w.set.name, path.Base(f.URL))+" "+f.Generation)
	}
	return list
}

// split returns the figures of the split: the figures of an earlier run, if there are any.
func (w *work) split(ctx context.Context) (*Split, error) {
	s := &Split{
		Format: SplitFormat, Espalier: runfolder.Version(), Label: w.set.label, Set: w.set.name, Seed: w.seed,
		Budgets: w.config.Budgets,
	}
	s.Files = w.generations()
	url := w.url(splitsFolder, ".json")
	const limit = 1 << 26
	b, err := w.files.Store.ReadAll(ctx, url, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	earlier := new(Split)
	if err == nil && json.Unmarshal(b, earlier) == nil && earlier.has(s, w.config.Algorithm) {
		return earlier, nil
	}
	if err := w.train(ctx, s); err != nil {
		return nil, fmt.Errorf("%s, split %d: %w", w.set.name, w.seed, err)
	}
	if b, err = json.MarshalIndent(s, "", "  "); err != nil {
		return nil, err
	}
	return s, w.files.Store.Put(ctx, url, append(b, '\n'), objectstore.WriteOptions{})
}

// train grows all trees of the split, and chooses among the trees of each algorithm.
func (w *work) train(ctx context.Context, s *Split) error {
	priced, err := w.priced(ctx, s)
	if err != nil {
		return err
	}
	t, err := trainConfig(w.config, w.set, s, w.config.Algorithm)
	if err != nil {
		return err
	}
	grown, err := train.GrowAll(ctx, t, []string{"", priced}, engine.Silent{})
	if err != nil {
		return err
	}
	for i := range grown {
		if err := s.chooseAmong(ctx, &t, &grown[i]); err != nil {
			return err
		}
	}
	return w.frontier(ctx, s)
}

// chooseAmong adds the figures of the chosen trees of an algorithm, and the figures of its lambdas.
func (s *Split) chooseAmong(ctx context.Context, t *config.Train, g *train.GrownTrees) error {
	law := UnitCosts
	if g.Costs != "" {
		law = RandomCosts
	}
	pool, chosen, err := choose(ctx, t, g)
	if err != nil {
		return err
	}
	pruned, alpha := pruneOne(chosen)
	for _, c := range []*frontier.Candidate{chosen, pruned} {
		f, err := figuresOf(g, c)
		if err != nil {
			return err
		}
		f.Costs = law
		if c == pruned {
			f.Pruned = true
			f.Alpha = alpha
		}
		s.Figures = append(s.Figures, *f)
	}
	if chosen.Params.Algorithm.HasLambda() {
		s.addLambdas(law, g.Algorithm, pool.Points)
	}
	return nil
}

// addLambdas adds the figures of plain trees, one for each lambda.
func (s *Split) addLambdas(law, algorithm string, points []frontier.Point) {
	for i := range points {
		p := &points[i]
		if p.Validation.AUC == nil || p.Test.AUC == nil {
			continue
		}
		s.Lambdas = append(s.Lambdas, LambdaFigures{
			Costs: law, Algorithm: algorithm, Lambda: p.Lambda, Validation: *p.Validation.AUC, AUC: *p.Test.AUC,
			Cost: p.ExpectedCost, Leaves: p.Leaves,
		})
	}
}

// choose chooses a plain tree of an algorithm as training does with --select paper.
func choose(ctx context.Context, t *config.Train, g *train.GrownTrees) (*frontier.Pool, *frontier.Candidate, error) {
	p, err := t.Parse()
	if err != nil {
		return nil, nil, err
	}
	pool, err := frontier.NewPool(ctx, g.Candidates, &p.Selection.Settings, new(atomic.Int64))
	if err != nil {
		return nil, nil, err
	}
	if err := pool.Score(ctx, new(atomic.Int64)); err != nil {
		return nil, nil, err
	}
	choice, err := pool.Choose(&p.Selection.Settings)
	if err != nil {
		return nil, nil, err
	}
	return pool, pool.Candidate(&choice.Chosen), nil
}

// pruneOne prunes a tree by leaves at the alpha of the paper's grid whose AUC on validation rows is
// the highest; of equals it takes the smallest. Without an AUC it is the smallest of all.
func pruneOne(c *frontier.Candidate) (pruned *frontier.Candidate, alpha float64) {
	sequence := c.Prune(c.Tree, prune.Leaves)[0]
	scores := sequence.Sweep(c.Counts[dataset.Validation])
	best := -1.0
	for _, a := range paperAlphas() {
		step := sequence.At(a)
		area := 0.0
		if scores[step].AUC != nil {
			area = *scores[step].AUC
		}
		if area > best {
			best = area
			alpha = a
		}
	}
	return c.Pruned(sequence, sequence.At(alpha)), alpha
}

// figuresOf returns the figures of a chosen tree.
func figuresOf(g *train.GrownTrees, c *frontier.Candidate) (*Figures, error) {
	area := metric.Evaluate(metric.Leaves(c.Tree, c.Counts[dataset.Test]), c.Tree.Label.Classes, 1).AUCOvRMacro
	if area == nil {
		return nil, errNoArea
	}
	f := &Figures{
		Algorithm: g.Algorithm, AUC: *area, Cost: c.Tree.Complexity.ExpectedCost, Leaves: c.Tree.Complexity.Leaves,
		Seconds: g.Seconds,
	}
	if c.Params.Algorithm.HasLambda() {
		f.Lambda = c.Params.Lambda
	}
	return f, nil
}

// errNoArea is the error of a split whose test rows are of one class.
var errNoArea = errors.New("the test rows are of one class: their AUC is not defined")

// priced writes a file of random costs for the features, and returns its URL. Its costs depend
// on the names of the data set and the feature and on the seed alone.
func (w *work) priced(ctx context.Context, s *Split) (string, error) {
	in, err := source.OpenInput(ctx, w.files, w.set.urls(), new(parallel.Steps))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	table := csv.NewWriter(&b)
	_ = table.Write([]string{"feature", "cost"})
	for _, name := range in.Names() {
		if name == w.set.label {
			continue
		}
		const most = 10
		cost := 1 + dataset.HashText(w.seed, w.set.name+"/"+name)%most
		_ = table.Write([]string{name, strconv.FormatUint(cost, 10)})
		s.Features++
	}
	table.Flush()
	s.Rows = in.Rows
	url := w.url(costsFolder, ".csv")
	return url, w.files.Store.Put(ctx, url, b.Bytes(), objectstore.WriteOptions{})
}
