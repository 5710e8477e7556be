package objectstore_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// TestPipes: a pipe in place of a file is refused by all that looks at it. Nobody writes to the pipe, so
// opening it as a file would block.
func TestPipes(t *testing.T) {
	url := filepath.Join(t.TempDir(), "tree.json")
	if err := syscall.Mkfifo(url, 0o666); err != nil {
		t.Fatal(err)
	}
	s := objectstore.New()
	for name, look := range map[string]func() error{
		"open":    func() error { _, err := s.Open(t.Context(), url); return err },
		"stat":    func() error { _, err := s.Stat(t.Context(), url); return err },
		"list":    func() error { _, err := s.List(t.Context(), url); return err },
		"read":    func() error { _, err := s.ReadAll(t.Context(), url, 0); return err },
		"device":  func() error { _, err := s.ReadAll(t.Context(), "/dev/null", 0); return err },
		"removal": func() error { return s.Remove(t.Context(), url) },
	} {
		if err := look(); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
}
