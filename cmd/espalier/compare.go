package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	pipelines.CompareConfig

	console

	format string
}

// The formats of compare.
const (
	compareText = "text"
	compareJSON = "json"
)

func newCompareFlags() *compareFlags {
	return &compareFlags{CompareConfig: pipelines.DefaultCompareConfig(), format: compareText, console: newConsole()}
}

// Settings declares the flags of compare.
func (c *compareFlags) Settings() []setting.Setting {
	return slices.Concat(c.CompareConfig.Settings(), []setting.Setting{formatSetting(&c.format)},
		c.printedSettings(true))
}

// formatSetting declares the format of what is printed.
func formatSetting(format *string) setting.Setting {
	return setting.Setting{
		Name: "format", Group: setting.Printed, Value: setting.OneOf(format, compareText, compareJSON),
		Help: "text or json: what is printed",
	}
}

func newCompare() *cobra.Command {
	flags := newCompareFlags()
	c := &cobra.Command{
		Use:         "compare MODEL_A MODEL_B",
		Short:       "Compare two trees on Parquet files",
		GroupID:     lookStage,
		Annotations: common("input label weight key format output overwrite"),
		Long: `Compare two trees on the same rows: A, the tree in use, and B, the new one. Each
is a run folder or a tree.json.

compare prints the figures of both with B's less A's and its 95 % interval. Both
trees see the same rows, so the interval is narrower than the intervals of the two
figures. It counts the rows that get another class, and how many of these become
right or wrong. It says which nodes are the same, moved, added or removed, and
how many of the rows come there. Without a column of classes it leaves the
metrics out. If rows come in groups, such as customers with several rows, the
intervals count groups: --key names their column.`,
		Example: `  espalier compare runs/today runs/new --input 'labelled/*.parquet'
  espalier compare old/tree.json new/tree.json --input new.parquet --format json`,
		Args: arguments(2, 2, "compare takes two trees, each a run folder or a tree.json: "+
			"espalier compare runs/today runs/new --input new.parquet"),
	}
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		flags.A, flags.B = args[0], args[1]
		if faults := setting.Faults(flags.Settings()); len(faults) > 0 {
			return usage.All(faults)
		}
		reporter, err := flags.begin(c)
		if err != nil {
			return err
		}
		found, err := pipelines.Compare(c.Context(), flags.CompareConfig, reporter)
		if err != nil {
			return err
		}
		if flags.format == compareJSON {
			return printEncoded(c.OutOrStdout(), found.Encode)
		}
		return printCompared(c.OutOrStdout(), found)
	}
	return c
}

// printCompared prints a comparison for people.
func printCompared(w io.Writer, c *pipelines.Comparison) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintln(b, report.Wrapped(fmt.Sprintf(format, args...), width, "  "))
	}
	line("A is %s: %d leaves", c.A.Model, len(c.A.Leaves))
	line("B is %s: %d leaves", c.B.Model, len(c.B.Leaves))
	if c.Note != "" {
		line("%s", c.Note)
	}
	if c.Key != "" {
		line("%s", report.GroupsText(c.Key))
	}
	if c.LostBits > 0 {
		line("AUC, log loss and Brier score are approximate: too many pairs of predictions, see espalier help reading")
	}
	_, _ = fmt.Fprintln(b)
	_ = report.PairedFigures(c.Metrics).Write(b, width)
	_, _ = fmt.Fprintln(b)
	line("%s", report.FlipsText(c.Flips, c.Metrics.Rows))
	if len(c.Flips.ByClasses) > 0 {
		_ = report.FlipsTable(c.Flips).Write(b, width)
	}
	_, _ = fmt.Fprintln(b)
	_ = report.PredictedTable(c.Predicted).Write(b, width)
	_, _ = fmt.Fprintln(b)
	_ = report.Nodes(b, &c.Nodes, width)
	return b.Flush()
}
