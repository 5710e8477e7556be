package parquetio

import (
	"encoding/json"
	"regexp"
	"slices"
)

// keyValue is an entry of the footer's metadata.
type keyValue struct {
	Key   string `thrift:"1,required"`
	Value string `thrift:"2,optional"`
}

// pandasKey is the key of what pandas, Dask and others note about a data frame.
const pandasKey = "pandas"

// unnamedIndex is how pandas and Spark call the columns of an index without a name.
var unnamedIndex = regexp.MustCompile(`^__index_level_\d+__$`)

// markIndex marks the columns that were the index of a data frame.
func markIndex(columns []Column, metadata []keyValue) {
	var names []string
	for _, entry := range metadata {
		if entry.Key != pandasKey {
			continue
		}
		var frame struct {
			Index []any `json:"index_columns"` // names of columns, and descriptions of ranges
		}
		_ = json.Unmarshal([]byte(entry.Value), &frame) // a note of another form names no index
		for _, column := range frame.Index {
			if name, ok := column.(string); ok {
				names = append(names, name)
			}
		}
	}
	for i := range columns {
		columns[i].Index = unnamedIndex.MatchString(columns[i].Name) || slices.Contains(names, columns[i].Name)
	}
}
