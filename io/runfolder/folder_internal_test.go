package runfolder

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// The files of an import, which take any content here.
const (
	firstName  = "part-00000.parquet"
	secondName = "part-00001.parquet"
)

const importManifest = `{"format": "espalier/import", "version": 1, "files": ["part-00000.parquet", "part-00001.parquet"]}`

// TestTwoRuns: if two runs write into one folder, the second run to end fails, and the files of the
// first run stay.
func TestTwoRuns(t *testing.T) {
	for _, url := range []string{"mem://" + t.Name(), t.TempDir()} {
		s := objectstore.New()
		open := func(overwrite bool) *Folder {
			t.Helper()
			f, err := Open(t.Context(), s, url, Imported, overwrite)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		commit := func(f *Folder, content string) error {
			return f.commit(t.Context(), []File{
				{Name: firstName, Content: []byte(content)},
				{Name: DataManifestName, Content: []byte(importManifest)},
				{Name: secondName, Content: []byte(content)},
			}, nil)
		}
		want := func(content string) {
			t.Helper()
			for _, name := range []string{firstName, secondName} {
				if b, err := s.ReadAll(t.Context(), objectstore.Join(url, name), 0); err != nil || string(b) != content {
					t.Errorf("%s/%s: %q, %v, want %q", url, name, b, err, content)
				}
			}
			if _, err := s.Stat(t.Context(), objectstore.Join(url, SuccessName)); err != nil {
				t.Error(err)
			}
		}
		for _, overwrite := range []bool{false, true} {
			first, second := open(overwrite), open(overwrite)
			if err := commit(first, "first"); err != nil {
				t.Fatal(err)
			}
			if err := commit(second, "second"); err == nil || !strings.Contains(err.Error(), "another run has written") {
				t.Errorf("the second run: got %v", err)
			}
			want("first")
		}
		if err := commit(open(true), "third"); err != nil {
			t.Fatal(err)
		}
		want("third")
	}
}

// TestHalfARun: when a file cannot be committed, those before it do not stay.
func TestHalfARun(t *testing.T) {
	s, url := objectstore.New(), "mem://"+t.Name()
	f, err := Open(t.Context(), s, url, Imported, false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Create(t.Context(), url+"/"+secondName, objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := f.commit(t.Context(), []File{{Name: firstName}, {Name: secondName}, {Name: DataManifestName}}, nil); err == nil {
		t.Error("no error")
	}
	for _, name := range []string{firstName, DataManifestName, SuccessName} {
		if _, err := s.Stat(t.Context(), objectstore.Join(url, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}
