package objectstore_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// asNobody takes root's rights to all files from this goroutine until the test ends.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return // not root
	}
	const nobody = 65534
	runtime.LockOSThread() // the user for file access belongs to the thread
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setfsuid(0); err != nil {
			t.Error(err)
		}
		runtime.UnlockOSThread()
	})
}
