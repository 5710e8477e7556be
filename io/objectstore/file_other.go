//go:build !unix

package objectstore

import (
	"io"
	"io/fs"
	"sync"
)

// folderLock replaces locks of files: it excludes other writers of this process only.
var folderLock sync.Mutex //nolint:gochecknoglobals // a lock shared by all stores of the process

func lockFolder(string) (unlock func(), err error) {
	folderLock.Lock()
	return folderLock.Unlock, nil
}

// holdTemporary does nothing, because files of killed processes can only be recognised by file
// locks.
func holdTemporary(string) (held io.Closer, swept bool) { return io.NopCloser(nil), false }

func removeAbandoned(string) {}

func inode(fs.FileInfo) uint64 { return 0 }

func device(fs.FileInfo) uint64 { return 0 }
