package runfolder

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// letters is the output of a verb that writes two files.
func letters() *Kind {
	return &Kind{format: "espalier/letters", what: "letters", done: "finished letters", begun: "unfinished letters", again: "--overwrite", files: []string{"a", "b"}}
}

const lettersManifest = `{"format": "espalier/letters", "version": 1, "files": ["a", "b"]}`

// TestTwoRuns: of two runs into one folder the second to end fails, and what
// the first has written stays.
func TestTwoRuns(t *testing.T) {
	for _, url := range []string{"mem://" + t.Name(), t.TempDir()} {
		s := objectstore.New()
		open := func(overwrite bool) *Folder {
			t.Helper()
			f, err := Open(t.Context(), s, url, letters(), overwrite)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		commit := func(f *Folder, content string) error {
			_, err := f.Commit(t.Context(), []Document{{"a", []byte(content)}, {ManifestName, []byte(lettersManifest)}, {"b", []byte(content)}})
			return err
		}
		want := func(content string) {
			t.Helper()
			for _, name := range []string{"a", "b"} {
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
	f, err := Open(t.Context(), s, url, letters(), false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Create(t.Context(), url+"/b", objectstore.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Commit(t.Context(), []Document{{"a", nil}, {"b", nil}, {ManifestName, nil}}); err == nil {
		t.Error("no error")
	}
	for _, name := range []string{"a", ManifestName, SuccessName} {
		if _, err := s.Stat(t.Context(), objectstore.Join(url, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}
