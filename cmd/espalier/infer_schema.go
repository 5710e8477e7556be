package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
)

// inferSchemaFlags are the flags of infer_schema.
type inferSchemaFlags struct {
	config.InferSchema

	console
}

func newInferSchemaFlags() *inferSchemaFlags {
	return &inferSchemaFlags{InferSchema: config.DefaultInferSchema(), console: newConsole()}
}

// Settings declares the flags of infer_schema.
func (c *inferSchemaFlags) Settings() []setting.Setting {
	return slices.Concat(c.InferSchema.Settings(), c.printedSettings(true))
}

func newInferSchema() *cobra.Command {
	flags := newInferSchemaFlags()
	c := &cobra.Command{
		Use:     "infer_schema INPUT...",
		Short:   "Write down what the columns of Parquet files are",
		GroupID: prepareStage,
		Long: `Write down what the columns of Parquet files are: a contract in YAML, with the
type, the role, the range or the values and the share of missing values of each
column. Edit it. train --schema FILE then takes the roles from it, and train,
predict and evaluate check rows against it before they begin.

The bounds are wider than what was found: a range grows by half its width on each
side, the share of missing values may double, and 1 % of the rows may have values
that are not listed. Columns with another whole number or text in each row get the
role ignored, since they may be keys.`,
		Example: `  espalier infer_schema 'data/*.parquet' --output contract.yaml
  espalier train --input 'data/*.parquet' --schema contract.yaml \
      --output runs/first --max_rejects 100 --rejects rejects.parquet`,
		Args: arguments(1, anyNumber, "infer_schema takes Parquet files, globs or folders: "+
			"espalier infer_schema 'data/*.parquet' --output contract.yaml"),
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
		text, err := contracts.Infer(c.Context(), flags.InferSchema, reporter)
		if err != nil {
			return err
		}
		if flags.Output != "" {
			text = []byte("wrote " + flags.Output + ": edit it, then train with --schema " + flags.Output + "\n")
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
