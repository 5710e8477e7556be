package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// trainFlags are the flags of train.
type trainFlags struct {
	pipelines.TrainConfig

	config, preset, progress string
	show, verbose            bool
}

// defaultPreset is the preset that is meant where none is named.
const defaultPreset = "default"

func newTrain() *cobra.Command {
	flags := &trainFlags{TrainConfig: pipelines.DefaultConfig(), preset: defaultPreset, progress: "auto"}
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a tree on Parquet files",
		Long: `Train a tree on Parquet files and write a run folder: tree.json, metrics.json,
schema.json, manifest.json and, last of all, _SUCCESS.

Settings come from the preset, then from the YAML file of --config, whose keys
are these flags, then from flags. The preset "default" grows several trees and
takes the best of their prunings: threshold tests on quantile bins with smoothed
leaves; "paper" is one tree of one-hot tests on 5 k-means bins with majority
leaves.

Sizes take units (64MiB, 1.5GB; a plain number is bytes), durations too (30s,
5m, 1h30m; a plain number is seconds). Values of lists are separated by commas;
a value with a comma in it stands in double quotes.`,
		Example: `  espalier train --input 'data/*.parquet' --label class --output runs/first
  espalier train --config train.yaml --theta 0.001 --output runs/fine
  espalier train --input 'visits/*.parquet' --label diagnosis \
      --costs costs.csv --categorical ward,doctor --split 80/0/20 \
      --key patient --output runs/visits`,
		Args: noArguments,
	}
	addTrainFlags(c.Flags(), flags)
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, err := readConfig(c.Context(), flags.config)
		if err != nil {
			return err
		}
		final, err := settleTrain(c.Flags(), flags, file)
		if err == nil {
			err = runTrain(c, final, file)
		}
		return file.locate(err, c.Flags())
	}
	return c
}

// runTrain trains with the flags as they were settled.
func runTrain(c *cobra.Command, final *trainFlags, file *configFile) error {
	if file.url != "" {
		final.AlsoRead = []string{file.url}
	}
	if err := tellDryRun(final.DryRun); err != nil {
		return err
	}
	if err := initBeam(final.verbose, c.ErrOrStderr()); err != nil {
		return err
	}
	reporter, err := newReporter(final.progress, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := settleFirst(c.Flags(), final, file, reporter); err != nil {
		return err
	}
	r, err := pipelines.Train(c.Context(), final.TrainConfig, reporter)
	if err != nil {
		return err
	}
	if final.DryRun {
		return printEstimate(c.OutOrStdout(), r)
	}
	return printResult(c.OutOrStdout(), r, final.show)
}

// addTrainFlags adds the flags of train, in sections.
func addTrainFlags(f *pflag.FlagSet, c *trainFlags) {
	section(f, sectionRun, func(f *pflag.FlagSet) { addRunFlags(f, c) })
	section(f, sectionRows, func(f *pflag.FlagSet) { addRowFlags(f, &c.TrainConfig) })
	section(f, sectionTests, func(f *pflag.FlagSet) { addTestFlags(f, &c.TrainConfig) })
	section(f, sectionCosts, func(f *pflag.FlagSet) { addCostFlags(f, &c.TrainConfig) })
	section(f, sectionClasses, func(f *pflag.FlagSet) { addClassFlags(f, &c.TrainConfig) })
	section(f, sectionGrowing, func(f *pflag.FlagSet) { addGrowFlags(f, &c.TrainConfig) })
	section(f, sectionChoice, func(f *pflag.FlagSet) { addFrontierFlags(f, &c.TrainConfig) })
	section(f, sectionResources, func(f *pflag.FlagSet) { addResourceFlags(f, &c.TrainConfig) })
	section(f, sectionOutput, func(f *pflag.FlagSet) {
		f.BoolVar(&c.show, "show", c.show, "print the tree")
		addProgressFlags(f, &c.progress, &c.verbose)
	})
	section(f, sectionStorage, func(f *pflag.FlagSet) { addStorageFlags(f, &c.StorageConfig) })
	section(f, sectionEngines, func(f *pflag.FlagSet) { addRunnerFlags(f, &c.Runner, &c.JobTimeout) })
	addBeamFlags(f)
	showEngineFlags(f)
}

// addRunFlags adds the flags of what a run reads and writes.
func addRunFlags(f *pflag.FlagSet, c *trainFlags) {
	f.StringSliceVar(&c.Input, "input", c.Input, "Parquet files: URLs or globs (* ? [..] **), comma-separated; required")
	f.StringVar(&c.Label, "label", c.Label, "column of the classes; required")
	f.StringVar(&c.Output, "output", c.Output, "run folder; required")
	f.StringVar(&c.config, configFlag, c.config, "YAML file of settings, by flag name")
	f.StringVar(&c.preset, "preset", c.preset, "settings to start from: default or paper")
	f.BoolVar(&c.Overwrite, "overwrite", c.Overwrite, "replace an earlier run in the output folder: the files that its manifest.json lists")
	f.BoolVar(&c.Resume, "resume", c.Resume, "go on with an unfinished run, which --memory_objects 0 or more leaves in the output folder")
	f.BoolVar(&c.DryRun, "dry_run", c.DryRun, "say what the run would take, by a rehearsal on a sample of the rows, and write nothing")
}

// addRowFlags adds the flags for weights, labels and parts of the rows.
func addRowFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringVar(&c.Weight, "weight", c.Weight, "column of row weights, 0 to 1e9")
	f.StringVar(&c.Split, "split", c.Split, "shares of train/validation/test, or a column that names each row's part")
	f.StringVar(&c.Key, "key", c.Key, "column whose value decides a row's part; else its position does")
	wholeVar(f, &c.Seed, "seed", "seed of the split")
	f.BoolVar(&c.DropNullLabels, "drop_null_labels", c.DropNullLabels, "leave out rows without a label instead of failing")
}

// addTestFlags adds the flags of what a node may test.
func addTestFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringSliceVar(&c.Ignore, "ignore", c.Ignore, "columns to leave out")
	f.StringSliceVar(&c.Forbid, "forbid", c.Forbid, "columns that are read but never tested")
	f.StringSliceVar(&c.First, "first", c.First, "features that the root, the nodes below it, and so on are to test, where they can")
	f.StringSliceVar(&c.Monotone, "monotone", c.Monotone, "numeric features with which the probability of the second of two classes must not fall (age=+1) or rise (age=-1)")
	f.StringSliceVar(&c.Categorical, "categorical", c.Categorical, "number columns whose values are categories")
	f.StringSliceVar(&c.Numeric, "numeric", c.Numeric, "text or boolean columns to read as numbers")
	f.StringSliceVar((*[]string)(&c.Tests), "tests", c.Tests, "tests that compete: onehot, threshold, both or multiway")
	f.StringSliceVar((*[]string)(&c.Bins), "bins", c.Bins, "bins of a numeric feature; auto: 128, and 512 from 30,000 rows on")
	f.StringVar(&c.Binning, "binning", c.Binning, "how bins are cut: quantile, kmeans or uniform")
	wholeVar(f, &c.MaxCategories, "max_categories", "values of a categorical feature; the rarest beyond it are put together as other")
	wholeVar(f, &c.MaxValues, "max_values", "distinct numbers of a column that are kept exactly when bins are cut")
}

// addCostFlags adds the flags of what tests cost.
func addCostFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringVar(&c.Costs, "costs", c.Costs, "CSV of test costs: feature,cost, feature,cost,group,group_cost (a group is paid once on a path) or feature,value,cost; others cost 1")
	f.StringVar(&c.RepeatCost, "repeat_cost", c.RepeatCost, "further tests on a feature that was asked on the path: full, or free unless its values have costs")
	f.StringVar(&c.CostUnit, "cost_unit", c.CostUnit, "what costs are counted in, such as seconds or euros")
}

// addClassFlags adds the flags of what is known of the classes.
func addClassFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringVar(&c.ClassWeights, "class_weights", c.ClassWeights, "factors of the weights of training rows: none, balanced (all classes weigh the same) or a CSV class,weight; others 1")
	f.StringVar(&c.Priors, "priors", c.Priors, "frequencies of the classes where the tree is used: CLASS=P,.. or a CSV class,prior (default: as in training)")
	f.StringVar(&c.ErrorCosts, "error_costs", c.ErrorCosts, "CSV of what predictions cost: actual,predicted,cost; others 0 if right, 1 if wrong")
	wholeVar(f, &c.MaxClasses, "max_classes", "more classes are an error")
}

// addGrowFlags adds the flags of how trees are grown.
func addGrowFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringSliceVar((*[]string)(&c.Algorithm), "algorithm", c.Algorithm, "score of a test: ec45, ecart, asr, c45, cart, cc45, ccart, ip or bal")
	f.StringSliceVar((*[]string)(&c.Lambda), "lambda", c.Lambda, "weight of the impurity reduction in ec45 and ecart; auto: the paper's grid, 1000 to 0.1")
	f.StringSliceVar((*[]string)(&c.Theta), "theta", c.Theta, "share of the rows at which a node is a leaf, 0 to 1")
	f.StringVar(&c.LeafEstimate, "leaf_estimate", c.LeafEstimate, "class probabilities: smoothed, raw or majority")
	wholeVar(f, &c.MaxDepth, "max_depth", "tests on the longest path; 0: any number")
	wholeVar(f, &c.MinRows, "min_rows", "nodes with fewer rows are leaves")
	f.StringVar(&c.Certificate, "certificate", c.Certificate, "a lower bound on what every tree over the same bins and tests costs that separates the rows as far: none, quick or full (tighter, takes seconds)")
}

// addFrontierFlags adds the flags of what is chosen among the trees.
func addFrontierFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringVar(&c.Select, "select", c.Select, "which tree of the frontier: best, the cheapest within --tolerance of the highest merit; highest, knee, one_se, one_percent, paper; or first, the first of the grid as it was grown")
	f.Var((*number)(&c.Tolerance), "tolerance", "merit, mostly validation AUC, that --select best gives up for a cheaper tree, 0 to 1")
	f.Var((*number)(&c.MaxExpectedCost), "max_expected_cost", "budget: the best tree of at most this expected cost; 0: any")
	f.Var((*number)(&c.MaxCost), "max_cost", "budget of the dearest path; 0: any")
	wholeVar(f, &c.MaxLeaves, "max_leaves", "leaves of the tree; with --select first it is grown best first; 0: any number")
	f.StringSliceVar((*[]string)(&c.Prune), "prune", c.Prune, "currencies of pruning: leaves, cost or both; or none")
	f.StringVar(&c.Alpha, "alpha", c.Alpha, "of the pruning, risk per leaf or per unit of expected cost; auto: chosen by --select")
	f.StringVar(&c.Folds, "folds", c.Folds, "folds of the cross-validation beside the validation rows; 0: none; auto: 5 where the rarest class has fewer than 200 validation rows, none from 50,000 objects on")
	f.Var((*number)(&c.FrontierStep), "frontier_step", "AUC by which a tree of frontier.json is better than the one before; 0: all trees that are better")
}

// addResourceFlags adds the flags of what a run may take.
func addResourceFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.Var((*duration)(&c.Deadline), "deadline", "time in which the run should be over: the tree is cut short at the end of a level; 0: any time")
	wholeVar(f, &c.MemoryObjects, "memory_objects", "objects up to which a node is grown in memory, else level by level; -1: any number")
	f.Var((*size)(&c.HistogramMemory), "histogram_memory", "memory of the histograms of a level; more open nodes are split in groups")
	wholeVar(f, &c.LevelsPerJob, "levels_per_job", "levels that one job grows, for engines that are slow to start one")
}

// addProgressFlags adds the flags of what is told while a verb runs.
func addProgressFlags(f *pflag.FlagSet, progress *string, verbose *bool) {
	f.StringVar(progress, "progress", *progress, "on stderr: bar, plain, none or auto (bars on a terminal, else lines)")
	if verbose != nil {
		f.BoolVar(verbose, "verbose", *verbose, "show the log of the Beam SDK")
	}
}

// addRunnerFlags adds the flags of where jobs run.
func addRunnerFlags(f *pflag.FlagSet, runner *string, timeout *float64) {
	f.StringVar(runner, "runner", *runner, "Beam runner: "+strings.Join(engine.Runners(), " or "))
	f.Var((*duration)(timeout), "job_timeout", "of an engine: time after which a job is cancelled; a run of train can be resumed")
}

// settleTrain puts preset, config file and flags together.
func settleTrain(set *pflag.FlagSet, flags *trainFlags, file *configFile) (*trainFlags, error) {
	preset := flags.preset
	if text, ok := file.text("preset"); ok && !set.Changed("preset") {
		preset = text
	}
	config, err := pipelines.Preset(preset)
	if err != nil {
		return nil, err
	}
	final := &trainFlags{TrainConfig: config, preset: preset, progress: "auto"}
	fresh := pflag.NewFlagSet("train", pflag.ContinueOnError)
	addTrainFlags(fresh, final)
	return final, file.settle(set, fresh)
}

// settleFirst makes sure that what was listed is not left out unsaid: the rule first
// grows the first value of each list alone. That is the rule of the preset paper;
// lambda auto is the paper's own way to choose.
func settleFirst(set *pflag.FlagSet, c *trainFlags, file *configFile, reporter engine.Reporter) error {
	if c.Select != "first" {
		return nil
	}
	if slices.Equal(c.Lambda, pipelines.Choices{"auto"}) && !file.says(set, "select") {
		c.Select = "paper"
		reporter.Note("--lambda auto: the lambda is chosen by the paper's rule, --select paper")
		return nil
	}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"algorithm", c.Algorithm}, {"lambda", c.Lambda}, {"theta", c.Theta}, {"tests", c.Tests}, {"bins", c.Bins}} {
		if n := len(list.values); n > 1 && file.says(set, list.flag) {
			return &usage.Error{Problem: fmt.Sprintf("--%s %s: --select first grows the first of the values alone: name one, or a rule that chooses, such as --select best",
				list.flag, strings.Join(list.values, ","))}
		}
	}
	return nil
}

// printResult prints what was written and the figures that matter most.
func printResult(w io.Writer, r *pipelines.Result, show bool) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	line := func() { _, _ = fmt.Fprintln(b) }
	if show {
		_ = report.Text(b, r.Tree, width)
		line()
	}
	_ = report.Figures(b, r.Metrics.Parts(), width)
	line()
	part, m := r.Metrics.Best()
	_ = report.Classes(b, report.Part{Name: "class (" + part + ")", Metrics: m}, width)
	if !r.Tree.Nodes[0].Leaf() {
		line()
		_ = report.Features(b, r.Tree, width)
	}
	if r.Frontier != nil {
		_, _ = fmt.Fprintf(b, "\nthe frontier, of %d prunings of %d trees (* chosen: %s)\n", r.Frontier.Pruned, r.Frontier.Grown, r.Frontier.Select)
		_ = report.Frontier(b, r.Frontier.Report(), width)
	}
	if r.Metrics.Folds != nil {
		line()
		_ = r.Metrics.Folds.Report().Text(b, width)
	}
	three := func(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
	mistakes := ""
	if m.ExpectedErrorCost != nil {
		mistakes = ", error cost " + three(*m.ExpectedErrorCost)
	}
	c := &r.Tree.Complexity
	summary := fmt.Sprintf("AUC %s%s on %s rows, expected cost %s, %d leaves, depth %d",
		report.Area(m), mistakes, part, report.Expected(r.Tree, three), c.Leaves, c.Depth)
	_, _ = fmt.Fprintf(b, "\n%s\n%s\n", report.Wrapped(wrote(r.Files), width, ""), report.Wrapped(summary, width, ""))
	return b.Flush()
}

// wrote names the files of a run folder behind the folder.
func wrote(files []string) string {
	folder, names := "", make([]string, len(files))
	for i, file := range files {
		at := strings.LastIndexByte(file, '/')
		folder, names[i] = file[:max(0, at)], file[at+1:]
	}
	return fmt.Sprintf("wrote %s: %s", folder, strings.Join(names, ", "))
}
