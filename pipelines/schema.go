package pipelines

import (
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/transforms"
)

// Role is what a column is used for, as schema.json spells it.
type Role string

// The roles of columns.
const (
	RoleFeature   Role = "feature"
	RoleLabel     Role = "label"
	RoleWeight    Role = "weight"
	RoleKey       Role = "key"
	RoleSplit     Role = "split"
	RoleIgnored   Role = "ignored"
	RoleForbidden Role = "forbidden" // read, but never tested
	RoleConstant  Role = "constant"  // one code among the training rows: nothing to test
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

// markConstant gives columns the role of constant ones.
func (s *schema) markConstant(names []string) {
	constant := make(map[string]bool, len(names))
	for _, name := range names {
		constant[name] = true
	}
	for i := range s.columns {
		if constant[s.columns[i].Name] {
			s.columns[i].role = RoleConstant
		}
	}
}

// constant lists the constant columns.
func (s *schema) constant() []string {
	var names []string
	for i := range s.columns {
		if s.columns[i].role == RoleConstant {
			names = append(names, s.columns[i].Name)
		}
	}
	return names
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
		if sc.role == RoleFeature || sc.role == RoleForbidden {
			sc.kind = kindOf(&column, c)
			s.rows.Features = append(s.rows.Features, transforms.FeatureColumn{Name: column.Name, Kind: sc.kind, Type: column.Type})
		}
		s.columns = append(s.columns, sc)
	}
	return s, s.checkWishes(c, p)
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
	look("first", c.First...)
	look("forbid", c.Forbid...)
	look("monotone", slices.Sorted(maps.Keys(p.monotone))...)
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
	case slices.Contains(c.Forbid, name):
		return RoleForbidden
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
