package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines"
)

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

// printEstimate prints the estimated cost of a run, and the jobs that the engine could
// translate.
func printEstimate(w io.Writer, r *pipelines.Result, title string, rows int64) error {
	rowsFrom := "in the files"
	if rows > 0 {
		rowsFrom = "of --rows, foreseen from the rows in the files"
	}
	e := r.Estimate
	bytes := func(n int64) string { return humanize.Bytes(uint64(max(0, n))) }
	t := report.NewTable(report.Column{Left: true}, report.Column{}, report.Column{Left: true, Rank: 1})
	for _, row := range []struct{ name, value, note string }{
		{"rows", humanize.Comma(e.Rows), rowsFrom},
		{"objects", humanize.Comma(e.Objects), humanize.Comma(e.TrainObjects) + " of them to train on"},
		{"passes over rows", humanize.Comma(e.RowPasses), "summarise, coalesce"},
		{"passes over objects", humanize.Comma(e.ObjectPasses), "levels, and one for the small nodes"},
		{"read of columns", bytes(e.ColumnBytes), "Parquet, all passes"},
		{"read of blocks", bytes(e.BlockBytes), "objects, all passes"},
		{"shuffle", bytes(e.ShuffleBytes), "between the halves of jobs"},
		{"histograms", bytes(e.HistogramBytes), "of the largest pass of a level; 0: all nodes are grown in memory"},
		{"disk", bytes(e.DiskBytes), "of checkpoints, in addition to the run's files"},
		{"memory", bytes(e.DriverMemory), "peak of this process, folds and certificate included"},
		{"memory of a worker", bytes(e.WorkerMemory), "the same process on the direct runner"},
	} {
		t.Add(row.name, row.value, row.note)
	}
	if e.Seconds.Total() > 0 {
		seconds := func(x float64) string { return runfolder.Seconds(x) + " s" }
		t.Add("time", seconds(e.Seconds.Total()), "the whole run, at the speed that the rehearsal had here")
		t.Add("reading rows", seconds(e.Seconds.Rows), "of it: summarise, bins, coalesce")
		t.Add("growing", seconds(e.Seconds.Growth), "of it: the trees of the grid")
		t.Add("choosing", seconds(e.Seconds.Choice), "of it: to score and prune them")
		t.Add("folds", seconds(e.Seconds.Folds), "of it: cross-validation; 0: none")
		t.Add("certificate", seconds(e.Seconds.Certificate), "of it")
	}
	if err := t.Write(w, pageWidth(w)); err != nil {
		return err
	}
	if r.Translated != nil {
		if _, err := fmt.Fprintf(w, "\ntranslated for %s: %s\n", title, strings.Join(r.Translated, ", ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w,
		"\n"+report.Wrapped("an estimate, by a rehearsal on a sample of the rows; nothing was written", pageWidth(w), ""))
	return err
}
