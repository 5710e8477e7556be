package pipelines

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// plan is what a run is to do: its settings, checked against the columns of its input. No
// stage changes it.
type plan struct {
	config  *TrainConfig
	parsed  *config.Parsed
	input   *source.Input
	schema  *schema
	costs   *tables.Costs
	cuts    *source.Cuts       // of an earlier run; nil: the rows decide
	kept    *tree.Tree         // the tree of --refit; nil: trees grow
	obeyed  *contract.Contract // that the rows are checked against; nil: none
	tables  tables.Classes     // weights, priors and error costs of the classes
	memory  int64              // bytes a process may take
	sampled bool               // the rows are a sample: it may lack classes and values
}

// newPlan checks a configuration against the columns of its input, and reads the tables
// that it names.
func newPlan(ctx context.Context, f *source.Files, c *TrainConfig, p *config.Parsed, in *source.Input) (*plan, error) {
	obeyed, err := contracts.Read(ctx, &c.Contract)
	if err != nil {
		return nil, err
	}
	if obeyed != nil {
		if err := contracts.ObeyColumns(obeyed, in, c); err != nil {
			return nil, err
		}
	}
	s, err := resolve(in, c, p)
	if err != nil {
		return nil, err
	}
	costs, err := tables.ReadCosts(ctx, f, c.Prices, c.CostsFile, in.Names())
	if err != nil {
		return nil, err
	}
	classes, err := tables.ReadClasses(ctx, f, c)
	if err != nil {
		return nil, err
	}
	cuts, kept, err := readEarlier(ctx, f, c, p)
	if err != nil {
		return nil, err
	}
	p.SettleBins(cmp.Or(c.Rows, in.Rows))
	if err := p.SettlePricing(&costs.Prices, s.featureNames()); err != nil {
		return nil, err
	}
	return &plan{
		config: c, parsed: p, input: in, schema: s, costs: costs, cuts: cuts, kept: kept, obeyed: obeyed,
		tables: classes, memory: memlimit.Allowance(c.Memory),
	}, nil
}

// readEarlier reads what a run takes over from an earlier one: its cuts, and the tree of --refit, of which
// there is nothing to choose.
func readEarlier(
	ctx context.Context, f *source.Files, c *TrainConfig, p *config.Parsed,
) (cuts *source.Cuts, kept *tree.Tree, err error) {
	switch {
	case c.CutsFrom != "":
		cuts, err = source.ReadCuts(ctx, f.Store, "cuts_from", c.CutsFrom)
	case c.Refit != "":
		if cuts, err = source.ReadCuts(ctx, f.Store, "refit", c.Refit); err == nil {
			kept, err = runfolder.ReadTree(ctx, f.Store, cuts.Run)
		}
		p.Grid, p.Selection.Settings = p.Grid[:1], p.Selection.Unjudged()
	default:
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	p.Bins = []int{cuts.Bins}
	return cuts, kept, nil
}

// checked returns the run without the rows that break its contract.
func (r *run) checked(ctx context.Context) (*run, error) {
	if r.obeyed == nil {
		return r, nil
	}
	k := contracts.Checker{
		Contract: r.obeyed, Settings: &r.config.Contract, Driver: r.driver, Scratch: r.newFolder("check"),
	}
	in, err := k.Check(ctx, r.input)
	if err != nil {
		return nil, err
	}
	return r.changed(func(p *plan) { p.input = in }), nil
}

// sample returns the plan of a rehearsal: the same run over row groups of at least the given
// number of rows together, in this process and in memory. It also returns the share of all
// rows that these row groups have.
func (p *plan) sample(rows int64) (*plan, float64) {
	in, share := p.input.Sample(rows)
	changed, settings := *p.config, *p.parsed
	changed.MemoryObjects, changed.Runner, changed.LevelsPerJob, changed.Deadline = -1, engine.DefaultRunner(), 1, 0
	changed.Rows, changed.ObjectCache = 0, ""
	settings.Grid = slices.Clone(settings.Grid)
	for i := range settings.Grid {
		params := &settings.Grid[i].Params
		params.MinRows = int64(math.Ceil(float64(params.MinRows) * share))
	}
	return &plan{
		config: &changed, parsed: &settings, input: in, schema: p.schema, costs: p.costs.OfFeatures(), cuts: p.cuts,
		tables: p.tables, memory: p.memory, sampled: true,
	}, share * float64(p.input.Rows) / float64(p.rows())
}

// rows returns the number of rows of the run: those of the input, unless a dry run has --rows.
func (p *plan) rows() int64 { return cmp.Or(p.config.Rows, p.input.Rows) }

// undecided reports whether the run has to choose among trees.
func (p *plan) undecided() bool { return p.parsed.Selection.Undecided(len(p.parsed.Grid)) }

// mayValidate reports whether the settings set rows aside for validation. Whether there
// are any is known once the rows have been read.
func (p *plan) mayValidate() bool {
	return p.config.SplitColumn != "" || p.config.Split[dataset.Validation] > 0
}

// narrowed returns the plan without the trees that cannot be chosen: the grid is only its
// first tree if the rule is to take that one, or if there are neither validation rows nor
// folds to choose by. It tells the host of the latter.
func (p *plan) narrowed(validates bool, r selection.Host) *plan {
	narrow, settings := *p, *p.parsed
	settings.Selection, settings.Grid = settings.Selection.Narrowed(settings.Grid, validates, r)
	narrow.parsed = &settings
	return &narrow
}

// reads lists the files that a run reads, by flag.
func (p *plan) reads() []runfolder.Reading {
	c, list := p.config, p.input.Reads()
	for _, url := range c.AlsoRead {
		list = append(list, runfolder.Reading{Flag: "config", URL: url})
	}
	if p.kept != nil {
		list = append(list, runfolder.Reading{Flag: "refit", URL: latest.TreeURL(p.cuts.Run)})
	}
	list = append(list,
		runfolder.Reading{Flag: "cuts_from", URL: p.cutsFile()},
		runfolder.Reading{Flag: "schema", URL: c.Schema},
		runfolder.Reading{Flag: "costs", URL: c.CostsFile},
		runfolder.Reading{Flag: "class_weights", URL: c.ClassWeightsFile},
		runfolder.Reading{Flag: "priors", URL: c.PriorsFile},
		runfolder.Reading{Flag: "error_costs", URL: c.ErrorCostsFile})
	return list
}

// cutsFile returns the file with the cuts of an earlier run; empty: there is no run.
func (p *plan) cutsFile() string {
	if p.cuts == nil {
		return ""
	}
	return objectstore.Join(p.cuts.Run, runfolder.SchemaName)
}
