//go:build !linux

package objectstore_test

import (
	"os"
	"testing"
)

func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("waits for a run by another user than root, who may write to all folders and on this system cannot " +
			"give that up")
	}
}
