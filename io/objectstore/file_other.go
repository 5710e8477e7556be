//go:build !unix

package objectstore

import (
	"io/fs"
	"sync"
)

// folderLock stands in for file locks: it excludes writers of this process.
var folderLock sync.Mutex //nolint:gochecknoglobals // a lock shared by all stores of the process

func lockFolder(string) (unlock func(), err error) {
	folderLock.Lock()
	return folderLock.Unlock, nil
}

func inode(fs.FileInfo) uint64 { return 0 }

func device(fs.FileInfo) uint64 { return 0 }
