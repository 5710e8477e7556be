package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/live"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	pipelines.EvaluateConfig

	console

	json bool
}

func newEvaluateFlags() *evaluateFlags {
	return &evaluateFlags{EvaluateConfig: pipelines.DefaultEvaluateConfig(), console: newConsole()}
}

// Settings declares the flags of evaluate.
func (c *evaluateFlags) Settings() []setting.Setting {
	return slices.Concat(c.EvaluateConfig.Settings(), []setting.Setting{jsonSetting(&c.json, "print the metrics as JSON")},
		c.printedSettings(true))
}

func newEvaluate() *cobra.Command {
	flags := newEvaluateFlags()
	c := &cobra.Command{
		Use:         "evaluate",
		Short:       "Measure a tree on Parquet files",
		GroupID:     lookStage,
		Annotations: common("model input label weight key slice json schema"),
		Long: `Measure a tree on the rows of Parquet files. Columns are found by name; values
that training did not have go where the tree sends unseen ones. If rows come in
groups, such as customers with several rows, the intervals count groups: --key
names their column, which is the key of the training if the rows have it.

With --predictions it measures what predict has written, by labels that came
later: both are joined by the columns of --key. It prints the figures of each
tree that has scored rows, by day. Predictions without a label and labels
without a prediction are counted and left out. A key may occur once on each side.`,
		Example: `  espalier evaluate --model runs/first --input 'new/*.parquet'
  espalier evaluate --model runs/first/tree.json --input new.parquet --json
  espalier evaluate --predictions 'scored/{date-29..date}' \
      --labels paid.parquet --key customer,day`,
		Args: noArguments,
	}
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		reporter, err := flags.begin(c, "run", flags.Model)
		if err != nil {
			return err
		}
		if len(flags.Predictions) > 0 {
			found, err := live.Evaluate(c.Context(), flags.EvaluateConfig, reporter)
			if err != nil {
				return err
			}
			if flags.json {
				return printEncoded(c.OutOrStdout(), found.Encode)
			}
			return printLive(c.OutOrStdout(), found)
		}
		_, metrics, err := pipelines.Evaluate(c.Context(), flags.EvaluateConfig, reporter)
		if err != nil {
			return err
		}
		if flags.json {
			return printEncoded(c.OutOrStdout(), metrics.Encode)
		}
		return printEvaluated(c.OutOrStdout(), metrics)
	}
	return c
}

// printEvaluated prints the most important figures.
func printEvaluated(w io.Writer, metrics *runfolder.Metrics) error {
	width, m := pageWidth(w), metrics.Test
	b := bufio.NewWriter(w) // keeps the first error for Flush
	_ = report.FiguresTable([]runfolder.MeasuredPart{{Name: "evaluated", Metrics: m}}).Write(b, width)
	_, _ = fmt.Fprintln(b)
	_ = report.Classes(b, "class", m, width)
	printSlices(b, "evaluated", m, width)
	mistakes := ""
	if m.ExpectedErrorCost != nil {
		mistakes = ", error cost " + report.Figure(m.ExpectedErrorCost)
	}
	summary := fmt.Sprintf("AUC %s, accuracy %s%s, expected cost %s", report.Area(m), report.Accuracy(m), mistakes, report.Figure(m.ExpectedCost))
	_, _ = fmt.Fprintf(b, "\n%s\n", report.Wrapped(summary, width, ""))
	if metrics.Key != "" {
		_, _ = fmt.Fprintln(b, report.Wrapped(report.GroupsText(metrics.Key), width, ""))
	}
	return b.Flush()
}

// printLive prints the live figures of each tree.
func printLive(w io.Writer, l *runfolder.Live) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	for i := range l.Trees {
		t := &l.Trees[i]
		_, _ = fmt.Fprintf(b, "tree of %s%s\n", t.Run, report.ShadowText(t))
		_ = report.LiveTable(t).Write(b, width)
		_, _ = fmt.Fprintln(b)
	}
	_, _ = fmt.Fprintf(b, "labels without a prediction: %d\n", l.Alone)
	return b.Flush()
}
