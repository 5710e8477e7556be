package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestKill kills runs without warning at seeded moments, also while they
// resume: at no time is there half a file, and in the end there are the bytes
// of an unbroken run and nothing else.
func TestKill(t *testing.T) {
	moments := 5 // the fifth is while the results are written
	switch {
	case longtest.Enabled():
		moments = 20
	case testing.Short():
		moments = 3
	}
	input := mixed(t, 10_000, parquetio.WriteOptions{RowsPerGroup: 1500})
	run := func(output string, flags ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), binary, append([]string{
			"train", "--input", input, "--label", "class", "--output", output, "--progress", "none", "--select", "first",
			"--certificate", "none", "--theta", "0.001", "--memory_objects", "500", "--split", "80/10/10",
		}, flags...)...)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	start := time.Now()
	if out, err := run(whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(start)
	want := files(t, whole)
	for moment := range moments {
		random := rand.New(rand.NewPCG(uint64(moment), 7))
		output := filepath.Join(t.TempDir(), strconv.Itoa(moment))
		killed := 0
		for tries := 0; ; tries++ {
			if tries > 20 {
				t.Fatalf("moment %d: the run does not come to an end", moment)
			}
			c := run(output, "--resume")
			var stderr bytes.Buffer
			c.Stderr = &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			switch {
			case tries == 0 && moment%5 == 4:
				go killInCommit(c, output, time.Duration(random.Float64()*float64(time.Millisecond)), ended)
			case tries < 3:
				timer := time.AfterFunc(time.Duration(random.Float64()*float64(took)), func() { _ = c.Process.Kill() })
				defer timer.Stop()
			}
			err := c.Wait()
			close(ended)
			halfWritten(t, output)
			if err == nil {
				break
			}
			there, _ := filepath.Glob(filepath.Join(output, "*")) // the pattern is a good one
			for i := range there {
				there[i] = filepath.Base(there[i])
			}
			t.Logf("moment %d: killed with %v there", moment, there)
			if c.ProcessState.ExitCode() != -1 {
				t.Fatalf("moment %d: %v: %s", moment, err, stderr.String())
			}
			killed++
		}
		sameRun(t, fmt.Sprintf("moment %d, killed %d times", moment, killed), files(t, output), want)
	}
}

// sameRun checks that a run folder holds the documents of an unbroken run and no
// other file. Both are contents by name.
func sameRun(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	for _, name := range []string{"tree.json", "metrics.json", "schema.json", "_SUCCESS"} {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs from that of an unbroken run", when, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s stays", when, name)
		}
	}
}

// killInCommit kills a run some time after it has begun to write its results.
func killInCommit(c *exec.Cmd, folder string, after time.Duration, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		default:
		}
		begun, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err == nil && len(begun) > 0 {
			time.Sleep(after)
			_ = c.Process.Kill() // it may have ended
			return
		}
	}
}

// files returns all files of a folder, hidden ones included.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err == nil {
			all[name] = string(read(t, path))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// halfWritten checks that every file under its final name is complete.
func halfWritten(t *testing.T, folder string) {
	t.Helper()
	all := files(t, folder)
	names := []string{"tree.json", "metrics.json", "schema.json", "manifest.json"}
	for _, name := range append(slices.Clone(names), "checkpoints/state.json") {
		if b, ok := all[name]; ok && !json.Valid([]byte(b)) {
			t.Errorf("half a %s", name)
		}
	}
	for _, name := range names {
		_, marked := all["_SUCCESS"]
		if _, ok := all[name]; marked && !ok {
			t.Errorf("_SUCCESS without %s", name)
		}
	}
}

// TestInterruptAndResume: a run that was interrupted behind its first level goes
// on where it was.
func TestInterruptAndResume(t *testing.T) {
	input := mixed(t, 30_000, parquetio.WriteOptions{RowsPerGroup: 4000})
	args := []string{
		"train", "--select", "first", "--certificate", "none", "--input", input, "--label", "class",
		"--progress", "plain", "--theta", "0", "--memory_objects", "0", "--max_depth", "8", "--output",
	}
	whole, output := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "run")
	espalier(t, append(args, whole)...).wants(t, 0)
	interruptAt(t, "level 1", append(args, output)...).wants(t, 130, "interrupted")
	espalier(t, append(args, output)...).wants(t, 2, "unfinished run", "--resume")
	resumed := espalier(t, append(args, output, "--resume")...)
	resumed.wants(t, 0)
	if strings.Contains(resumed.stderr, "coalesce") {
		t.Errorf("the rows were read again:\n%s", resumed.stderr)
	}
	if files(t, output)["tree.json"] != files(t, whole)["tree.json"] {
		t.Error("another tree than that of an unbroken run")
	}
}

// TestTwoRuns: of two runs into one folder the second is refused while the first
// is alive, and takes over once it is dead.
func TestTwoRuns(t *testing.T) {
	input := mixed(t, 30_000, parquetio.WriteOptions{RowsPerGroup: 4000})
	output := filepath.Join(t.TempDir(), "run")
	args := []string{
		"train", "--select", "first", "--certificate", "none", "--input", input, "--label", "class",
		"--progress", "none", "--theta", "0", "--memory_objects", "0", "--output",
	}
	first := exec.CommandContext(t.Context(), binary, append(args, output)...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(output, "checkpoints", "state.json")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	espalier(t, append(args, output, "--resume")...).wants(t, 5, "another run", strconv.Itoa(first.Process.Pid), "at work")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // was killed
	leftover := filepath.Join(output, ".espalier-0011223344556677.tmp")
	if err := os.WriteFile(leftover, []byte("half a file"), 0o666); err != nil {
		t.Fatal(err)
	}
	espalier(t, append(args, output, "--resume")...).wants(t, 0)
	for name := range files(t, output) {
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "checkpoints") || name == "_LOCK" {
			t.Errorf("%s stays", name)
		}
	}
}
