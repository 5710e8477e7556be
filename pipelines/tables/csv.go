package tables

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/usage"
)

// newCSV reads a file as spreadsheets write it: with a byte-order mark, or without,
// and with the line ends of any system.
func newCSV(b []byte) *csv.Reader {
	return csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
}

// eachLine calls add with the number and the fields of each line of a file that follows its header,
// which must be one of headers.
func eachLine(b []byte, flag, url string, headers []string, add func(line int, header, record []string) error) error {
	r := newCSV(b)
	header, err := r.Read()
	if err != nil || !slices.Contains(headers, strings.Join(header, ",")) {
		return usage.Errorf("--%s %s: %s", flag, url, headerProblem(header, err, strings.Join(headers, " or ")))
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return usage.Errorf("--%s %s, %s", flag, url, lineProblem(err, len(header)))
		}
		line, _ := r.FieldPos(0)
		if err := add(line, header, record); err != nil {
			return err
		}
	}
}

// headerProblem describes the fault of a first line other than the wanted ones. err
// is the error of reading the line.
func headerProblem(header []string, err error, wanted string) string {
	got := strings.Join(header, ",")
	switch {
	case strings.HasPrefix(got, "\xff\xfe") || strings.HasPrefix(got, "\xfe\xff"):
		return "the file is in UTF-16: save it as CSV in UTF-8"
	case strings.Contains(got, ";"):
		return fmt.Sprintf("header %q: want fields separated by commas: %s", got, wanted)
	case err != nil && len(header) == 0:
		return "there is no header: want " + wanted
	default:
		return fmt.Sprintf("header %q: want %s", got, wanted)
	}
}

// lineProblem describes why a line could not be read.
func lineProblem(err error, fields int) string {
	var parse *csv.ParseError
	switch {
	case !errors.As(err, &parse):
		return err.Error()
	case errors.Is(parse.Err, csv.ErrFieldCount):
		return fmt.Sprintf("line %d: want %d fields, as in the header; one with a comma in it stands in double quotes", parse.Line, fields)
	default:
		return fmt.Sprintf("line %d: %v: a field with double quotes in it stands in double quotes, and each of them is doubled", parse.Line, parse.Err)
	}
}
