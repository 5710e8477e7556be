package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Input is what the footers of all input files say.
type Input struct {
	Files   []*parquetio.File
	ByName  []map[string]parquetio.Column // per file
	Columns []parquetio.Column            // of all files, in the order of their first appearance; columns of paths last
	Rows    int64
	Tasks   []jobs.Task         // one a row group
	Below   []string            // per file: its path below the folder that was asked for
	Paths   [][]jobs.PathColumn // per file: columns whose value stands in its path
}

// footerReaders is the number of footers that are read at a time. Each footer takes two
// requests to an object store.
const footerReaders = 32

// listed is an input file and the folder that it was found below.
type listed struct {
	objectstore.Object

	folder string
}

// OpenInput lists the files and reads their footers. The steps count the footers. A pattern
// that matches no file is a usage error; a damaged file is a *dataset.DataError.
func OpenInput(ctx context.Context, f *Files, patterns []string, s *parallel.Steps) (*Input, error) {
	list, err := listInput(ctx, f.Store, patterns)
	if err != nil {
		return nil, err
	}
	s.Total.Store(int64(len(list)))
	in := &Input{Files: make([]*parquetio.File, len(list)), Paths: pathColumns(list)}
	faults := make([]error, len(list))
	var wg parallel.Group
	slots := make(chan struct{}, footerReaders)
	for i := range list {
		slots <- struct{}{}
		wg.Go(func() {
			in.Files[i], faults[i] = f.Parquet.Open(ctx, list[i].Object)
			s.Done.Add(1)
			<-slots
		})
	}
	wg.Wait()
	for _, err := range faults {
		if err == nil {
			continue
		}
		if errors.As(err, new(*dataset.DataError)) || ctx.Err() != nil {
			return nil, err
		}
		return nil, usage.Errorf("--input: %v", err)
	}
	for i := range list {
		in.Below = append(in.Below, strings.TrimLeft(strings.TrimPrefix(list[i].URL, list[i].folder), "/"))
	}
	in.gather()
	return in, nil
}

// gather lists the columns and the tasks. Columns of a file's path take the place of
// columns of the same name in the file.
func (in *Input) gather() {
	seen := make(map[string]int)
	add := func(c parquetio.Column) {
		at, ok := seen[c.Name]
		switch {
		case !ok:
			seen[c.Name] = len(in.Columns)
			in.Columns = append(in.Columns, c)
		case in.Columns[at].Null: // another file says what the values are
			in.Columns[at] = c
		}
	}
	for i, file := range in.Files {
		byName := make(map[string]parquetio.Column, len(file.Columns()))
		for _, c := range file.Columns() {
			byName[c.Name] = c
			add(c)
		}
		in.ByName = append(in.ByName, byName)
		for g := range file.RowGroups() {
			if file.RowGroupRows(g) > 0 {
				in.Tasks = append(in.Tasks, jobs.Task{
					File: file.URL, Size: file.Size, Generation: file.Generation, RowGroup: g, Path: in.Paths[i],
				})
			}
		}
		in.Rows += file.Rows
	}
	for i, path := range in.Paths {
		for _, p := range path {
			c := parquetio.Column{Name: p.Name, Physical: "path", Type: p.Type}
			in.ByName[i][p.Name] = c
			add(c)
			in.Columns[seen[p.Name]] = c
		}
	}
}

// listInput lists the files of all patterns, each once, sorted by URL. A folder stands for
// the Parquet files in it, at any depth. An empty file is left out, unless a pattern names
// it: engines leave such files as marks. If a file is missing, all patterns together may be
// the name of one file with commas.
func listInput(ctx context.Context, s *objectstore.Store, patterns []string) ([]listed, error) {
	var list []listed
	for _, pattern := range patterns {
		folder := objectstore.Folder(pattern)
		objects, err := s.List(ctx, pattern)
		if errors.Is(err, objectstore.ErrFolder) {
			folder = strings.TrimRight(pattern, "/")
			objects, err = listFolder(ctx, s, folder)
		}
		if whole := strings.Join(patterns, ","); errors.Is(err, fs.ErrNotExist) && len(patterns) > 1 {
			if _, missing := s.Stat(ctx, whole); missing == nil { // one file with commas in its name
				return listInput(ctx, s, []string{whole})
			}
		}
		if err != nil {
			return nil, usage.Errorf("--input: %v", err)
		}
		before := len(list)
		for _, o := range objects {
			if o.Size > 0 || o.URL == pattern {
				list = append(list, listed{o, folder})
			}
		}
		if len(list) == before {
			return nil, usage.Errorf("--input %s: all files that match are empty", pattern)
		}
	}
	slices.SortFunc(list, func(a, b listed) int {
		return cmp.Or(strings.Compare(a.URL, b.URL), cmp.Compare(len(a.folder), len(b.folder)))
	})
	return slices.CompactFunc(list, func(a, b listed) bool { return a.URL == b.URL }), nil
}

// List lists the files of patterns as OpenInput finds them, without reading any.
func List(ctx context.Context, s *objectstore.Store, patterns []string) ([]objectstore.Object, error) {
	found, err := listInput(ctx, s, patterns)
	objects := make([]objectstore.Object, len(found))
	for i := range found {
		objects[i] = found[i].Object
	}
	return objects, err
}

func listFolder(ctx context.Context, s *objectstore.Store, folder string) ([]objectstore.Object, error) {
	objects, err := s.List(ctx, folder+"/**/*.parquet")
	if err != nil {
		return nil, fmt.Errorf("%s is a folder without a *.parquet file at any depth: "+
			"name files, or a pattern such as %s/**", folder, folder)
	}
	return objects, nil
}

// Reads lists the files with their flag, so that no output replaces them.
func (in *Input) Reads() []runfolder.Reading {
	list := make([]runfolder.Reading, len(in.Files))
	for i, file := range in.Files {
		list[i] = runfolder.Reading{Flag: "input", URL: file.URL}
	}
	return list
}

// Names lists the columns of all files.
func (in *Input) Names() []string {
	names := make([]string, len(in.Columns))
	for i := range in.Columns {
		names[i] = in.Columns[i].Name
	}
	return names
}

// FileWith returns the number of the first file with values in a column: else of the first
// file with the column, else 0.
func (in *Input) FileWith(column string) int {
	first := -1
	for i := range in.Files {
		c, ok := in.ByName[i][column]
		if ok && !c.Null {
			return i
		}
		if ok && first < 0 {
			first = i
		}
	}
	return max(first, 0)
}

// holds names the values of a column in a message.
func holds(c *parquetio.Column) string {
	if c.Type == dataset.Text {
		return "texts"
	}
	return c.Unit.Things()
}

// Check returns a *dataset.DataError if a file lacks the column or has values of another
// kind. A column of nulls is of any kind. Milliseconds and nanoseconds are of one kind: see
// dataset.Unit.
func (in *Input) Check(column *parquetio.Column) error {
	for i, file := range in.Files {
		c, ok := in.ByName[i][column.Name]
		if !ok {
			return &dataset.DataError{
				File: file.URL, Column: column.Name, Problem: "the column is missing in this file and there in others",
				Hint: "ignore it with --ignore, or leave the file out",
			}
		}
		if (c.Type != column.Type || c.Unit != column.Unit) && !c.Null && !column.Null {
			return &dataset.DataError{
				File: file.URL, Column: column.Name,
				Problem: fmt.Sprintf("the column holds %s here and %s in other files", holds(&c), holds(column)),
				Hint:    "make the files agree, or ignore the column with --ignore",
			}
		}
	}
	return nil
}
