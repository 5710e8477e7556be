package main_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/io/longtest"
)

// killed is a verb to be killed, and the flags by which it goes on from what it has left.
type killed struct {
	args  []string
	again []string
	begin string // folder that is there before
}

// TestKilledAtAnyMoment kills verbs at seeded random moments, without warning. The same command, run again, with the
// flags that its refusal names, ends with the files of a run that was let alone, and no other one is there.
// bench/kills.py does the same for all verbs, and at each change of a name.
func TestKilledAtAnyMoment(t *testing.T) {
	longtest.Skip(t)
	moments := 1
	if text := os.Getenv(momentsVariable); text != "" {
		var err error
		if moments, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	in := func(name string) string { return filepath.Join(work, name) }
	input := filepath.Join(synthetic(t, func(c *rows.Config) {
		c.Rows = 1500
		c.Numeric = 3
		c.Categorical = 1
	}), "part-00000.parquet")
	train := []string{
		"train", "--input", input, "--label", "class", "--progress", "none", "--algorithm", "c45", "--lambda", "10", "--theta",
		"0.005", "--folds", "0", "--report", "none", "--output",
	}
	espalier(t, append(train, in("model"))...).wants(t, 0)
	night := in("night.yaml")
	yaml := fmt.Sprintf("input: %s\ndestination: %s\nlabel: class\nselect: first\nmemory_objects: 50\nreport: none\nprogress: none\n",
		input, in("out"))
	if err := os.WriteFile(night, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]killed{
		"levels":  {args: append(train, in("out"), "--memory_objects", "50"), again: []string{"--resume", "--overwrite"}},
		"predict": {args: []string{"predict", "--model", in("model"), "--input", input, "--output", in("out"), "--progress", "none"}, again: []string{"--overwrite"}},
		"report":  {args: []string{"report", in("out"), "--overwrite"}, begin: in("model")},
		"promote": {args: []string{"frontier", in("model"), "--promote", "1", "--output", in("out"), "--progress", "none"}, again: []string{"--overwrite"}},
		"retrain": {args: []string{"retrain", "--config", night, "--date", "2026-11-01"}},
	} {
		t.Run(name, func(t *testing.T) {
			took := k.from(t, in("out"), -1)
			want := settled(t, in("out"))
			random := rand.New(rand.NewPCG(39, uint64(len(name))))
			for range moments {
				after := time.Duration(random.Float64() * float64(took))
				k.from(t, in("out"), after)
				o := espalier(t, k.args...)
				flags := slices.Clone(k.args)
				for _, flag := range k.again {
					if o.code == 2 && strings.Contains(o.stderr, flag) {
						flags = append(flags, flag)
						o = espalier(t, flags...)
					}
				}
				o.wants(t, 0)
				if got := settled(t, in("out")); !maps.Equal(got, want) {
					t.Errorf("killed after %v: %d files %v, want %v with other bytes", after, len(got), slices.Sorted(maps.Keys(got)),
						slices.Sorted(maps.Keys(want)))
				}
			}
		})
	}
}

// from runs the command from its beginning, and kills it after some time; below 0: it is let alone. It returns the time
// that it took.
func (k *killed) from(t *testing.T, output string, after time.Duration) time.Duration {
	t.Helper()
	if err := os.RemoveAll(output); err != nil {
		t.Fatal(err)
	}
	if k.begin != "" {
		if err := os.CopyFS(output, os.DirFS(k.begin)); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), binary, k.args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if after >= 0 {
		defer time.AfterFunc(after, func() { _ = c.Process.Kill() }).Stop()
	}
	if err := c.Wait(); err != nil && after < 0 {
		t.Fatal(err)
	}
	return time.Since(start)
}

// settled returns the files below a folder without what differs from run to run: manifests, their copies in the
// register, promotion times and the history of attempts.
func settled(t *testing.T, folder string) map[string]string {
	t.Helper()
	all, times := files(t, folder), regexp.MustCompile(`"promoted": "[^"]*"|(on )?\d{4}-\d\d-\d\d (at )?\d\d:\d\d UTC`)
	for name, content := range all {
		if strings.HasPrefix(name, "history/") && strings.HasSuffix(name, ".json") {
			delete(all, name)
			continue
		}
		if strings.HasSuffix(name, "manifest.json") || strings.HasPrefix(name, "register/") {
			content = ""
		}
		all[name] = times.ReplaceAllString(content, "")
	}
	return all
}
