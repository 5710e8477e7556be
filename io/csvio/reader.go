package csvio

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Options say how a file is read.
type Options struct {
	File      string // its name in messages
	Delimiter rune   // between fields; 0: the most frequent of comma, semicolon, tab and bar in the first line
}

// Reader reads the records of a file.
type Reader struct {
	file    string
	csv     *csv.Reader
	columns []string
}

const peeked = 64 << 10 // bytes in which the delimiter is looked for

// NewReader begins to read a file: it finds out the compression and the delimiter, and reads the
// names of the columns.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	plain, err := decompress(r)
	if err != nil {
		return nil, &dataset.DataError{File: o.File, Problem: err.Error(), Hint: "is the gzip file complete?"}
	}
	b := bufio.NewReaderSize(plain, peeked)
	head, _ := b.Peek(peeked) // an error comes back with the first record
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, &dataset.DataError{File: o.File, Problem: "the file is in UTF-16", Hint: "save it as CSV in UTF-8"}
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = b.Discard(len("\ufeff")) // these bytes are in the buffer
	}
	c := &Reader{file: o.File, csv: csv.NewReader(b)}
	if c.csv.Comma = o.Delimiter; o.Delimiter == 0 {
		c.csv.Comma = delimiter(head)
	}
	if err := c.readNames(); err != nil {
		return nil, err
	}
	c.csv.ReuseRecord = true
	return c, nil
}

// decompress returns the bytes of a file, which may be compressed.
func decompress(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, peeked)
	if magic, _ := b.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

// delimiter returns the most frequent delimiter of a first line, outside of quotes. Of equally
// frequent ones the first counts.
func delimiter(head []byte) rune {
	const candidates = ",;\t|"
	var counts [len(candidates)]int
	quoted := false
	for _, b := range head {
		if b == '"' {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		if b == '\n' && slices.Max(counts[:]) > 0 {
			break
		}
		if i := strings.IndexByte(candidates, b); i >= 0 {
			counts[i]++
		}
	}
	return rune(candidates[slices.Index(counts[:], slices.Max(counts[:]))])
}

func (r *Reader) readNames() error {
	names, err := r.csv.Read()
	if err == io.EOF {
		return &dataset.DataError{
			File: r.file, Problem: "the file is empty, expected a first line with the names of the columns",
			Hint: "write them into the first line",
		}
	}
	if err != nil {
		return r.fault(err)
	}
	at := make(map[string]int, len(names))
	for i, name := range names {
		line, _ := r.csv.FieldPos(i)
		before, twice := at[name]
		switch {
		case name == "":
			return &dataset.DataError{
				File: r.file, Problem: fmt.Sprintf("line %d: column %d has no name", line, i+1),
				Hint: "name it in the first line; pandas leaves the index without a name unless index=False",
			}
		case !utf8.ValidString(name):
			return r.notUTF8(i, name, line)
		case twice:
			return &dataset.DataError{
				File: r.file, Column: name,
				Problem: fmt.Sprintf("line %d: columns %d and %d have the same name", line, before+1, i+1),
				Hint:    "rename one of them in the first line",
			}
		}
		at[name] = i
	}
	r.columns = names
	return nil
}

// Columns returns the names of the columns.
func (r *Reader) Columns() []string { return r.columns }

// Delimiter returns the delimiter between fields.
func (r *Reader) Delimiter() rune { return r.csv.Comma }

// Line returns the line on which a field of the last record begins.
func (r *Reader) Line(field int) int {
	line, _ := r.csv.FieldPos(field)
	return line
}

// Read returns the fields of the next record, or io.EOF. The slice is valid until the next call,
// its texts stay.
func (r *Reader) Read() ([]string, error) {
	fields, err := r.csv.Read()
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		if errors.Is(err, csv.ErrFieldCount) {
			return nil, r.ragged(fields)
		}
		return nil, r.fault(err)
	}
	for i, field := range fields {
		if !utf8.ValidString(field) {
			return nil, r.notUTF8(i, r.columns[i], r.Line(i))
		}
	}
	return fields, nil
}

func (r *Reader) notUTF8(i int, name string, line int) error {
	if !utf8.ValidString(name) {
		name = strings.ToValidUTF8(name, "\ufffd")
	}
	return &dataset.DataError{
		File: r.file, Column: name,
		Problem: fmt.Sprintf("line %d: field %d is not UTF-8", line, i+1), Hint: "save the file as CSV in UTF-8",
	}
}

// ragged is the fault of a record with too few or too many fields.
func (r *Reader) ragged(fields []string) error {
	e := &dataset.DataError{
		File: r.file,
		Problem: fmt.Sprintf("line %d: the number of fields is %d (delimiter %q), expected %d as in the first line",
			r.Line(0), len(fields), r.csv.Comma, len(r.columns)),
		Hint: "put a field with a delimiter in it in double quotes, or name another delimiter by --delimiter",
	}
	if len(fields) < len(r.columns) {
		e.Column = r.columns[len(fields)] // the first one that is missing
	}
	return e
}

// fault places an error of reading.
func (r *Reader) fault(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		e := &dataset.DataError{
			File: r.file, Problem: fmt.Sprintf("line %d, byte %d: %v", parse.Line, parse.Column, parse.Err),
			Hint: "put a field with double quotes in it in double quotes, and double each of them",
		}
		if parse.Line != parse.StartLine {
			e.Problem += fmt.Sprintf("; the record begins in line %d", parse.StartLine)
		}
		return e
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader):
		return &dataset.DataError{File: r.file, Problem: "the gzip file is damaged or ends early", Hint: "copy it again"}
	default:
		return fmt.Errorf("%s: %w", r.file, err)
	}
}
