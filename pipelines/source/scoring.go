package source

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// ScoringSpec describes how rows are read for a tree: the columns that it and further trees test, by their
// names, with a label, a weight and a count unless these names are empty. All rows belong to the part "test". If
// columns do not fit a tree, it returns a *dataset.DataError.
func ScoringSpec(in *Input, t *tree.Tree, label, weight, count string, also ...*tree.Tree) (*jobs.RowSpec, error) {
	spec := &jobs.RowSpec{Label: label, Weight: weight, Count: count, Parting: dataset.Parting{Shares: dataset.Shares{dataset.Test: 1}}}
	columns := make(map[string]int, len(in.Columns))
	for i := range in.Columns {
		columns[in.Columns[i].Name] = i
	}
	for _, t := range append([]*tree.Tree{t}, also...) {
		features, err := in.features(t, columns)
		if err != nil {
			return nil, err
		}
		for _, f := range features {
			if !slices.Contains(spec.Features, f) {
				spec.Features = append(spec.Features, f)
			}
		}
	}
	for _, use := range []struct{ flag, name string }{{"label", label}, {"weight", weight}, {"count", count}} {
		if use.name == "" {
			continue
		}
		at, ok := columns[use.name]
		if !ok {
			return nil, UnknownColumn(use.flag, use.name, in.Names())
		}
		if err := in.CheckAmount(use.flag, &in.Columns[at]); err != nil {
			return nil, err
		}
	}
	return spec, CheckCount(count, Use{"label", label}, Use{"weight", weight})
}

// CheckAmount checks the column that a flag names, as Check does. A column of weights or counts has no points in time and no
// booleans. Texts may be the digits of numbers, which its rows decide.
func (in *Input) CheckAmount(flag string, column *parquetio.Column) error {
	expected := "numbers"
	switch flag {
	case "count":
		expected = "whole numbers"
	case "weight":
	case "feature", "forbidden": // roles: the column can be left out
		if err := in.checkFound(column.Name); err != nil {
			return err
		}
		return in.Check(column)
	default:
		return in.checkNamed(column)
	}
	things := "booleans"
	if column.Physical != "BOOLEAN" {
		if column.Type != dataset.Number || column.Unit == dataset.Plain {
			return in.checkNamed(column)
		}
		things = column.Unit.Things()
	}
	return usage.Errorf("--%s: column %q has %s, expected %s", flag, column.Name, things, expected)
}

// checkNamed is Check for a column that a setting names, such as the label, which cannot be left out.
func (in *Input) checkNamed(column *parquetio.Column) error {
	if err := in.CheckThere(column.Name); err != nil {
		return dataset.ReplaceHint(err, "add the column, or leave out the files that lack it")
	}
	return dataset.ReplaceHint(in.Check(column), "write the column as one type in all files, such as texts")
}

// Use is a column that a flag names.
type Use struct{ Flag, Column string }

// CheckCount returns a usage error if the column of counts has another use; count may be empty.
func CheckCount(count string, uses ...Use) error {
	for _, use := range uses {
		if count != "" && use.Column == count {
			return usage.Errorf("--count: column %q has another use already, --%s", count, use.Flag)
		}
	}
	return nil
}

// features returns the columns that a tree tests, given the columns of the input by name.
func (in *Input) features(t *tree.Tree, columns map[string]int) ([]dataset.FeatureColumn, error) {
	inputs := t.Scorer().Features()
	if err := in.checkInputs(inputs, columns); err != nil {
		return nil, err
	}
	var list []dataset.FeatureColumn
	for i := range inputs {
		f := &t.Features[inputs[i].Feature]
		column := in.Columns[columns[f.Name]]
		check := in.Check
		if f.Kind == dataset.Numeric && in.withNumbers(f.Name, f.Unit) {
			column.Type = dataset.Number
			column.Unit = f.Unit
			check = func(c *parquetio.Column) error { return in.CheckThere(c.Name) }
		}
		if err := check(&column); err != nil {
			return nil, err
		}
		if err := in.checkKind(&column, f); err != nil {
			return nil, err
		}
		list = append(list, dataset.FeatureColumn{Name: f.Name, Kind: f.Kind, Type: column.Type, Unit: f.Unit})
	}
	return list, nil
}

// WarnOfColumns warns of each tested column that is in files and in names of folders, and of each with local timestamps if
// the tree was trained on timestamps in UTC, and vice versa: both are read without conversion. Of texts it looks at a
// sample.
func WarnOfColumns(ctx context.Context, f *Files, warn func(text string), in *Input, t *tree.Tree) error {
	moments := make(map[string]dataset.Zone)
	var tested []string
	for _, input := range t.Scorer().Features() {
		tested = append(tested, input.Name)
		if f := &t.Features[input.Feature]; f.Zone != dataset.NoZone {
			moments[f.Name] = f.Zone
		}
	}
	for _, note := range in.NoteTwice(tested) {
		warn(note)
	}
	in = in.clone()
	if err := in.ReadTexts(ctx, f, func(column string) bool { return moments[column] != dataset.NoZone }); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(moments)) {
		for i, file := range in.Files {
			zone := in.ByName[i][name].Zone
			if trained := moments[name]; zone != trained && zone != dataset.NoZone {
				warn(fmt.Sprintf("column %q: %s has %s, the tree's feature is of %s: they are read as if they were those, "+
					"whatever the distance of the place from UTC", name, file.URL, zone.Things(), trained.Things()))
				break
			}
		}
	}
	return nil
}

// Novelties names the columns that a tree tests, with counts of values, in rows rows, that did not
// occur in training. Missing values beyond the share of training rows count as unseen.
func Novelties(t *tree.Tree, counts []dataset.Novelty, rows int64) []runfolder.ColumnNovelty {
	var list []runfolder.ColumnNovelty
	for i, input := range t.Scorer().Features() {
		n := counts[i]
		if f := &t.Features[input.Feature]; f.Missing > 0 { // otherwise the watch has counted all of them
			n.Unseen += missingBeyond(f.Missing, t.Training.Rows, n.Missing, rows)
		}
		list = append(list, runfolder.ColumnNovelty{
			Column: input.Name, Missing: n.Missing, Unseen: n.Unseen, Outside: n.Outside,
		})
	}
	return list
}

// missingBeyond returns by how many the missing values in rows rows exceed what the share in
// training (known missing values in training rows) and chance explain: four standard errors of the
// difference.
func missingBeyond(known, training, missing, rows int64) int64 {
	if training == 0 || rows == 0 {
		return 0
	}
	share := float64(known) / float64(training)
	variance := float64(share*(1-share)) * (1/float64(rows) + 1/float64(training))
	return max(0, missing-int64(math.Ceil(float64(rows)*min(1, share+float64(4*math.Sqrt(variance))))))
}

// unseenTold is the inverse of the greatest share of rows that may have a value that did not occur
// in training without a warning.
const unseenTold = 10

// WarnOfNovelty warns of each column in which more than a tenth of the rows have a value that training
// did not have: a new category, a number out of range, or a missing value. The tree can only guess the
// classes of such rows.
func WarnOfNovelty(warn func(text string), t *tree.Tree, columns []runfolder.ColumnNovelty, rows int64) {
	for i, input := range t.Scorer().Features() {
		c := &columns[i]
		f := &t.Features[input.Feature]
		if c.New()*unseenTold <= rows {
			continue
		}
		nulls := c.Missing
		if f.Missing > 0 {
			nulls = missingBeyond(f.Missing, t.Training.Rows, c.Missing, rows)
		}
		share := float64(c.New()-nulls) / float64(rows)
		what := "a value that training did not have (another spelling, blanks, another type?)"
		if f.Other > 0 {
			what = "a value that training did not have, or that was too rare to be a category (another spelling?)"
		}
		switch {
		case nulls*2 > c.New() && f.Missing > 0:
			share = float64(c.Missing) / float64(rows)
			what = fmt.Sprintf("no value, and %s of the training rows had none (is the column filled?)",
				textview.Percent(float64(f.Missing)/float64(t.Training.Rows)))
		case nulls*2 > c.New():
			share = float64(c.Missing) / float64(rows)
			what = "no value, and all training rows had one (is the column filled?)"
		case c.Outside > 0:
			what = "a value outside of the range of training (another unit, another time?)"
		}
		warn(fmt.Sprintf("column %q: %s of the rows have %s", c.Column, textview.Percent(share), what))
	}
}
