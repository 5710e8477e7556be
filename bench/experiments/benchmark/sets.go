package benchmark

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
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// dataSet is a data set of the folder.
type dataSet struct {
	name        string
	label       string
	categorical []string
	paperName   string // in published figures
	files       []objectstore.Object
}

func (d *dataSet) urls() []string {
	var list []string
	for _, f := range d.files {
		list = append(list, f.URL)
	}
	return list
}

// checkLabels refuses data sets without their column of classes, before any of them is trained on.
func checkLabels(ctx context.Context, f *source.Files, sets []dataSet) error {
	var faults []error
	for i := range sets {
		d := &sets[i]
		in, err := source.OpenInput(ctx, f, d.urls(), new(parallel.Steps))
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if names := in.Names(); !slices.Contains(names, d.label) {
			faults = append(faults, fmt.Errorf("the data set %s has no column %q%s", d.name, d.label, setting.Hint(d.label, names)))
		}
	}
	if len(faults) > 0 {
		return usage.All(append(faults, fmt.Errorf("name the columns of classes in %s of the folder, with the columns name "+
			"and label separated by a tab; or by --label, if all are alike", manifestName)))
	}
	return nil
}

// manifestName is the file that may describe the data sets of a folder: a line each, with the
// columns name, label, categorical and paper_name among others. Columns are separated by tabs.
const manifestName = "MANIFEST.tsv"

// findSets lists the data sets of a folder, by name.
func findSets(ctx context.Context, s *objectstore.Store, folder, label string, only []string) ([]dataSet, error) {
	objects, err := entries(ctx, s, folder)
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
		name := o.set()
		if name == "" {
			continue
		}
		if byName[name] == nil {
			d := &dataSet{name: name, label: label, paperName: name}
			if m, ok := described[name]; ok {
				d.label, d.categorical, d.paperName = cmp.Or(m.label, label), m.categorical, cmp.Or(m.paperName, name)
			}
			byName[name] = d
			names = append(names, name)
		}
		byName[name].files = append(byName[name].files, o.Object)
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

// entry is an object of a folder, or of a folder in it.
type entry struct {
	objectstore.Object

	parent string // name of the folder in the folder; empty: the object lies in the folder itself
}

// entries lists the objects of a folder and of the folders in it. It does not rely on how the
// folder is spelled.
func entries(ctx context.Context, s *objectstore.Store, folder string) ([]entry, error) {
	direct, err := s.Below(ctx, folder, 1)
	if err != nil {
		return nil, err
	}
	all, err := s.Below(ctx, folder, 2)
	if err != nil {
		return nil, err
	}
	own := make(map[string]bool, len(direct))
	for _, o := range direct {
		own[o.URL] = true
	}
	list := make([]entry, len(all))
	for i, o := range all {
		list[i].Object = o
		if !own[o.URL] {
			list[i].parent = path.Base(path.Dir(o.URL))
		}
	}
	return list, nil
}

// set returns the name of the data set that an object belongs to; empty: it belongs to none.
func (e *entry) set() string {
	file := path.Base(e.URL)
	name := cmp.Or(e.parent, strings.TrimSuffix(file, parquetSuffix))
	if !strings.HasSuffix(file, parquetSuffix) || hidden(file) || hidden(name) {
		return ""
	}
	return name
}

const parquetSuffix = ".parquet"

// hidden reports whether a file or folder is no data, as readers of Parquet folders have it.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

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
		d := dataSet{name: cell("name"), label: cell("label"), paperName: cell("paper_name")}
		if list := cell("categorical"); list != "" {
			d.categorical = strings.Split(list, ",")
		}
		sets[d.name] = d
	}
	return sets, nil
}
