package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// noteAlike notes columns whose names differ in case alone.
func (in *Input) noteAlike() {
	first := make(map[string]string, len(in.Columns))
	for i := range in.Columns {
		name := in.Columns[i].Name
		low := strings.ToLower(name)
		if other, ok := first[low]; ok {
			in.Notes = append(in.Notes, fmt.Sprintf("the names %q and %q differ in case alone: they are two columns", other, name))
			continue
		}
		first[low] = name
	}
}

// NoteFolders returns a line about the columns among the given names that are in the names of the folders of the input;
// empty without such columns.
func (in *Input) NoteFolders(columns []string) string {
	var names []string
	for _, name := range in.given {
		if slices.Contains(columns, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("the folders that --input names give the columns %q; --ignore %s leaves them out", names, strings.Join(names, ","))
}

// NoteTwice returns a line for each of the columns that is in files and in names of folders.
func (in *Input) NoteTwice(columns []string) (lines []string) {
	for _, name := range columns {
		ofFolders, ok := in.twice[name]
		which := "files counts, as --input names the folders"
		if ofFolders {
			which = "folders counts, as --input names a folder above them"
		}
		if ok {
			lines = append(lines, fmt.Sprintf("column %q is in the files and in the names of folders: the column of the %s", name, which))
		}
	}
	return lines
}

// mixedZones returns a line for each of the columns with local timestamps in some files and timestamps in UTC in others.
func (in *Input) mixedZones(among func(column string) bool) (lines []string) {
	for i := range in.Columns {
		name := in.Columns[i].Name
		if !among(name) {
			continue
		}
		var files [dataset.Local + 1]string // the first file with timestamps of each zone
		for k, file := range in.Files {
			if zone := in.ByName[k][name].Zone; files[zone] == "" {
				files[zone] = file.URL
			}
		}
		if files[dataset.UTC] != "" && files[dataset.Local] != "" {
			lines = append(lines, fmt.Sprintf("column %q: %s has timestamps in UTC, %s local ones: all are read as they stand, "+
				"whatever the distance of the place from UTC", name, files[dataset.UTC], files[dataset.Local]))
		}
	}
	return lines
}
