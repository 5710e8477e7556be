package jobs

import (
	"fmt"
	"hash/crc32"
	"path"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// checksumMark stands before the checksum at the end of a name.
const checksumMark = "-crc32c-"

// castagnoli is the polynomial that processors have instructions for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a constant

// withChecksum adds the checksum of a file's content to its name. Runs are resumed
// from the blocks of objects of another process.
func withChecksum(url string, b []byte) string {
	return fmt.Sprintf("%s%s%08x", url, checksumMark, crc32.Checksum(b, castagnoli))
}

// CheckChecksum returns a *dataset.DataError if content does not have the checksum by which its
// file is named. Other names have no checksum to check.
func CheckChecksum(url string, b []byte) error {
	name := path.Base(url)
	_, _, ok := strings.Cut(name, checksumMark)
	if !ok || strings.HasSuffix(name, withChecksum("", b)) {
		return nil
	}
	return &dataset.DataError{File: url, Problem: "the file of objects is damaged", Hint: objectsHint}
}

// objectsHint describes how to continue without the objects of an earlier run.
const objectsHint = "start again with --overwrite"
