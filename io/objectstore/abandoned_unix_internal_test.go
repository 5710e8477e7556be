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
