package objectstore_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// TestSeen: an object is read as it was seen, or not at all; a write that is bound to what
// was seen fails where something else is there.
func TestSeen(t *testing.T) {
	for _, folder := range []string{"mem://" + t.Name(), t.TempDir()} {
		s, url := objectstore.New(), objectstore.Join(folder, "a.json")
		absent := objectstore.WriteOptions{IfAbsent: true}
		generation, err := objectstore.WriteSeen(t.Context(), s, url, []byte("one"), absent)
		if err != nil || generation == "" {
			t.Fatalf("%s: generation %q, error %v", url, generation, err)
		}
		seen, err := s.Stat(t.Context(), url)
		if err != nil || seen.Generation != generation {
			t.Fatalf("%s: generation %q, error %v, want %q", url, seen.Generation, err, generation)
		}
		if b, err := objectstore.ReadSeen(t.Context(), s, seen, 10); err != nil || string(b) != "one" {
			t.Errorf("%s: read %q, error %v", url, b, err)
		}
		if _, err := objectstore.ReadSeen(t.Context(), s, seen, 2); err == nil {
			t.Errorf("%s: no error for an object above the limit", url)
		}
		if _, err := objectstore.WriteSeen(t.Context(), s, url, []byte("two"), absent); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: written over what is there: %v", url, err)
		}
		bound := objectstore.WriteOptions{IfGeneration: generation}
		if _, err := objectstore.WriteSeen(t.Context(), s, url, []byte("another"), bound); err != nil {
			t.Fatal(err)
		}
		if _, err := objectstore.ReadSeen(t.Context(), s, seen, 10); !errors.Is(err, objectstore.ErrChanged) {
			t.Errorf("%s: a changed object was read: %v", url, err)
		}
	}
	if _, err := objectstore.WriteSeen(t.Context(), objectstore.New(), "nowhere://a", nil, objectstore.WriteOptions{}); err == nil {
		t.Error("no error for a scheme without a driver")
	}
}
