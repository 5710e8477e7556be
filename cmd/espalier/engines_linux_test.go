package main_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// title is a choice as the name of a subtest.
func title(choice map[string]string) string {
	var words []string
	for name, value := range choice {
		if value != "" {
			words = append(words, name+"="+value)
		}
	}
	slices.Sort(words)
	return strings.Join(words, "/")
}

// dataFault trains on a number column with a text in it.
func dataFault(t *testing.T, e *engine) {
	t.Helper()
	ages := repeat(20, strconv.Itoa)
	ages[7] = "old"
	input := parquet(t, parquetio.WriteOptions{}, column("age", ages), column("class", repeat(20, ab)))
	for _, environment := range []string{"LOOPBACK", "PROCESS"} {
		o, _ := train(t, input, append(e.flags(environment, "2"), "--numeric", "age")...)
		o.wants(t, 3, "data.parquet", "row group 0", `column "age"`, `"old"`)
		if strings.Contains(o.stderr, "caused by") {
			t.Errorf("%s: the engine's words are in the message: %s", environment, o.stderr)
		}
	}
}

// scoring scores rows on an engine, by its workers and by this process's child:
// predictions and metrics have the bytes of those made here.
func scoring(t *testing.T, e *engine) {
	t.Helper()
	data := synthetic(t, func(c *rows.Config) {
		c.Rows = 60_000
		c.RowsPerFile = 25_000
		c.RowsPerGroup = 10_000
	})
	model := filepath.Join(t.TempDir(), "model")
	espalier(t, "train", "--input", data, "--label", "class", "--output", model, "--select", "first", "--certificate", "none",
		"--progress", "none").wants(t, 0)
	args := []string{
		"predict", "--model", model, "--input", data + "/*.parquet", "--keep",
		"all", "--progress", "none",
	}
	score := func(more ...string) map[string]string {
		output := filepath.Join(t.TempDir(), "scored")
		espalier(t, slices.Concat(args, more, []string{"--output", output})...).wants(t, 0)
		all := files(t, output)
		delete(all, "_manifest.json") // has times and folders
		return all
	}
	want := score()
	if len(want) != 5 { // three files, metrics and the mark of success
		t.Fatalf("%d files", len(want))
	}
	for _, environment := range []string{"LOOPBACK", "PROCESS"} {
		if diff := cmp.Diff(want, score(e.flags(environment, "2")...)); diff != "" {
			t.Errorf("%s: other bytes than here:\n%s", environment, diff)
		}
	}
}

// TestFlink: trees grown on Flink, by workers in this process's child or by ones
// that Flink starts, have the bytes of those grown here, however the data lie
// and however much memory there is; and what is wrong with the data is told by
// the same sentence.
func TestFlink(t *testing.T) {
	flink.require(t)
	sets := append([]string{"mixed"}, publicSets(t, "tic-tac-toe", "credit-g", "electricity", "firewall")...)
	m := newMatrix(t, sets)
	e := flink.start(t)
	for _, choice := range runs([]string{"LOOPBACK", "PROCESS"}, []string{"1", "2", "4"}, sets) {
		t.Run(title(choice), func(t *testing.T) { m.run(t, e, choice) })
	}
	t.Run("data fault", func(t *testing.T) { dataFault(t, e) })
	t.Run("predict", func(t *testing.T) { scoring(t, e) })
	noWorkers(t) // the engine goes on, its workers do not
}

// TestSpark: the same on Spark.
func TestSpark(t *testing.T) {
	spark.require(t)
	sets := append([]string{"mixed"}, publicSets(t, "credit-g")...)
	m := newMatrix(t, sets)
	e := spark.start(t)
	for _, choice := range runs([]string{"LOOPBACK", "PROCESS"}, []string{"2"}, sets) {
		t.Run(title(choice), func(t *testing.T) { m.run(t, e, choice) })
	}
	t.Run("data fault", func(t *testing.T) { dataFault(t, e) })
	t.Run("predict", func(t *testing.T) { scoring(t, e) })
}

// harmed is a run of the whole grid on Flink, level by level, that a test does harm to while
// a level is on its way.
type harmed struct {
	engine *engine
	args   []string          // but for the output folder and the engine
	want   map[string]string // the files of an unbroken run
}

func newHarmed(t *testing.T) *harmed {
	t.Helper()
	flink.require(t)
	data := synthetic(t, func(c *rows.Config) {
		c.Rows = 600_000
		c.RowsPerGroup = 50_000
	})
	h := &harmed{args: []string{
		"train", "--input", data + "/*.parquet", "--label", "class", "--certificate", "none",
		"--memory_objects", "0", "--max_depth", "3", "--progress", "plain",
	}}
	here := filepath.Join(t.TempDir(), "here")
	espalier(t, append(h.args, "--output", here)...).wants(t, 0)
	h.want = files(t, here)
	h.engine = flink.start(t)
	return h
}

// midLevel starts a run and returns it, with the worker of the level after the
// given one, some time after that has begun.
func (h *harmed) midLevel(t *testing.T, output string, level int, random *rand.Rand) (run *exec.Cmd,
	stderr *strings.Builder, worker int,
) {
	t.Helper()
	run = exec.Command(binary, slices.Concat(h.args, h.engine.flags("PROCESS", "2"), []string{"--output", output})...)
	stderr = &strings.Builder{}
	lines := &notifier{w: stderr, on: fmt.Sprintf("level %d:", level), seen: make(chan struct{})}
	run.Stderr = lines
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lines.seen:
	case <-time.After(deadline):
		_ = run.Process.Kill()
		t.Fatalf("the run does not get to level %d", level)
	}
	worker = newWorker(t, binary, workerProcesses(t, binary)) // the last level's may not have ended yet
	time.Sleep(time.Duration(random.Float64() * float64(150*time.Millisecond)))
	return run, stderr, worker
}

// TestFlinkWorkerKilled kills workers without warning while they are at a level:
// Flink starts others, as its restart strategy says, to the same bytes.
func TestFlinkWorkerKilled(t *testing.T) {
	h := newHarmed(t)
	hits := 0
	for moment := 0; hits < 3; moment++ {
		if moment == 10 {
			t.Fatalf("%d of %d workers were killed at work, want 3", hits, moment)
		}
		output := filepath.Join(t.TempDir(), "run")
		before := h.engine.restarts(t)
		run, stderr, worker := h.midLevel(t, output, moment%3, rand.New(rand.NewPCG(uint64(moment), 1)))
		if err := syscall.Kill(worker, syscall.SIGKILL); err != nil {
			t.Logf("moment %d: the worker has ended before: %v", moment, err)
		}
		if err := run.Wait(); err != nil {
			t.Fatalf("moment %d: %v\n%s", moment, err, stderr)
		}
		sameFiles(t, h.want, files(t, output))
		if h.engine.restarts(t) > before { // else it had done its work
			hits++
		}
		noWorkers(t)
	}
}

// TestFlinkDriverKilled kills runs without warning while the engine is at
// a level, and resumes them at once, while the engine may still be at it.
func TestFlinkDriverKilled(t *testing.T) {
	h := newHarmed(t)
	for moment := range 2 {
		output := filepath.Join(t.TempDir(), "run")
		run, _, _ := h.midLevel(t, output, moment, rand.New(rand.NewPCG(uint64(moment), 2)))
		if err := run.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = run.Wait() // it was killed
		if _, ok := files(t, output)["_SUCCESS"]; ok {
			t.Fatal("the run had ended before it was killed")
		}
		o := espalier(t, slices.Concat(h.args, h.engine.flags("PROCESS", "2"), []string{"--output", output, "--resume"})...)
		o.wants(t, 0)
		if strings.Contains(o.stderr, "coalesce") {
			t.Errorf("the rows were read again:\n%s", o.stderr)
		}
		sameFiles(t, h.want, files(t, output))
		noWorkers(t)
	}
}
