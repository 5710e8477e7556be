package objectstore

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// exchangeFolders gives each of two folders the name of the other one in a single step. Some file systems cannot.
func exchangeFolders(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// matched gives a folder the permissions and the extended attributes of another one, such as its access control list, and
// reports whether it has them, and the same owner.
func matched(folder, other string, of fs.FileInfo) bool {
	if os.Chmod(folder, of.Mode()) != nil {
		return false
	}
	want, known := attributes(other)
	has, alsoKnown := attributes(folder)
	if !known || !alsoKnown {
		return false
	}
	for name, value := range want {
		if has[name] == value {
			continue
		}
		if unix.Setxattr(folder, name, []byte(value), 0) != nil {
			return false
		}
		has[name] = value
	}
	info, err := os.Stat(folder)
	if err != nil {
		return false
	}
	is, known := info.Sys().(*syscall.Stat_t)
	was, alsoKnown := of.Sys().(*syscall.Stat_t)
	return known && alsoKnown && is.Uid == was.Uid && is.Gid == was.Gid && info.Mode() == of.Mode() && len(has) == len(want)
}

// attributes returns the extended attributes of a folder by name. known is false if they cannot be read.
func attributes(folder string) (values map[string]string, known bool) {
	const most = 1 << 16 // bytes of all names, and of a value: Linux has no more
	buffer := make([]byte, most)
	n, err := unix.Listxattr(folder, buffer)
	if errors.Is(err, unix.ENOTSUP) {
		return map[string]string{}, true
	}
	if err != nil {
		return nil, false
	}
	values = make(map[string]string)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buffer[:n]), "\x00"), "\x00") {
		if name == "" { // the list is empty
			continue
		}
		size, err := unix.Getxattr(folder, name, buffer)
		if err != nil {
			return nil, false
		}
		values[name] = string(buffer[:size])
	}
	return values, true
}
