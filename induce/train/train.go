// Package train grows a tree from rows in memory: values of Go types, as package gorows scores
// them. It opens no files and imports only the standard library. Package transforms trains on the
// rows of Beam pipelines, and package pipelines on files of any size: the same settings and rows
// give the same tree.
//
//	s := settings.Default()
//	s.Label = "outcome"
//	s.Costs = map[string]float64{"scan": 200, "age": 0} // other features cost 1
//	s.MaxExpectedCost = 100                             // on average per row
//	t, report, err := train.Train(ctx, patients, s)
//	scorer, err := gorows.NewScorer[Patient](t) // predicts
//	err = os.WriteFile("tree.json", t.Encode(), 0o644)
package train

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tallies"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Report describes a training.
type Report struct {
	Rows     [dataset.Parts]int64 // number of rows by part: dataset.Train, Validation and Test
	Frontier []frontier.Listed    // trees to choose among, the chosen tree marked; empty if there was no choice
	Notes    []string             // why some settings have no effect, and why no better tree was chosen
}

// Train grows a tree from rows: structs or maps, or pointers to them, with columns as package
// gorows describes. The features are the columns to which s gives no other use: the fields of a
// struct in their order, or the keys of maps in alphabetical order.
//
// Unless s has a Key or a SplitColumn, the position of a row in the slice and the Seed decide its
// part. The tree is byte for byte the tree that `espalier train` grows with the same settings from
// rows.parquet, a file with these rows in a single row group.
//
// Train returns an error that names all settings which are out of range or do not fit the columns,
// or a *dataset.DataError for invalid rows. Cancelling the context ends a training early.
func Train[T any](ctx context.Context, rows []T, s settings.Settings) (*tree.Tree, *Report, error) {
	schema, err := rowtype.SchemaOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, nil, fmt.Errorf("train: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil, &dataset.DataError{Problem: "there are no rows to train on"}
	}
	spec := &tallies.Spec{Settings: s, Schema: schema, Ordered: true}
	if schema.Map {
		if spec.Features, err = keys(rows, &s); err != nil {
			return nil, nil, err
		}
	}
	if err := spec.Bind(); err != nil {
		return nil, nil, fmt.Errorf("train: %w", err)
	}
	tally, err := count(spec, rows)
	if err != nil {
		return nil, nil, err
	}
	plan, _, err := spec.FitTally(tally)
	if err != nil {
		return nil, nil, err
	}
	if plan == nil {
		return nil, nil, spec.NoTrainingRows()
	}
	tables, err := spec.Code(tally, plan)
	if err != nil {
		return nil, nil, err
	}
	report := new(Report)
	grown, err := spec.Grow(ctx, &tables, plan, runtime.GOMAXPROCS(0), func(text string) {
		report.Notes = append(report.Notes, text)
	})
	if err != nil {
		return nil, nil, err
	}
	report.Rows = grown.Rows
	report.Frontier = grown.Frontier
	return grown.Tree, report, nil
}

// count tallies rows.
func count[T any](spec *tallies.Spec, rows []T) ([]byte, error) {
	encoder, err := tallies.NewEncoder(spec)
	if err != nil {
		return nil, err
	}
	var t dataset.Tally
	for i := range rows {
		weight, labelEnd, err := encoder.Encode(rows[i], i)
		switch {
		case err != nil:
			return nil, fmt.Errorf("row %d: %w", i, err)
		case labelEnd == 0:
			t.Dropped++
		case weight > 0:
			t.Add(encoder.Key)
		}
	}
	return t.AppendBinary(nil), nil
}

// keys returns the keys of map rows that have no other use, in alphabetical order.
func keys[T any](rows []T, s *settings.Settings) ([]string, error) {
	all := make(map[string]bool)
	for i := range rows {
		row := reflect.Indirect(reflect.ValueOf(rows[i]))
		if !row.IsValid() {
			return nil, fmt.Errorf("row %d: %w", i, rowtype.NilRow(reflect.TypeFor[T]().String()))
		}
		for _, key := range row.MapKeys() {
			all[key.String()] = true
		}
	}
	for _, used := range append([]string{s.Label, s.Weight, s.Group, s.SplitColumn}, s.Ignore...) {
		delete(all, used)
	}
	return slices.Sorted(maps.Keys(all)), nil
}
