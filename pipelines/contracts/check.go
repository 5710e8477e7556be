package contracts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Checker checks the rows of an input against a contract.
type Checker struct {
	Contract *contract.Contract
	Settings *config.Contract
	Driver   *engine.Driver
	Scratch  string   // folder of the job's result
	Lax      []string // columns with these roles may be absent
	KeepRows bool     // refused rows stay
}

// Enforce reads the file of --contract, if there is one, and checks rows against it.
func (k *Checker) Enforce(ctx context.Context, in *source.Input) (*source.Input, error) {
	var err error
	if k.Contract, err = Read(ctx, k.Settings); err != nil || k.Contract == nil {
		return in, err
	}
	return k.Check(ctx, in)
}

// told is the greatest number of refused rows listed in the file of --rejects if there are too
// many.
const told = 1000

// listed returns how many refused rows the job must list: for the file of --rejects, to leave them out, or the first
// row, which messages name.
func (k *Checker) listed() int64 {
	switch {
	case k.Settings.Rejects != "":
		return max(k.Settings.MaxRejects, told)
	case k.KeepRows:
		return 1
	default:
		return max(k.Settings.MaxRejects, 1)
	}
}

// Check checks the columns, then the rows. It returns the input without the rows that break the
// contract. If they are more than --max_rejects, or if a share or mean is out of its bounds, it returns a
// *dataset.DataError. The file of --rejects lists the rows in either case.
func (k *Checker) Check(ctx context.Context, in *source.Input) (*source.Input, error) {
	in, texts, err := declare(ctx, k.Driver.Files, k.Contract, in)
	if err != nil {
		return nil, err
	}
	if err := structure(k.Contract, in, k.Settings.ContractFile, k.Lax); err != nil {
		return nil, err
	}
	bounds, columns, err := k.bounds(in, texts)
	if err != nil || len(bounds) == 0 || len(in.Tasks) == 0 {
		return in, err
	}
	found, err := k.run(ctx, in.Raw(texts), bounds)
	if err != nil {
		return nil, err
	}
	if err := k.writeRejects(ctx, found, bounds); err != nil {
		return nil, err
	}
	if err := k.judge(in, found, columns); err != nil {
		return nil, err
	}
	if found.Refused > 0 {
		k.warn(found, bounds)
	}
	in = in.Checked(texts)
	if k.KeepRows {
		return in, nil
	}
	return without(in, found), nil
}

// declare returns the input with columns of texts read as the contract says, and how they are read.
func declare(
	ctx context.Context, f *source.Files, c *contract.Contract, in *source.Input,
) (*source.Input, map[string]*jobs.TextColumn, error) {
	units := make(map[string]dataset.Unit)
	for i := range c.Columns {
		if column := &c.Columns[i]; column.Type != contract.TypeText && column.Role != contract.RoleIgnored {
			units[column.Name] = column.Unit()
		}
	}
	return in.Declare(ctx, f, units)
}

// bounds returns the bounds of the columns that the input has, with the columns of the contract. texts is how columns
// of texts are read.
func (k *Checker) bounds(in *source.Input, texts map[string]*jobs.TextColumn) (bounds []jobs.Bounds, columns []*contract.Column, err error) {
	names := in.Names()
	for i := range k.Contract.Columns {
		column := &k.Contract.Columns[i]
		if column.Role == contract.RoleIgnored || !slices.Contains(names, column.Name) {
			continue
		}
		b := jobs.Bounds{
			Column: column.Name, Unit: column.Unit(), Number: column.Type == contract.TypeNumber, Texts: texts[column.Name],
			Values:   column.Values,
			Required: column.MaxMissing != nil && *column.MaxMissing == 0,
			Closed:   column.MaxUnlisted != nil && *column.MaxUnlisted == 0,
		}
		if b.Min, err = column.Bound(column.Min); err != nil {
			return nil, nil, err
		}
		if b.Max, err = column.Bound(column.Max); err != nil {
			return nil, nil, err
		}
		if column.Role == contract.RoleCount {
			b.Required = true
			b.Whole = true
			most := float64(dataset.MostCount)
			b.Min, b.Max = cmp.Or(b.Min, new(float64)), cmp.Or(b.Max, &most)
		}
		bounds = append(bounds, b)
		columns = append(columns, column)
	}
	return bounds, columns, nil
}

// run runs the job.
func (k *Checker) run(ctx context.Context, in *source.Input, bounds []jobs.Bounds) (*jobs.Checked, error) {
	c := jobs.CheckConfig{
		Config: k.Driver.JobConfig(objectstore.Join(k.Scratch, "checked")),
		Bounds: bounds, Most: k.listed(),
	}
	err := k.Driver.RunGroups(ctx, "check", in.Tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Check(s, tasks, c) })
	if err != nil {
		return nil, err
	}
	found, err := jobs.ReadChecked(ctx, &c)
	if err != nil {
		return nil, err
	}
	return found, k.Driver.Files.Store.Remove(ctx, c.Out)
}

// judge returns an error if the rows break too many bounds.
func (k *Checker) judge(in *source.Input, found *jobs.Checked, columns []*contract.Column) error {
	for i, column := range columns {
		if err := k.judgeColumn(in, found.Rows, &found.Columns[i], column); err != nil {
			return err
		}
	}
	if found.Refused <= k.Settings.MaxRejects {
		return nil
	}
	first := &found.Rejects[0]
	see := "correct them, or raise --max_rejects"
	if k.Settings.Rejects == "" {
		see += "; --rejects FILE lists them"
	}
	column := columns[first.Column]
	return &dataset.DataError{
		File: first.File, RowGroup: &first.RowGroup, Column: column.Name, Value: first.Value,
		Problem: fmt.Sprintf("row %d: %s; %d of %d rows break the contract %s, at most %d may", first.Row,
			expected(column, first.Reason), found.Refused, found.Rows, k.Settings.ContractFile, k.Settings.MaxRejects),
		Hint: see,
	}
}

// expected describes what a bound requires.
func expected(c *contract.Column, why jobs.Reason) string {
	switch why {
	case jobs.MissingValue:
		return "the value is missing, want one in each row"
	case jobs.BelowMin:
		return "the value is below min, " + cmp.Or(c.Min, "0")
	case jobs.AboveMax:
		return "the value is above max, " + cmp.Or(c.Max, "10^12")
	case jobs.Unlisted:
		return "the value is none of the listed ones"
	case jobs.NotWhole:
		return "the count is not a whole number"
	case jobs.OtherType:
		return "the text is not a " + c.Unit().Thing() + " as import reads it"
	default:
		return string(why)
	}
}

// judgeColumn returns an error if a share or the mean of a column is out of its bounds.
func (k *Checker) judgeColumn(
	in *source.Input, rows int64, found *jobs.ColumnCounts, column *contract.Column,
) error {
	fault := func(what string, is float64, key string, bound float64) error {
		return &dataset.DataError{
			File: in.Files[in.FileWith(column.Name)].URL, Column: column.Name,
			Problem: fmt.Sprintf("%s is %.6g, want %s %.6g of the contract %s", what, is, key, bound, k.Settings.ContractFile),
			Hint:    "find out what has changed in the data, or change the contract",
		}
	}
	share := func(n int64) float64 { return float64(n) / float64(rows) }
	switch {
	case column.MaxMissing != nil && *column.MaxMissing > 0 && share(found.Missing) > *column.MaxMissing:
		return fault("the share of rows without a value", share(found.Missing), "max_missing", *column.MaxMissing)
	case column.MaxUnlisted != nil && *column.MaxUnlisted > 0 && share(found.Unlisted) > *column.MaxUnlisted:
		return fault("the share of rows with a value that is not listed", share(found.Unlisted), "max_unlisted",
			*column.MaxUnlisted)
	case rows == found.Missing || column.MinMean == nil && column.MaxMean == nil:
		return nil
	}
	mean := found.Sum / float64(rows-found.Missing)
	if column.MinMean != nil && !(mean >= *column.MinMean) { // it may be infinite, or NaN
		return fault("the mean", mean, "min_mean", *column.MinMean)
	}
	if column.MaxMean != nil && !(mean <= *column.MaxMean) {
		return fault("the mean", mean, "max_mean", *column.MaxMean)
	}
	return nil
}

// warn warns of rows that violate the contract, although not too many do.
func (k *Checker) warn(found *jobs.Checked, bounds []jobs.Bounds) {
	first := &found.Rejects[0]
	fate := "are left out"
	if k.KeepRows {
		fate = "are scored like all rows"
	}
	k.Driver.Reporter.Warn(fmt.Sprintf("%d of %d rows break the contract %s and %s: the first is row %d of row group %d "+
		"in %s (%s: %s)", found.Refused, found.Rows, k.Settings.ContractFile, fate, first.Row, first.RowGroup, first.File,
		bounds[first.Column].Column, first.Reason))
}

// without returns the input without the refused rows.
func without(in *source.Input, found *jobs.Checked) *source.Input {
	type group struct {
		file     string
		rowGroup int
	}
	rows := make(map[group][]int32)
	for i := range found.Rejects {
		r := &found.Rejects[i]
		at := group{r.File, r.RowGroup}
		if list := rows[at]; len(list) == 0 || list[len(list)-1] != int32(r.Row) {
			rows[at] = append(list, int32(r.Row))
		}
	}
	fewer := *in
	fewer.Tasks = slices.Clone(in.Tasks)
	for i := range fewer.Tasks {
		t := &fewer.Tasks[i]
		t.Refused = rows[group{t.File, t.RowGroup}]
	}
	return &fewer
}

// writeRejects writes the file of --rejects.
func (k *Checker) writeRejects(ctx context.Context, found *jobs.Checked, bounds []jobs.Bounds) error {
	if k.Settings.Rejects == "" {
		return nil
	}
	n := len(found.Rejects)
	files := make([]string, n)
	columns := make([]string, n)
	values := make([]string, n)
	reasons := make([]string, n)
	groups := make([]int64, n)
	rows := make([]int64, n)
	for i := range found.Rejects {
		r := &found.Rejects[i]
		files[i] = r.File
		groups[i] = int64(r.RowGroup)
		rows[i] = int64(r.Row)
		columns[i] = bounds[r.Column].Column
		values[i] = r.Value
		reasons[i] = string(r.Reason)
	}
	err := parquetio.Write(ctx, k.Driver.Files.Store, k.Settings.Rejects, []parquetio.WriteColumn{
		{Name: "file", Values: files},
		{Name: "row_group", Values: groups},
		{Name: "row", Values: rows},
		{Name: "column", Values: columns},
		{Name: "value", Values: values},
		{Name: "reason", Values: reasons},
	}, parquetio.WriteOptions{IfAbsent: true, OrSame: true})
	if err != nil {
		return usage.Errorf("--rejects: %v", err)
	}
	if most := k.listed(); found.Refused > most {
		k.Driver.Reporter.Note("the file of --rejects has the first " + strconv.FormatInt(most, 10) + " rows that break the contract")
	}
	return nil
}
