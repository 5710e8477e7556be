package objectstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// madeFolders are the folders made by this process: several stores may share a folder.
var madeFolders folders //nolint:gochecknoglobals // folders on disk belong to the process, not to a store

// folders remembers the folders made for objects. Such a folder is removed with the last
// object in it, also after a failed write: stores without folders behave this way. A
// folder of anyone else stays.
type folders struct {
	mu   sync.Mutex
	made map[string]bool // by absolute path
}

// make makes a folder and all missing folders above it.
func (f *folders) make(folder string) error {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var missing []string
	for at := absolute; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, path := range missing {
		if f.made == nil {
			f.made = make(map[string]bool)
		}
		f.made[path] = true
	}
	return nil
}

// tidy removes a folder made by this process if it is empty, then likewise the folders
// above it.
func (f *folders) tidy(folder string) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.made[absolute] {
		if err := os.Remove(absolute); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // the folder is not empty
		}
		delete(f.made, absolute)
		absolute = filepath.Dir(absolute)
	}
}
