package main_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// momentsVariable is the environment variable that says at how many moments each
// verb is interrupted; by default at few, as each takes a run.
const momentsVariable = "ESPALIER_MOMENTS"

// answerWithin is the time in which a run ends once it is interrupted.
const answerWithin = time.Second

// TestInterruptedAtAnyMoment interrupts verbs at seeded random moments of their runs:
// each ends within a second, says what stays, and leaves no temporary file and no
// folder that looks finished.
func TestInterruptedAtAnyMoment(t *testing.T) {
	moments, rows, columns := 2, "500", "60"
	if text := os.Getenv(momentsVariable); text != "" {
		var err error
		rows, columns = "1500", "300"
		if moments, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	wide, long := filepath.Join(t.TempDir(), "wide"), filepath.Join(t.TempDir(), "long")
	espalier(t, "synth", "--output", wide, "--rows", rows, "--numeric", columns, "--progress", "none").wants(t, 0)
	espalier(t, "synth", "--output", long, "--rows", "60000", "--rows_per_group", "5000", "--rows_per_file", "20000",
		"--progress", "none").wants(t, 0)
	model := filepath.Join(t.TempDir(), "model")
	espalier(t, "train", "--input", long, "--label", "class", "--output", model, "--select", "first", "--certificate",
		"none", "--progress", "none").wants(t, 0)
	for name, args := range map[string][]string{
		"train": {"train", "--input", wide, "--label", "class"},
		"levels": {
			"train", "--input", long, "--label", "class", "--memory_objects", "1000", "--select", "first",
			"--certificate", "none",
		},
		"predict": {"predict", "--input", long, "--model", model},
		"synth":   {"synth", "--rows", "1000000", "--rows_per_file", "100000"},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(50, uint64(len(name))))
			output := filepath.Join(t.TempDir(), "out")
			args := append(args, "--output", output, "--progress", "plain")
			whole := interruptAfter(t, time.Hour, args, output)
			worst := time.Duration(0)
			for range moments {
				at := time.Duration(random.Float64() * float64(whole))
				took := interruptAfter(t, at, args, output)
				for range 2 { // a busy machine is slow once, a run that does not listen each time
					if took > answerWithin {
						took = min(took, interruptAfter(t, at, args, output))
					}
				}
				worst = max(worst, took)
			}
			t.Logf("a run takes %v; of %d interrupts the slowest was answered after %v", whole, moments, worst)
			if worst > answerWithin {
				t.Errorf("an interrupt was answered after %v, want at most %v", worst, answerWithin)
			}
		})
	}
}

// interruptAfter runs a command line and interrupts it some time later. It returns
// how long the run took to end then, or, if it was over before, in all.
func interruptAfter(t *testing.T, d time.Duration, args []string, output string) time.Duration {
	t.Helper()
	if err := os.RemoveAll(output); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	start := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // the exit code is looked at
		close(ended)
	}()
	select {
	case <-ended:
		if code := c.ProcessState.ExitCode(); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		return time.Since(start)
	case <-time.After(d):
	}
	start = time.Now()
	if err := c.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM}[int(d)%2]); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	<-ended
	took := time.Since(start)
	code := c.ProcessState.ExitCode()
	if took > answerWithin/2 {
		t.Logf("interrupted after %v, ended after %v with code %d:\n%s", d, took, code, stderr.String())
	}
	switch {
	case code == 0: // it was about to end
		return took
	case code < 0 && len(files(t, output)) == 0: // it had not come to main
		return took
	}
	outcome{code: code, stderr: stderr.String()}.wants(t, 130, "interrupted")
	resumable := strings.Contains(stderr.String(), "--resume")
	checkpoint := false
	for name := range files(t, output) {
		checkpoint = checkpoint || strings.HasPrefix(name, "checkpoints/")
		if base := filepath.Base(name); base == "_SUCCESS" || base == "_LOCK" || strings.HasPrefix(base, ".") {
			t.Errorf("interrupted after %v: %s stays", d, name)
		}
	}
	if checkpoint != resumable {
		t.Errorf("interrupted after %v: checkpoints stay: %t; it says %q", d, checkpoint, stderr.String())
	}
	return took
}
