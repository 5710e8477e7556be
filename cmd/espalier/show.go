package main

import (
	"bytes"
	"context"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/drawing"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/pages"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// The values of --format.
const (
	formatText  = "text"
	formatRules = "rules"
	formatSVG   = "svg"
)

// showOptions are the flags of show.
type showOptions struct {
	model, format, output, row string
	depth, node                int
	figures, overwrite         bool
}

func newShowOptions() *showOptions {
	return &showOptions{format: formatText, depth: report.FittingDepth}
}

// Settings declares the flags of show.
func (o *showOptions) Settings() []setting.Setting {
	return []setting.Setting{
		shownModel(&o.model),
		{
			Name: "node", Group: setting.Model, Value: setting.Whole(&o.node, setting.Between(0, math.MaxInt32)),
			Help: "show only what is below this node; 0: the root",
		},
		{
			Name: "depth", Group: setting.Model, Value: setting.Whole(&o.depth, setting.Between(-1, math.MaxInt32)),
			Help: "levels of tests to show; 0: all; -1: all of a tree of at most 500 leaves, else the first levels",
		},
		{
			Name: "row", Group: setting.Case, Value: setting.Text(&o.row),
			Help: "FILE:N, row N of a Parquet file, counted from 0: show its path and what is paid at each step",
		},
		{
			Name: "figures", Group: setting.Printed, Value: setting.Switch(&o.figures),
			Help: "print the figures of a run instead of its tree: by part of the rows, class and feature, the frontier, " +
				"the folds and the certificate",
		},
		{
			Name: "format", Group: setting.Printed, Value: setting.OneOf(&o.format, formatText, formatRules, formatSVG),
			Help: "text, rules or svg",
		},
		{
			Name: "output", Group: setting.Printed, Value: setting.Text(&o.output),
			Help: "file or URL to write instead of standard output",
		},
		{
			Name: "overwrite", Group: setting.Printed, Value: setting.Switch(&o.overwrite),
			Help: "replace the file of --output, if it is a drawing that show wrote",
		},
	}
}

func newShow() *cobra.Command {
	o := newShowOptions()
	c := &cobra.Command{
		Use:     "show MODEL",
		Short:   "Show a tree, the path of a row, or all figures of a run",
		GroupID: lookStage,
		Long: `Show a tree. Each line is a node: its condition, the training rows that reach it
and their share, the cost paid so far, and the class with its probability.

The formats:
  text   a tree for terminals; of more than 500 leaves the first levels, and a
         table of all levels
  rules  a rule for each leaf, the most frequent first: class and probability,
         rows, share, tests and cost, and the conditions of its rows
  svg    a drawing; no other program is needed

With --row the text is the path of that row: for each test its value, the branch,
the price and what was paid so far. The format rules then has the rule of its leaf,
and a drawing shows the path in red.

Long cuts are shortened for reading, by at most a thousandth of the distance to
the next cut of the feature: 4.017 stands for 4.017072740170225. Rules and the
tips of drawings have all digits. Colours are for terminals alone; NO_COLOR=1
turns them off.`,
		Example: `  espalier show runs/first
  espalier show runs/first --figures
  espalier show runs/first --format rules --node 4
  espalier show runs/first --row new.parquet:17
  espalier show runs/first --format svg --depth 5 --output gs://bucket/tree.svg`,
		Args: arguments(0, 1, "show takes one model: a run folder or a tree.json"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.model = args[0]
			}
			return o.run(c.Context(), raw(c.OutOrStdout()))
		},
	}
	addFlags(c.Flags(), o.Settings())
	return c
}

func (o *showOptions) run(ctx context.Context, stdout io.Writer) error {
	if o.model == "" {
		return &usage.Error{Problem: "which tree? name a run folder or a tree.json: espalier show runs/first"}
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.figures {
		r, err := pipelines.ReadFigures(ctx, o.model)
		if err != nil {
			return err
		}
		return printFigures(stdout, o.model, r)
	}
	target, err := output.Open(ctx, source.Process.Store, o.output, o.overwrite, drawings("show", showMark))
	if err != nil {
		return err
	}
	v, err := o.view(ctx)
	if err != nil {
		return err
	}
	if o.output == "" {
		v.Width, v.Coloured = pageWidth(stdout), coloured(stdout)
		return o.write(stdout, v)
	}
	var b bytes.Buffer
	if o.format == formatSVG {
		b.WriteString(showMark)
	}
	if err := o.write(&b, v); err != nil {
		return err
	}
	return target.Write(ctx, b.Bytes())
}

// check refuses flags that the format has no use for.
func (o *showOptions) check() error {
	if faults := setting.Faults(o.Settings()); len(faults) > 0 {
		return usage.All(faults)
	}
	switch {
	case o.figures && (o.format != formatText || o.output != "" || o.row != "" || o.node != 0 || o.depth != report.FittingDepth):
		return usage.Errorf("--figures: figures are text on standard output: leave out --format, --output, --row, --node " +
			"and --depth")
	case o.format == formatRules && o.depth != report.FittingDepth:
		return usage.Errorf("--depth %d: a rule has all tests on the way to its leaf: leave --depth out, or choose "+
			"another --format", o.depth)
	case o.format == formatText && o.row != "" && (o.depth != report.FittingDepth || o.node != 0):
		return usage.Errorf("--row: the text of a row is its whole path: leave --depth and --node out, or choose " +
			"--format svg")
	}
	return nil
}

// view reads the tree and the row.
func (o *showOptions) view(ctx context.Context) (*report.View, error) {
	t, err := pipelines.ReadTree(ctx, o.model)
	if err != nil {
		return nil, err
	}
	if o.node >= len(t.Nodes) {
		return nil, usage.Errorf("--node %d: the tree has nodes 0 to %d", o.node, len(t.Nodes)-1)
	}
	v := &report.View{Tree: t, Node: o.node, Depth: o.depth}
	if o.row == "" {
		return v, nil
	}
	v.Route, err = pages.Route(ctx, source.Process, o.row, t)
	return v, err
}

// write writes a view in the format asked for.
func (o *showOptions) write(w io.Writer, v *report.View) error {
	switch o.format {
	case formatRules:
		return report.Rules(w, v)
	case formatSVG:
		return drawing.SVG(w, report.Picture(v))
	default:
		if v.Route != nil {
			return report.Path(w, v)
		}
		return report.Shown(w, v)
	}
}
