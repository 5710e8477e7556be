package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/benchmarking"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// benchmarkFlags are the flags of benchmark.
type benchmarkFlags struct {
	config.Benchmark

	console
}

func newBenchmarkFlags() *benchmarkFlags {
	return &benchmarkFlags{Benchmark: config.DefaultBenchmark(), console: newConsole()}
}

// Settings declares the flags of benchmark.
func (c *benchmarkFlags) Settings() []setting.Setting {
	return slices.Concat(c.Benchmark.Settings(), c.printedSettings(false))
}

func newBenchmark() *cobra.Command {
	flags := newBenchmarkFlags()
	c := &cobra.Command{
		Use:   "benchmark FOLDER",
		Short: "Run the paper's experiments on a folder of data sets",
		Long: `Run the paper's experiments on the data sets of a folder. A data set is a Parquet
file, or a folder of Parquet files. MANIFEST.tsv in the folder, if there is one,
has a line for each data set: its columns name, label and categorical say which
column has the classes, and which numbers are categories.

Each data set is split in 70/10/20 parts, by several seeds. Trees grow as with
train --preset paper, by each algorithm, once where each test costs 1 and once
at random costs from 1 to 10 by feature: plain, with the lambda that --select
paper chooses, and pruned by leaves, with the alpha of a logarithmic grid that
is best on validation rows.

The output folder gets tables.md, tables.tex, means.csv and results.json: AUC,
cost, leaves and time with means, deviations, ranks and tests of significance.
Its folder pictures has diagrams of critical differences, frontiers, AUC and
cost by lambda, and times. Its folder splits has a file for each finished
split: the same command goes on from there. With --published, published.md has
published figures side by side, and what budgets of their costs buy.`,
		Example: `  espalier benchmark data --output runs/benchmark
  espalier benchmark data --sets iris,phoneme --splits 3 --output runs/few
  espalier benchmark data --published figures.csv --output runs/beside`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usage.Error{Problem: "benchmark takes a folder of data sets: " +
					"espalier benchmark data --output runs/benchmark"}
			}
			return nil
		},
	}
	addFlags(c.Flags(), flags.Settings())
	c.RunE = func(c *cobra.Command, args []string) error {
		flags.Folder = args[0]
		if faults := setting.Faults(flags.Settings()); len(faults) > 0 {
			return usage.All(faults)
		}
		reporter, err := flags.begin(c)
		if err != nil {
			return err
		}
		r, err := benchmarking.Run(c.Context(), flags.Benchmark, reporter)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%d splits\nwrote %s and %d pictures\n", len(r.Splits), strings.Join(r.Files, " "), r.Pictures)
		return err
	}
	return c
}
