package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/importing"
)

// importFlags are the flags of import.
type importFlags struct {
	config.Import

	console
}

func newImportFlags() *importFlags {
	return &importFlags{Import: config.DefaultImport(), console: newConsole()}
}

// Settings declares the flags of import.
func (c *importFlags) Settings() []setting.Setting {
	return slices.Concat(c.Import.Settings(), c.printedSettings(false))
}

func newImport() *cobra.Command {
	flags := newImportFlags()
	c := &cobra.Command{
		Use:         "import FILE.csv...",
		Short:       "Make Parquet files of CSV files",
		GroupID:     prepareStage,
		Annotations: common("output overwrite delimiter decimal date_format text missing names trim"),
		Long: `Make Parquet files of CSV files to train on: part-00000.parquet and so on,
_manifest.json with the columns and their types and, last of all, _SUCCESS.

The first line of a file names its columns. Files may be compressed by gzip; -
is standard input. All files have the same columns; their rows follow one
another. They are read twice: to infer the types from all values, and to write
the rows.

A column is boolean (true, false), integer, number, date (2024-01-31), time
(13:05:59), timestamp (2024-01-31T13:05:59Z, or without an offset from UTC) if
all of its values are, else text. Numbers with leading zeros or a plus are
texts, as codes are, and so are integers beyond 2^53. An empty field is a missing
value, as are NA, NULL, NaN and so on, and the texts of --missing. The printed list
names the value that made a column a text.`,
		Example: `  espalier import penguins.csv --output data/penguins
  espalier import 'days/*.csv.gz' --text zip --output data/days
  espalier import sales.csv --decimal , --date_format %d.%m.%Y --output data/s
  zcat export.gz | espalier import - --delimiter tab --output data/export`,
		Args: arguments(anyNumber, "import takes CSV files, or - for standard input: "+
			"espalier import data.csv --output data/made"),
	}
	addFlags(c.Flags(), flags.Settings())
	c.RunE = func(c *cobra.Command, args []string) error {
		flags.Files, flags.Stdin = args, c.InOrStdin()
		if faults := setting.Faults(flags.Settings()); len(faults) > 0 {
			return usage.All(faults)
		}
		reporter, err := flags.reporter(c)
		if err != nil {
			return err
		}
		r, err := importing.Import(c.Context(), flags.Import, reporter)
		if err != nil {
			return err
		}
		return printImport(c.OutOrStdout(), r)
	}
	return c
}

func printImport(out io.Writer, r *importing.Result) error {
	w := bufio.NewWriter(out) // Flush returns the first error
	say(w, "wrote %d rows, %s, to %s (files: %d)\n", r.Rows, humanize.Bytes(uint64(max(0, r.Bytes))),
		r.Input, r.Files)
	width := len("column")
	for _, c := range r.Columns {
		width = max(width, len(c.Name))
	}
	say(w, "%-*s  %-15s  %-8s  %s\n", width, "column", "type", "missing", "note")
	for i, c := range r.Columns {
		say(w, "%s\n", strings.TrimRight(fmt.Sprintf("%-*s  %-15s  %-8d  %s", width, c.Name, c.Type, c.Missing, r.Notes[i]), " "))
	}
	say(w, "train on it:\n  espalier train --input '%s' --label COLUMN --output runs/first\n", r.Input)
	return w.Flush()
}
