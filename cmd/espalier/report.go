package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/pages"
)

func newReport() *cobra.Command {
	flags := config.DefaultReport()
	c := &cobra.Command{
		Use:     "report RUN",
		Short:   "Write the report of a run as HTML, or its model card as Markdown",
		GroupID: lookStage,
		Long: `Write the report of a finished run, one HTML file that any browser opens
offline. train writes it too, unless --report none says otherwise.

The page describes what the tree asks first and why, what a row costs, how
far the probabilities can be trusted, and what the next cheaper tree would lose.
It has the tree to open and close, the trees of the frontier behind a slider,
figures, features, the certificate, and a form that asks the tree's questions.

With --row the page opens with the path of that row. With --previous it compares
the run with an earlier one.

With --format markdown it is a model card instead, model_card.md, under the usual
headings. What only people can say comes from the file of --notes, a YAML file of
owner, contact, licence, citation, intended_use, out_of_scope, factors,
evaluation_data, training_data, ethical_considerations and caveats, or a Markdown
file with these headings. What it lacks is marked "to be filled in".`,
		Example: `  espalier report runs/first --overwrite
  espalier report runs/first --output first.html
  espalier report runs/first --row new.parquet:17 --output case17.html
  espalier report runs/today --previous runs/yesterday --overwrite
  espalier report runs/first --format markdown --notes notes.yaml`,
		Args: arguments(1, "report takes one run folder: espalier report runs/first"),
	}
	addFlags(c.Flags(), flags.Settings())
	c.RunE = func(c *cobra.Command, args []string) error {
		flags.Run = args[0]
		reporter, err := newReporter(progressAuto, c.ErrOrStderr())
		if err != nil {
			return err
		}
		url, err := pages.Report(c.Context(), flags, reporter)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "wrote %s\n", url)
		return err
	}
	return c
}
