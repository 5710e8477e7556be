//go:build !unix

package objectstore

import (
	"io/fs"
	"sync"
)

// folderLock replaces locks of files: it excludes other writers of this process only.
var folderLock sync.Mutex //nolint:gochecknoglobals // a lock shared by all stores of the process

func lockFolder(string) (unlock func(), err error) {
	folderLock.Lock()
	return folderLock.Unlock, nil
}

func inode(fs.FileInfo) uint64 { return 0 }

func device(fs.FileInfo) uint64 { return 0 }
