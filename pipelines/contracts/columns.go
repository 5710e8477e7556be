package contracts

import (
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// structure checks the columns of the files, before any row is read. Columns with a role in lax may
// be absent.
func structure(c *contract.Contract, in *source.Input, url string, lax []string) error {
	if in.Rows < c.MinRows {
		return &dataset.DataError{
			File:    in.Files[0].URL,
			Problem: fmt.Sprintf("all files together have %d rows, want %d at least (%s)", in.Rows, c.MinRows, url),
			Hint:    "check that the files are all there, or lower min_rows",
		}
	}
	for i := range c.Columns {
		column := &c.Columns[i]
		if column.Role == contract.RoleIgnored {
			continue
		}
		if err := checkType(column, in, url, slices.Contains(lax, column.Role)); err != nil {
			return err
		}
	}
	if c.OtherColumns != contract.OthersRefused {
		return nil
	}
	for at, file := range in.Files {
		for _, found := range in.Columns {
			if _, there := in.ByName[at][found.Name]; there && !slices.Contains(c.Names(), found.Name) {
				return &dataset.DataError{
					File: file.URL, Column: found.Name, Problem: "the contract " + url + " does not list this column" +
						setting.Hint(found.Name, c.Names()), Hint: "add the column to the contract, or set other_columns to ignored",
				}
			}
		}
	}
	return nil
}

// checkType returns an error if a file lacks a column, or has values of another type in it.
func checkType(column *contract.Column, in *source.Input, url string, mayLack bool) error {
	for i, file := range in.Files {
		found, there := in.ByName[i][column.Name]
		fault := &dataset.DataError{File: file.URL, Column: column.Name}
		switch {
		case !there && mayLack:
		case !there:
			fault.Problem = "the contract " + url + " has this column and the file lacks it" +
				setting.Hint(column.Name, slices.Sorted(maps.Keys(in.ByName[i])))
			fault.Hint = "add the column to the file, or take it out of the contract"
			return fault
		case found.Nested:
			fault.Problem = "the column is nested, the contract " + url + " wants " + things(column.Type)
			fault.Hint = "set the column's role to ignored"
			return fault
		case found.Null || typeOf(&found) == column.Type:
		default:
			fault.Problem = fmt.Sprintf("the column holds %s, the contract %s wants %s",
				things(typeOf(&found)), url, things(column.Type))
			fault.Hint = "write the column as before, or change its type in the contract"
			return fault
		}
	}
	return nil
}

// things returns the name of the values of a type, in the plural.
func things(kind string) string { return kind + "s" }
