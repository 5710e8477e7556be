//go:build linux || darwin

package importing

import "golang.org/x/sys/unix"

// space returns the number of bytes that this process may still write into a folder.
func space(folder string) (free int64, known bool) {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	return int64(s.Bavail) * int64(s.Bsize), err == nil //nolint:unconvert // not int64 on all systems
}
