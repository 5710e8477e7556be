package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines"
)

func newEvaluate() *cobra.Command {
	config := pipelines.EvaluateConfig{Runner: "direct", StorageConfig: pipelines.DefaultStorageConfig()}
	progress, asJSON, verbose := "auto", false, false
	c := &cobra.Command{
		Use:   "evaluate",
		Short: "Measure a tree on Parquet files",
		Long: `Measure a tree on the rows of Parquet files. Columns are found by name; values
that training did not have go where the tree sends unseen ones.`,
		Example: `  espalier evaluate --model runs/first --input 'new/*.parquet'
  espalier evaluate --model runs/first/tree.json --input new.parquet --json`,
		Args: noArguments,
	}
	section(c.Flags(), sectionRun, func(f *pflag.FlagSet) {
		f.StringVar(&config.Model, "model", "", "run folder or tree.json; required")
		f.StringSliceVar(&config.Input, "input", nil, "Parquet files: URLs or globs, separated by commas (a name that has one stands in double quotes); required")
		f.StringVar(&config.Output, "output", "", "file for the metrics as JSON; nothing that lies there is replaced")
		f.BoolVar(&config.Overwrite, "overwrite", false, "replace the metrics of another evaluation in the file of --output")
	})
	section(c.Flags(), sectionRows, func(f *pflag.FlagSet) {
		f.StringVar(&config.Label, "label", "", "column of the classes (default: as in training)")
		f.StringVar(&config.Weight, "weight", "", "column of row weights")
		f.BoolVar(&config.DropNullLabels, "drop_null_labels", false, "leave out rows without a label instead of failing")
	})
	section(c.Flags(), sectionOutput, func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print the metrics as JSON")
		addProgressFlags(f, &progress, &verbose)
	})
	section(c.Flags(), sectionStorage, func(f *pflag.FlagSet) { addStorageFlags(f, &config.StorageConfig) })
	section(c.Flags(), sectionEngines, func(f *pflag.FlagSet) {
		f.StringVar(&config.Runner, "runner", config.Runner, "Beam runner: direct or prism")
	})
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := initBeam(verbose, c.ErrOrStderr()); err != nil {
			return err
		}
		reporter, err := newReporter(progress, c.ErrOrStderr())
		if err != nil {
			return err
		}
		_, metrics, err := pipelines.Evaluate(c.Context(), config, reporter)
		if err != nil {
			return err
		}
		if asJSON {
			b, err := metrics.Encode()
			if err == nil {
				_, err = c.OutOrStdout().Write(b)
			}
			return err
		}
		return printEvaluated(c.OutOrStdout(), metrics)
	}
	return c
}

// printEvaluated prints the figures that matter most.
func printEvaluated(w io.Writer, metrics *runfolder.Metrics) error {
	width, m := pageWidth(w), metrics.Test
	b := bufio.NewWriter(w) // keeps the first error for Flush
	_ = report.Figures(b, metrics.Parts(), width)
	_, _ = fmt.Fprintln(b)
	_ = report.Classes(b, report.Part{Name: "class", Metrics: m}, width)
	mistakes := ""
	if m.ExpectedErrorCost != nil {
		mistakes = ", error cost " + report.Figure(m.ExpectedErrorCost)
	}
	_, _ = fmt.Fprintf(b, "\nAUC %s%s, expected cost %s\n", report.Area(m), mistakes, report.Figure(report.Cost(m)))
	return b.Flush()
}
