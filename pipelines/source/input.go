package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Input holds the contents of the footers of all input files.
type Input struct {
	Files   []*parquetio.File
	ByName  []map[string]parquetio.Column // per file
	Columns []parquetio.Column            // columns of all files, in order of first appearance; columns of paths last
	Rows    int64
	Tasks   []jobs.Task         // one per row group
	Below   []string            // per file: its path below the folder that was given
	Paths   [][]jobs.PathColumn // per file: columns whose value is in its path
	Notes   []string            // files that were left out, for the user; a line each
	Texts   []string            // columns of texts most of which look like something else, for the user; see ReadTexts

	given  []string          // columns of folders that the input names, with several values
	twice  map[string]bool   // columns that are in files and in names of folders: whether the columns of the folders count
	digits []string          // columns of integers that are read as texts
	texts  []jobs.TextColumn // columns of texts that are read as numbers or points in time
}

// InPath is the physical type of a column in the paths of files.
const InPath = "path"

// footerReaders is how many footers are read at a time. Each footer takes two requests to an object
// store.
const footerReaders = 32

// OpenInput lists the files and reads their footers. The steps count the footers. A pattern
// that matches no file is a usage error; a damaged file is a *dataset.DataError.
func OpenInput(ctx context.Context, f *Files, patterns []string, s *parallel.Steps) (*Input, error) {
	found, err := listInput(ctx, f, patterns)
	if err != nil {
		return nil, err
	}
	list := found.files
	s.Total.Store(int64(len(list)))
	in := &Input{Files: make([]*parquetio.File, len(list)), Notes: found.notes()}
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
	in.Paths, in.given, in.twice = pathColumns(list, in.Files)
	in.gather(typePaths(in.Paths))
	in.noteAlike()
	in.Notes = append(in.Notes, in.mixedZones(func(string) bool { return true })...)
	return in, nil
}

// gather lists the columns and the tasks. Columns of a file's path replace columns of the same name
// in the file. spelled has the columns of paths whose texts contain more information than their
// numbers.
func (in *Input) gather(spelled map[string]bool) {
	seen := make(map[string]int)
	add := func(c parquetio.Column) {
		if at, ok := seen[c.Name]; ok {
			join(&in.Columns[at], c)
			return
		}
		seen[c.Name] = len(in.Columns)
		in.Columns = append(in.Columns, c)
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
				task := in.TaskOf(i)
				task.RowGroup = g
				in.Tasks = append(in.Tasks, task)
			}
		}
		in.Rows += file.Rows
	}
	for i, path := range in.Paths {
		for _, p := range path {
			c := parquetio.Column{Name: p.Name, Physical: InPath, Type: p.Type, Wide: spelled[p.Name]}
			in.ByName[i][p.Name] = c
			add(c)
			in.Columns[seen[p.Name]] = c
		}
	}
	in.spellWide()
}

// join merges the descriptions of a column from two files.
func join(to *parquetio.Column, c parquetio.Column) {
	switch {
	case to.Null: // another file has the type of the values
		c.Index = c.Index || to.Index
		c.Wide = c.Wide || to.Wide
		*to = c
	default:
		to.Index = to.Index || c.Index
		to.Duration = cmp.Or(to.Duration, c.Duration)
		to.Wide = to.Wide || c.Wide && to.Type == c.Type
		to.Zone = to.Zone.With(c.Zone)
	}
}

// TaskOf returns the task of a file's first row group.
func (in *Input) TaskOf(file int) jobs.Task {
	f := in.Files[file]
	return jobs.Task{File: f.URL, Size: f.Size, Generation: f.Generation, Path: in.Paths[file], Digits: in.digits, Texts: in.texts}
}

// spellWide turns columns of integers that float64 may not hold exactly into texts. If such a
// column is numeric, its texts are read as numbers: see jobs.RowSpec.
func (in *Input) spellWide() {
	for i := range in.Columns {
		c := &in.Columns[i]
		if !c.Wide {
			continue
		}
		in.digits = append(in.digits, c.Name)
		if c.Type == dataset.Text { // a column in paths with numbers such as 01
			continue
		}
		c.Type = dataset.Text
		for _, byName := range in.ByName {
			if own, ok := byName[c.Name]; ok && own.Type == dataset.Number {
				own.Type = dataset.Text
				own.Wide = true
				byName[c.Name] = own
			}
		}
	}
	for i := range in.Tasks {
		in.Tasks[i].Digits = in.digits
	}
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

// FileWith returns the index of the first file with values in a column; otherwise of the first file
// with the column; otherwise 0.
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

// holds describes the values of a column in a message.
func holds(c *parquetio.Column) string {
	switch {
	case c.Nested || c.Unsupported != "":
		return "nested or unreadable values"
	case c.Physical == "BOOLEAN":
		return "booleans"
	case c.Type == dataset.Text && !c.Wide:
		return "texts"
	case c.Duration != "":
		return "durations in " + c.Duration
	}
	return c.Unit.Things()
}

// Check returns a *dataset.DataError if a file lacks the column or has values of another kind. A column of nulls fits any
// kind, and numbers without a unit fit durations of one unit. Milliseconds and nanoseconds are the same kind: see
// dataset.Unit.
func (in *Input) Check(column *parquetio.Column) error {
	if err := in.CheckThere(column.Name); err != nil {
		return err
	}
	for i, file := range in.Files {
		c := in.ByName[i][column.Name]
		other := c.Duration != "" && column.Duration != "" && c.Duration != column.Duration
		if (c.Type != column.Type || c.Wide != column.Wide || c.Unit != column.Unit || other) && !c.Null && !column.Null {
			return &dataset.DataError{
				File: file.URL, Column: column.Name,
				Problem: fmt.Sprintf("the column holds %s here and %s in other files", holds(&c), holds(column)),
				Hint:    "make the files agree, or leave the column out of training with --ignore",
			}
		}
	}
	return nil
}

// CheckThere returns a *dataset.DataError if a file lacks a column. It names the last such file, and the last file that has
// the column.
func (in *Input) CheckThere(column string) error {
	var have int
	var with, without int
	for i := range in.Files {
		if _, ok := in.ByName[i][column]; ok {
			have++
			with = i
		} else {
			without = i
		}
	}
	if have == len(in.Files) {
		return nil
	}
	return &dataset.DataError{
		File: in.Files[without].URL, Column: column,
		Problem: fmt.Sprintf("the column is missing in this file%s; it is in %d of %d files (the last: %s)",
			in.alike(without, column), have, len(in.Files), in.Files[with].URL),
		Hint: "leave out the files that lack it, or leave the column out of training with --ignore",
	}
}

// checkFound is CheckThere for a column that no setting names. If few files have the column, the error names the last of
// them.
func (in *Input) checkFound(column string) error {
	err := in.CheckThere(column)
	have, with := 0, 0
	for i := range in.Files {
		if _, ok := in.ByName[i][column]; ok {
			have++
			with = i
		}
	}
	if err == nil || 2*have >= len(in.Files) {
		return err
	}
	return &dataset.DataError{
		File: in.Files[with].URL, Column: column,
		Problem: fmt.Sprintf("only %d of %d files have the column (the last: this file)", have, len(in.Files)),
		Hint:    "leave the column out of training with --ignore " + setting.Word(column) + ", or leave out the files",
	}
}

// alike returns a remark about a column of a file whose name only differs from the given name in
// case; empty if absent.
func (in *Input) alike(file int, name string) string {
	for other := range in.ByName[file] {
		if other != name && strings.EqualFold(other, name) {
			return fmt.Sprintf(", where %q is another column: names that differ in case are different columns", other)
		}
	}
	return ""
}

// TaskRows returns the number of rows of each task.
func (in *Input) TaskRows() []int64 {
	rows := make([]int64, 0, len(in.Tasks))
	for _, file := range in.Files {
		for g := range file.RowGroups() {
			if n := file.RowGroupRows(g); n > 0 {
				rows = append(rows, n)
			}
		}
	}
	return rows
}
