package main_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

var binary string // built once for all tests

// TestMain builds the real binary.
func TestMain(m *testing.M) {
	flag.Parse()
	for _, name := range []string{"test.fuzz", "damage"} {
		if flag.Lookup(name).Value.String() != "" { // these tests do not run the binary
			m.Run()
			return
		}
	}
	folder, err := os.MkdirTemp("", "espalier-test")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(folder, "espalier")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	m.Run()
	if err := os.RemoveAll(folder); err != nil {
		panic(err)
	}
}

// outcome is how a run of the binary ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// deadline is far beyond what any test needs: a run that takes so long hangs.
const deadline = 2 * time.Minute

// memoryLimit makes more than 1 GiB an error, which ends a process with a trace
// of its goroutines.
const memoryLimit = "ulimit -d 1048576"

// espalier runs the binary.
func espalier(t *testing.T, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	// The limit is set by a shell: what a process reports of its own peak memory
	// has the peak of the tests in it, from which it was forked.
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", memoryLimit + ` && exec "$0" "$@"`, binary}, args...)...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Errorf("%v: hangs", args)
	}
	return outcome{code: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// wants checks an exit code and that the last line on stderr is one sentence
// with the given words.
func (o outcome) wants(t *testing.T, code int, words ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d; stderr:\n%s", o.code, code, o.stderr)
	}
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	last := lines[len(lines)-1]
	if code != 0 && !strings.HasPrefix(last, "espalier: ") {
		t.Errorf("stderr ends %q, want one sentence of espalier", last)
	}
	for _, bad := range []string{"panic", "goroutine ", ".go:", "Usage:"} {
		if strings.Contains(o.stderr, bad) {
			t.Errorf("stderr has %q:\n%s", bad, o.stderr)
		}
	}
	for _, word := range words {
		if !strings.Contains(o.stderr, word) {
			t.Errorf("stderr lacks %q:\n%s", word, o.stderr)
		}
	}
}

// parquet writes a Parquet file and returns its name.
func parquet(t *testing.T, opts parquetio.WriteOptions, columns ...parquetio.WriteColumn) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data.parquet")
	if err := parquetio.Write(context.Background(), objectstore.New(), name, columns, opts); err != nil {
		t.Fatal(err)
	}
	return name
}

// train runs train on a file with a label column "class", unless it is unlabelled, into a new folder.
func train(t *testing.T, input string, more ...string) (outcome, string) {
	t.Helper()
	output := filepath.Join(t.TempDir(), "run")
	args := []string{"train", "--input", input, "--output", output, "--progress", "none"}
	if !slices.Contains(more, unlabelled) {
		args = append(args, "--label", "class")
	}
	more = slices.DeleteFunc(slices.Clone(more), func(flag string) bool { return flag == unlabelled })
	return espalier(t, append(args, more...)...), output
}

// unlabelled stands for no label among the flags that train is given.
const unlabelled = ""

// fewTrees returns flags of train, by which a frontier is chosen from fewer trees than by default: for tests of what is
// done with a run.
func fewTrees(flags ...string) []string {
	return append([]string{"--lambda", "10", "--theta", "0.005", "--folds", "2", "--certificate", "none"}, flags...)
}

// mixed is a small file of all sorts of columns.
func mixed(t *testing.T, n int, opts parquetio.WriteOptions) string {
	t.Helper()
	var (
		floats  []*float64
		ints    []int64
		texts   []*string
		flags   []bool
		weights []float64
		class   []string
	)
	for i := range n {
		x, s := float64(i%37)/4, fmt.Sprintf("value-%d", i%11)
		floats, texts = append(floats, &x), append(texts, &s)
		if i%13 == 5 {
			floats[i] = nil
		}
		if i%17 == 3 {
			texts[i] = nil
		}
		ints, flags, weights = append(ints, int64(i*i%101)), append(flags, i%3 == 0), append(weights, float64(1+i%4)/2)
		class = append(class, []string{"a", "b", "c"}[(i%37/15+i%11/5+i%7/6)%3])
	}
	return parquet(t, opts,
		parquetio.WriteColumn{Name: "x", Values: floats},
		parquetio.WriteColumn{Name: "n", Values: ints, Encoding: parquetio.Delta},
		parquetio.WriteColumn{Name: "s", Values: texts},
		parquetio.WriteColumn{Name: "flag", Values: flags},
		parquetio.WriteColumn{Name: "w", Values: weights, Encoding: parquetio.Plain},
		parquetio.WriteColumn{Name: "class", Values: class},
	)
}

// synthetic writes synthetic rows, and returns their folder.
func synthetic(t *testing.T, edit func(c *rows.Config)) string {
	t.Helper()
	c := rows.Default()
	edit(&c)
	folder := filepath.Join(t.TempDir(), "rows")
	if err := rows.Write(t.Context(), objectstore.New(), folder, c); err != nil {
		t.Fatal(err)
	}
	return folder
}
