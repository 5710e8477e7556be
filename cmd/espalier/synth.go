package main

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
)

// synthFlags are the flags of synth.
type synthFlags struct {
	pipelines.SynthConfig

	config, progress string
}

func defaultSynthFlags() *synthFlags {
	return &synthFlags{SynthConfig: pipelines.DefaultSynthConfig(), progress: "auto"}
}

func newSynth() *cobra.Command {
	flags := defaultSynthFlags()
	c := &cobra.Command{
		Use:   "synth",
		Short: "Make up a data set of any size to train on",
		Long: `Make up a data set whose classes follow a hidden tree, and write it as Parquet
files: part-00000.parquet and so on, _costs.csv (for train --costs), _tree.json
(the hidden tree), manifest.json and, last of all, _SUCCESS.

Numeric features are x00, x01, ..., categorical ones c00, c01, ..., the label is
class. Some features are dear, and each of these has a proxy: a cheap feature
that shows its value blurred. The hidden tree asks dear features and some of the
cheap ones, but no proxy. Rows without a value are answered "no".

The same seed and flags give the same bytes. A row depends on its number, not on
how many rows there are or how they are cut into files.
--duplicates makes rows copies, in all features, of one of --distinct
prototypes; --noise gives rows another class than their leaf's, drawn by row.
In _tree.json counts are those of all rows, with the noise; objects and missing
values are not counted, scores are zero, and the algorithm's parameters stand for
nothing.

Settings come from the YAML file of --config, whose keys are these flags, then
from flags.`,
		Example: `  espalier synth --output data/made-up
  espalier train --input 'data/made-up/*.parquet' --label class \
      --costs data/made-up/_costs.csv --output runs/made-up
  espalier synth --rows 1e8 --duplicates 0.9 --distinct 1e5 --nulls 0.02 \
      --output gs://bucket/wide
  espalier evaluate --model data/made-up/_tree.json \
      --input 'data/made-up/*.parquet'`,
		Args: noArguments,
	}
	addSynthFlags(c.Flags(), flags)
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, err := readConfig(c.Context(), flags.config)
		if err != nil {
			return err
		}
		final := defaultSynthFlags()
		fresh := pflag.NewFlagSet("synth", pflag.ContinueOnError)
		addSynthFlags(fresh, final)
		if err := file.settle(c.Flags(), fresh); err != nil {
			return err
		}
		reporter, err := newReporter(final.progress, c.ErrOrStderr())
		if err != nil {
			return file.locate(err, c.Flags())
		}
		if file.url != "" {
			final.AlsoRead = []string{file.url}
		}
		r, err := pipelines.Synth(c.Context(), final.SynthConfig, reporter)
		if err != nil {
			return file.locate(err, c.Flags())
		}
		return printSynth(c.OutOrStdout(), &final.SynthConfig, r)
	}
	return c
}

// addSynthFlags adds the flags of synth, in sections.
func addSynthFlags(f *pflag.FlagSet, c *synthFlags) {
	section(f, sectionRun, func(f *pflag.FlagSet) {
		f.StringVar(&c.Output, "output", c.Output, "folder of the data set: a path or a URL; required")
		f.StringVar(&c.config, configFlag, c.config, "YAML file of settings, by flag name")
		f.BoolVar(&c.Overwrite, "overwrite", c.Overwrite, "replace another made-up data set in the output folder: the files that its manifest.json lists")
	})
	section(f, sectionMadeUp, func(f *pflag.FlagSet) {
		wholeVar(f, &c.Rows, "rows", "rows, such as 250000 or 1e8")
		wholeVar(f, &c.Numeric, "numeric", "numeric columns")
		wholeVar(f, &c.Categorical, "categorical", "categorical columns")
		wholeVar(f, &c.Classes, "classes", "classes of the label")
		wholeVar(f, &c.Depth, "depth", "tests on the longest path of the hidden tree")
		f.Var((*share)(&c.Duplicates), "duplicates", "share of the rows that are copies of prototypes")
		wholeVar(f, &c.Distinct, "distinct", "prototypes, from which copies are drawn")
		f.Var((*share)(&c.Nulls), "nulls", "share of the values of features that are missing")
		f.Var((*share)(&c.Noise), "noise", "share of the rows whose class is not that of the hidden tree")
		wholeVar(f, &c.Seed, "seed", "seed of columns, hidden tree and rows")
	})
	section(f, sectionOutput, func(f *pflag.FlagSet) { addProgressFlags(f, &c.progress, nil) })
	section(f, sectionStorage, func(f *pflag.FlagSet) {
		wholeVar(f, &c.RowsPerFile, "rows_per_file", "rows of a file")
		wholeVar(f, &c.RowsPerGroup, "rows_per_group", "rows of a row group")
		f.StringVar(&c.Codec, "codec", c.Codec, "compression of pages: "+strings.Join(parquetio.Codecs(), ", "))
		addStorageTimeout(f, &c.StorageTimeout)
	})
}

func printSynth(w io.Writer, c *pipelines.SynthConfig, r *pipelines.SynthResult) error {
	costs := ""
	for _, url := range r.Beside {
		if strings.HasSuffix(url, ".csv") {
			costs = url
		}
	}
	_, err := fmt.Fprintf(w, `wrote %d rows, %s, to %s (files: %d)
wrote %s
train on it: espalier train --input '%s' --label %s --costs %s --output runs/%s
`, r.Rows, humanize.Bytes(uint64(max(0, r.Bytes))), r.Input, r.Files, strings.Join(r.Beside, " "), r.Input, r.Label, costs, path.Base(c.Output))
	return err
}
