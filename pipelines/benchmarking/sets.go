package benchmarking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// dataSet is a data set of the folder.
type dataSet struct {
	name        string
	label       string
	categorical []string
	files       []objectstore.Object
}

// manifestName is the file that may describe the data sets of a folder: a line each, with the
// columns name, label and categorical among others. Columns are separated by tabs.
const manifestName = "MANIFEST.tsv"

// findSets lists the data sets of a folder, by name.
func findSets(ctx context.Context, s *objectstore.Store, folder, label string, only []string) ([]dataSet, error) {
	objects, err := s.Below(ctx, folder, 2)
	if err != nil {
		return nil, usage.Errorf("the folder of data sets: %v", err)
	}
	described, err := readManifest(ctx, s, folder)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*dataSet)
	var names []string
	for _, o := range objects {
		name, ok := setOf(folder, o.URL)
		if !ok {
			continue
		}
		if byName[name] == nil {
			d := &dataSet{name: name, label: label}
			if m, ok := described[name]; ok {
				d.label, d.categorical = cmp.Or(m.label, label), m.categorical
			}
			byName[name], names = d, append(names, name)
		}
		byName[name].files = append(byName[name].files, o)
	}
	for _, name := range only {
		if byName[name] == nil {
			return nil, usage.Errorf("--sets: the folder has no data set %q%s", name, setting.Hint(name, names))
		}
	}
	if len(names) == 0 {
		return nil, usage.Errorf("%s has no data sets: want Parquet files, or folders of Parquet files", folder)
	}
	slices.Sort(names)
	var sets []dataSet
	for _, name := range names {
		if len(only) == 0 || slices.Contains(only, name) {
			sets = append(sets, *byName[name])
		}
	}
	return sets, nil
}

// setOf returns the name of the data set that an object below the folder belongs to.
func setOf(folder, url string) (string, bool) {
	rest, ok := strings.CutPrefix(url, objectstore.Join(folder)+"/")
	if !ok {
		rest, ok = strings.CutPrefix(url, strings.TrimSuffix(folder, "/")+"/")
	}
	file := path.Base(rest)
	if !ok || !strings.HasSuffix(file, ".parquet") || strings.ContainsAny(file[:1], "._") {
		return "", false
	}
	name, _, nested := strings.Cut(rest, "/")
	if !nested {
		name = strings.TrimSuffix(name, ".parquet")
	}
	return name, !strings.ContainsAny(name[:1], "._")
}

// readManifest reads the descriptions of the data sets, if the folder has any.
func readManifest(ctx context.Context, s *objectstore.Store, folder string) (map[string]dataSet, error) {
	const limit = 1 << 24
	url := objectstore.Join(folder, manifestName)
	b, err := s.ReadAll(ctx, url, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // it is not needed
	}
	if err != nil {
		return nil, fmt.Errorf("read the descriptions of the data sets: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	header := strings.Split(strings.TrimSuffix(lines[0], "\r"), "\t")
	if !slices.Contains(header, "name") {
		return nil, &dataset.DataError{
			File: url, Column: "name", Problem: "the column is missing in the first line",
			Hint: "separate columns by tabs",
		}
	}
	sets := make(map[string]dataSet)
	for _, line := range lines[1:] {
		cells := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		cell := func(column string) string {
			at := slices.Index(header, column)
			if at < 0 || at >= len(cells) || cells[at] == "-" {
				return ""
			}
			return cells[at]
		}
		d := dataSet{name: cell("name"), label: cell("label")}
		if list := cell("categorical"); list != "" {
			d.categorical = strings.Split(list, ",")
		}
		sets[d.name] = d
	}
	return sets, nil
}
