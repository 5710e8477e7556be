package naming

import (
	"errors"
	"path"
	"strings"
)

// errBelow describes the names that CheckBelow accepts.
var errBelow = errors.New("want a relative path of plain parts below the folder of the document")

// CheckBelow refuses a name that was read from a document unless it is a relative path of plain parts:
// without "." and "..", empty parts, backslashes and a scheme. Links are checked where files are: see
// objectstore.Store.Within.
func CheckBelow(name string) error {
	plain := name != "" && name != "." && name != ".." && path.Clean(name) == name && !path.IsAbs(name) &&
		!strings.HasPrefix(name, "../") && !strings.ContainsAny(name, "\\\x00") && !strings.Contains(name, ":/")
	if !plain {
		return errBelow
	}
	return nil
}
