package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/pages"
	"github.com/espalier-ml/espalier/pipelines/source"
)

func newPlot() *cobra.Command {
	o := config.DefaultPlot()
	c := &cobra.Command{
		Use:     "plot RUN",
		Short:   "Draw a run's frontier, ROC curves, calibration, features or tree",
		GroupID: lookStage,
		Long: `Draw a picture of a run, for papers and slides. No other program is needed.

The pictures:
` + pictures() + `  tree         the drawing of espalier show --format svg

Readers who see few colours can tell the colours apart, and dashes and marks
differ for prints without colours.`,
		Example: `  espalier plot runs/first --output frontier.svg
  espalier plot runs/first --what roc --output roc.svg
  espalier plot runs/first --what tree --output tree.svg`,
		Args: arguments(1, 1, "plot takes one run folder: espalier plot runs/first"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Run = args[0]
			return runPlot(c.Context(), o, c.OutOrStdout())
		},
	}
	addFlags(c.Flags(), o.Settings())
	return c
}

// pictures describes the kinds of pictures.
func pictures() string {
	var b strings.Builder
	for _, k := range chart.Kinds() {
		line := fmt.Sprintf("  %-11s  %s", k.Name, k.Help)
		b.WriteString(report.Wrapped(line, 79, strings.Repeat(" ", 15)) + "\n")
	}
	return b.String()
}

// runPlot writes a picture to its file, or to standard output.
func runPlot(ctx context.Context, o config.Plot, stdout io.Writer) error {
	if err := o.Validate(); err != nil {
		return err
	}
	target, err := output.Open(ctx, source.Process.Store, o.Output, o.Overwrite, drawings("plot", plotMark))
	if err != nil {
		return err
	}
	b, err := pages.Plot(ctx, o)
	switch {
	case err != nil:
		return err
	case o.Output == "":
		_, err = stdout.Write(b)
		return err
	}
	return target.Write(ctx, append([]byte(plotMark), b...))
}
