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
		Use:   "evaluate",
		Short: "Measure a tree on Parquet files",
		Long: `Measure a tree on the rows of Parquet files. Columns are found by name; values
that training did not have go where the tree sends unseen ones.`,
		Example: `  espalier evaluate --model runs/first --input 'new/*.parquet'
  espalier evaluate --model runs/first/tree.json --input new.parquet --json`,
		Args: noArguments,
	}
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		reporter, err := flags.begin(c, "run", flags.Model)
		if err != nil {
			return err
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
	_ = report.Figures(b, metrics.Parts(), width)
	_, _ = fmt.Fprintln(b)
	_ = report.Classes(b, "class", m, width)
	printSlices(b, "evaluated", m, width)
	mistakes := ""
	if m.ExpectedErrorCost != nil {
		mistakes = ", error cost " + report.Figure(m.ExpectedErrorCost)
	}
	summary := fmt.Sprintf("AUC %s, accuracy %s%s, expected cost %s", report.Area(m), report.Accuracy(m), mistakes, report.Figure(report.Cost(m)))
	_, _ = fmt.Fprintf(b, "\n%s\n", report.Wrapped(summary, width, ""))
	return b.Flush()
}
