package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// synth runs synth into a new folder.
func synth(t *testing.T, args ...string) (outcome, string) {
	t.Helper()
	output := filepath.Join(t.TempDir(), "made-up")
	return espalier(t, append([]string{"synth", "--output", output, "--progress", "none"}, args...)...), output
}

// TestSynth makes up a data set and trains on it by the command that it prints.
func TestSynth(t *testing.T) {
	o, output := synth(t, "--rows", "2e4", "--rows_per_file", "8000", "--nulls", "0.02", "--duplicates", "0.3",
		"--distinct", "1e3")
	o.wants(t, 0)
	validate(t, "tree", filepath.Join(output, "_tree.json"))
	validate(t, "synth", filepath.Join(output, "_manifest.json"))
	if !strings.Contains(o.stdout, "wrote 20000 rows, ") || !strings.Contains(o.stdout, "(files: 3)") || o.stderr != "" {
		t.Errorf("stdout lacks rows or files, or there is something on stderr:\n%s%s", o.stdout, o.stderr)
	}
	_, command, _ := strings.Cut(o.stdout, "train on it:\n  espalier ")
	args := strings.Fields(strings.NewReplacer("'", "", "\\\n", "").Replace(command))
	if len(args) < 3 || args[0] != "train" {
		t.Fatalf("stdout has no command to train:\n%s", o.stdout)
	}
	args[len(args)-1] = filepath.Join(t.TempDir(), "run") // the last one is --output
	espalier(t, append(args, "--progress", "none")...).wants(t, 0)
	evaluated := espalier(t, "evaluate", "--model", filepath.Join(output, "_tree.json"), "--input",
		filepath.Join(output, "*.parquet"), "--progress", "none")
	evaluated.wants(t, 0)
	if !strings.Contains(evaluated.stdout, "20000") {
		t.Errorf("the mark, the costs or the tree are read as rows:\n%s", evaluated.stdout)
	}
	again := []string{"synth", "--output", output, "--rows", "100"}
	espalier(t, again...).wants(t, 2, output, "--overwrite")
	espalier(t, append(again, "--overwrite")...).wants(t, 0)
	if files, err := filepath.Glob(filepath.Join(output, "*.parquet")); err != nil || len(files) != 1 {
		t.Errorf("files of the first run are left: %v, %v", files, err)
	}
}

// TestSynthConfig: flags beat the config file, which beats the defaults.
func TestSynthConfig(t *testing.T) {
	config := filepath.Join(t.TempDir(), "synth.yaml")
	content := "rows: 1e3\nnumeric: 2\ncategorical: 1\nnoise: 0.5\ncodec: zstd\nprogress: plain\n"
	if err := os.WriteFile(config, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "made-up")
	o := espalier(t, "synth", "--config", config, "--output", output, "--categorical", "2")
	o.wants(t, 0, "synth: 1000 rows in ")
	if got := string(read(t, filepath.Join(output, "_costs.csv"))); strings.Count(got, "\n") != 5 ||
		!strings.Contains(got, "\nx01,") || !strings.Contains(got, "\nc01,") {
		t.Errorf("costs, want those of two numeric and two categorical columns:\n%s", got)
	}
	same, other := synth(t, "--rows", "1000", "--numeric", "2", "--categorical", "2", "--noise", ".5", "--codec", "zstd")
	same.wants(t, 0)
	if !bytes.Equal(read(t, filepath.Join(output, "part-00000.parquet")),
		read(t, filepath.Join(other, "part-00000.parquet"))) {
		t.Error("the same settings by flags give other bytes")
	}
}

func TestSynthUsage(t *testing.T) {
	yaml := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(yaml, []byte("rows: 10\nnulls: .nan\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"--rows -5", []string{"--rows -5", "from 1 to"}},
		{"--rows 1.5", []string{"--rows", "1.5", "1e8"}},
		{"--rows 1e30", []string{"--rows", "1e30"}},
		{"--rows many", []string{"--rows", "many"}},
		{"--nulls 1.5", []string{"--nulls", "1.5", "from 0 to 1"}},
		{"--noise NaN", []string{"--noise", "NaN"}},
		{"--duplicates -1", []string{"--duplicates", "-1"}},
		{"--distinct 0", []string{"--distinct 0"}},
		{"--classes 0", []string{"--classes 0"}},
		{"--classes 17", []string{"--classes 17", "--depth 4", "16 leaves"}},
		{"--numeric 20000", []string{"--numeric 20000"}},
		{"--numeric 0 --categorical 0", []string{"--numeric 0 and --categorical 0"}},
		{"--depth 40", []string{"--depth 40"}},
		{"--codec lzo", []string{"--codec", "lzo", "snappy"}},
		{"--rows_per_file 0", []string{"--rows_per_file 0"}},
		{"--rows_per_group 1e9", []string{"--rows_per_group 1000000000"}},
		{"--rowz 5", []string{"did you mean --rows?"}},
		{"--progress loud", []string{"auto, bar, plain or none"}},
		{"--output /proc/nowhere", []string{"--output", "/proc/nowhere"}},
		{"--output gs3://bucket/x", []string{"unknown scheme"}},
		{"--output ", []string{"--output is required"}},
		{"rows", []string{"unexpected argument"}},
		{"--config " + yaml, []string{"--config", "line 2: nulls: got .nan"}},
	} {
		o, output := synth(t, strings.Split(c.args, " ")...)
		o.wants(t, 2, c.words...)
		leftNothing(t, output)
	}
	help := espalier(t, "synth", "--help_all")
	help.wants(t, 0)
	for _, word := range []string{"--duplicates share", "--rows count", "espalier synth --output", "_costs.csv"} {
		if !strings.Contains(help.stdout, word) {
			t.Errorf("help lacks %q:\n%s", word, help.stdout)
		}
	}
}

// TestSynthInterrupt interrupts a long run once it has written a file.
func TestSynthInterrupt(t *testing.T) {
	output := filepath.Join(t.TempDir(), "made-up")
	c := exec.Command(binary, "synth", "--output", output, "--rows", "1e10", "--rows_per_file", "2e5", "--progress",
		"plain")
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(deadline)
	for {
		if _, err := os.Stat(filepath.Join(output, "part-00000.parquet")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Error("the run does not finish its first file")
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the exit code is looked at
	o := outcome{code: c.ProcessState.ExitCode(), stderr: stderr.String()}
	o.wants(t, 130, "interrupted")
	leftNothing(t, output)
}
