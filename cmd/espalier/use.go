package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// useFlags are the flags of retrain use.
type useFlags struct {
	config.Use

	console
}

func newUseFlags() *useFlags { return &useFlags{Use: config.DefaultUse(), console: newConsole()} }

// Settings declares the flags of retrain use.
func (c *useFlags) Settings() []setting.Setting {
	return slices.Concat(c.Use.Settings(), c.printedSettings(false))
}

func newUse() *cobra.Command {
	flags := newUseFlags()
	c := &cobra.Command{
		Use:   "use DESTINATION [RUN]",
		Short: "Put an earlier run in use, or hold the run in use",
		Long: `Make an earlier run of a destination of retrain the run in use: LATEST.json names
it from now on, in a single conditional write. Without RUN and --hold, the runs
are listed.

RUN is the name of a folder in runs/, a day, or "previous": the run that was in
use before. --hold keeps the run in use: until that day retrain trains and judges,
and does not promote. The history records who took the place of whom, and why.`,
		Example: `  espalier retrain use models
  espalier retrain use models previous --reason 'bad labels' --hold 2026-12-01
  espalier retrain use models --hold none`,
		Args: arguments(2, "retrain use takes a destination and a run: espalier retrain use models previous"),
	}
	addFlags(c.Flags(), flags.Settings())
	c.SetFlagErrorFunc(flagError) // it is no attempt of retrain
	c.RunE = func(c *cobra.Command, args []string) error {
		flags.Destination = args[0]
		if len(args) == 2 {
			flags.Run = args[1]
		}
		reporter, err := flags.begin(c, "destination", flags.Destination)
		if err != nil {
			return err
		}
		if flags.Run == "" && flags.Hold == "" {
			return listRuns(c, flags)
		}
		a, err := retraining.Use(c.Context(), flags.Use, reporter)
		if a != nil {
			eventsOf(c.Context()).attempt(a, false)
		}
		if err != nil {
			return err
		}
		return printUse(c.OutOrStdout(), flags, a)
	}
	return c
}

// printUse prints which run is in use now, and until when.
func printUse(w io.Writer, c *useFlags, a *retraining.Attempt) error {
	verb := "is in use"
	if c.DryRun {
		verb = "would be in use"
	}
	lines := []string{a.Run + " " + verb}
	if a.Before != "" && a.Before != a.Run {
		lines[0] += ", instead of " + a.Before
	}
	switch a.HeldTo {
	case "":
		lines = append(lines, "the next retrain may promote another run: --hold DAY keeps this one")
	case latest.Forever:
		lines = append(lines, "held until espalier retrain use "+c.Destination+" --hold none")
	default:
		lines = append(lines, "held until "+a.HeldTo)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, textview.Wrapped(line, pageWidth(w), "  ")); err != nil {
			return err
		}
	}
	return nil
}

// listRuns prints the runs of a destination, and marks the run in use.
func listRuns(c *cobra.Command, flags *useFlags) error {
	if err := flags.Validate(); err != nil {
		return err
	}
	list, err := retraining.Runs(c.Context(), flags.Use)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return usage.Errorf("%s has no runs of retrain: name the folder that retrain --destination wrote", flags.Destination)
	}
	t := textview.NewTable(textview.Column{Head: "run", Left: true}, textview.Column{Head: "outcome", Left: true},
		textview.Column{Head: "AUC"}, textview.Column{Head: "cost"}, textview.Column{Head: "remarks", Left: true})
	for _, u := range list {
		remark := strings.Join(u.Refusals(), "; ")
		if u.InUse != nil {
			remark = inUse(u.InUse)
		}
		t.Add(nameOf(u.Run), u.Outcome, optional(u.AUC, "%.4f"), costOf(u.Attempt), remark)
	}
	return t.Write(c.OutOrStdout(), pageWidth(c.OutOrStdout()))
}

// inUse describes the run in use: until when it is held, and why.
func inUse(p *latest.Pointer) string {
	text := "* in use"
	if p.HeldAt(time.Now()) {
		text += ", held until " + p.Held
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}
