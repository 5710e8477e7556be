package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/pages"
	"github.com/espalier-ml/espalier/pipelines/source"
)

func newExport() *cobra.Command {
	var o config.Export
	c := &cobra.Command{
		Use:     "export MODEL",
		Short:   "Write a tree as source code that needs nothing else",
		GroupID: useStage,
		Long: `Write the tree of a run folder, or a tree.json, as one file of source code. The
file needs no library and no Espalier. It predicts what the tree predicts:
class, probabilities, leaf, number of tests, and what they cost.

The formats:
  c           C99: NAME_predict takes a struct
  java        a class of Java 17: predict takes a record
  python      a module: predict takes a mapping from names to values
  javascript  an ES module: predict takes an object
  sql         a view and a function of the database of --dialect
  pmml        a PMML 4.4 document: a field for each feature
  onnx        a model for onnxruntime: an input for each feature
  json        a plain document for an interpreter of your own

Source code has a lazy form as well: it takes a function, and asks it for a value only
when a test needs this value.

--verify runs the file by what is installed here (a C compiler, a JDK, Python,
Node.js, onnxruntime or JPMML), and compares it with the tree on each row of Parquet files
and on golden rows: at each cut from both sides, with missing and unseen values,
infinities and zeros of both signs. Nothing is written if a prediction differs.`,
		Example: `  espalier export runs/first --format python --output model.py
  espalier export runs/first --format c --verify 'data/*.parquet' --output m.c
  espalier export runs/first --format sql --dialect duckdb --output model.sql
  espalier export runs/first --format java --verify golden --output Model.java
  espalier export runs/first --format c --output m.c --golden test_m.c`,
		RunE: func(c *cobra.Command, _ []string) error {
			return runExport(c.Context(), o, raw(c.OutOrStdout()), c.ErrOrStderr())
		},
	}
	takeModel(c)
	addFlags(c.Flags(), o.Settings())
	return c
}

// runExport writes the source to its file or to standard output. It reports what was verified on
// standard error.
func runExport(ctx context.Context, o config.Export, stdout, stderr io.Writer) error {
	if err := o.Validate(); err != nil {
		return err
	}
	target, err := output.Open(ctx, source.Process.Store, o.Output, o.Overwrite && o.Output != "", exports())
	if err != nil {
		return err
	}
	golden, err := output.Open(ctx, source.Process.Store, o.Golden, o.Overwrite && o.Golden != "", exports())
	if err != nil {
		return err
	}
	e, err := pages.Export(ctx, o)
	if err != nil {
		return err
	}
	for _, line := range e.Checks {
		if _, err := fmt.Fprintln(stderr, line); err != nil {
			return err
		}
	}
	if o.Golden != "" {
		if err := golden.Write(ctx, e.Golden); err != nil {
			return err
		}
	}
	if o.Output == "" {
		_, err = stdout.Write(e.Source)
		return err
	}
	return target.Write(ctx, e.Source)
}

// exports are the files that export may replace.
func exports() output.Kind {
	return output.Kind{Is: "file of espalier export", Another: "an earlier one", Own: export.IsExport}
}
