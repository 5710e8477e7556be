package pipelines

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// setGroups sets the column of the keys of groups: the given column or, if it is empty, the key of a run that has trained
// one of the trees, if the input has this column. Rows that a run took for copies if their features were equal are groups,
// too, if the input has the features. Otherwise rows have no groups.
func setGroups(
	ctx context.Context, s *session.Session, in *source.Input, given string, spec *jobs.RowSpec, trees ...string,
) error {
	names := in.Names()
	has := func(column string) bool { return slices.Contains(names, column) }
	switch {
	case given == config.ColumnNone:
		return nil
	case given != "" && given == spec.Label:
		return usage.Errorf("--group: column %q is the label", given)
	case given != "" && !has(given):
		return source.UnknownColumn("group", given, names)
	case given != "":
		spec.Key = given
		return checkKey(in, given)
	}
	var copied []string
	for _, url := range trees {
		m, err := runfolder.ReadManifest(ctx, s.Files.Store, strings.TrimSuffix(url, "/"+runfolder.TreeName))
		if err != nil { // the tree is not in a run folder
			continue
		}
		if key := columnsOf(m).group(); key != "" && key != spec.Label && has(key) {
			spec.Key = key
			return checkKey(in, key)
		}
		if copied == nil {
			copied = m.CopiesBy
		}
	}
	if len(copied) == 0 {
		return nil
	}
	if at := slices.IndexFunc(copied, func(name string) bool { return !has(name) || checkKey(in, name) != nil }); at >= 0 {
		s.Reporter.Note(fmt.Sprintf("copies of a row count as several rows, as column %q, by which training found copies, cannot be read in "+
			"all files", copied[at]))
		return nil
	}
	s.Reporter.Note(fmt.Sprintf("rows that are equal in the %d features by which training found copies count as one; --group none counts "+
		"each, and reads the tested features alone", len(copied)))
	spec.Content = copied
	return nil
}

// countColumn returns the column of counts: the given column or, if it is empty, the column of a run that has trained one
// of the trees, if the input has this column. It is empty if each line is a row.
func countColumn(ctx context.Context, s *session.Session, in *source.Input, given string, trees ...string) string {
	if given == config.ColumnNone {
		return ""
	}
	for _, url := range trees {
		if given != "" {
			break
		}
		if count := trainedColumnsOf(ctx, s, url).Count; count != "" && slices.Contains(in.Names(), count) {
			s.Reporter.Note(fmt.Sprintf("column %q counts the rows of each line, as in training (--count none: each line is a row)", count))
			given = count
		}
	}
	return given
}

// trainedColumns are columns of the settings of a training, and the seed by which it has dealt groups to buckets.
type trainedColumns struct {
	Group, Key, Count string // Key: groups, of version 0.3
	Seed              uint64
}

// group returns the column of groups; empty if rows have no groups.
func (c *trainedColumns) group() string { return cmp.Or(c.Group, c.Key) }

// trainedColumnsOf returns columns of the run that has trained a tree: none if the tree is not in a run folder.
func trainedColumnsOf(ctx context.Context, s *session.Session, tree string) *trainedColumns {
	m, err := runfolder.ReadManifest(ctx, s.Files.Store, strings.TrimSuffix(tree, "/"+runfolder.TreeName))
	if err != nil {
		return new(trainedColumns)
	}
	return columnsOf(m)
}

// columnsOf returns columns of the settings in a manifest: none if it has no settings.
func columnsOf(m *runfolder.Manifest) *trainedColumns {
	c := new(trainedColumns)
	raw, err := json.Marshal(m.Config) // settings that are read are not of the type that was written
	if err != nil || json.Unmarshal(raw, c) != nil {
		return new(trainedColumns)
	}
	return c
}

// checkKey refuses a column that cannot be read.
func checkKey(in *source.Input, key string) error {
	return in.Check(&in.Columns[slices.Index(in.Names(), key)])
}
