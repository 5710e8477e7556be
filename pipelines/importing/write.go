package importing

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/csvio"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// parts lists the Parquet files of the run.
func (im *importing) parts() []string {
	return runfolder.PartNames((im.rows-1)/im.config.RowsPerFile + 1)
}

func (im *importing) write(ctx context.Context) (*Result, error) {
	if err := im.writeRows(ctx); err != nil {
		return nil, err
	}
	settings := *im.config
	settings.Output, settings.Overwrite = "", false // the same data set elsewhere has the same manifest
	m := &runfolder.ImportManifest{
		Format: runfolder.ImportFormat, Version: 1, Espalier: runfolder.Version(), Config: &settings,
		Inputs: im.read, Rows: im.rows,
	}
	for _, c := range im.written {
		m.Columns = append(m.Columns, runfolder.ImportColumn{
			Name: c.name, Type: c.kind.String(), Missing: im.found[c.field].Missing,
		})
	}
	if _, err := im.folder.Write(ctx, &runfolder.Run{Rows: im.parts(), Imported: m}); err != nil {
		return nil, err
	}
	return &Result{
		Files: len(im.files), Rows: im.rows, Bytes: im.bytes, Columns: m.Columns, Notes: im.notes(),
		Input: objectstore.Join(im.config.Output, "*.parquet"),
	}, nil
}

// writeRows reads all files again and writes their rows.
func (im *importing) writeRows(ctx context.Context) error {
	im.reporter.Job("import", im.rows, "rows")
	w := &writing{importing: im}
	defer w.abort()
	for _, in := range im.inputs {
		_, err := im.records(ctx, in, func(r *csvio.Reader, fields []string) error {
			return w.write(ctx, in, r, fields)
		})
		if err != nil {
			return err
		}
	}
	im.reporter.Step(im.rows, "")
	return nil
}

// writing is the second reading of the files.
type writing struct {
	*importing

	table *parquetio.Table // nil: the next row begins a file
	done  int64            // rows
}

// abort drops an unfinished file.
func (w *writing) abort() {
	if w.table != nil {
		_ = w.table.Abort() // the first error is the cause
	}
}

// write writes a record, and ends the file when it is full.
func (w *writing) write(ctx context.Context, in *input, r *csvio.Reader, fields []string) (err error) {
	const batch = 4096 // rows between two steps of the progress
	if w.done == w.rows {
		return &dataset.DataError{File: in.name, Problem: "the file changed while it was read", Hint: "import again"}
	}
	if w.table == nil {
		if w.table, err = w.begin(ctx); err != nil {
			return usage.Errorf("--output: %v", err)
		}
	}
	if err := w.add(w.table, in, r, fields); err != nil {
		return err
	}
	w.done++
	if w.done%batch == 0 && w.done < w.rows {
		w.reporter.Step(w.done, "")
	}
	if w.done%w.config.RowsPerFile > 0 && w.done < w.rows {
		return nil
	}
	err = w.commit(w.table)
	w.table = nil
	return err
}

// begin begins the next Parquet file.
func (im *importing) begin(ctx context.Context) (*parquetio.Table, error) {
	const dictionary = 1 << 20 // bytes; if it is larger, a chunk continues without a dictionary
	url := im.folder.RowFile(runfolder.PartName(int64(len(im.files))))
	columns := make([]parquetio.TableColumn, len(im.written))
	for i, c := range im.written {
		columns[i] = parquetio.TableColumn{
			Name: c.name, Type: columnType(c.kind.Type), Optional: im.found[c.field].Missing > 0,
			Plain: im.found[c.field].isLong(),
		}
	}
	return parquetio.NewTable(ctx, im.store, url, columns, parquetio.WriteOptions{
		Codec: im.codec, RowsPerGroup: int(im.config.RowsPerGroup), DictionaryBytes: dictionary, IfAbsent: true,
	})
}

func columnType(t csvio.Type) parquetio.TableType {
	return [...]parquetio.TableType{
		csvio.Boolean: parquetio.BooleanColumn, csvio.Integer: parquetio.IntegerColumn, csvio.Float: parquetio.FloatColumn,
		csvio.Date: parquetio.DateColumn, csvio.Time: parquetio.TimeColumn, csvio.Timestamp: parquetio.TimestampColumn,
		csvio.Local: parquetio.LocalColumn, csvio.Text: parquetio.TextColumn,
	}[t]
}

// commit ends a Parquet file.
func (im *importing) commit(t *parquetio.Table) error {
	url := im.folder.RowFile(runfolder.PartName(int64(len(im.files))))
	if err := t.Commit(); err != nil {
		_ = t.Abort() // the first error is the cause
		return usage.Errorf("--output: %v", err)
	}
	im.bytes += t.Size()
	im.files = append(im.files, url)
	return nil
}

// add writes a record.
func (im *importing) add(t *parquetio.Table, in *input, r *csvio.Reader, fields []string) error {
	for i, c := range im.written {
		text := fields[c.field]
		switch {
		case im.missing[text]:
			t.SetMissing(i)
			continue
		case c.kind.Type == csvio.Text:
			t.SetText(i, text)
			continue
		}
		v, ok := im.spell.Parse(c.kind, text)
		switch {
		case !ok:
			return &dataset.DataError{
				File: in.name, Column: c.name, Value: text,
				Problem: fmt.Sprintf("line %d: no %s any more: the file changed while it was read", r.Line(c.field), c.kind),
				Hint:    "import again",
			}
		case c.kind.Type == csvio.Float:
			t.SetFloat(i, v.Float)
		default:
			t.SetWhole(i, v.Whole)
		}
	}
	return t.EndRow()
}
