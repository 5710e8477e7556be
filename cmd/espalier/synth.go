package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
)

// synthFlags are the flags of synth, but for --config.
type synthFlags struct {
	pipelines.SynthConfig

	Progress string `json:"progress"`
}

func newSynth() *cobra.Command {
	flags := synthFlags{SynthConfig: pipelines.DefaultSynthConfig(), Progress: "auto"}
	defaults, config := flags, ""
	c := &cobra.Command{
		Use:   "synth",
		Short: "Make up a data set of any size to train on",
		Long: `Make up a data set whose classes follow a hidden tree, and write it as Parquet
files: part-00000.parquet and so on, _costs.csv (for train --costs), _tree.json
(the hidden tree) and, last of all, _SUCCESS.

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
  espalier synth --rows 1e8 --duplicates 0.9 --distinct 1e5 --nulls 0.02 --output gs://bucket/wide
  espalier evaluate --model data/made-up/_tree.json --input 'data/made-up/*.parquet'`,
		Args: noArguments,
	}
	addSynthFlags(c.Flags(), &flags, &config)
	c.RunE = func(c *cobra.Command, _ []string) error {
		final, err := settleSynth(c, &defaults, &flags, config)
		if err != nil {
			return err
		}
		reporter, err := newReporter(final.Progress, c.ErrOrStderr())
		if err != nil {
			return err
		}
		r, err := pipelines.Synth(c.Context(), final.SynthConfig, reporter)
		if err != nil {
			return err
		}
		return printSynth(c.OutOrStdout(), &final.SynthConfig, r)
	}
	return c
}

func addSynthFlags(f *pflag.FlagSet, c *synthFlags, config *string) {
	f.SortFlags = false
	f.StringVar(&c.Output, "output", c.Output, "folder of the data set: a path or a URL; required")
	f.StringVar(config, "config", "", "YAML file of settings, by flag name")
	f.Var((*count)(&c.Rows), "rows", "rows, such as 250000 or 1e8")
	f.IntVar(&c.Numeric, "numeric", c.Numeric, "numeric columns")
	f.IntVar(&c.Categorical, "categorical", c.Categorical, "categorical columns")
	f.IntVar(&c.Classes, "classes", c.Classes, "classes of the label")
	f.IntVar(&c.Depth, "depth", c.Depth, "tests on the longest path of the hidden tree")
	f.Var((*share)(&c.Duplicates), "duplicates", "share of the rows that are copies of prototypes")
	f.Var((*count)(&c.Distinct), "distinct", "prototypes, from which copies are drawn")
	f.Var((*share)(&c.Nulls), "nulls", "share of the values of features that are missing")
	f.Var((*share)(&c.Noise), "noise", "share of the rows whose class is not that of the hidden tree")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of columns, hidden tree and rows")
	f.Var((*count)(&c.RowsPerFile), "rows_per_file", "rows of a file")
	f.Var((*count)(&c.RowsPerGroup), "rows_per_group", "rows of a row group")
	f.StringVar(&c.Codec, "codec", c.Codec, "compression of pages: "+strings.Join(parquetio.Codecs(), ", "))
	addStorageTimeout(f, &c.StorageTimeout)
	f.BoolVar(&c.Overwrite, "overwrite", c.Overwrite, "replace another data set in the output folder")
	f.StringVar(&c.Progress, "progress", c.Progress, "on stderr: bar, plain, none or auto (bars on a terminal)")
}

// settleSynth puts defaults, config file and flags together.
func settleSynth(c *cobra.Command, defaults, flags *synthFlags, config string) (*synthFlags, error) {
	file, err := readConfig(c.Context(), config, c.Flags())
	if err != nil {
		return nil, err
	}
	all, err := layered(defaults, flags, file, c.Flags())
	if err != nil {
		return nil, err
	}
	final := &synthFlags{}
	return final, all.into(final)
}

func printSynth(w io.Writer, c *pipelines.SynthConfig, r *pipelines.SynthResult) error {
	costs := ""
	for _, url := range r.Beside {
		if strings.HasSuffix(url, ".csv") {
			costs = url
		}
	}
	_, err := fmt.Fprintf(w, `wrote %d rows, %.1f MB, to %s (files: %d)
wrote %s
train on it: espalier train --input '%s' --label %s --costs %s --output runs/%s
`, r.Rows, float64(r.Bytes)/1e6, r.Input, r.Files, strings.Join(r.Beside, " "), r.Input, r.Label, costs, path.Base(c.Output))
	return err
}

// count is a flag of a whole number, which may be written as 1e8.
type count int64

// String implements pflag.Value.
func (c *count) String() string { return strconv.FormatInt(int64(*c), 10) }

// Type implements pflag.Value.
func (*count) Type() string { return "count" }

// Set implements pflag.Value.
func (c *count) Set(s string) error {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		*c = count(n)
		return nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return errors.New("want a whole number such as 250000 or 1e8")
	}
	*c = count(x)
	return nil
}

// share is a flag of a number from 0 to 1.
type share float64

// String implements pflag.Value.
func (s *share) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }

// Type implements pflag.Value.
func (*share) Type() string { return "share" }

// Set implements pflag.Value.
func (s *share) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1) { // NaN too
		return errors.New("want a share from 0 to 1")
	}
	*s = share(x)
	return nil
}
