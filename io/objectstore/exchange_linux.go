package objectstore

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// exchangeFolders gives each of two folders the name of the other one in a single step. Some file systems cannot.
func exchangeFolders(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// matched gives a folder the permissions of another one, and reports whether it has them, and the same owner.
func matched(folder string, other fs.FileInfo) bool {
	if os.Chmod(folder, other.Mode()) != nil {
		return false
	}
	info, err := os.Stat(folder)
	if err != nil {
		return false
	}
	is, known := info.Sys().(*syscall.Stat_t)
	was, alsoKnown := other.Sys().(*syscall.Stat_t)
	return known && alsoKnown && is.Uid == was.Uid && is.Gid == was.Gid && info.Mode() == other.Mode()
}
