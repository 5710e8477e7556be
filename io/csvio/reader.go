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
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
)

// Options describe how a file is read.
type Options struct {
	File      string   // its name in messages
	Delimiter rune     // delimiter between fields; 0: comma, semicolon, tab or bar, as the first lines have them
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
	named   bool     // Options.Names names the columns
	notes   []string // see Notes
	line    int      // on which the last record begins
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
	if endsInReturn(head) {
		b = bufio.NewReaderSize(feeds{b}, peeked)
		head, _ = b.Peek(peeked)
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
		c.csv.Comma = delimiter(head, o.File)
	}
	if c.columns = o.Names; o.Names != nil {
		c.csv.FieldsPerRecord = len(o.Names)
		c.named = true
	} else {
		l := layoutOf(head, c.csv.Comma)
		if err := c.readNames(&l); err != nil {
			return nil, err
		}
	}
	c.csv.ReuseRecord = true
	return c, nil
}

// excelLine is a first line that names the delimiter.
var excelLine = regexp.MustCompile("^\"?sep=([,;|\t])\"?\r?\n")

// endsInReturn reports whether lines end in a carriage return alone, as in files of early Macs.
func endsInReturn(head []byte) bool {
	end := bytes.IndexAny(head, "\r\n")
	return end >= 0 && end < len(head)-1 && head[end] == '\r' && !bytes.HasPrefix(head[end:], []byte("\r\n")) &&
		bytes.Count(head, []byte("\r")) > bytes.Count(head, []byte("\n"))
}

// feeds reads carriage returns as line feeds.
type feeds struct{ from io.Reader }

func (f feeds) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

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

// delimiter returns the delimiter by which all records have as many fields as the first one, otherwise the most
// frequent one of the first record. If several do, the one with the most fields counts, then the first one. In a file
// whose name says tabs it is the tab.
func delimiter(head []byte, file string) rune {
	const candidates = ",;\t|"
	var best rune
	var most, fits int
	for _, candidate := range candidates {
		l := layoutOf(head, candidate)
		delimiters := l.names - 1
		if delimiters > 0 && candidate == '\t' && tabbed.MatchString(file) {
			return candidate
		}
		if best == 0 || l.fits > fits || l.fits == fits && delimiters > most {
			best = candidate
			most = delimiters
			fits = l.fits
		}
	}
	return best
}

// tabbed are the names of files whose fields end in tabs.
var tabbed = regexp.MustCompile(`(?i)\.(tsv|tab)(\.gz)?$`)

// layout describes the first records of a file, as one delimiter divides them.
type layout struct {
	names  int  // fields of the first record
	fields int  // fields of each further record; 0: no further record, or not all have the same number
	fits   int  // 2: further records have as many fields as the first one, at least two; 1: one more or less; 0: else
	open   bool // the last field of each further record is empty
	keyed  bool // there are two further records or more, whose first fields all differ
}

// layoutOf reads the records of the beginning of a file, except the last one, which may be cut off.
func layoutOf(head []byte, delimiter rune) (l layout) {
	whole := head
	if len(head) > peeked/2 {
		whole = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	r := csv.NewReader(bytes.NewReader(whole))
	r.Comma = delimiter
	r.FieldsPerRecord = -1
	first, err := r.Read()
	l = layout{names: max(1, len(first)), open: true, keyed: true}
	if err != nil {
		return l
	}
	keys := make(map[string]bool)
	for {
		record, err := r.Read()
		if err != nil { // the end, or quotes that this delimiter does not explain
			if apart := max(l.fields-l.names, l.names-l.fields); err == io.EOF && min(l.fields, l.names) > 1 {
				l.fits = max(0, 2-apart)
			}
			l.keyed = l.keyed && len(keys) > 1
			return l
		}
		if l.fields != 0 && len(record) != l.fields {
			l.fields = 0
			return l
		}
		l.fields = len(record)
		l.open = l.open && record[len(record)-1] == ""
		l.keyed = l.keyed && !keys[record[0]]
		keys[record[0]] = true
	}
}

// fit makes the first line fit records with another number of fields: a delimiter at the end of the first line
// alone, or of all other lines, and names of rows as R writes them, above which there is no name.
func (l *layout) fit(names []string) (fitting []string, note string) {
	switch {
	case l.fits != 1:
	case l.fields < len(names) && names[len(names)-1] == "":
		return names[:l.fields], "the first line ends in a delimiter that no other line has: it is left out"
	case l.fields > len(names) && l.open:
		return append(slices.Clone(names), ""), ""
	case l.fields > len(names) && l.keyed:
		return append([]string{""}, names...), "the first line has a name less than the other lines have fields: " +
			"column 1 is taken for the names of rows, as R writes them"
	default: // Read returns the error
	}
	return names, ""
}

func (r *Reader) readNames(l *layout) error {
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
	taken := make(map[string]bool, len(names))
	for i := range names {
		if r.trim {
			names[i] = strings.TrimSpace(names[i])
		}
		if line, _ := r.csv.FieldPos(i); !utf8.ValidString(names[i]) {
			return r.notUTF8(i, names[i], line)
		}
		taken[names[i]] = true
	}
	r.rename(names, taken)
	r.line = r.Line(0)
	r.bounded.read = 0
	fitting, note := l.fit(names)
	if note != "" {
		r.notes = append(r.notes, note)
	}
	r.columns = fitting
	r.csv.FieldsPerRecord = len(fitting)
	return nil
}

// rename gives the second column of a name a, and further ones, the names a.1, a.2 and so on that are not taken, as
// pandas does.
func (r *Reader) rename(names []string, taken map[string]bool) {
	seen := make(map[string]bool, len(names))
	var renamed []string
	for i, name := range names {
		if seen[name] && name != "" {
			for n := 1; taken[names[i]]; n++ {
				names[i] = fmt.Sprintf("%s.%d", name, n)
			}
			taken[names[i]] = true
			renamed = append(renamed, strconv.Quote(names[i]))
		}
		seen[names[i]] = true
	}
	if len(renamed) > 0 {
		r.notes = append(r.notes, "columns with the name of an earlier column are renamed: "+naming.First(renamed, 5))
	}
}

// Notes returns what of the first line is read otherwise than it stands there, a sentence each.
func (r *Reader) Notes() []string { return r.notes }

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
		Problem: fmt.Sprintf("line %d: field %d is not UTF-8", line, i+1), Hint: "save the file as CSV in UTF-8; if it is in Western European: iconv -f WINDOWS-1252 -t UTF-8 FILE | espalier import - --output FOLDER",
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
	case r.named:
		e.Problem = strings.Replace(e.Problem, "in the first line", "in the list of names", 1)
		e.Hint = "name each column in --names, or put a field with a delimiter in it in double quotes"
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
