package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/pipelines"
)

// trainFlags are the flags of train that are no part of its configuration.
type trainFlags struct {
	Config   string `json:"-"`
	Preset   string `json:"preset"`
	Progress string `json:"progress"`
	Show     bool   `json:"show"`
	Verbose  bool   `json:"verbose"`
}

func newTrain() *cobra.Command {
	config, extra := pipelines.DefaultConfig(), trainFlags{Preset: "default", Progress: "auto"}
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a tree on Parquet files",
		Long: `Train a tree on Parquet files and write a run folder: tree.json, metrics.json,
schema.json, manifest.json and, last of all, _SUCCESS.

Settings come from the preset, then from the YAML file of --config, whose keys
are these flags, then from flags. The preset "default" grows several
trees and takes the best of their prunings: threshold tests on quantile bins with
smoothed leaves; "paper" is one tree of one-hot tests on 5 k-means bins with
majority leaves.`,
		Example: `  espalier train --input 'data/*.parquet' --label class --output runs/first
  espalier train --config train.yaml --theta 0.001 --output runs/fine
  espalier train --input 'visits/*.parquet' --label diagnosis --costs costs.csv \
      --categorical ward,doctor --split 80/0/20 --key patient --output runs/visits`,
		Args: noArguments,
	}
	addTrainFlags(c.Flags(), &config, &extra)
	c.RunE = func(c *cobra.Command, _ []string) error {
		final, err := settleTrain(c, config, &extra)
		if err != nil {
			return err
		}
		if err := tellDryRun(final.DryRun); err != nil {
			return err
		}
		if err := initBeam(extra.Verbose, c.ErrOrStderr()); err != nil {
			return err
		}
		reporter, err := newReporter(extra.Progress, c.ErrOrStderr())
		if err != nil {
			return err
		}
		r, err := pipelines.Train(c.Context(), *final, reporter)
		if err != nil {
			return err
		}
		if final.DryRun {
			return printEstimate(c.OutOrStdout(), r)
		}
		return printResult(c.OutOrStdout(), r, extra.Show)
	}
	return c
}

func addTrainFlags(f *pflag.FlagSet, c *pipelines.TrainConfig, extra *trainFlags) {
	f.SortFlags = false
	f.StringSliceVar(&c.Input, "input", c.Input, "Parquet files: URLs or globs (* ? [..] **), comma-separated; required")
	f.StringVar(&c.Label, "label", c.Label, "column of the classes; required")
	f.StringVar(&c.Output, "output", c.Output, "run folder; required")
	f.StringVar(&extra.Config, "config", "", "YAML file of settings, by flag name")
	f.StringVar(&extra.Preset, "preset", extra.Preset, "settings to start from: default or paper")
	f.StringSliceVar((*[]string)(&c.Algorithm), "algorithm", c.Algorithm, "score of a test: ec45, ecart, asr, c45, cart, cc45, ccart, ip or bal")
	f.StringSliceVar((*[]string)(&c.Lambda), "lambda", c.Lambda, "weight of the impurity reduction in ec45 and ecart; auto: the paper's grid")
	f.StringSliceVar((*[]string)(&c.Theta), "theta", c.Theta, "share of the rows at which a node is a leaf, 0 to 1")
	f.StringSliceVar((*[]string)(&c.Tests), "tests", c.Tests, "tests that compete: onehot, threshold, both or multiway")
	f.StringSliceVar((*[]string)(&c.Bins), "bins", c.Bins, "bins of a numeric feature; auto: 128, and 512 from 30,000 rows on")
	f.StringVar(&c.Binning, "binning", c.Binning, "how bins are cut: quantile, kmeans or uniform")
	f.StringVar(&c.LeafEstimate, "leaf_estimate", c.LeafEstimate, "class probabilities: smoothed, raw or majority")
	f.IntVar(&c.MaxDepth, "max_depth", c.MaxDepth, "tests on the longest path; 0: any number")
	f.Int64Var(&c.MinRows, "min_rows", c.MinRows, "nodes with fewer rows are leaves")
	f.IntVar(&c.MaxLeaves, "max_leaves", c.MaxLeaves, "leaves of the tree, grown best first; 0: any number")
	addFrontierFlags(f, c)
	addOwnerFlags(f, c)
	f.StringVar(&c.Weight, "weight", c.Weight, "column of row weights, 0 to 1e9")
	f.StringSliceVar(&c.Ignore, "ignore", c.Ignore, "columns to leave out")
	f.StringSliceVar(&c.Categorical, "categorical", c.Categorical, "number columns whose values are categories")
	f.StringSliceVar(&c.Numeric, "numeric", c.Numeric, "text or boolean columns to read as numbers")
	f.StringVar(&c.Split, "split", c.Split, "shares of train/validation/test, or a column that names each row's part")
	f.StringVar(&c.Key, "key", c.Key, "column whose value decides a row's part; else its position does")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the split")
	f.BoolVar(&c.DropNullLabels, "drop_null_labels", c.DropNullLabels, "leave out rows without a label instead of failing")
	f.IntVar(&c.MaxClasses, "max_classes", c.MaxClasses, "more classes are an error")
	f.IntVar(&c.MaxCategories, "max_categories", c.MaxCategories, "values of a categorical feature; the rarest beyond it are put together as other")
	f.IntVar(&c.MaxValues, "max_values", c.MaxValues, "distinct numbers of a column that are kept exactly when bins are cut")
	addStorageFlags(f, &c.StorageConfig)
	f.Var((*count)(&c.MemoryObjects), "memory_objects", "objects up to which a node is grown in memory, else level by level; -1: any number")
	f.Var((*count)(&c.HistogramMemory), "histogram_memory", "bytes of the histograms of a level; more open nodes are split in groups")
	f.IntVar(&c.LevelsPerJob, "levels_per_job", c.LevelsPerJob, "levels that one job grows, for engines that are slow to start one")
	f.Float64Var(&c.Deadline, "deadline", c.Deadline, "seconds in which the run should be over: the tree is cut short at the end of a level; 0: any time")
	f.BoolVar(&c.Resume, "resume", c.Resume, "go on with an unfinished run, which --memory_objects 0 or more leaves in the output folder")
	f.StringVar(&c.Runner, "runner", c.Runner, "Beam runner: "+strings.Join(pipelines.Runners(), " or "))
	f.Float64Var(&c.JobTimeout, "job_timeout", c.JobTimeout, "of an engine: seconds after which a job is cancelled; the run can be resumed")
	f.BoolVar(&c.Overwrite, "overwrite", c.Overwrite, "replace a finished run in the output folder")
	f.BoolVar(&c.DryRun, "dry_run", c.DryRun, "say what the run would take, by a rehearsal on a sample of the rows, and write nothing")
	f.StringVar(&extra.Progress, "progress", extra.Progress, "on stderr: bar, plain, none or auto (bars on a terminal)")
	f.BoolVar(&extra.Show, "show", extra.Show, "print the tree")
	f.BoolVar(&extra.Verbose, "verbose", extra.Verbose, "show the log of the Beam SDK")
	addBeamFlags(f)
	showEngineFlags(f)
}

// addFrontierFlags adds the flags of what is chosen among the trees.
func addFrontierFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringSliceVar((*[]string)(&c.Prune), "prune", c.Prune, "currencies of pruning: leaves, cost or both; or none")
	f.StringVar(&c.Alpha, "alpha", c.Alpha, "of the pruning, risk per leaf or per unit of expected cost; auto: chosen by --select")
	f.StringVar(&c.Select, "select", c.Select, "which tree of the frontier: best, knee, one_se, one_percent, paper; or first, the first of the grid as it was grown")
	f.StringVar(&c.Folds, "folds", c.Folds, "cross-validation beside the validation rows: its folds, 0 for none, auto where the validation rows alone say little")
	f.Float64Var(&c.FrontierStep, "frontier_step", c.FrontierStep, "AUC by which a tree of frontier.json is better than the one before; 0: all trees that are better")
	f.Float64Var(&c.MaxExpectedCost, "max_expected_cost", c.MaxExpectedCost, "budget: the best tree of at most this expected cost; 0: any")
	f.Float64Var(&c.MaxCost, "max_cost", c.MaxCost, "budget of the dearest path; 0: any")
	f.StringVar(&c.Certificate, "certificate", c.Certificate, "a lower bound on what any tree costs that separates the rows as far: none, quick or full, which takes seconds and is tighter")
}

// addOwnerFlags adds the flags of what the owner of the data knows and wishes.
func addOwnerFlags(f *pflag.FlagSet, c *pipelines.TrainConfig) {
	f.StringVar(&c.Costs, "costs", c.Costs, "CSV of test costs: feature,cost, feature,cost,group,group_cost (a group is paid once on a path) or feature,value,cost; others cost 1")
	f.StringVar(&c.RepeatCost, "repeat_cost", c.RepeatCost, "further tests on a feature that was asked on the path: full, or free unless its values have costs")
	f.StringVar(&c.CostUnit, "cost_unit", c.CostUnit, "what costs are counted in, such as seconds or euros")
	f.StringSliceVar(&c.First, "first", c.First, "features that the root, the nodes below it, and so on are to test, where they can")
	f.StringSliceVar(&c.Forbid, "forbid", c.Forbid, "columns that are read but never tested")
	f.StringSliceVar(&c.Monotone, "monotone", c.Monotone, "numeric features with which the probability of the second of two classes must not fall (age=+1) or rise (age=-1)")
	f.StringVar(&c.ClassWeights, "class_weights", c.ClassWeights, "factors of the weights of training rows: none, balanced (all classes weigh the same) or a CSV class,weight; others 1")
	f.StringVar(&c.Priors, "priors", c.Priors, "frequencies of the classes where the tree is used: CLASS=P,.. or a CSV class,prior (default: as in training)")
	f.StringVar(&c.ErrorCosts, "error_costs", c.ErrorCosts, "CSV of what predictions cost: actual,predicted,cost; others 0 if right, 1 if wrong")
}

// settleTrain puts preset, config file and flags together.
func settleTrain(c *cobra.Command, flags pipelines.TrainConfig, extra *trainFlags) (*pipelines.TrainConfig, error) {
	file, err := readConfig(c.Context(), extra.Config, c.Flags())
	if err != nil {
		return nil, err
	}
	if err := setEngineFlags(c.Flags(), file); err != nil {
		return nil, err
	}
	chosen, err := layered(trainFlags{Preset: "default", Progress: "auto"}, extra, file, c.Flags())
	if err != nil {
		return nil, err
	}
	preset, err := pipelines.Preset(chosen.text("preset"))
	if err != nil {
		return nil, err
	}
	all, err := layered(preset, flags, file, c.Flags())
	if err != nil {
		return nil, err
	}
	final := &pipelines.TrainConfig{}
	if err := all.into(final); err != nil {
		return nil, err
	}
	return final, chosen.into(extra)
}

// printResult prints what was written and the figures that matter most.
func printResult(w io.Writer, r *pipelines.Result, show bool) error {
	if show {
		if err := report.Text(w, r.Tree, pageWidth(w)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	if err := report.Figures(w, r.Metrics.Parts(), pageWidth(w)); err != nil {
		return err
	}
	if r.Frontier != nil {
		if _, err := fmt.Fprintf(w, "\nthe frontier, of %d prunings of %d trees (* chosen: %s)\n", r.Frontier.Pruned, r.Frontier.Grown, r.Frontier.Select); err != nil {
			return err
		}
		if err := report.Frontier(w, r.Frontier.Report()); err != nil {
			return err
		}
	}
	if r.Metrics.Folds != nil {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := r.Metrics.Folds.Report().Text(w, pageWidth(w)); err != nil {
			return err
		}
	}
	part, m := r.Metrics.Best()
	c, unit := r.Tree.Complexity, r.Tree.Algorithm.CostUnit
	if unit != "" {
		unit = " " + unit
	}
	billed := ""
	if r.Tree.BillsApart() {
		expected, _ := c.Billed()
		billed = fmt.Sprintf(", billed at %.3g", expected)
	}
	summary := fmt.Sprintf("AUC %s on %s rows, expected cost %.3g%s%s (%.3g tests), %d leaves, depth %d",
		report.Area(m), part, c.ExpectedCost, unit, billed, c.ExpectedTests, c.Leaves, c.Depth)
	_, err := fmt.Fprintf(w, "\nwrote %s\n%s\n", strings.Join(r.Files, " "), report.Wrapped(summary, pageWidth(w), ""))
	return err
}
