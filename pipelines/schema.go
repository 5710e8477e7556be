package pipelines

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
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
	rows    jobs.RowSpec
	columns []schemaColumn
}

type schemaColumn struct {
	parquetio.Column

	role Role
	kind dataset.Kind // of features
}

// resolve decides what each column is used for.
func resolve(in *source.Input, c *TrainConfig, p *config.Parsed) (*schema, error) {
	if err := checkFlags(in, c, p); err != nil {
		return nil, err
	}
	s := &schema{rows: jobs.RowSpec{
		Label: c.Label, Weight: c.Weight, SplitColumn: p.Column, Key: c.Key,
		Shares: p.Shares, Seed: c.Seed, DropNullLabels: c.DropNullLabels, WeightScale: 1,
	}}
	if err := s.checkReadable(in, c, p); err != nil {
		return nil, err
	}
	for _, column := range in.Columns {
		sc := schemaColumn{Column: column, role: roleOf(column.Name, c, p)}
		if sc.role == RoleIgnored {
			s.columns = append(s.columns, sc)
			continue
		}
		if err := in.Check(&column); err != nil {
			return nil, err
		}
		if sc.role == RoleWeight && !column.Integer {
			s.rows.WeightScale = jobs.FractionScale
		}
		if sc.role == RoleFeature || sc.role == RoleForbidden {
			sc.kind = kindOf(&column, c)
			s.rows.Features = append(s.rows.Features, jobs.FeatureColumn{
				Name: column.Name, Kind: sc.kind, Type: column.Type, Unit: column.Unit,
			})
		}
		s.columns = append(s.columns, sc)
	}
	return s, s.checkConstraints(c, p)
}

func checkFlags(in *source.Input, c *TrainConfig, p *config.Parsed) error {
	names := in.Names()
	var faults []error
	look := func(flag string, columns ...string) {
		for _, name := range columns {
			if name != "" && !slices.Contains(names, name) {
				faults = append(faults, source.UnknownColumn(flag, name, names))
			}
		}
	}
	look("label", c.Label)
	look("weight", c.Weight)
	look("split", p.Column)
	look("key", c.Key)
	look("ignore", c.Ignore...)
	look("categorical", c.Categorical...)
	look("numeric", c.Numeric...)
	look("first", c.First...)
	look("forbid", c.Forbid...)
	look("monotone", slices.Sorted(maps.Keys(p.Monotone))...)
	if len(faults) > 0 {
		return usage.All(faults)
	}
	for _, name := range []string{c.Weight, p.Column, c.Key} {
		if name != "" && name == c.Label {
			return usage.Errorf("--label: column %q has another use already", name)
		}
	}
	return nil
}

func roleOf(name string, c *TrainConfig, p *config.Parsed) Role {
	switch {
	case name == c.Label:
		return RoleLabel
	case name == c.Weight:
		return RoleWeight
	case name == p.Column:
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

// checkReadable makes sure that all columns but the ignored ones can be read. Its error
// names every column that cannot be read.
func (s *schema) checkReadable(in *source.Input, c *TrainConfig, p *config.Parsed) error {
	var names []string
	var first *dataset.DataError
	for i := range in.Columns {
		column := &in.Columns[i]
		if roleOf(column.Name, c, p) == RoleIgnored || !column.Nested && column.Unsupported == "" {
			continue
		}
		names = append(names, column.Name)
		if first == nil {
			first = unsupported(in, column, c)
		}
	}
	if len(names) < 2 || slices.Contains(names, c.Label) {
		return asError(first)
	}
	return &dataset.DataError{
		File: first.File,
		Problem: fmt.Sprintf("the columns %q cannot be read: nested ones, or of types that are neither numbers, "+
			"texts nor booleans", names),
		Hint: "leave them out with --ignore " + strings.Join(names, ","),
	}
}

// asError returns e as an error: a nil pointer becomes a nil error.
func asError(e *dataset.DataError) error {
	if e == nil {
		return nil
	}
	return e
}

func unsupported(in *source.Input, column *parquetio.Column, c *TrainConfig) *dataset.DataError {
	e := &dataset.DataError{
		File: in.Files[in.FileWith(column.Name)].URL, Column: column.Name, Problem: column.Unsupported,
		Hint: "leave it out with --ignore " + column.Name,
	}
	if column.Nested {
		e.Problem = "a nested column, expected a flat one of numbers, texts or booleans"
	}
	if column.Name == c.Label {
		e.Hint = "name another column with --label"
	}
	return e
}

// checkConstraints makes sure that --first, --forbid and --monotone name features, and
// --monotone numeric ones.
func (s *schema) checkConstraints(c *TrainConfig, p *config.Parsed) error {
	var faults []error
	for i := range s.columns {
		column := &s.columns[i]
		for _, constraint := range []struct {
			flag  string
			named bool
		}{
			{"first", slices.Contains(c.First, column.Name)},
			{"forbid", slices.Contains(c.Forbid, column.Name)},
			{"monotone", p.Monotone[column.Name] != 0},
		} {
			if constraint.named && column.role != RoleFeature && column.role != RoleForbidden {
				faults = append(faults, fmt.Errorf("--%s: column %q is no feature, its role is %s",
					constraint.flag, column.Name, column.role))
			}
		}
		if p.Monotone[column.Name] != 0 && column.kind == dataset.Categorical {
			faults = append(faults, fmt.Errorf("--monotone: column %q is categorical, want a numeric one", column.Name))
		}
	}
	if len(faults) > 0 {
		return usage.All(faults)
	}
	return nil
}
