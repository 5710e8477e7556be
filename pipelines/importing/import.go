package importing

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/csvio"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
)

// Result describes the data set that Import has written.
type Result struct {
	Files   int // Parquet files
	Rows    int64
	Bytes   int64 // bytes of the Parquet files
	Columns []runfolder.ImportColumn
	Notes   []string // for each column: the value that made it a text, or texts that are missing values
	Input   string   // glob of the Parquet files
}

// importing is a single run of Import.
type importing struct {
	config   *config.Import
	codec    parquetio.Codec
	store    *objectstore.Store
	folder   *runfolder.Folder
	reporter engine.Reporter

	inputs  []*input
	read    []runfolder.ImportInput
	spell   *csvio.Spelling
	missing map[string]bool // texts of missing values
	header  []string        // names of all fields of a record; fields without a name are left out
	found   []*found        // by field
	written []column        // columns of the Parquet files
	rows    int64
	blank   blanks
	remarks []string // on the first file's first line

	index      bool // whether the first column has no name, and is left out
	semicolons bool // whether semicolons are the delimiter, as is usual with decimal commas

	bytes int64    // bytes of finished files
	files []string // finished files
}

// column is a column of the Parquet files.
type column struct {
	field int
	name  string
	kind  csvio.Kind
}

// Import reads CSV files twice, to infer the types of their columns and to write their rows as
// Parquet files. The same bytes and configuration give the same files. If Import fails or is
// interrupted, it leaves no files; an earlier import in the folder stays until the new one is whole.
func Import(ctx context.Context, c config.Import, reporter engine.Reporter) (result *Result, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.Storage()}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		codec, err := parquetio.ParseCodec(c.Codec)
		if err != nil {
			return usage.Errorf("--%v", err)
		}
		im := &importing{
			config: &c, codec: codec, store: s.Files.Store, reporter: s.Reporter,
			missing: map[string]bool{"": true}, spell: c.Spelling(),
		}
		for _, text := range c.MissingTexts() {
			im.missing[text] = true
		}
		defer im.end()
		if err := im.open(ctx); err != nil {
			return err
		}
		return s.Locked(ctx, c.Output, func(ctx context.Context) error {
			result, err = im.locked(ctx)
			return err
		})
	})
	return result, err
}

// locked carries out an import that holds the lock of the folder.
func (im *importing) locked(ctx context.Context) (result *Result, err error) {
	if err := im.prepare(ctx); err != nil {
		return nil, err
	}
	whole := false
	defer func() { // also after a panic
		if !whole {
			im.folder.Undo(context.WithoutCancel(ctx), im.files)
		}
	}()
	result, err = im.write(ctx)
	whole = err == nil
	return result, err
}

// open checks the folder and opens the files, before the lock writes into the folder.
func (im *importing) open(ctx context.Context) (err error) {
	if im.folder, err = im.openFolder(ctx); err == nil {
		err = im.list(ctx)
	}
	return err
}

func (im *importing) openFolder(ctx context.Context) (*runfolder.Folder, error) {
	return runfolder.Open(ctx, im.store, im.config.Output, runfolder.Imported, im.config.Overwrite)
}

// prepare looks at the folder again, infers the types, and only then makes room in the folder.
func (im *importing) prepare(ctx context.Context) (err error) {
	if im.folder, err = im.openFolder(ctx); err != nil { // another run may have ended meanwhile
		return err
	}
	var reads []runfolder.Reading
	for _, in := range im.inputs {
		if in.spool == nil {
			reads = append(reads, runfolder.Reading{Flag: "FILE", URL: in.name})
		}
	}
	if err := im.folder.ProtectInputs(reads); err != nil {
		return err
	}
	if err := im.folder.Settle(ctx); err != nil {
		return err
	}
	if err := im.infer(ctx); err != nil {
		return err
	}
	return im.folder.Begin(ctx, strings.ToLower(rand.Text()), time.Now(), im.parts())
}

// infer reads all files and decides on the types of the columns.
func (im *importing) infer(ctx context.Context) error {
	im.reporter.Job("infer", int64(len(im.inputs)), "files")
	for i, in := range im.inputs {
		before := im.rows
		columns, err := im.records(ctx, in, im.look)
		if err != nil {
			return err
		}
		if err := im.sameColumns(in, columns); err != nil {
			return err
		}
		im.read = append(im.read, runfolder.ImportInput{URL: in.name, Rows: im.rows - before})
		im.reporter.Step(int64(i+1), "")
	}
	if im.rows == 0 {
		return &dataset.DataError{
			File: im.inputs[0].name, Problem: "there is no row behind the first line", Hint: "check the files",
		}
	}
	for _, name := range im.config.Text {
		if !slices.Contains(im.header, name) {
			return usage.Errorf("--text: there is no column %q%s", name, setting.Hint(name, im.header))
		}
	}
	if err := im.decide(); err != nil {
		return err
	}
	im.remark()
	return nil
}

// decide determines the columns of the Parquet files. A column without a name is left out if it has
// no value, as written by spreadsheets, or if it is the first column, in which pandas and R write
// the index of rows.
func (im *importing) decide() error {
	for i, name := range im.header {
		c := im.found[i]
		switch {
		case name != "":
			kind := c.Kind()
			if slices.Contains(im.config.Text, name) {
				kind = csvio.Kind{Type: csvio.Text}
			}
			im.written = append(im.written, column{field: i, name: name, kind: kind})
		case i == 0 && len(im.header) > 1:
			im.index = c.Values > 0
		case c.Values > 0:
			return &dataset.DataError{
				File: im.inputs[0].name, Problem: fmt.Sprintf("line 1: column %d has no name", i+1),
				Hint: "name it in the first line, and remove lines above the names",
			}
		}
	}
	switch n := len(im.written); {
	case n == 0:
		return &dataset.DataError{File: im.inputs[0].name, Problem: "line 1: no column has a name", Hint: "name them"}
	case n > parquetio.MaxColumns:
		return &dataset.DataError{
			File: im.inputs[0].name, Problem: fmt.Sprintf("line 1: %d columns, expected at most %d", n, parquetio.MaxColumns),
			Hint: "leave columns out, or write rows instead of columns",
		}
	}
	return nil
}

// look examines a single record.
func (im *importing) look(r *csvio.Reader, fields []string) error {
	if im.header == nil {
		im.header, im.semicolons = slices.Clone(r.Columns()), r.Delimiter() == ';'
		for range fields {
			im.found = append(im.found, newFound(im.spell))
		}
	}
	if len(fields) != len(im.found) {
		return nil // sameColumns returns the error
	}
	im.rows++
	im.blank.last = fields[0]
	for i, text := range fields {
		if im.missing[text] {
			im.found[i].none(text)
		} else {
			im.found[i].add(text, im.header[i], r.Line(i))
		}
	}
	return nil
}

// sameColumns returns an error for a file whose columns differ from the columns of the first file.
func (im *importing) sameColumns(in *input, columns []string) error {
	if im.header == nil {
		im.header = slices.Clone(columns)
	}
	for i := range max(len(columns), len(im.header)) {
		switch {
		case i >= len(columns):
			return &dataset.DataError{
				File: in.name, Column: im.header[i],
				Problem: "line 1: the column is missing, expected the columns of " + im.inputs[0].name,
				Hint:    "import files with other columns into a folder of their own",
			}
		case i >= len(im.header) || columns[i] != im.header[i]:
			return &dataset.DataError{
				File: in.name, Column: columns[i],
				Problem: fmt.Sprintf("line 1: column %d is another one in %s, expected the same columns in the same order",
					i+1, im.inputs[0].name),
				Hint: "import files with other columns into a folder of their own",
			}
		}
	}
	return nil
}
