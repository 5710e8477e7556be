package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// trainFlags are the flags of train.
type trainFlags struct {
	config.Train

	console

	config, preset string
	show           bool
}

// defaultPreset is the preset without --preset.
const defaultPreset = "default"

func newTrainFlags() *trainFlags {
	return &trainFlags{Train: config.DefaultTrain(), preset: defaultPreset, console: newConsole()}
}

func newTrain() *cobra.Command {
	flags := newTrainFlags()
	c := &cobra.Command{
		Use:     "train",
		Short:   "Train a tree on Parquet files",
		GroupID: trainStage,
		Annotations: common("input label output preset config costs cost_unit repeat_cost max_expected_cost max_leaves " +
			"ignore group split weight"),
		Long: `Train a tree on Parquet files and write a run folder: tree.json, metrics.json,
report.html, schema.json, manifest.json and, last of all, _SUCCESS.

Settings come from the preset, then from the YAML file of --config, whose keys
are these flags, then from flags. The preset "default" grows several trees and
takes the best of their prunings: threshold tests on quantile bins with smoothed
leaves. The preset "accurate" adds models in the leaves, and trees that boosted
trees teach, where they are better at the same cost. The preset "paper" is one
tree of one-hot tests on 5 k-means bins with majority leaves.

Sizes take units (64MiB, 1.5GB; a plain number is bytes), durations too (30s,
5m, 1h30m; a plain number is seconds). Values of lists are separated by commas;
a value with a comma in it stands in double quotes.`,
		Example: `  espalier train --input 'data/*.parquet' --label class --output runs/first
  espalier train --config train.yaml --theta 0.001 --output runs/fine
  espalier train --input 'visits/*.parquet' --label diagnosis \
      --costs costs.csv --categorical ward,doctor --split 80/0/20 \
      --group patient --output runs/visits`,
		Args: noArguments,
	}
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, err := readConfig(c.Context(), flags.config)
		if err != nil {
			return err
		}
		err = file.settle(c.Flags(), &flags.Train, flags.preset)
		if err == nil {
			err = runTrain(c, flags, file)
		}
		return file.locate(err, c.Flags())
	}
	return c
}

// runTrain trains with the final settings.
func runTrain(c *cobra.Command, final *trainFlags, file *configFile) error {
	if file.url != "" {
		final.AlsoRead = []string{file.url}
	}
	if err := tellDryRun(final.DryRun); err != nil {
		return err
	}
	reporter, err := final.begin(c, "run", final.Output)
	if err != nil {
		return err
	}
	if err := settleFirst(c.Flags(), final, file, reporter); err != nil {
		return err
	}
	limitMemory(final.Memory)
	r, err := train.Train(c.Context(), final.Train, reporter)
	if err != nil {
		return err
	}
	if final.DryRun {
		return printSizes(c.OutOrStdout(), r, engine.Title(final.Runner))
	}
	return printResult(c.OutOrStdout(), r, final)
}

// limitMemory makes the collector of this process keep to --memory. A GOMEMLIMIT of the user
// stays if there is no such setting.
func limitMemory(memory int64) {
	if memory > 0 || debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(memlimit.Allowance(memory) / 10 * 9)
	}
}

// Settings declares the flags of train.
func (c *trainFlags) Settings() []setting.Setting {
	own := []setting.Setting{
		configSetting(&c.config),
		{
			Name: "preset", Group: setting.Run, Value: setting.Text(&c.preset),
			Help: "settings to start from: default; accurate, with models in the leaves and a teacher; or paper",
		},
		{Name: "show", Group: setting.Printed, Value: setting.Switch(&c.show), Help: "print the whole tree, whatever its size"},
	}
	return slices.Concat(c.Train.Settings(), own, c.printedSettings(true))
}

// settle sets what no flag has set: first from the preset, then from the config file.
func (c *configFile) settle(set *pflag.FlagSet, training *config.Train, preset string) error {
	if text, ok := c.text("preset"); ok && !set.Changed("preset") {
		preset = text
	}
	start, err := config.Preset(preset)
	if err != nil {
		return err
	}
	given := func(name string) bool { // --split may name a column
		return set.Changed(name) || name == "split_column" && training.SplitColumn != ""
	}
	setting.Inherit(training.Settings(), start.Settings(), given)
	if err := c.apply(set); err != nil {
		return err
	}
	if err := refusals(set); err != nil {
		return err
	}
	return c.emptied(set)
}

// settleFirst refuses lists of several values with the rule first, which would silently
// use only the first value of each list. The preset paper has this rule. There, lambda
// auto selects the paper's own rule instead.
func settleFirst(set *pflag.FlagSet, c *trainFlags, file *configFile, reporter engine.Reporter) error {
	if c.Select != frontier.First {
		return nil
	}
	if len(c.Lambda) == 0 && !file.says(set, "select") {
		c.Select = frontier.Paper
		reporter.Note("--lambda auto: the lambda is chosen by the paper's rule, --select paper")
		return nil
	}
	for _, s := range c.Train.Settings() {
		if !slices.Contains([]string{"algorithm", "lambda", "theta", "tests", "bins"}, s.Name) || !file.says(set, s.Name) {
			continue
		}
		if list, ok := s.Value.(pflag.SliceValue); ok && len(list.GetSlice()) > 1 {
			return &usage.Error{Problem: fmt.Sprintf("--%s %s: --select first uses only the first value: give one value, "+
				"or a rule that chooses, such as --select best", s.Name, s.Value)}
		}
	}
	return nil
}

// printResult prints the first screen about a run.
func printResult(w io.Writer, r *train.Result, final *trainFlags) error {
	o := textview.Overview{
		Folder: folderOf(r.Files), Whole: final.show,
		Run:    &runfolder.Run{Tree: r.Tree, Metrics: r.Metrics, Schema: r.Schema, Frontier: r.Frontier, Manifest: r.Manifest},
		Report: slices.ContainsFunc(r.Files, func(file string) bool { return strings.HasSuffix(file, "/"+runfolder.ReportName) }),
	}
	o.Run.Tree, o.Guess = textview.Interested(r.Tree)
	return o.Write(w, pageWidth(w))
}

// folderOf returns the run folder of its files.
func folderOf(files []string) string {
	last := files[len(files)-1]
	return last[:max(0, strings.LastIndexByte(last, '/'))]
}

// dryRunFlag is a flag of train. The SDK has a flag of the same name, with which some
// runners only check a job.
const dryRunFlag = "dry_run"

// tellDryRun passes the flag on to the SDK if a runner has registered it.
func tellDryRun(dry bool) error {
	if flag.Lookup(dryRunFlag) == nil {
		return nil
	}
	return flag.Set(dryRunFlag, strconv.FormatBool(dry))
}

// printSizes prints the sizes of a run, and the jobs that the engine could translate.
func printSizes(w io.Writer, r *train.Result, title string) error {
	s := r.Sizes
	place := "in memory"
	if s.Checkpoints {
		place = "in files below the run folder, from which --resume goes on"
	}
	rows := humanize.Comma(s.Rows)
	t := textview.NewTable(textview.Column{Left: true}, textview.Column{}, textview.Column{Left: true, Rank: 1})
	for _, row := range []struct{ name, value, note string }{
		{"rows", rows, fmt.Sprintf("files: %d, row groups: %d", s.Files, s.RowGroups)},
		{"columns", strconv.Itoa(s.Columns), "to read: " + humanize.Bytes(uint64(s.ColumnBytes))},
		{"features", strconv.Itoa(s.Features), "to test"},
		{"bins", strconv.Itoa(s.Bins), "at most, for a numeric feature"},
		{"trees", strconv.Itoa(s.Trees), "grown together"},
		{"objects", rows, "at most: rows with equal codes are one object"},
		{"kept", humanize.Bytes(uint64(s.BlockBytes)), "about, without equal rows: the objects, " + place},
	} {
		t.Add(row.name, row.value, row.note)
	}
	if err := t.Write(w, pageWidth(w)); err != nil {
		return err
	}
	if r.Translated != nil {
		if _, err := fmt.Fprintf(w, "\ntranslated for %s: %s\n", title, strings.Join(r.Translated, ", ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "\nthe settings fit the columns; no row was read or written")
	return err
}
