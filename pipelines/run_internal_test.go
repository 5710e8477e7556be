package pipelines

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestNothingIsSilent: jobs and phases, which have a bar, make up the time of a run.
// Before there were phases they were 15 % of it on wide data.
func TestNothingIsSilent(t *testing.T) {
	const rows, columns = 600, 300
	random := rand.New(rand.NewPCG(1, 2))
	classes := make([]string, rows)
	list := make([]parquetio.WriteColumn, columns, columns+1)
	for k := range list {
		values := make([]float64, rows)
		for i := range values {
			values[i] = random.NormFloat64()
			if k == 0 {
				classes[i] = strconv.FormatBool(values[i]+random.NormFloat64() > 0)
			}
		}
		list[k] = parquetio.WriteColumn{Name: fmt.Sprintf("x%03d", k), Values: values}
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquetio.Write(t.Context(), objectstore.New(), url, append(list, parquetio.WriteColumn{Name: "class", Values: classes}), parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.Input, c.Label, c.Output, c.Certificate, c.Folds = []string{url}, "class", filepath.Join(t.TempDir(), "run"), "none", "3"
	if _, err := Train(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(c.Output, runfolder.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var m runfolder.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	seconds, names := 0.0, []string(nil)
	for _, one := range m.Timings {
		seconds += one.Seconds
		names = append(names, one.Job)
	}
	if want := []string{"footers", "summarise", "bins", "coalesce", "induce", "collect", "trees", "evaluate", "prune", "folds", "frontier", "certificate", "importance"}; !slices.Equal(names, want) {
		t.Errorf("jobs and phases %v, want %v", names, want)
	}
	if seconds < 0.75*m.Seconds {
		t.Errorf("%.2f s of %.2f s have a bar: %v", seconds, m.Seconds, m.Timings)
	}
}

// noted is a Reporter that keeps notes.
type noted struct {
	engine.Silent

	notes []string
}

func (n *noted) Note(text string) { n.notes = append(n.notes, text) }

// TestFoldsAreTold: a run that cross-validates by itself says why it does not.
func TestFoldsAreTold(t *testing.T) {
	const most, enough, folds = crossvalidate.MostAuto, crossvalidate.EnoughRows, crossvalidate.AutoFolds
	for _, one := range []struct {
		objects, rare int64
		folds         int
		note          string
	}{
		{most, enough - 1, folds, ""},
		{most + 1, enough - 1, 0, "50001 training objects are more than 50000, though the validation rows have only 199 of the rarest class: --folds 5"},
		{10, enough, 0, "have 200 of the rarest class, and 200 are enough"},
	} {
		w := new(noted)
		c := choosing{
			driver: &engine.Driver{Reporter: w}, selection: &config.Selection{Folds: crossvalidate.Setting{Auto: true}}, classes: 2,
			train: &jobs.ObjectStats{Objects: one.objects},
		}
		validation := &tree.LeafCounts{Weights: [][]int64{{1000 - one.rare, one.rare}}, Rows: []int64{1000}}
		if got := c.foldsWanted(validation); got != one.folds {
			t.Errorf("%d objects, %d rare rows: %d folds, want %d", one.objects, one.rare, got, one.folds)
		}
		if notes := strings.Join(w.notes, "\n"); (one.note == "") != (notes == "") || !strings.Contains(notes, one.note) {
			t.Errorf("%d objects, %d rare rows: noted %q, want %q", one.objects, one.rare, notes, one.note)
		}
	}
}
