package importing

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/usage"
)

// endless is an input without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, "a,b\n"), nil }

// TestCopied: an endless input is refused before it fills the disk.
func TestCopied(t *testing.T) {
	var to bytes.Buffer
	if err := copied(&to, strings.NewReader("a,b\n"), 5); err != nil || to.String() != "a,b\n" {
		t.Errorf("copied %q, %v", to.String(), err)
	}
	if err := copied(&to, endless{}, 1000); !errors.As(err, new(*usage.Error)) || to.Len() > 2000 {
		t.Errorf("copied %d bytes, %v", to.Len(), err)
	}
	if free, known := space(t.TempDir()); known && free <= 0 {
		t.Errorf("%d bytes are free", free)
	}
}
