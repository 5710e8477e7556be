package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/pipelines/train"
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
