package contract

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/setting"
)

// Format and Version identify the document.
const (
	Format  = "espalier/contract"
	Version = 1
)

// Contract describes the columns of a data set.
type Contract struct {
	Format       string   `yaml:"format"`
	Version      int      `yaml:"version"`
	MinRows      int64    `yaml:"min_rows,omitempty"` // rows of all files together
	OtherColumns string   `yaml:"other_columns"`      // OthersIgnored, OthersUsed or OthersRefused
	Columns      []Column `yaml:"columns"`
}

// How columns are handled that the contract does not list.
const (
	OthersIgnored = "ignored"
	OthersUsed    = "used"
	OthersRefused = "refused"
)

// Column describes a column. An absent bound allows any value.
type Column struct {
	Name        string   `yaml:"name"`
	Type        string   `yaml:"type"` // see Types
	Role        string   `yaml:"role"` // see Roles
	Categorical bool     `yaml:"categorical,omitempty"`
	MaxMissing  *float64 `yaml:"max_missing,omitempty"`  // share of the rows; 0: each row has a value
	Min         string   `yaml:"min,omitempty"`          // a number, or a point in time in ISO 8601
	Max         string   `yaml:"max,omitempty"`          // the same
	MinMean     *float64 `yaml:"min_mean,omitempty"`     // mean of the rows with a value; not for points in time
	MaxMean     *float64 `yaml:"max_mean,omitempty"`     // the same
	Values      []string `yaml:"values,omitempty"`       // known values
	Ordered     bool     `yaml:"ordered,omitempty"`      // the values are in their order, from the least to the greatest
	MaxUnlisted *float64 `yaml:"max_unlisted,omitempty"` // share of the rows with other values; 0: all values must be known

	Note string `yaml:"-"` // a comment next to the name
}

// The types of columns.
const (
	TypeNumber = "number"
	TypeText   = "text"
)

// Types lists the types: number, text, and those of points in time.
func Types() []string {
	return []string{
		TypeNumber, TypeText, dataset.Date.String(), dataset.Time.String(), dataset.Timestamp.String(),
	}
}

// TypeOf returns the type of a column with values of a type and unit.
func TypeOf(t dataset.ValueType, u dataset.Unit) string {
	switch {
	case t == dataset.Text:
		return TypeText
	case u == dataset.Plain:
		return TypeNumber
	default:
		return u.String()
	}
}

// The roles of columns.
const (
	RoleFeature = "feature"
	RoleLabel   = "label"
	RoleWeight  = "weight"
	RoleCount   = "count"
	RoleKey     = "key"
	RoleIgnored = "ignored"
)

// Roles lists the roles.
func Roles() []string {
	return []string{RoleFeature, RoleLabel, RoleWeight, RoleCount, RoleKey, RoleIgnored}
}

// Unit returns the unit of the column's values.
func (c *Column) Unit() dataset.Unit {
	for _, u := range []dataset.Unit{dataset.Date, dataset.Time, dataset.Timestamp} {
		if c.Type == u.String() {
			return u
		}
	}
	return dataset.Plain
}

// Bound parses a bound of the column's values, one of Min and Max. It is nil for an empty text.
func (c *Column) Bound(text string) (*float64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound
	}
	x, ok := c.Unit().Parse(text)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fmt.Errorf("want a %s such as %s, got %q", c.Type, c.Unit().Example(), text)
	}
	return &x, nil
}

// With returns the names of the columns with a role.
func (c *Contract) With(role string) []string {
	var names []string
	for i := range c.Columns {
		if c.Columns[i].Role == role {
			names = append(names, c.Columns[i].Name)
		}
	}
	return names
}

// Names lists the columns.
func (c *Contract) Names() []string {
	names := make([]string, len(c.Columns))
	for i := range c.Columns {
		names[i] = c.Columns[i].Name
	}
	return names
}

// Faults returns what is wrong with a contract, one sentence per fault.
func (c *Contract) Faults() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if c.Format != Format || c.Version != Version {
		fault("format %q, version %d: want %s, version %d", c.Format, c.Version, Format, Version)
	}
	if c.MinRows < 0 {
		fault("min_rows %d: want 0 or more", c.MinRows)
	}
	if others := []string{OthersIgnored, OthersUsed, OthersRefused}; !slices.Contains(others, c.OtherColumns) {
		fault("other_columns %q: want %s", c.OtherColumns, setting.Alternatives(others))
	}
	if len(c.Columns) == 0 {
		fault("columns: the list is empty")
	}
	seen := make(map[string]bool, len(c.Columns))
	for i := range c.Columns {
		column := &c.Columns[i]
		if seen[column.Name] {
			fault("column %q: it stands there twice", column.Name)
		}
		seen[column.Name] = true
		for _, problem := range column.faults() {
			fault("column %q: %s", column.Name, problem)
		}
	}
	for _, role := range []string{RoleLabel, RoleWeight, RoleCount, RoleKey} {
		if names := c.With(role); len(names) > 1 {
			fault("role %s: the columns %s have it, want one at most", role, strings.Join(names, ", "))
		}
	}
	return faults
}

func (c *Column) faults() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if !slices.Contains(Types(), c.Type) {
		return []string{fmt.Sprintf("type %q: want %s", c.Type, setting.Alternatives(Types()))}
	}
	if !slices.Contains(Roles(), c.Role) {
		fault("role %q: want %s", c.Role, setting.Alternatives(Roles()))
	}
	for _, share := range []struct {
		key string
		is  *float64
	}{{"max_missing", c.MaxMissing}, {"max_unlisted", c.MaxUnlisted}} {
		if share.is != nil && !(*share.is >= 0 && *share.is <= 1) {
			fault("%s %v: want a share from 0 to 1", share.key, *share.is)
		}
	}
	if c.MaxUnlisted != nil && c.Values == nil {
		fault("max_unlisted: it needs values")
	}
	if c.Ordered && (c.Type != TypeText || len(c.Values) < 2) {
		fault("ordered: it needs two values or more, of texts")
	}
	if c.Role == RoleCount && (c.Type != TypeNumber || c.Categorical || c.Values != nil || c.MaxMissing != nil) {
		fault("role count: want the type number, without categorical, values and max_missing, as each count is a whole number")
	}
	return append(faults, c.boundFaults()...)
}

func (c *Column) boundFaults() []string {
	bounded := c.Min != "" || c.Max != ""
	means := c.MinMean != nil || c.MaxMean != nil
	switch {
	case c.Type == TypeText && (bounded || means):
		return []string{"min, max and means are of numbers: this column has texts"}
	case c.Unit() != dataset.Plain && means:
		return []string{"min_mean and max_mean are of numbers: this column has points in time"}
	case disordered(c.MinMean, c.MaxMean):
		return []string{fmt.Sprintf("min_mean %v is above max_mean %v", *c.MinMean, *c.MaxMean)}
	}
	least, err := c.Bound(c.Min)
	if err != nil {
		return []string{"min: " + err.Error()}
	}
	greatest, err := c.Bound(c.Max)
	if err != nil {
		return []string{"max: " + err.Error()}
	}
	if c.Role == RoleCount && (least != nil && !(*least >= 0) || greatest != nil && !(*greatest <= dataset.MostCount)) {
		return []string{fmt.Sprintf("min %q, max %q: counts are from 0 to 10^12", c.Min, c.Max)}
	}
	if disordered(least, greatest) {
		return []string{fmt.Sprintf("min %s is above max %s", c.Min, c.Max)}
	}
	return nil
}

// disordered reports whether a lower bound is above the upper bound.
func disordered(least, greatest *float64) bool {
	return least != nil && greatest != nil && *least > *greatest
}
