package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// frontierFlags are the flags of frontier.
type frontierFlags struct {
	config.Promote

	choice config.Train // has the flags of the choice
	console

	by   listOrder
	json bool
}

// listOrder is by what the list of trees is made and ordered.
type listOrder string

const (
	byCost   listOrder = "cost"
	byLeaves listOrder = "leaves"
)

// notNumber is the value of --promote that names no tree.
const notNumber = -1

// Settings declares the flags of frontier.
func (c *frontierFlags) Settings() []setting.Setting {
	rules := c.choice.ChoiceSettings()
	for i := range rules {
		rules[i].Help += " (default: as in training)"
	}
	choice := setting.In(setting.Choice, append([]setting.Setting{{
		Name: "promote", Value: setting.Whole(&c.Number, setting.From(notNumber)),
		Help: "number of the tree, as the list has it, that the new run takes; -1: none",
	}}, rules...))
	run := setting.In(setting.Run, []setting.Setting{
		{Name: "output", Value: setting.Text(&c.Output), Help: "folder of the new run, if a tree is chosen"},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite),
			Help: "replace an earlier run in the output folder: the files that its manifest.json lists",
		},
		{
			Name: "input", Value: setting.List(&c.Input),
			Help: "where the training rows are now, if they were moved: they must be the same files",
		},
		{
			Name: "without_rows", Value: setting.Switch(&c.WithoutRows),
			Help: "leave out a certificate that would take the training rows",
		},
		{Name: "dry_run", Value: setting.Switch(&c.DryRun), Help: "say which tree is chosen, and write nothing"},
	})
	list := setting.In(setting.Choice, []setting.Setting{{
		Name: "by", Value: setting.OneOf(&c.by, string(byCost), string(byLeaves)),
		Help: "list the trees that are the best at their cost, or for each maximum number of leaves the tree that --max_leaves chooses",
	}})
	return slices.Concat(run, choice, list, []setting.Setting{jsonSetting(&c.json, "print the list, or the choice, as JSON")},
		c.printedSettings(true), c.StorageConfig.Settings())
}

func newFrontierFlags() *frontierFlags {
	return &frontierFlags{Promote: config.DefaultPromote(), console: newConsole(), by: byCost}
}

func newFrontier() *cobra.Command {
	flags := newFrontierFlags()
	c := &cobra.Command{
		Use:         "frontier RUN",
		Short:       "List the trees of a run, or write a run with another tree",
		GroupID:     trainStage,
		Annotations: common("promote output max_expected_cost max_cost max_tests max_leaves select overwrite dry_run json"),
		Long: `List the trees of a run's frontier by ascending cost, each by the number of its
file in the folder frontier/.

--promote, or a budget as train has it, chooses another tree and writes a new run
with it to --output, without training again. --error_costs compares the trees by
other error costs, and lists them if there is no --output. --by leaves lists the
trees by their size: for each number of leaves the tree that --max_leaves chooses.
RUN stays as it is, and "origin" in the new manifest.json names it. A budget finds the tree that training with this
budget gives, also if the list does not have it. Only the certificate of another
grown tree, and figures of trees with leaf models, take the training rows.`,
		Example: `  espalier frontier runs/first
  espalier frontier runs/first --promote 14 --output runs/second
  espalier frontier runs/first --max_expected_cost 3 --dry_run
  espalier frontier runs/first --by leaves
  espalier frontier runs/first --error_costs errors.csv`,
		Args: arguments(1, "frontier takes one run folder: espalier frontier runs/first"),
	}
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := refusals(c.Flags()); err != nil {
			return err
		}
		if faults := setting.Faults(flags.Settings()); len(faults) > 0 {
			return usage.All(faults)
		}
		flags.Run = args[0]
		flags.Choice = make(map[string]string)
		for _, name := range config.ChoiceFlags() {
			if f := c.Flags().Lookup(name); f.Changed {
				flags.Choice[name] = f.Value.String()
			}
		}
		flags.ByLeaves = flags.by == byLeaves
		if (flags.Prices() || flags.ByLeaves) && flags.Output == "" {
			flags.DryRun = true
		}
		if flags.Number == notNumber && len(flags.Choice) == 0 && !flags.ByLeaves {
			if flags.Output != "" {
				return usage.Errorf("--output is for a new run: choose its tree, such as by --promote 1")
			}
			return listFrontier(c.Context(), c.OutOrStdout(), flags)
		}
		return runPromote(c, flags)
	}
	return c
}

// listFrontier prints the trees of a run.
func listFrontier(ctx context.Context, w io.Writer, flags *frontierFlags) error {
	f, run, err := train.ReadFrontier(ctx, flags.Run)
	if err != nil {
		return err
	}
	if flags.json {
		return printJSON(w, f)
	}
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	_ = textview.PointsTable(f).Write(b, width)
	text := fmt.Sprintf("%d trees, of %d prunings of %d grown trees (* chosen: %s); tree N is %s/frontier/N.json; "+
		"espalier frontier %s --promote N --output NEW writes a run with it", len(f.Points), f.Pruned, f.Grown, f.Select, run, run)
	_, _ = fmt.Fprintf(b, "\n%s\n", textview.Wrapped(text, width, ""))
	return b.Flush()
}

// printJSON prints a value as a document.
func printJSON(w io.Writer, value any) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// printEncoded prints a document, encoded by its own Encode.
func printEncoded(w io.Writer, encode func() ([]byte, error)) error {
	b, err := encode()
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// runPromote chooses another tree.
func runPromote(c *cobra.Command, flags *frontierFlags) error {
	reporter, err := flags.begin(c)
	if err != nil {
		return err
	}
	p, err := train.Promote(c.Context(), flags.Promote, reporter)
	if err != nil {
		return err
	}
	if flags.json && flags.ByLeaves {
		return printJSON(c.OutOrStdout(), p.Frontier)
	}
	if flags.json {
		return printJSON(c.OutOrStdout(), struct {
			Tree    *runfolder.Point   `json:"tree"`
			Before  *runfolder.Point   `json:"before"`
			Written bool               `json:"written"`
			Metrics *runfolder.Metrics `json:"metrics,omitempty"`
		}{p.Now, p.Before, p.Metrics != nil, p.Metrics})
	}
	if flags.ByLeaves {
		return printBySize(c.OutOrStdout(), p)
	}
	return printPromoted(c.OutOrStdout(), p, flags.Prices() && flags.DryRun)
}

// printBySize prints the trees by their size.
func printBySize(w io.Writer, p *train.Promoted) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	_ = textview.PointsTable(p.Frontier).Write(b, width)
	text := fmt.Sprintf("%s by size: each is chosen (%s) among the trees of at most its leaves; espalier frontier %s --max_leaves N "+
		"--output NEW writes a run with it (-: not among the listed trees)", counted(len(p.Frontier.Points), "tree"), p.Frontier.Select, p.Run)
	_, _ = fmt.Fprintf(b, "\n%s\n", textview.Wrapped(text, width, ""))
	return b.Flush()
}

// printPromoted prints the chosen tree next to the tree of the run or, with whole, all trees of the frontier.
func printPromoted(w io.Writer, p *train.Promoted, whole bool) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	two := *p.Frontier
	switch {
	case whole:
	case p.Now != p.Before:
		two.Points = []runfolder.Point{*p.Before, *p.Now}
	default:
		two.Points = []runfolder.Point{*p.Now}
	}
	_ = textview.PointsTable(&two).Write(b, width)
	if p.Metrics != nil {
		_, _ = fmt.Fprintln(b)
		_ = textview.FiguresTable(p.Metrics.Parts()).Write(b, width)
	}
	if p.Decision != nil {
		text := "predicted: " + textview.ThresholdText(p.Decision) + "; the list of trees has the figures without a threshold"
		_, _ = fmt.Fprintf(b, "\n%s\n", textview.Wrapped(text, width, ""))
	}
	now := textview.Number(p.Now.Tree)
	before := textview.Number(p.Before.Tree)
	text := fmt.Sprintf("wrote %s, a run with tree %s of %s, which keeps tree %s", p.Output, now, p.Run, before)
	if p.Metrics == nil {
		if text = fmt.Sprintf("tree %s is chosen in place of tree %s", now, before); now == before {
			text = fmt.Sprintf("tree %s is chosen, as in the run", now)
		}
		text += ": without --dry_run, --output NEW writes a run with it"
	}
	_, _ = fmt.Fprintf(b, "\n%s\n", textview.Wrapped(text, width, ""))
	return b.Flush()
}
