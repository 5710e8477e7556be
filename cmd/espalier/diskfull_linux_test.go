package main_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// smallDisk returns a folder on a file system of 64 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a small tmpfs takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// TestDiskFullOfPredictions: the same of predictions, whether a column is written or copied
// when there is no space any more.
func TestDiskFullOfPredictions(t *testing.T) {
	folder := smallDisk(t)
	input := mixed(t, 100_000, parquetio.WriteOptions{RowsPerGroup: 20_000})
	o, run := train(t, input, "--select", "first", "--certificate", "none", "--split", "100/0/0")
	o.wants(t, 0)
	for _, runner := range [][]string{{"--runner", "direct"}, onPrism(t)} {
		for _, keep := range []string{"key", "all"} {
			output := filepath.Join(folder, "scored")
			args := []string{"predict", "--model", run, "--input", input, "--output", output, "--keep", keep, "--progress", "none"}
			espalier(t, append(args, runner...)...).
				wants(t, 2, "--output", "data.parquet", "no space left")
			leftNothing(t, output)
		}
	}
}

// TestDiskFull trains into a file system of 64 KiB.
func TestDiskFull(t *testing.T) {
	output := filepath.Join(smallDisk(t), "run")
	input := mixed(t, 3000, parquetio.WriteOptions{})
	o := espalier(t, "train", "--select", "first", "--certificate", "none", "--input", input, "--label", "class",
		"--output", output, "--progress", "none", "--theta", "0", "--split", "100/0/0")
	o.wants(t, 2, "--output", "no space left")
	leftNothing(t, output)
}
