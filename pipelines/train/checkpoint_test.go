package train_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// stopping is a Reporter that ends the run when its n-th job begins.
type stopping struct {
	silent

	left   int
	cancel context.CancelFunc
	jobs   []string
}

// Job counts the jobs: phases are only shown when they take a while.
func (r *stopping) Job(name string, _ int64, _ string) {
	if !slices.ContainsFunc([]string{"summarise", "coalesce", "level", "induce", "evaluate"}, func(job string) bool { return strings.HasPrefix(name, job) }) {
		return
	}
	r.jobs = append(r.jobs, name)
	if r.left--; r.left == 0 {
		r.cancel()
	}
}

// trainUntil trains until the n-th job begins and returns the names of the
// jobs. A run of fewer jobs ends.
func trainUntil(t *testing.T, c config.Train, n int) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &stopping{left: n, cancel: cancel}
	_, err := train.Train(ctx, c, r)
	return r.jobs, err
}

func resumable(t *testing.T) config.Train {
	t.Helper()
	data := newRows(700)
	c := oneTree()
	c.Input = []string{data.write(t, ascending(700), 3, parquetio.WriteOptions{RowsPerGroup: 100})}
	c.Label, c.Weight, c.Output = "class", "weight", filepath.Join(t.TempDir(), "run") // the id is left out as a key
	c.Tests, c.Theta, c.MemoryObjects = []split.Family{split.Both}, []float64{0}, 60
	return c
}

// TestResume interrupts a run at each of its jobs in turn, also one that was
// resumed: in the end there are the bytes of an unbroken run, and no checkpoint.
func TestResume(t *testing.T) {
	c := resumable(t)
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	want := readRun(t, c.Output)
	for _, memory := range []int64{0, 60, -1} { // MemoryObjects of the resumed run
		c.Output = filepath.Join(t.TempDir(), fmt.Sprintf("resumed%d", memory))
		c.MemoryObjects, c.Resume = 60, false
		_, err := trainUntil(t, c, 5)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want that the run was interrupted", err)
		}
		c.MemoryObjects, c.Resume = memory, true
		var all []string
		for err != nil {
			var jobs []string
			jobs, err = trainUntil(t, c, 2) // one job more each time
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			all = append(all, jobs...)
			if len(all) > 100 {
				t.Fatalf("the run does not come to an end: %v", all)
			}
		}
		if slices.Contains(all, "coalesce") {
			t.Errorf("memory %d: the rows were read again: %v", memory, all)
		}
		if got := readRun(t, c.Output); got != want {
			t.Errorf("memory %d: another tree than that of an unbroken run", memory)
		}
		if _, err := os.Stat(filepath.Join(c.Output, "checkpoints")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("memory %d: the checkpoints stay: %v", memory, err)
		}
		if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
			t.Errorf("memory %d: resuming a finished run: %v", memory, err)
		}
	}
}

// readRun returns the files of a run that must not depend on how it went.
func readRun(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"tree.json", "metrics.json", "schema.json", "_SUCCESS"} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// sealed gives a changed state.json the digest of its content, as whoever means harm would.
func sealed(state string) string {
	bare := digestName.ReplaceAllString(state, "")
	return strings.Replace(bare, `,"config":`, fmt.Sprintf(`,"digest":"%x","config":`, sha256.Sum256([]byte(bare))), 1)
}

var digestName = regexp.MustCompile(`,"digest":"[^"]*"`)

// TestForged: a checkpoint with numbers that its blocks do not have, and the digest to them, is refused; it neither makes a
// job panic nor takes memory for them.
func TestForged(t *testing.T) {
	c := resumable(t)
	if _, err := trainUntil(t, c, 3); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	c.Resume = true
	state := filepath.Join(c.Output, "checkpoints", "state.json")
	b, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 << 40
	open := regexp.MustCompile(`"objects":\[(\d+),(\d+),(\d+)\],"weight":`)                                           // at the root
	rows := regexp.MustCompile(`"objects":(\d+)(,"heaviest":\d+,"weight":\d+,"class_objects":)\[(\d+),(\d+),(\d+)\]`) // of training
	n := make([]int, 3)                                                                                               // training objects by class
	for k, text := range open.FindStringSubmatch(string(b))[1:] {
		if n[k], err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	const damaged = "is damaged: numbers of objects that its blocks do not have"
	all := n[0] + n[1] + n[2]
	for _, forged := range []struct {
		in       *regexp.Regexp
		to, want string
	}{
		{open, `"objects":[61,0,0],"weight":`, "state.json: the file is damaged, or does not belong to the run (the job "},
		{open, fmt.Sprintf(`"objects":[%d,%d,%d],"weight":`, n[0], n[1], most), "is damaged: an open node that the trees do not have, or with"},
		{open, fmt.Sprintf(`"objects":[%d,%d,%d],"presence":7,"weight":`, n[0], n[1], n[2]), "no checkpoint of this version"},
		{rows, fmt.Sprintf(`"objects":%d$2[%d,%d,%d]`, most+n[0]+n[1], n[0], n[1], most), damaged},
		{rows, fmt.Sprintf(`"objects":%d$2[%d,%d,%d]`, all+1, n[0], n[1], n[2]), damaged},
		{rows, fmt.Sprintf(`"objects":%d$2[%d,%d,%d,0]`, all, n[0], n[1], n[2]), damaged},
	} {
		at := forged.in.FindStringSubmatchIndex(string(b))
		changed := string(b[:at[0]]) + string(forged.in.Expand(nil, []byte(forged.to), b, at)) + string(b[at[1]:])
		if err := os.WriteFile(state, []byte(sealed(changed)), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := train.Train(t.Context(), c, new(silent))
		if err == nil || !strings.Contains(err.Error(), forged.want) || !strings.Contains(err.Error(), "--overwrite") {
			t.Errorf("%s: error %v, want %s", forged.to, err, forged.want)
		}
		if nature := usage.NatureOf(err); nature != usage.Data && nature != usage.Usage {
			t.Errorf("%s: nature %d", forged.to, nature)
		}
	}
	if err := os.WriteFile(state, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Errorf("the checkpoint itself: %v", err)
	}
}

// blocksName matches the name of the folder of blocks in state.json.
var blocksName = regexp.MustCompile(`"blocks":"[^"]*"`)

// TestResumeRefused: a run does not go on with another input or configuration.
func TestResumeRefused(t *testing.T) {
	c := resumable(t)
	c.CostsFile = filepath.Join(t.TempDir(), "costs.csv")
	costs := func(text string) {
		if err := os.WriteFile(c.CostsFile, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	costs("feature,cost\n")
	if _, err := trainUntil(t, c, 4); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	refused := func(c config.Train, words ...string) {
		t.Helper()
		_, err := train.Train(t.Context(), c, new(silent))
		if !errors.As(err, new(*usage.Error)) {
			t.Fatalf("got %v, want a usage error", err)
		}
		for _, word := range words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%v: lacks %q", err, word)
			}
		}
	}
	refused(c, "unfinished run", "--resume", "--overwrite")
	c.Resume = true
	changed := c
	changed.Theta = []float64{0.01}
	refused(changed, "--theta has become 0.01 instead of 0")
	changed = c
	changed.Ignore = []string{"id"}
	refused(changed, "--ignore")
	costs("feature,cost\nsize,2\n")
	refused(c, "costs")
	costs("feature,cost\n")
	state := filepath.Join(c.Output, "checkpoints", "state.json")
	b, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(filepath.Dir(c.Output), "victim", "scratch", "precious")
	if err := os.MkdirAll(filepath.Dir(victim), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(victim, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{
		string(b[:len(b)/2]), strings.Replace(string(b), `"trees":[0`, `"trees":[-1`, 1),
		strings.Replace(string(b), `"weight":`, `"weight":9`, 1),
		sealed(blocksName.ReplaceAllString(string(b), `"blocks":"../../victim"`)),
		sealed(strings.Replace(string(b), `"blocks":["`, `"blocks":["../../../victim/scratch/`, 1)),
	} {
		if damaged == string(b) {
			t.Fatal("nothing was changed")
		}
		if err := os.WriteFile(state, []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		refused(c, "no checkpoint of this version")
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(state, b, 0o666); err != nil {
		t.Fatal(err)
	}
	more := newRows(700).write(t, ascending(700), 1, parquetio.WriteOptions{})
	changed = c
	changed.Input = []string{c.Input[0], more}
	refused(changed, "--input")
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Errorf("the same again: %v", err)
	}
}
