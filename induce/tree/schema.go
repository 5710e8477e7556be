package tree

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// SchemaFormat and SchemaVersion identify schema.json.
const (
	SchemaFormat  = "espalier/schema"
	SchemaVersion = 1
)

// Schema is a schema.json. It lists the columns of the input with their roles. Features with two or
// more codes have the same members as in tree.json.
type Schema struct {
	Label   Label          // class column, with its classes only
	Columns []SchemaColumn // in the order of the first file
}

// SchemaColumn is a column of the input.
type SchemaColumn struct {
	Name     string
	Role     string           // use: feature, label, weight, count, key, split, ignored, forbidden or constant
	Physical string           // Parquet's physical type
	Logical  string           // Parquet's logical type; empty if absent
	Feature  *dataset.Feature // the feature, if it has two or more codes; otherwise nil, as there is nothing to test
}

// Features returns the features in the order of their columns.
func (s *Schema) Features() []dataset.Feature {
	var features []dataset.Feature
	for i := range s.Columns {
		if f := s.Columns[i].Feature; f != nil {
			features = append(features, *f)
		}
	}
	return features
}

// Encode returns the schema in canonical JSON, each column on a line, features
// spelled as in tree.json.
func (s *Schema) Encode() []byte {
	e := newEncoder(nil, SchemaFormat, SchemaVersion, &Label{Column: s.Label.Column, Classes: s.Label.Classes})
	e.list("columns", len(s.Columns), func(i int) {
		c := &s.Columns[i]
		column := struct {
			Name string `json:"name"` // both parts have a name
			fileColumn
			*fileFeature
		}{Name: c.Name, fileColumn: fileColumn{Role: c.Role, Physical: c.Physical, Logical: c.Logical}}
		if c.Feature != nil {
			column.fileFeature = fileFeatureOf(c.Feature)
		}
		e.value(&column, 4)
	})
	return append(e.b, "\n}\n"...)
}

// fileSchema is a schema.json: what each column of the input is used for. DecodeSchema parses the columns one by one.
type fileSchema struct {
	Format  string            `json:"format" jsonschema:"enum=espalier/schema"`
	Version int               `json:"version" jsonschema:"enum=1"`
	Label   Label             `json:"label"`
	Columns []json.RawMessage `json:"columns"`
}

// fileColumn is a column of the input, without the members of a feature.
type fileColumn struct {
	Name     string `json:"name"`
	Role     string `json:"role" jsonschema:"enum=feature,enum=label,enum=weight,enum=count,enum=key,enum=split,enum=ignored,enum=forbidden,enum=constant,enum=probability"`
	Physical string `json:"physical"`
	Logical  string `json:"logical,omitempty"`
	Codes    *int   `json:"codes,omitempty" jsonschema:"-"`
}

// DecodeSchema reads a schema.json and checks its features. Files of earlier versions, which have
// no cuts and values, are read without features.
func DecodeSchema(b []byte) (*Schema, error) {
	var f fileSchema
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("not a schema.json: %w", err)
	}
	if f.Format != SchemaFormat || f.Version != SchemaVersion {
		return nil, fmt.Errorf("format %q version %d: want %q version %d", f.Format, f.Version, SchemaFormat,
			SchemaVersion)
	}
	if err := f.Label.checkClasses(); err != nil {
		return nil, err
	}
	s := &Schema{Label: f.Label, Columns: make([]SchemaColumn, 0, len(f.Columns))}
	d := decoder{Tree: new(Tree), names: make(map[string]int)}
	var at []int // by feature: its column
	for _, raw := range f.Columns {
		var c fileColumn
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("not a schema.json: %w", err)
		}
		var feature fileFeature
		if err := json.Unmarshal(raw, &feature); err != nil {
			return nil, fmt.Errorf("not a schema.json: %w", err)
		}
		if c.Name == "" && c.Role == "" {
			return nil, errors.New("not a schema.json: a column without a name and a role")
		}
		s.Columns = append(s.Columns, SchemaColumn{
			Name: c.Name, Role: c.Role, Physical: c.Physical,
			Logical: c.Logical,
		})
		if feature.Cuts == nil && feature.Values == nil {
			if feature.Type != "" && c.Codes == nil { // early versions wrote how many codes there are instead
				return nil, fmt.Errorf("the column %q has a type, and neither cuts nor values", c.Name)
			}
			continue
		}
		if err := d.feature(&feature); err != nil {
			return nil, err
		}
		at = append(at, len(s.Columns)-1)
	}
	for i, column := range at {
		s.Columns[column].Feature = &d.Features[i]
	}
	return s, checkGroups(d.Features)
}
