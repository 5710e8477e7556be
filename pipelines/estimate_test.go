package pipelines_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines"
)

// foreseen trains and returns what was foreseen, by a dry run where the run
// itself does not rehearse, and what was measured.
func foreseen(t *testing.T, c pipelines.TrainConfig) (estimate, measured *runfolder.Estimate) {
	t.Helper()
	c.Output = filepath.Join(t.TempDir(), "run")
	c.DryRun = true
	r, err := pipelines.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Output); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the dry run has made the output folder: %v", err)
	}
	c.DryRun = false
	if _, err := pipelines.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(c.Output, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m runfolder.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if (m.Estimate != nil) != (c.MemoryObjects >= 0) {
		t.Errorf("memory_objects %d: estimate in the manifest: %v", c.MemoryObjects, m.Estimate)
	}
	if m.Estimate != nil { // from fewer rows than the dry run's
		within(t, 2, m.Estimate, m.Measured)
	}
	return r.Estimate, m.Measured
}

// within checks an estimate against the measured figures, without memory: the process has run
// other tests before, so that the command's test checks memory.
func within(t *testing.T, factor float64, estimate, measured *runfolder.Estimate) {
	t.Helper()
	check := func(name string, got, want int64) {
		if float64(got) > factor*float64(want) || float64(got) < float64(want)/factor {
			t.Errorf("%s: %d foreseen, %d measured", name, got, want)
		}
	}
	if estimate.Rows != measured.Rows || estimate.RowPasses != measured.RowPasses {
		t.Errorf("%d rows, %d passes foreseen, %d and %d measured", estimate.Rows, estimate.RowPasses, measured.Rows, measured.RowPasses)
	}
	check("objects", estimate.Objects, measured.Objects)
	check("training objects", estimate.TrainObjects, measured.TrainObjects)
	check("passes over objects", estimate.ObjectPasses, measured.ObjectPasses)
	check("column bytes", estimate.ColumnBytes, measured.ColumnBytes)
	check("block bytes", estimate.BlockBytes, measured.BlockBytes)
	check("shuffle bytes", estimate.ShuffleBytes, measured.ShuffleBytes)
	check("histogram bytes", estimate.HistogramBytes, measured.HistogramBytes)
	check("disk bytes", estimate.DiskBytes, measured.DiskBytes)
}

// TestEstimate: what is foreseen of made-up data is measured within a factor of
// 2. With 500,000 rows the sample is about half of them, with 3,000 it is all.
func TestEstimate(t *testing.T) {
	for name, edit := range map[string]func(*pipelines.SynthConfig){
		"distinct": func(c *pipelines.SynthConfig) { c.Rows = 500_000 },
		"7 files":  func(c *pipelines.SynthConfig) { c.RowsPerFile = c.Rows/7 + 1 },
		"pool":     func(c *pipelines.SynthConfig) { c.Duplicates, c.Distinct = 1, 20_000 },
		"few":      func(c *pipelines.SynthConfig) { c.Rows = 3000 },
		"mixed":    func(c *pipelines.SynthConfig) { c.Duplicates, c.Distinct, c.Nulls = 0.5, 1000, 0.05 },
	} {
		t.Run(name, func(t *testing.T) {
			if !longtest.Enabled() && name != "few" && name != "mixed" {
				t.Skip("waits for -tags long: half a million rows")
			}
			if testing.Short() && name != "few" {
				t.Skip("waits for a run without -short: 200,000 rows")
			}
			s := pipelines.DefaultSynthConfig()
			s.Output, s.Rows, s.RowsPerGroup, s.Numeric, s.Categorical, s.Classes = "mem://"+t.Name(), 200_000, 20_000, 4, 4, 3
			edit(&s)
			made, err := pipelines.Synth(t.Context(), s, new(silent))
			if err != nil {
				t.Fatal(err)
			}
			c := oneTree()
			c.Input, c.Label = []string{made.Input}, made.Label
			if longtest.Enabled() || name == "few" {
				for _, objects := range []int64{-1, 0, 500} {
					c := c
					c.MemoryObjects = objects
					estimate, measured := foreseen(t, c)
					within(t, 2, estimate, measured)
				}
			}
			c.MemoryObjects, c.HistogramMemory, c.LevelsPerJob = 500, 100_000, 2
			estimate, measured := foreseen(t, c)
			within(t, 2, estimate, measured)
		})
	}
}

// TestEstimateOfPublicData: the same of rows as they come.
func TestEstimateOfPublicData(t *testing.T) {
	if !longtest.Enabled() {
		t.Skip("waits for -tags long: half a million rows")
	}
	for _, name := range []string{"electricity", "covertype"} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join("..", "bench", "data", name)
			if _, err := os.Stat(folder); err != nil {
				t.Skipf("waits for bench/data/%s, which bench/datasets.py fetches", name)
			}
			c := oneTree()
			c.Input, c.Label = []string{folder + "/*.parquet"}, "class"
			for _, objects := range []int64{-1, 1000} {
				c := c
				c.MemoryObjects = objects
				estimate, measured := foreseen(t, c)
				within(t, 2, estimate, measured)
			}
		})
	}
}

// noting is a Reporter that keeps the notes.
type noting struct {
	silent

	notes []string
}

func (r *noting) Note(text string) { r.notes = append(r.notes, text) }

// TestNoted: a run tells its estimate before it begins; one that is to go on
// from a checkpoint has none to tell, nor has one in memory.
func TestNoted(t *testing.T) {
	c := resumable(t)
	r := new(noting)
	if _, err := pipelines.Train(t.Context(), c, r); err != nil {
		t.Fatal(err)
	}
	if len(r.notes) != 1 || !strings.Contains(r.notes[0], "expecting 700 rows") {
		t.Errorf("notes %q, want one with the number of rows", r.notes)
	}
	c.Output, c.MemoryObjects = filepath.Join(t.TempDir(), "run"), -1
	if _, err := pipelines.Train(t.Context(), c, r); err != nil || len(r.notes) != 1 {
		t.Errorf("notes %q of a run in memory, %v", r.notes, err)
	}
}
