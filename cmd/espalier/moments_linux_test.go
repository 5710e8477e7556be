package main_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/io/longtest"
)

// momentsVariable is the environment variable that says at how many moments each
// verb is interrupted; by default at few, as each takes a run.
const momentsVariable = "ESPALIER_MOMENTS"

// answerWithin is the time in which a run ends once it is interrupted, if it has all processors.
const answerWithin = time.Second

// TestInterruptedAtAnyMoment interrupts verbs at seeded random moments of their runs: each ends
// with no more work than the processors do in a second, says what stays, and leaves no temporary
// file and no folder that looks finished. Processor time is what counts: the machine may be busy.
func TestInterruptedAtAnyMoment(t *testing.T) {
	longtest.Skip(t)
	moments, number, columns := 2, 500, 60
	if text := os.Getenv(momentsVariable); text != "" {
		var err error
		number, columns = 1500, 300
		if moments, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	wide := synthetic(t, func(c *rows.Config) {
		c.Rows = number
		c.Numeric = columns
	})
	long := synthetic(t, func(c *rows.Config) {
		c.Rows = 60_000
		c.RowsPerFile = 20_000
		c.RowsPerGroup = 5_000
	})
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
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(50, uint64(len(name))))
			output := filepath.Join(t.TempDir(), "out")
			args := append(args, "--output", output, "--progress", "plain")
			start := time.Now()
			espalier(t, append(args, "--overwrite")...).wants(t, 0)
			whole, worst := time.Since(start), time.Duration(0)
			for left, tries := moments, 0; left > 0; tries++ {
				if tries > 10*moments {
					t.Fatalf("%d of %d runs were over before their interrupts", tries, moments)
				}
				spent, interrupted := interruptAfter(t, time.Duration(random.Float64()*float64(whole)), args, output)
				if interrupted {
					left--
				}
				worst = max(worst, spent)
			}
			limit := answerWithin * time.Duration(runtime.NumCPU())
			t.Logf("a run takes %v; an interrupted one worked for at most %v of processor time", whole, worst)
			if worst > limit {
				t.Errorf("an interrupted run worked for %v of processor time, want at most %v", worst, limit)
			}
		})
	}
}

// interruptAfter runs a command line and interrupts it some time later. It returns the processor
// time that the run took to end then. interrupted is false if the run was over before.
func interruptAfter(t *testing.T, d time.Duration, args []string, output string) (spent time.Duration, interrupted bool) {
	t.Helper()
	if err := os.RemoveAll(output); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Nobody waits for the process yet, so its entry in /proc stays after its end.
	time.Sleep(d)
	over, before := processorTime(t, c.Process.Pid)
	if !over {
		if err := c.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM}[int(d)%2]); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Wait() // the exit code is looked at
	if over {
		outcome{code: c.ProcessState.ExitCode(), stderr: stderr.String()}.wants(t, 0)
		return 0, false
	}
	spent = c.ProcessState.UserTime() + c.ProcessState.SystemTime() - before
	code := c.ProcessState.ExitCode()
	switch {
	case code == 0: // it was about to end
		return spent, true
	case code < 0 && len(files(t, output)) == 0: // it had not come to main
		return spent, true
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
		t.Errorf("interrupted after %v: checkpoints stay: %t, of %v; it says %q",
			d, checkpoint, slices.Sorted(maps.Keys(files(t, output))), stderr.String())
	}
	return spent, true
}

// processorTime returns the user and system time of a process that nobody has waited for, and
// whether the process is over.
func processorTime(t *testing.T, pid int) (over bool, spent time.Duration) {
	t.Helper()
	const ticks = 100 // a second, for all of /proc
	stat := string(read(t, fmt.Sprintf("/proc/%d/stat", pid)))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // from the third on, the state
	sum := 0
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("%v in %s", err, stat)
		}
		sum += n
	}
	return fields[0] == "Z", time.Duration(sum) * time.Second / ticks
}
