package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// predictFlags are the flags of predict.
type predictFlags struct {
	config.Predict

	console

	config string
	json   bool
}

func newPredictFlags() *predictFlags {
	return &predictFlags{Predict: config.DefaultPredict(), console: newConsole()}
}

func newPredict() *cobra.Command {
	flags := newPredictFlags()
	c := &cobra.Command{
		Use:     "predict MODEL",
		Short:   "Score the rows of Parquet files by a tree",
		GroupID: useStage,
		Annotations: common("model input output config date overwrite key keep explain max_unseen min_rows label contract " +
			"max_rejects json"),
		Long: `Score the rows of Parquet files by a tree: a file of predictions for each file, of
the same name and with the rows in the same order, and then _manifest.json and
_SUCCESS. A file has for each row its prediction, the probability of each class
(probability_CLASS), the leaf (the node in tree.json), the number of tests and
their cost, and in addition the columns of --key or, with --keep all, all columns
of the input, unchanged.

Columns are found by name, and only columns that the tree tests are read. If the
input has the column of the classes, metrics of the rows with a class are also
written. Values that training did not have are counted by column; they take the
branch that the tree has for unseen values.

Names may have dates: {date}, {date-1}, {date:%Y/%m/%d}. A day is then scored once:
again, with the same tree, files and settings, there is nothing to do. --config is the
YAML file of retrain: its key "predict" has settings by flag name, and the model is
the tree in use.

Trees of --also score the same rows in the same pass, for a trial in shadow. Their
columns begin with also_, also2_ and so on.`,
		Example: `  espalier predict runs/first --input 'new/*.parquet' --output scored
  espalier predict runs/first/tree.json --input new.parquet \
      --output scored --key customer,day --explain --max_unseen 0.01
  espalier predict --config nightly.yaml --date 2026-11-23`,
	}
	takeModel(c)
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		var done *pipelines.PredictResult
		return scheduled(c, flags.config, predictSection, figuresOfPrediction(&done), func(a *attempt) error {
			file, err := readPredict(c, flags)
			if err == nil {
				done, err = runPredict(a, flags)
			}
			return file.locate(err, c.Flags())
		})
	}
	c.SetFlagErrorFunc(refusedFlags(predictSection, figuresOfPrediction(new(*pipelines.PredictResult))))
	return c
}

// predictSection is the key of the settings of predict in the YAML file of retrain.
const predictSection = "predict"

// figuresOfPrediction returns what writes figures of a scoring, whose result is nil until it is done.
func figuresOfPrediction(done **pipelines.PredictResult) figuresFor {
	return func(func(string) string) figuresOf {
		return func(ctx context.Context, url, outcome string, started time.Time) error {
			return pipelines.TellPrediction(ctx, url, outcome, started, *done)
		}
	}
}

// readPredict reads the settings of a scoring from the YAML file of retrain, if there is one. The model is the
// run in use of its destination, unless a setting names another model.
func readPredict(c *cobra.Command, flags *predictFlags) (*configFile, error) {
	file, err := readConfig(c.Context(), flags.config)
	if err != nil {
		return new(configFile), err
	}
	if flags.config == "" {
		return file, file.emptied(c.Flags())
	}
	section, err := file.section(predictSection)
	if err != nil {
		return file, err
	}
	if err = section.apply(c.Flags()); err == nil {
		err = refusals(c.Flags())
	}
	if err == nil {
		err = section.emptied(c.Flags())
	}
	if err != nil || flags.Model != "" {
		return section, err
	}
	destination, ok := file.text("destination")
	if !ok { // perhaps because it is misspelled
		if err = file.drop(predictSection); err == nil {
			err = file.known(newRetrain().Flags())
		}
		return file, err
	}
	flags.Model = objectstore.Join(destination, latest.Name)
	return section, nil
}

// runPredict scores with the final settings.
func runPredict(a *attempt, flags *predictFlags) (*pipelines.PredictResult, error) {
	c := a.command
	if err := a.settled(&flags.Scheduled); err != nil {
		return nil, err
	}
	reporter, err := flags.begin(c, "run", flags.Output)
	if err != nil {
		return nil, err
	}
	r, err := pipelines.Predict(c.Context(), flags.Predict, reporter)
	if err != nil {
		return nil, err
	}
	a.Outcome = pipelines.Published
	a.Repeated = r.Repeated
	a.Run = r.Run
	if flags.json {
		return r, printPredictedJSON(c.OutOrStdout(), r)
	}
	return r, printPredicted(c.OutOrStdout(), r)
}

// Settings declares the flags of predict.
func (c *predictFlags) Settings() []setting.Setting {
	own := []setting.Setting{configSetting(&c.config), jsonSetting(&c.json, "print the summary as JSON")}
	return slices.Concat(c.Predict.Settings(), own, c.printedSettings(true))
}

func printPredictedJSON(w io.Writer, r *pipelines.PredictResult) error {
	return printJSON(w, struct {
		Rows     int64                      `json:"rows"`
		Columns  []runfolder.ColumnNovelty  `json:"columns"`
		Metrics  *runfolder.Metrics         `json:"metrics,omitempty"`
		Files    []string                   `json:"files"`
		Beside   []string                   `json:"beside"`
		Scores   *runfolder.PredictedScores `json:"scores"`
		Date     string                     `json:"date,omitempty"`
		Repeated bool                       `json:"repeated"`
		Also     []runfolder.AlsoScored     `json:"also,omitempty"`
	}{r.Rows, r.Columns, r.Metrics, r.Files, r.Beside, r.Scores, r.Date, r.Repeated, r.Also})
}

func printPredicted(w io.Writer, r *pipelines.PredictResult) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	if r.Repeated {
		_, _ = fmt.Fprintf(b, "%s: nothing to do: the tree, the files and the settings are as before\n", r.Folder)
		return b.Flush()
	}
	t := textview.NewTable(textview.Column{Head: "tested column", Left: true}, textview.Column{Head: "no value"},
		textview.Column{Head: "unseen"},
		textview.Column{Head: "outside of the range"})
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	plain := 0
	for _, c := range r.Columns {
		if c.Missing+c.Unseen+c.Outside == 0 {
			plain++
			continue
		}
		t.Add(c.Column, count(c.Missing), count(c.Unseen), count(c.Outside))
	}
	switch {
	case plain == len(r.Columns):
		t.Add(fmt.Sprintf("(all %d)", plain), "0", "0", "0")
	case plain > 0:
		t.Add(fmt.Sprintf("(%d others)", plain), "0", "0", "0")
	}
	_ = t.Write(b, width)
	_, _ = fmt.Fprintln(b)
	if r.Metrics != nil {
		_ = textview.FiguresTable([]runfolder.MeasuredPart{{Name: "scored", Metrics: r.Metrics.Test}}).Write(b, width)
		printSlices(b, "scored", r.Metrics.Test, width)
		_, _ = fmt.Fprintln(b)
	}
	for _, also := range r.Also {
		_, _ = fmt.Fprintf(b, "%s*: by %s, cost %.4f per row, and %.4f by --model\n", also.Prefix, also.Tree, also.Scores.Cost, r.Scores.Cost)
	}
	if l := &r.Tree.Label; l.Thresholded() {
		_, _ = fmt.Fprintln(b, textview.Wrapped("predicted: "+textview.ThresholdText(l.Decision), width, ""))
	}
	_, _ = fmt.Fprintf(b, "scored %d rows into %s (files of predictions: %d)\n", r.Rows, r.Folder, len(r.Files))
	return b.Flush()
}
