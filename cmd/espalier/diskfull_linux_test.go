package main_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestDiskFull trains into a file system of 64 KiB.
func TestDiskFull(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a small tmpfs takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	output := filepath.Join(folder, "run")
	input := mixed(t, 3000, parquetio.WriteOptions{})
	o := espalier(t, "train", "--select", "first", "--certificate", "none", "--input", input, "--label", "class", "--output", output, "--progress", "none", "--theta", "0", "--split", "100/0/0")
	o.wants(t, 2, "--output", "no space left")
	leftNothing(t, output)
}
