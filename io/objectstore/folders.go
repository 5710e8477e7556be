package objectstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// madeFolders are those of this process: several stores may share a folder.
var madeFolders folders //nolint:gochecknoglobals // folders on disk belong to the process, not to a store

// folders remembers which folders were made for objects. Such a folder goes with the
// last object in it, as in stores that have no folders, so that a write that fails or
// an object that is removed leaves none behind. Folders that were there before stay.
type folders struct {
	mu   sync.Mutex
	made map[string]bool // by absolute path
}

// make makes a folder and those above it.
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

// tidy removes a folder that was made here, if it is empty by now, and so those above
// it.
func (f *folders) tidy(folder string) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.made[absolute] {
		if err := os.Remove(absolute); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // something lies in it
		}
		delete(f.made, absolute)
		absolute = filepath.Dir(absolute)
	}
}
