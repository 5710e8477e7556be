package csvio

import (
	"bytes"
	"regexp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// foreign lists formats that are mistaken for CSV, by the bytes with which their files begin.
var foreign = []struct{ begins, what, hint string }{ //nolint:gochecknoglobals // a table
	{"\xff\xfe\x00\x00", "in UTF-32", iconv("UTF-32")},
	{"\x00\x00\xfe\xff", "in UTF-32", iconv("UTF-32")},
	{"\xff\xfe", "in UTF-16", iconv("UTF-16")},
	{"\xfe\xff", "in UTF-16", iconv("UTF-16")},
	{"PK\x03\x04", "a ZIP archive, as .xlsx and .ods files are", "save the sheet as CSV in UTF-8, or unzip the file"},
	{"\xd0\xcf\x11\xe0", "an .xls file", "save the sheet as CSV in UTF-8"},
	{"\x28\xb5\x2f\xfd", "compressed by Zstandard", "write: zstd -dc FILE | espalier import - --output FOLDER"},
	{"\xfd7zXZ\x00", "compressed by xz", "write: xz -dc FILE | espalier import - --output FOLDER"},
	{"\x04\x22\x4d\x18", "compressed by LZ4", "write: lz4 -dc FILE | espalier import - --output FOLDER"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack the file"},
	{"\x1f\x8b", "compressed by gzip twice", "write: gzip -dc FILE | espalier import - --output FOLDER"},
	{"PAR1", "a Parquet file", "train on it: it needs no import"},
	{"%PDF-", "a PDF file", "save the table as CSV in UTF-8"},
	{"version https://git-lfs.github.com/spec/", "a pointer of Git LFS", "fetch the file: git lfs pull"},
}

// foreignTexts lists further formats, which may begin in several ways.
var foreignTexts = []struct { //nolint:gochecknoglobals // a table
	begins     *regexp.Regexp
	what, hint string
}{
	{regexp.MustCompile(`^BZh[1-9]1AY&SY`), "compressed by bzip2", "write: bzip2 -dc FILE | espalier import - --output FOLDER"},
	{regexp.MustCompile(`^\s*(?i:<!doctype html|<html|<\?xml)`), "an HTML or XML page", "is it the answer of a server that wants a login?"},
	{regexp.MustCompile(`^\s*(\{\s*"[^"]*"\s*:|\[\s*[\[{])`), "a JSON file", "write its rows as CSV"},
	{regexp.MustCompile(`^\s*@(?i:relation)\s`), "an ARFF file", "remove the lines above the rows, and name the columns by --names"},
}

// iconv returns the hint for a file in an encoding.
func iconv(encoding string) string {
	return "write: iconv -f " + encoding + " -t UTF-8 FILE | espalier import - --output FOLDER"
}

// refuseForeign returns an error if the beginning of a file shows that it is not CSV.
func refuseForeign(file string, head []byte) error {
	refused := func(what, hint string) error {
		return &dataset.DataError{File: file, Problem: "the file is " + what + ", expected CSV in UTF-8", Hint: hint}
	}
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.begins)) {
			return refused(f.what, f.hint)
		}
	}
	for _, f := range foreignTexts {
		if f.begins.Match(head) {
			return refused(f.what, f.hint)
		}
	}
	if bytes.Count(head, []byte{0})*4 > len(head) {
		encoding := "UTF-16LE"
		if head[0] == 0 {
			encoding = "UTF-16BE"
		}
		return refused("in UTF-16 or binary", iconv(encoding))
	}
	return nil
}
