package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
)

// contractFlags are the flags of contract.
type contractFlags struct {
	config.InferContract

	console
}

func newContractFlags() *contractFlags {
	return &contractFlags{InferContract: config.DefaultInferContract(), console: newConsole()}
}

// Settings declares the flags of contract.
func (c *contractFlags) Settings() []setting.Setting {
	return slices.Concat(c.InferContract.Settings(), c.printedSettings(true))
}

func newContract() *cobra.Command {
	flags := newContractFlags()
	c := &cobra.Command{
		Use:     "contract INPUT...",
		Short:   "Write down what the columns of Parquet files are",
		GroupID: prepareStage,
		Long: `Write down what the columns of Parquet files are: a contract in YAML, with the
type, the role, the range or the values and the share of missing values of each
column. Edit it. train --contract FILE then takes the roles from it, and train,
predict and evaluate check rows against it before they begin.

The bounds are wider than what was found: a range grows by half its width on each
side, the share of missing values may double, and 1 % of the rows may have values
that are not listed. Columns with another whole number or text in each row get the
role ignored, since they may be keys.`,
		Example: `  espalier contract 'data/*.parquet' --output contract.yaml
  espalier train --input 'data/*.parquet' --contract contract.yaml \
      --output runs/first --max_rejects 100 --rejects rejects.parquet`,
		Args: arguments(anyNumber, "contract takes Parquet files, globs or folders: "+
			"espalier contract 'data/*.parquet' --output contract.yaml"),
	}
	addFlags(c.Flags(), flags.Settings())
	c.RunE = func(c *cobra.Command, args []string) error {
		flags.Input = args
		if faults := setting.Faults(flags.Settings()); len(faults) > 0 {
			return usage.All(faults)
		}
		reporter, err := flags.begin(c)
		if err != nil {
			return err
		}
		text, err := contracts.Infer(c.Context(), flags.InferContract, reporter)
		if err != nil {
			return err
		}
		if flags.Output != "" {
			text = []byte("wrote " + flags.Output + ": edit it, then train with --contract " + flags.Output + "\n")
		}
		to := c.OutOrStdout()
		if !isTerminal(to) {
			to = raw(to) // a file that is read again
		}
		_, err = to.Write(text)
		return err
	}
	return c
}
