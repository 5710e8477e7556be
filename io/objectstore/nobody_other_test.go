//go:build !linux

package objectstore_test

import (
	"os"
	"testing"
)

func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("root may write to all folders, and cannot give up this right on this system: run it as another user")
	}
}
