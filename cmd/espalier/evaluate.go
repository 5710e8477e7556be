package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/live"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	config.Evaluate

	console

	json       bool
	thresholds bool
}

func newEvaluateFlags() *evaluateFlags {
	return &evaluateFlags{Evaluate: config.DefaultEvaluate(), console: newConsole()}
}

// Settings declares the flags of evaluate.
func (c *evaluateFlags) Settings() []setting.Setting {
	return slices.Concat(c.Evaluate.Settings(), []setting.Setting{jsonSetting(&c.json, "print the metrics, or the comparison, as JSON"), {
		Name: "thresholds", Value: setting.Switch(&c.thresholds),
		Help: "print sensitivity, specificity and predictive values of the class of interest, or of --positive, at each threshold on its " +
			"probability",
	}},
		c.printedSettings(true))
}

func newEvaluate() *cobra.Command {
	flags := newEvaluateFlags()
	c := &cobra.Command{
		Use:         "evaluate MODEL",
		Short:       "Measure a tree on Parquet files, or compare two trees",
		GroupID:     lookStage,
		Annotations: common("input against label weight group slice json output overwrite contract"),
		Long: `Measure a tree on the rows of Parquet files. Columns are found by name; values
that training did not have go where the tree sends unseen ones. If rows come in
groups, such as customers with several rows, the intervals count groups: --group
names their column, which is the group of the training if the rows have it.

--error_costs counts what tests and errors cost together, by costs that the training
did not have. The tree then predicts the class of the lowest expected error cost,
unless a threshold decides: its own, or --threshold.

With --against B it compares two trees on the same rows: A is MODEL, the tree in
use, and B the new tree. It prints the figures of both with B's less A's and its
95 % interval. Both trees see the same rows, so the interval is narrower than the
intervals of the two figures. It counts the rows that get another class, and how
many of these become right or wrong. It lists which nodes are the same, moved,
added or removed, and how many of the rows reach them. Rows without a column of
classes are compared without metrics.

With --predictions it measures what predict has written, by labels that came
later: both are joined by the columns of --key. It prints the figures of each
tree that has scored rows, by day. Predictions without a label and labels
without a prediction are counted and left out. A key may occur once on each side.`,
		Example: `  espalier evaluate runs/first --input 'new/*.parquet'
  espalier evaluate runs/first/tree.json --input new.parquet --json
  espalier evaluate runs/first --input new.parquet --error_costs errors.csv
  espalier evaluate runs/today --against runs/new --input 'labelled/*.parquet'
  espalier evaluate --predictions 'scored/{date-29..date}' \
      --labels paid.parquet --key customer,day`,
	}
	takeModel(c)
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := refusals(c.Flags()); err != nil {
			return err
		}
		if flags.thresholds && (flags.Against != "" || len(flags.Predictions) > 0) {
			return usage.Errorf("--thresholds lists the thresholds of one tree, on rows that it scores: leave out --against and --predictions")
		}
		flags.Listed = flags.thresholds
		reporter, err := flags.begin(c, "run", flags.Model)
		if err != nil {
			return err
		}
		return runEvaluate(c, flags, reporter)
	}
	return c
}

// runEvaluate measures a tree, predictions, or two trees.
func runEvaluate(c *cobra.Command, flags *evaluateFlags, reporter engine.Reporter) error {
	switch {
	case len(flags.Predictions) > 0:
		found, err := live.Evaluate(c.Context(), flags.Evaluate, reporter)
		return printFound(c.OutOrStdout(), found, err, flags.json, printLive)
	case flags.Against != "":
		found, err := pipelines.Compare(c.Context(), flags.Evaluate, reporter)
		return printFound(c.OutOrStdout(), found, err, flags.json, printCompared)
	default:
		t, metrics, err := pipelines.Evaluate(c.Context(), flags.Evaluate, reporter)
		return printFound(c.OutOrStdout(), metrics, err, flags.json, func(w io.Writer, m *runfolder.Metrics) error {
			if err := printEvaluated(w, t, m); err != nil || !flags.thresholds {
				return err
			}
			return textview.AllOperating(w, t, m.Test, flags.Positive, "evaluated", pageWidth(w))
		})
	}
}

// printFound prints a document as JSON or for people, unless there is an error.
func printFound[T interface{ Encode() ([]byte, error) }](
	w io.Writer, found T, err error, asJSON bool, text func(w io.Writer, found T) error,
) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return printEncoded(w, found.Encode)
	default:
		return text(w, found)
	}
}

// printEvaluated prints the most important figures.
func printEvaluated(w io.Writer, t *tree.Tree, metrics *runfolder.Metrics) error {
	width := pageWidth(w)
	m := metrics.Test
	b := bufio.NewWriter(w) // keeps the first error for Flush
	_ = textview.FiguresTable([]runfolder.MeasuredPart{{Name: "evaluated", Metrics: m}}).Write(b, width)
	_, _ = fmt.Fprintln(b)
	_ = textview.Classes(b, "class", m, width)
	printSlices(b, "evaluated", m, width)
	mistakes := ""
	if m.ExpectedErrorCost != nil {
		mistakes = ", error cost " + textview.Figure(m.ExpectedErrorCost)
	}
	summary := fmt.Sprintf("AUC %s, accuracy %s%s, expected cost %s", textview.Area(m), textview.Accuracy(m), mistakes, textview.Figure(m.ExpectedCost))
	_, _ = fmt.Fprintf(b, "\n%s\n", textview.Wrapped(summary, width, ""))
	if total := textview.EvaluatedTotal(t, m); total != "" {
		_, _ = fmt.Fprintln(b, textview.Wrapped(total, width, ""))
	}
	if d := metrics.Decision; d != nil {
		_, _ = fmt.Fprintln(b, textview.Wrapped("predicted: "+textview.ThresholdText(d), width, ""))
	}
	if metrics.Key != "" {
		_, _ = fmt.Fprintln(b, textview.Wrapped(textview.GroupsText(metrics.Key), width, ""))
	}
	return b.Flush()
}

// printLive prints the live figures of each tree.
func printLive(w io.Writer, l *runfolder.Live) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	for i := range l.Trees {
		t := &l.Trees[i]
		_, _ = fmt.Fprintf(b, "tree of %s%s\n", t.Run, textview.ShadowText(t))
		_ = textview.LiveTable(t).Write(b, width)
		_, _ = fmt.Fprintln(b)
	}
	_, _ = fmt.Fprintf(b, "labels without a prediction: %d\n", l.Alone)
	return b.Flush()
}

// printCompared prints a comparison for people.
func printCompared(w io.Writer, c *runfolder.Comparison) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintln(b, textview.Wrapped(fmt.Sprintf(format, args...), width, "  "))
	}
	line("A is %s: %d leaves", c.A.Model, len(c.A.Leaves))
	line("B is %s: %d leaves", c.B.Model, len(c.B.Leaves))
	if c.Note != "" {
		line("%s", c.Note)
	}
	if c.Key != "" {
		line("%s", textview.GroupsText(c.Key))
	}
	if c.LostBits > 0 {
		line("AUC, log loss and Brier score are approximate: too many pairs of predictions, see espalier help reading")
	}
	_, _ = fmt.Fprintln(b)
	_ = textview.PairedFigures(c.Metrics).Write(b, width)
	_, _ = fmt.Fprintln(b)
	line("%s", textview.FlipsText(c.Flips, c.Metrics.Rows))
	if len(c.Flips.ByClasses) > 0 {
		_ = textview.FlipsTable(c.Flips).Write(b, width)
	}
	_, _ = fmt.Fprintln(b)
	_ = textview.PredictedTable(c.Predicted).Write(b, width)
	_, _ = fmt.Fprintln(b)
	_ = textview.Nodes(b, &c.Nodes, width)
	return b.Flush()
}
