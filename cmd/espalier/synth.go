package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines"
)

// synthFlags are the flags of synth.
type synthFlags struct {
	pipelines.SynthConfig

	console

	config string
}

func newSynthFlags() *synthFlags {
	return &synthFlags{SynthConfig: pipelines.DefaultSynthConfig(), console: newConsole()}
}

func newSynth() *cobra.Command {
	flags := newSynthFlags()
	c := &cobra.Command{
		Use:         "synth",
		Short:       "Make up a data set of any size to train on",
		GroupID:     prepareStage,
		Annotations: common("output overwrite rows numeric categorical classes depth nulls noise seed"),
		Long: `Make up a data set whose classes follow a hidden tree, and write it as Parquet
files: part-00000.parquet and so on, _costs.csv (for train --costs), _tree.json
(the hidden tree), _manifest.json and, last of all, _SUCCESS.

Numeric features are x00, x01, ..., categorical ones c00, c01, ..., the label is
class. Some features are expensive, and each of these has a proxy: a cheap feature
that shows its value blurred. The hidden tree asks expensive features and some of
the cheap ones, but no proxy. Rows without a value are answered "no".

The same seed and flags give the same bytes. A row depends on its number, not on
how many rows there are or how they are cut into files.
--duplicates makes rows copies, in all features, of one of --distinct
prototypes; --noise gives rows another class than their leaf's, drawn by row.
In _tree.json counts are of all rows, with the noise; objects and missing values
are not counted, scores are zero, and the algorithm's parameters mean nothing.

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
	addFlags(c.Flags(), flags.Settings())
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, err := readConfig(c.Context(), flags.config)
		if err != nil {
			return err
		}
		if err := file.apply(c.Flags()); err != nil {
			return err
		}
		reporter, err := flags.reporter(c)
		if err != nil {
			return file.locate(err, c.Flags())
		}
		if file.url != "" {
			flags.AlsoRead = []string{file.url}
		}
		r, err := pipelines.Synth(c.Context(), flags.SynthConfig, reporter)
		if err != nil {
			return file.locate(err, c.Flags())
		}
		return printSynth(c.OutOrStdout(), &flags.SynthConfig, r)
	}
	return c
}

// Settings declares the flags of synth.
func (c *synthFlags) Settings() []setting.Setting {
	return slices.Concat(c.SynthConfig.Settings(), []setting.Setting{configSetting(&c.config)},
		c.printedSettings(false))
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
train on it:
  espalier train --input '%s' --label %s \
      --costs %s --output runs/%s
`, r.Rows, humanize.Bytes(uint64(max(0, r.Bytes))), r.Input, r.Files, strings.Join(r.Beside, " "),
		r.Input, r.Label, costs, path.Base(c.Output))
	return err
}
