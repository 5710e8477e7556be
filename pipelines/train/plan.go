package train

import (
	"context"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// plan has the settings of a run, checked against the columns of its input. Stages only take away from it trees that
// cannot be chosen.
type plan struct {
	config  *config.Train
	parsed  *config.Parsed
	input   *source.Input
	schema  *schema
	others  []otherText // texts behind the sample, because of which columns are read otherwise than the sample
	costs   *tables.Costs
	cuts    *source.Cuts       // cuts of an earlier run; nil: fitted to the rows
	ownCuts string             // digest of the file of --cuts; empty: no file
	kept    *tree.Tree         // the tree of --refit; nil: trees are grown
	obeyed  *contract.Contract // contract that the rows are checked against; may be nil
	tables  tables.Classes     // weights, priors and error costs of the classes
	memory  int64              // bytes that a process may use
}

// otherText is a text of a column that is of another kind than the sample of the column.
type otherText struct {
	Column string `json:"column"`
	Text   string `json:"text"`
}

// newPlan checks a configuration against the columns of its input, and reads the tables
// that it names.
func newPlan(ctx context.Context, f *source.Files, c *config.Train, p *config.Parsed, in *source.Input) (*plan, error) {
	obeyed, err := contracts.Read(ctx, &c.Contract)
	if err != nil {
		return nil, err
	}
	costs, err := tables.ReadCosts(ctx, f, c, in.Names())
	if err != nil {
		return nil, err
	}
	own, digest, err := tables.ReadCuts(ctx, f, c, in.Names())
	if err != nil {
		return nil, err
	}
	read := *c
	read.Cuts = own
	read.CutsFile = ""
	if err := read.Validate(); err != nil {
		return nil, err
	}
	read.CutsFile = c.CutsFile
	read.Prices = costs.Prices
	c = &read
	if err := in.ReadTexts(ctx, f, mayBeNumbers(c, obeyed)); err != nil {
		return nil, err
	}
	if obeyed != nil {
		if in, err = contracts.ObeyColumns(ctx, f, obeyed, in, c); err != nil {
			return nil, err
		}
	}
	s, err := resolve(in, c, p)
	if err != nil {
		return nil, err
	}
	in.Order(c.Ordered)
	classes, err := tables.ReadClasses(ctx, f, c)
	if err != nil {
		return nil, err
	}
	cuts, kept, err := readEarlier(ctx, f, c, p)
	if err != nil {
		return nil, err
	}
	p.SettleBins(in.Rows) // counts of lines are not read yet, see settleBins
	if err := p.SettlePricing(&costs.Prices, s.featureNames()); err != nil {
		return nil, err
	}
	return &plan{
		config: c, parsed: p, input: in, schema: s, costs: costs, cuts: cuts, ownCuts: digest, kept: kept, obeyed: obeyed,
		tables: classes, memory: memlimit.Allowance(c.Memory),
	}, nil
}

// settleBins settles the bins by the number of rows that the lines of the input represent, if it has counts.
func (p *plan) settleBins(rows int64) {
	if p.config.Count != "" {
		p.parsed.SettleBins(rows)
	}
}

// mayBeNumbers returns a function that reports whether a column of texts may be read as numbers or points in time:
// if it has features or times and is not named in --categorical, nor its values in the costs. With an earlier run, its
// features say how they are read, and a contract says how its columns are. Weights remain texts, as other verbs read them so.
func mayBeNumbers(c *config.Train, obeyed *contract.Contract) func(column string) bool {
	return func(column string) bool {
		if c.Ordered[column] != nil {
			return false
		}
		if obeyed != nil && slices.Contains(obeyed.Names(), column) {
			return false
		}
		switch roleOf(column, c) {
		case RoleFeature, RoleForbidden:
			return len(c.ValueCosts[column]) == 0 && c.CutsFrom == "" && c.Refit == "" && !slices.Contains(c.Categorical, column)
		default:
			return column == c.SplitTime
		}
	}
}

// reread changes how columns of texts are read because of a text of another kind, and reports whether there was such a
// column and the settings still fit.
func (p *plan) reread(columns ...otherText) bool {
	changed := false
	for _, c := range columns {
		if p.input.Reread(c.Column, c.Text) {
			p.others = append(p.others, c)
			changed = true
		}
	}
	if !changed {
		return false
	}
	s, err := resolve(p.input, p.config, p.parsed)
	if err == nil {
		p.schema = s
	}
	return err == nil
}

// readEarlier reads what a run takes over from an earlier run: its cuts, and the tree of --refit, with
// which there is no choice among trees.
func readEarlier(
	ctx context.Context, f *source.Files, c *config.Train, p *config.Parsed,
) (cuts *source.Cuts, kept *tree.Tree, err error) {
	switch {
	case c.CutsFrom != "":
		cuts, err = source.ReadCuts(ctx, f.Store, "cuts_from", c.CutsFrom)
	case c.Refit != "":
		if cuts, err = source.ReadCuts(ctx, f.Store, "refit", c.Refit); err == nil {
			kept, err = runfolder.ReadTree(ctx, f.Store, cuts.Run)
		}
		if err == nil {
			err = outgrown(kept, &c.Growth)
		}
		p.Grid = p.Grid[:1]
		p.Selection.Alpha = nil // the tree was pruned when it was grown
		p.Selection.Settings = p.Selection.Unjudged()
	default:
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if len(c.LabelCuts) > 0 {
		ranges := dataset.RangeNames(c.LabelCuts)
		if slices.ContainsFunc(cuts.Classes, func(name string) bool { return !slices.Contains(ranges, name) }) {
			return nil, nil, usage.Errorf("--label_cuts makes the classes %q, but %s has the classes %q: leave --label_cuts out", ranges,
				cuts.Run, cuts.Classes)
		}
	}
	p.Bins = cuts.Bins
	return cuts, kept, nil
}

// outgrown returns the error of limits on growth that the tree of --refit exceeds, whose tests stay.
func outgrown(t *tree.Tree, g *settings.Growth) error {
	if depth := t.Complexity.Depth; g.MaxDepth > 0 && depth > g.MaxDepth {
		return usage.Errorf("--max_depth %d: --refit keeps the tests of a tree of depth %d: train a tree, or raise the limit", g.MaxDepth, depth)
	}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; !n.Leaf() && n.Rows < g.MinRows {
			return usage.Errorf("--min_rows %d: --refit keeps the tests of a tree with a test at node %d of %d rows: train a tree, or "+
				"lower the limit", g.MinRows, i, n.Rows)
		}
	}
	return nil
}

// check leaves out the rows that break the contract.
func (s *stage) check(ctx context.Context) (err error) {
	if s.obeyed == nil {
		return nil
	}
	k := contracts.Checker{
		Contract: s.obeyed, Settings: &s.config.Contract, Driver: s.driver, Scratch: s.newFolder("check"),
	}
	s.input, err = k.Check(ctx, s.input)
	return err
}

// columnBytes returns the bytes of columns in the files of the input.
func (p *plan) columnBytes(columns []string) int64 {
	n := int64(0)
	for _, f := range p.input.Files {
		n += f.ColumnBytes(columns)
	}
	return n
}

// mayValidate reports whether the settings set rows aside for validation. Whether there
// are such rows is only known after the rows have been read.
func (p *plan) mayValidate() bool {
	return p.config.SplitColumn != "" || p.config.Split[dataset.Validation] > 0
}

// narrow leaves out the trees that cannot be chosen, see selection.Settings.Narrowed. validates reports whether
// there are validation rows.
func (s *stage) narrow(validates bool) {
	p := s.parsed
	p.Selection, p.Grid = p.Selection.Narrowed(p.Grid, validates, host{s.driver})
}

// reads lists the files that a run reads, by flag.
func (p *plan) reads() []runfolder.Reading {
	c := p.config
	list := p.input.Reads()
	for _, url := range c.AlsoRead {
		list = append(list, runfolder.Reading{Flag: "config", URL: url})
	}
	if p.kept != nil {
		list = append(list, runfolder.Reading{Flag: "refit", URL: latest.TreeURL(p.cuts.Run)})
	}
	list = append(list,
		runfolder.Reading{Flag: "cuts_from", URL: p.cutsFile()},
		runfolder.Reading{Flag: "contract", URL: c.ContractFile},
		runfolder.Reading{Flag: "costs", URL: c.CostsFile},
		runfolder.Reading{Flag: "cuts", URL: c.CutsFile},
		runfolder.Reading{Flag: "class_weights", URL: c.ClassWeightsFile},
		runfolder.Reading{Flag: "priors", URL: c.PriorsFile},
		runfolder.Reading{Flag: "error_costs", URL: c.ErrorCostsFile})
	return list
}

// cutsFile returns the file with the cuts of an earlier run; empty if there is no such run.
func (p *plan) cutsFile() string {
	if p.cuts == nil {
		return ""
	}
	return objectstore.Join(p.cuts.Run, runfolder.SchemaName)
}
