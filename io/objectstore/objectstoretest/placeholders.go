package objectstoretest

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Placeholders checks that a console's placeholder of a folder, whose name ends in a slash,
// is no object and is removed with the folder. The folder base must hold d/ and d/x, and
// its bucket nothing else.
func Placeholders(t *testing.T, s *objectstore.Store, base, bucket string) {
	t.Helper()
	for _, glob := range []string{"/d/*", "/**", "/*/*"} {
		objects, err := s.List(t.Context(), base+glob)
		if err != nil || len(objects) != 1 || objects[0].URL != base+"/d/x" {
			t.Errorf("%s: got %v, %v, expected d/x", glob, objects, err)
		}
	}
	if _, err := s.Stat(t.Context(), base+"/d/"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, expected %v", err, fs.ErrNotExist)
	}
	if err := s.RemoveAll(t.Context(), base+"/d"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), bucket+"/**"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, expected an empty bucket", err)
	}
}
