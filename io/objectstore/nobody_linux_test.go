package objectstore_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// asNobody takes from this goroutine, until the test ends, the rights that root
// has to all files.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return // has none
	}
	const nobody = 65534
	runtime.LockOSThread() // the identity for files is the thread's
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
