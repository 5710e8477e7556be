package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// retrainFlags are the flags of retrain.
type retrainFlags struct {
	config.Retrain

	console

	config, preset string
	history        bool
}

func newRetrainFlags() *retrainFlags {
	return &retrainFlags{Retrain: config.DefaultRetrain(), preset: defaultPreset, console: newConsole()}
}

// Settings declares the flags of retrain.
func (c *retrainFlags) Settings() []setting.Setting {
	own := []setting.Setting{
		configSetting(&c.config),
		{
			Name: "preset", Group: setting.Run, Value: setting.Text(&c.preset),
			Help: "settings of training to start from: default, accurate or paper",
		},
		{
			Name: "history", Group: setting.Printed, Value: setting.Switch(&c.history),
			Help: "print the attempts in the destination, and train nothing",
		},
	}
	return slices.Concat(c.Retrain.Settings(), own, c.printedSettings(true))
}

func newRetrain() *cobra.Command {
	flags := newRetrainFlags()
	c := &cobra.Command{
		Use:     "retrain",
		Short:   "Train a tree for a day, and use it if it passes a gate",
		GroupID: keepStage,
		Annotations: common("config destination date mode max_lag keep_runs replace history open_metrics input label contract " +
			"preset"),
		Long: `Train a tree for a day, compare it with the tree in use, and move LATEST.json to
it if it passes the gate. A scheduler runs it once a day, or more often.

--config is a YAML file whose keys are these flags: all settings of train but its
output, a destination, and the limits of the gate. --input may have dates:
{date}, {date-1}, or {date-29..date} for thirty days.

Each attempt writes a document to history/ in the destination, and each run is a
folder in runs/. A day whose files and settings are the same is not trained again.
Exit code 4 says that the gate has refused the run: LATEST.json stays.

"retrain use" puts an earlier run in use.`,
		Example: `  espalier retrain --config nightly.yaml
  espalier retrain --config nightly.yaml --date 2026-11-23
  espalier retrain --config nightly.yaml --history
  espalier retrain use models previous --reason 'bad labels'`,
		Args: noArguments,
	}
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	figures := func(valueOf func(name string) string) figuresOf {
		return func(ctx context.Context, url, outcome string, started time.Time) error {
			return retraining.Tell(ctx, url, valueOf("destination"), outcome, started)
		}
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if flags.history {
			return readRetrain(c, flags, func() error { return printHistory(c, flags) })
		}
		return scheduled(c, flags.config, "", figures, func(a *attempt) error {
			return readRetrain(c, flags, func() error { return runRetrain(a, flags) })
		})
	}
	c.SetFlagErrorFunc(refusedFlags("", figures))
	c.AddCommand(newUse())
	return c
}

// readRetrain reads the settings of a retraining, and carries out work with them.
func readRetrain(c *cobra.Command, flags *retrainFlags, work func() error) error {
	file, err := readConfig(c.Context(), flags.config)
	if err != nil {
		return err
	}
	if err = file.drop(predictSection); err == nil {
		err = file.settle(c.Flags(), &flags.Train, flags.preset)
	}
	if err == nil {
		if file.url != "" {
			flags.Train.AlsoRead = []string{file.url}
		}
		err = work()
	}
	return file.locate(err, c.Flags())
}

// runRetrain retrains with the final settings.
func runRetrain(a *attempt, final *retrainFlags) error {
	c := a.command
	if final.history { // by the YAML file
		a.metrics = ""
		a.notices = ""
		return printHistory(c, final)
	}
	if err := a.settled(&final.Scheduled); err != nil {
		return err
	}
	reporter, err := final.begin(c, "destination", final.Destination)
	if err != nil {
		return err
	}
	limitMemory(final.Train.Memory)
	done, repeated, err := retraining.Retrain(c.Context(), final.Retrain, reporter)
	if done != nil {
		eventsOf(c.Context()).attempt(done, repeated)
		a.told = true
		a.Outcome = done.Outcome
		a.Repeated = repeated
		a.Run = done.Run
		a.Reason = strings.Join(remarks(done), "; ")
	}
	if done == nil || err != nil {
		return err
	}
	return printAttempt(c.OutOrStdout(), done, repeated)
}

func printHistory(c *cobra.Command, final *retrainFlags) error {
	if final.Destination == "" {
		return &usage.Error{Problem: "--destination is required"}
	}
	reporter, err := final.begin(c, "destination", final.Destination)
	if err != nil {
		return err
	}
	list, now, err := retraining.History(c.Context(), final.Retrain, reporter)
	if err != nil {
		return err
	}
	if len(list) == 0 && now == nil {
		reporter.Warn(final.Destination + " has no attempts and no LATEST.json: if there have been some, look at --destination")
	}
	return historyTable(list, now).Write(c.OutOrStdout(), pageWidth(c.OutOrStdout()))
}

// printAttempt prints the outcome of an attempt.
func printAttempt(w io.Writer, a *retraining.Attempt, repeated bool) error {
	again := ""
	if repeated {
		again = ", as before: the files and settings are the same"
	}
	text := fmt.Sprintf("%s: %s%s", a.Run, a.Outcome, again)
	if a.Mode == config.ModeUse {
		text = strings.TrimSuffix(fmt.Sprintf("%s: in use by a person%s: %s", a.Run, again, a.Reason), ": ")
	}
	if a.AUC != nil {
		text += "; " + tested(a.AUC, a.Cost)
	}
	_, err := fmt.Fprintln(w, textview.Wrapped(text, pageWidth(w), "  "))
	return err
}

// tested describes a tree by its figures on test rows; cost is nil if it is unknown.
func tested(auc, cost *float64) string {
	text := fmt.Sprintf("AUC %.4f on test rows", *auc)
	if cost != nil {
		text += fmt.Sprintf(", expected cost %.3g", *cost)
	}
	return text
}

// costOf writes the expected cost in a record of the history.
func costOf(a *retraining.Attempt) string {
	if a.OwnPrices != nil { // a record of version 0.3
		return optional(a.OwnPrices, "%.3g at own prices")
	}
	return optional(a.Cost, "%.3g")
}

// historyTable returns the table of attempts, with the run in use marked in its last promotion.
func historyTable(list []*retraining.Attempt, now *latest.Pointer) *textview.Table {
	t := textview.NewTable(textview.Column{Head: "run", Left: true}, textview.Column{Head: "tree", Left: true},
		textview.Column{Head: "started", Left: true, Rank: 3}, textview.Column{Head: "mode", Left: true, Rank: 3},
		textview.Column{Head: "outcome", Left: true}, textview.Column{Head: "seconds", Rank: 4},
		textview.Column{Head: "rows", Rank: 2}, textview.Column{Head: "AUC", Rank: 1}, textview.Column{Head: "cost", Rank: 1},
		textview.Column{Head: "remarks", Left: true})
	promotion := -1 // the last one of the run in use
	for i, a := range list {
		if now != nil && a.Outcome == retraining.Promoted && a.Run == now.Run {
			promotion = i
		}
	}
	for i, a := range list {
		notes := remarks(a)
		if i == promotion {
			notes = slices.Insert(notes, 0, "* in use")
		}
		t.Add(cmp.Or(nameOf(a.Run), a.Date), a.Digest[:min(len(a.Digest), shownDigits)], a.Started.Format(time.DateTime), a.Mode,
			a.Outcome, fmt.Sprintf("%.1f", a.Seconds), strconv.FormatInt(a.Rows, 10), optional(a.AUC, "%.4f"),
			costOf(a), strings.Join(notes, "; "))
	}
	return t
}

// shownDigits is how many digits of a digest a table shows: enough to distinguish the trees of years.
const shownDigits = 8

// nameOf returns the name of a run, as use takes it; empty if there is no run.
func nameOf(run string) string { return strings.TrimPrefix(run, "runs/") }

// optional writes a figure; empty if it is unknown.
func optional(x *float64, format string) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf(format, *x)
}

// useRemarks describes a change by a person: another run in use, its hold, or both.
func useRemarks(a *retraining.Attempt) []string {
	held := "held until " + a.HeldTo
	if a.HeldTo == "" {
		held = "not held"
	}
	if a.Before == a.Run {
		return []string{strings.TrimSuffix(held+": "+a.Reason, ": ")}
	}
	put := strings.TrimSuffix("put in use instead of "+nameOf(a.Before)+": "+a.Reason, ": ")
	if a.HeldTo == "" {
		return []string{put}
	}
	return []string{put, held}
}

// remarks explains why an attempt has failed or was refused, why a person has put a run in use, and which
// days were missing.
func remarks(a *retraining.Attempt) []string {
	list := a.Refusals()
	if len(list) == 0 && a.Error != "" {
		list = []string{a.Error}
	}
	if a.Mode == config.ModeUse {
		list = append(list, useRemarks(a)...)
	}
	if len(a.Missing) > 0 {
		list = append(list, "days without rows: "+strings.Join(a.Missing, ", "))
	}
	return list
}

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
			return listRuns(c, flags, reporter)
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
	if c.Run == config.Previous && a.Before != "" {
		lines = append(lines, "the previous run is "+a.Before+" now: the same command again goes back to it")
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
func listRuns(c *cobra.Command, flags *useFlags, reporter engine.Reporter) error {
	if err := flags.Validate(); err != nil {
		return err
	}
	list, err := retraining.Runs(c.Context(), flags.Use, reporter)
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
