package objectstore

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExchangedBack: a file that others write into a folder just before it is exchanged stays, with the folder.
func TestExchangedBack(t *testing.T) {
	root := t.TempDir()
	names := []string{"day/rows", "day/notes.txt", "aside/rows"}
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := Exchange{Own: map[string]string{"rows": ""}}
	if done, err := x.swap(filepath.Join(root, "aside"), filepath.Join(root, "day"), "staged"); done || err != nil {
		t.Errorf("done %t, %v", done, err)
	}
	for _, name := range names {
		if b, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(b) != name {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}
