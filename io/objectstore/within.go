package objectstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/espalier-ml/espalier/induce/naming"
)

// confiner is a driver in which a name below a folder may lead elsewhere, by a link.
type confiner interface {
	confine(folder, name string) error
}

// Within returns the URL of a file or folder below a folder, by a name that was read from a document.
// Documents may be written by others: a name that is not a relative path of plain parts is refused, and a
// link on its way that leads out of the folder, or to nothing.
func (s *Store) Within(folder, name string) (string, error) {
	if err := naming.CheckBelow(name); err != nil {
		return "", fmt.Errorf("%s: the name %q: %w", folder, name, err)
	}
	url := Join(folder, name)
	l, err := s.locate(folder)
	if err != nil {
		return "", err
	}
	if d, ok := l.Driver.(confiner); ok {
		if err := d.confine(l.path, name); err != nil {
			return "", fmt.Errorf("%s: the name %q: %w", folder, name, err)
		}
	}
	return url, nil
}

var errLeaves = errors.New("is a link, or below one, that leads out of the folder or to nothing")

// confine implements confiner.
func (fileDriver) confine(folder, name string) error {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	path := whole
	home := "" // the folder without links; empty: not needed so far
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if err = absence(err); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if home == "" {
			if home, err = filepath.EvalSymlinks(whole); err != nil {
				return err
			}
		}
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return errLeaves
		}
		if below, err := filepath.Rel(home, target); err != nil || !filepath.IsLocal(below) || below == "." {
			return errLeaves
		}
	}
	return nil
}
