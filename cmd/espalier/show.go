package main

import (
	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
)

func newShow() *cobra.Command {
	model := ""
	c := &cobra.Command{
		Use:   "show MODEL",
		Short: "Print a tree as text",
		Long: `Print a tree as text: per node its share of the training rows, its class with
the probability, and the cost of the way there.`,
		Example: "  espalier show runs/first",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usage.Error{Problem: "show takes one model: a run folder or a tree.json"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				model = args[0]
			}
			if model == "" {
				return &usage.Error{Problem: "which tree? name a run folder or a tree.json: espalier show runs/first"}
			}
			t, err := pipelines.ReadTree(c.Context(), model)
			if err != nil {
				return err
			}
			return report.Text(c.OutOrStdout(), t, pageWidth(c.OutOrStdout()))
		},
	}
	addFlags(c.Flags(), []setting.Setting{shownModel(&model)})
	return c
}
