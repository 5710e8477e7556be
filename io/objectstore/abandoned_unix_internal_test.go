//go:build unix

package objectstore

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestAbandoned: the first write of a process into a folder removes the temporary files of killed processes, and none of
// living ones, however many begin at once.
func TestAbandoned(t *testing.T) {
	s, folder := New(), t.TempDir()
	dead := filepath.Join(folder, ".espalier-0011223344556677.tmp")
	if err := os.WriteFile(dead, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	var writers [50]Writer
	var begun sync.WaitGroup
	for i := range writers {
		begun.Go(func() {
			sweptFolders.Clear() // as if each was another process
			var err error
			if writers[i], err = s.Create(t.Context(), filepath.Join(folder, string(rune('A'+i))), WriteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	begun.Wait()
	if _, err := os.Stat(dead); err == nil {
		t.Error("the file of a killed process stays")
	}
	for _, w := range writers {
		if _, err := w.Write([]byte("whole")); err != nil {
			t.Error(err)
		}
		if err := w.Commit(); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(writers) {
		t.Errorf("%d files, %v; want %d", len(entries), err, len(writers))
	}
}

// TestTemporaryFolder: a folder of a living process stays, and one of a killed process goes with all that is in it.
func TestTemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := filepath.Join(os.TempDir(), "espalier-test-1", "below")
	if err := os.MkdirAll(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first, removeFirst, err := TemporaryFolder("espalier-test-")
	if err != nil {
		t.Fatal(err)
	}
	_, removeSecond, err := TemporaryFolder("espalier-test-")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first); err != nil {
		t.Error(err)
	}
	removeFirst()
	removeSecond()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%d folders stay, %v", len(left), err)
	}
}
