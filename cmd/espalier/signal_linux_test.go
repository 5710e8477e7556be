package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSecondSignal: a command that does not come to its end after a signal, as it waits for standard input,
// ends at the second one.
func TestSecondSignal(t *testing.T) {
	c := exec.CommandContext(t.Context(), binary, "import", "-", "--output", filepath.Join(t.TempDir(), "rows"))
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close() //nolint:errcheck // nothing is written
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	time.Sleep(300 * time.Millisecond) // it comes to main, or the first signal ends it
	for range 100 {
		_ = c.Process.Signal(syscall.SIGTERM) // an error: it has ended
		select {
		case err := <-ended:
			if code := c.ProcessState.ExitCode(); code != 130 && code != -1 {
				t.Errorf("exit code %d (%v), want 130; %s", code, err, stderr.String())
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	_ = c.Process.Kill()
	t.Error("it does not end")
}
