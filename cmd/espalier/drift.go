package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// driftFlags are the flags of drift.
type driftFlags struct {
	config.Drift

	console

	json      bool
	failAbove float64 // PSI; 0: never
}

func newDriftFlags() *driftFlags {
	return &driftFlags{Drift: config.DefaultDrift(), console: newConsole()}
}

// Settings declares the flags of drift.
func (c *driftFlags) Settings() []setting.Setting {
	own := []setting.Setting{jsonSetting(&c.json, "print the drift as JSON"), {
		Name: "fail_above", Group: setting.Rows, Value: setting.Number(&c.failAbove, setting.From(0)),
		Help: "PSI of a column that has drifted, above which drift ends with exit code 4; 0: never",
	}}
	return slices.Concat(c.Drift.Settings(), own, c.printedSettings(true))
}

func newDrift() *cobra.Command {
	flags := newDriftFlags()
	c := &cobra.Command{
		Use:         "drift MODEL",
		Short:       "Measure how far rows have moved from a run's training rows",
		GroupID:     keepStage,
		Annotations: common("model input against group false_alarms least_psi json"),
		Long: `Measure how far the columns of new rows have moved from the training rows of a
run, and how far the shares of the tree's leaves have. No labels are needed.
With --against the training rows of another run take the place of the new rows.

drift prints for each column whether the tree asks it, the population stability
index (PSI), the chi-square test, the median before and now, and what share has
changed most. A column has drifted if its test
says so and its PSI is large enough. With --fail_above the exit code is 4 if the
PSI of such a column is greater. A column in which nearly every row has a value of
its own, such as an identifier, is left out.

Rows with the same --group, such as the visits of a customer, count as one unit of
chance; if the run was trained with --group, this is the default.`,
		Example: `  espalier drift runs/first --input 'today/*.parquet'
  espalier drift models/LATEST.json --input new.parquet --fail_above 0.2
  espalier drift runs/first --against runs/second`,
	}
	takeModel(c)
	addFlags(c.Flags(), flags.Settings())
	addBeamFlags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if faults := setting.Faults(flags.Settings()); len(faults) > 0 {
			return usage.All(faults)
		}
		reporter, err := flags.begin(c, "run", flags.Model)
		if err != nil {
			return err
		}
		found, err := pipelines.Drift(c.Context(), flags.Drift, reporter)
		err = printFound(c.OutOrStdout(), found, err, flags.json, printDrift)
		if err == nil {
			err = failAbove(flags.failAbove, found)
		}
		return err
	}
	return c
}

// driftedError is the error if columns have drifted further than --fail_above.
type driftedError struct{ columns []string }

// Nature implements usage.Natured.
func (e *driftedError) Nature() usage.Nature { return usage.Refused }

func (e *driftedError) Error() string {
	return "drift above --fail_above: " + strings.Join(e.columns, ", ")
}

// failAbove returns an error if the PSI of a column that has drifted is above a limit; 0: any.
func failAbove(limit float64, d *runfolder.Drift) error {
	var columns []string
	for _, bins := range d.All() {
		if limit > 0 && bins.Alarm && bins.PSI > limit {
			columns = append(columns, fmt.Sprintf("%s (PSI %.3g)", bins.Column, bins.PSI))
		}
	}
	if len(columns) == 0 {
		return nil
	}
	return &driftedError{columns}
}

// printDrift prints drift for people.
func printDrift(w io.Writer, d *runfolder.Drift) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintln(b, textview.Wrapped(fmt.Sprintf(format, args...), width, "  "))
	}
	rows := "rows"
	if d.Against != "" {
		rows = "training rows of " + d.Against
	}
	line("%d %s against the %d training rows of %s", d.Now, rows, d.Before, d.Model)
	if effect := largestEffect(d); effect > 1 {
		line("rows with the same %s are not independent: they count as 1/%.3g times as many rows in the column where they have "+
			"most in common", cmp.Or(d.Key, "key"), effect)
	}
	_ = textview.DriftTable(d).Write(b, width)
	if len(d.Omitted) > 0 {
		line("not compared, as the runs have no bin of them in common: %s", strings.Join(d.Omitted, ", "))
	}
	if d.Leaves == nil && d.Against == "" {
		line("the shares of the leaves are not compared: the run held no rows out")
	}
	for _, columns := range d.LeftOut() {
		line("left out: %s", columns)
	}
	switch alarms := d.Alarms(); {
	case len(alarms) > 0:
		line("drift: %s", strings.Join(alarms, ", "))
	case d.Tested() == 0:
		line("all columns are left out: drift is unknown")
	default:
		line("no drift: p is above %.3g/%d, or PSI below %g, everywhere", d.FalseAlarms, d.Tested(), d.LeastPSI)
	}
	return b.Flush()
}

// largestEffect returns the largest design effect of the compared rows; 0 without a key.
func largestEffect(d *runfolder.Drift) (largest float64) {
	for _, bins := range d.All() {
		if bins.DesignEffects != nil {
			largest = max(largest, bins.DesignEffects[1])
		}
	}
	return largest
}
