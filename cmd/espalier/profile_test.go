package main_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestProfile: the profile of a training is in the form of pprof, with the phases of the run as labels.
func TestProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profile")
	t.Setenv("ESPALIER_PROFILE", file)
	o, _ := train(t, mixed(t, 30_000, parquetio.WriteOptions{RowsPerGroup: 4000}), fewTrees()...)
	o.wants(t, 0)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := io.ReadAll(z)
	if err != nil || !bytes.Contains(profile, []byte("phase")) || !bytes.Contains(profile, []byte("induce")) {
		t.Errorf("a profile of %d bytes without phases, error %v", len(profile), err)
	}
	for _, name := range []string{filepath.Join(file, "none"), file} { // nothing is overwritten
		t.Setenv("ESPALIER_PROFILE", name)
		o, _ = train(t, mixed(t, 30, parquetio.WriteOptions{}))
		o.wants(t, 2, "ESPALIER_PROFILE")
	}
}
