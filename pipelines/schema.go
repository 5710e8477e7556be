package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/transforms"
)

// input is what the footers of all input files say.
type input struct {
	files   []*parquetio.File
	byName  []map[string]parquetio.Column // per file
	columns []parquetio.Column            // of all files: those of the first in its order, then others
	rows    int64
	tasks   []transforms.Task // one a row group
}

// footerReaders is the number of footers that are read at a time.
const footerReaders = 8

// openInput lists the files and reads their footers.
func openInput(ctx context.Context, f *files, patterns []string) (*input, error) {
	var objects []objectstore.Object
	for _, pattern := range patterns {
		list, err := f.store.List(ctx, pattern)
		if err != nil {
			return nil, usagef("--input: %v", err)
		}
		objects = append(objects, list...)
	}
	slices.SortFunc(objects, func(a, b objectstore.Object) int { return strings.Compare(a.URL, b.URL) })
	objects = slices.CompactFunc(objects, func(a, b objectstore.Object) bool { return a.URL == b.URL })
	in := &input{files: make([]*parquetio.File, len(objects))}
	faults := make([]error, len(objects))
	var wg sync.WaitGroup
	slots := make(chan struct{}, footerReaders)
	for i, o := range objects {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			in.files[i], faults[i] = f.parquet.Open(ctx, o.URL)
		}()
	}
	wg.Wait()
	for _, err := range faults {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, usagef("--input: %v", err)
		}
		if err != nil {
			return nil, err
		}
	}
	seen := make(map[string]bool)
	for _, file := range in.files {
		byName := make(map[string]parquetio.Column, len(file.Columns()))
		for _, c := range file.Columns() {
			byName[c.Name] = c
			if !seen[c.Name] {
				seen[c.Name] = true
				in.columns = append(in.columns, c)
			}
		}
		in.byName = append(in.byName, byName)
		for g := range file.RowGroups() {
			if file.RowGroupRows(g) > 0 {
				in.tasks = append(in.tasks, transforms.Task{File: file.URL, RowGroup: g})
			}
		}
		in.rows += file.Rows
	}
	return in, nil
}

// names lists the columns of all files.
func (in *input) names() []string {
	names := make([]string, len(in.columns))
	for i := range in.columns {
		names[i] = in.columns[i].Name
	}
	return names
}

// check makes sure that every file has the column, with values of one type.
func (in *input) check(column *parquetio.Column) error {
	for i, file := range in.files {
		c, ok := in.byName[i][column.Name]
		if !ok {
			return &dataset.DataError{File: file.URL, Column: column.Name, Problem: "the column is missing in this file and there in others", Hint: "ignore it with --ignore, or leave the file out"}
		}
		if c.Type != column.Type {
			return &dataset.DataError{File: file.URL, Column: column.Name, Problem: fmt.Sprintf("the column holds %s values here and %s values in other files", c.Type, column.Type), Hint: "make the files agree, or ignore the column with --ignore"}
		}
	}
	return nil
}

// Role is what a column is used for, as schema.json spells it.
type Role string

// The roles of columns.
const (
	RoleFeature  Role = "feature"
	RoleLabel    Role = "label"
	RoleWeight   Role = "weight"
	RoleKey      Role = "key"
	RoleSplit    Role = "split"
	RoleIgnored  Role = "ignored"
	RoleConstant Role = "constant" // one code among the training rows: nothing to test
)

// schema is what each column is used for.
type schema struct {
	rows    transforms.RowSpec
	columns []schemaColumn
}

type schemaColumn struct {
	parquetio.Column

	role Role
	kind dataset.Kind // of features
}

// resolve decides what each column is used for.
func resolve(in *input, c *TrainConfig, p *parsed) (*schema, error) {
	if err := checkFlags(in, c, p); err != nil {
		return nil, err
	}
	s := &schema{rows: transforms.RowSpec{
		Label: c.Label, Weight: c.Weight, SplitColumn: p.column, Key: c.Key,
		Shares: p.shares, Seed: c.Seed, DropNullLabels: c.DropNullLabels, WeightScale: 1,
	}}
	for _, column := range in.columns {
		sc := schemaColumn{Column: column, role: roleOf(column.Name, c, p)}
		if sc.role == RoleIgnored {
			s.columns = append(s.columns, sc)
			continue
		}
		if column.Nested || column.Unsupported != "" {
			return nil, unsupported(in, &column, c)
		}
		if err := in.check(&column); err != nil {
			return nil, err
		}
		if sc.role == RoleWeight && !column.Integer {
			s.rows.WeightScale = transforms.FractionScale
		}
		if sc.role == RoleFeature {
			sc.kind = kindOf(&column, c)
			s.rows.Features = append(s.rows.Features, transforms.FeatureColumn{Name: column.Name, Kind: sc.kind, Type: column.Type})
		}
		s.columns = append(s.columns, sc)
	}
	return s, nil
}

func checkFlags(in *input, c *TrainConfig, p *parsed) error {
	names := in.names()
	var faults []error
	look := func(flag string, columns ...string) {
		for _, name := range columns {
			if name != "" && !slices.Contains(names, name) {
				faults = append(faults, unknownColumn(flag, name, names))
			}
		}
	}
	look("label", c.Label)
	look("weight", c.Weight)
	look("split", p.column)
	look("key", c.Key)
	look("ignore", c.Ignore...)
	look("categorical", c.Categorical...)
	look("numeric", c.Numeric...)
	if len(faults) > 0 {
		return allFaults(faults)
	}
	for _, name := range []string{c.Weight, p.column, c.Key} {
		if name != "" && name == c.Label {
			return usagef("--label: column %q has another use already", name)
		}
	}
	return nil
}

func roleOf(name string, c *TrainConfig, p *parsed) Role {
	switch {
	case name == c.Label:
		return RoleLabel
	case name == c.Weight:
		return RoleWeight
	case name == p.column:
		return RoleSplit
	case name == c.Key:
		return RoleKey
	case slices.Contains(c.Ignore, name):
		return RoleIgnored
	default:
		return RoleFeature
	}
}

func kindOf(column *parquetio.Column, c *TrainConfig) dataset.Kind {
	switch {
	case slices.Contains(c.Numeric, column.Name):
		return dataset.Numeric
	case column.Type == dataset.Text, slices.Contains(c.Categorical, column.Name):
		return dataset.Categorical
	default:
		return dataset.Numeric
	}
}

func unsupported(in *input, column *parquetio.Column, c *TrainConfig) error {
	e := &dataset.DataError{File: in.files[0].URL, Column: column.Name, Problem: column.Unsupported, Hint: "leave it out with --ignore " + column.Name}
	if column.Nested {
		e.Problem = "a nested column, expected a flat one of numbers, texts or booleans"
	}
	if column.Name == c.Label {
		e.Hint = "name another column with --label"
	}
	return e
}
