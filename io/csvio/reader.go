package csvio

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Options describe how a file is read.
type Options struct {
	File      string   // its name in messages
	Delimiter rune     // delimiter between fields; 0: the most frequent of comma, semicolon, tab and bar in the first line
	Trim      bool     // spaces around fields are left out
	Names     []string // names of the columns; nil: the first line names them
}

// Reader reads the records of a file.
type Reader struct {
	file    string
	csv     *csv.Reader
	bounded *bounded
	columns []string
	trim    bool
	line    int // on which the last record begins
}

const (
	peeked = 64 << 10 // bytes in which the delimiter is looked for

	// maxRecord bounds the bytes of a record, and so the memory of a Reader. After an unbalanced
	// quote, the remaining file is a single record.
	maxRecord = 4 << 20
)

// NewReader begins to read a file: it finds out the compression and the delimiter, and reads the
// names of the columns. A name is empty where the first line has none.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	plain, err := decompress(r)
	if err != nil {
		return nil, &dataset.DataError{File: o.File, Problem: err.Error(), Hint: "is the gzip file complete?"}
	}
	c := &Reader{file: o.File, bounded: &bounded{from: plain}, trim: o.Trim}
	b := bufio.NewReaderSize(c.bounded, peeked)
	head, _ := b.Peek(peeked) // an error comes back with the first record
	if err := refuseForeign(o.File, head); err != nil {
		return nil, err
	}
	if rest, found := bytes.CutPrefix(head, []byte("\ufeff")); found {
		_, _ = b.Discard(len(head) - len(rest)) // these bytes are in the buffer
		head = rest
	}
	if line := excelLine.FindSubmatch(head); line != nil { // Excel reads it, and does not show it
		_, _ = b.Discard(len(line[0]))
		if o.Delimiter == 0 {
			o.Delimiter, _ = utf8.DecodeRune(line[1])
		}
	}
	c.csv = csv.NewReader(b)
	c.csv.TrimLeadingSpace = o.Trim
	if c.csv.Comma = o.Delimiter; o.Delimiter == 0 {
		c.csv.Comma = delimiter(head)
	}
	if c.columns = o.Names; o.Names != nil {
		c.csv.FieldsPerRecord = len(o.Names)
	} else if err := c.readNames(); err != nil {
		return nil, err
	}
	c.csv.ReuseRecord = true
	return c, nil
}

// excelLine is a first line that names the delimiter.
var excelLine = regexp.MustCompile("^\"?sep=([,;|\t])\"?\r?\n")

// bounded bounds the bytes that are read for one record.
type bounded struct {
	from io.Reader
	read int64 // since the last record
}

var errLong = errors.New("the record is too long")

func (b *bounded) Read(p []byte) (int, error) {
	if b.read > maxRecord {
		return 0, errLong
	}
	n, err := b.from.Read(p)
	b.read += int64(n)
	return n, err
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
	for i := range names {
		if r.trim {
			names[i] = strings.TrimSpace(names[i])
		}
		name := names[i]
		line, _ := r.csv.FieldPos(i)
		before, twice := at[name]
		switch {
		case name == "":
			continue
		case !utf8.ValidString(name):
			return r.notUTF8(i, name, line)
		case twice:
			return &dataset.DataError{
				File: r.file, Column: name,
				Problem: fmt.Sprintf("line %d: columns %d and %d have the same name", line, before+1, i+1),
				Hint:    "rename one of them in the first line; --names names the columns if that is a row",
			}
		}
		at[name] = i
	}
	r.columns = names
	r.line = r.Line(0)
	r.bounded.read = 0
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
	r.bounded.read = 0
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		if errors.Is(err, csv.ErrFieldCount) {
			return nil, r.ragged(fields)
		}
		return nil, r.fault(err)
	}
	r.line = r.Line(0)
	for i, field := range fields {
		if !utf8.ValidString(field) {
			return nil, r.notUTF8(i, r.columns[i], r.Line(i))
		}
		if r.trim {
			fields[i] = strings.TrimSpace(field)
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
		Problem: fmt.Sprintf("line %d: field %d is not UTF-8", line, i+1), Hint: "save the file as CSV in UTF-8; if it is in Western European: iconv -f WINDOWS-1252 -t UTF-8 FILE | espalier import -",
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
	switch {
	case len(r.columns) == 1:
		e.Hint = "remove lines above the names of the columns, or name another delimiter by --delimiter"
	case len(fields) < len(r.columns):
		e.Column = r.columns[len(fields)] // the first missing column
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
	case errors.Is(err, errLong):
		return &dataset.DataError{
			File: r.file, Problem: fmt.Sprintf("the record behind line %d has more than %d MiB", r.line, maxRecord>>20),
			Hint: "is there a double quote too many? put a field with double quotes in it in double quotes, and double each of them",
		}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader):
		return &dataset.DataError{File: r.file, Problem: "the gzip file is damaged or ends early", Hint: "copy it again"}
	default:
		return fmt.Errorf("%s: %w", r.file, err)
	}
}
