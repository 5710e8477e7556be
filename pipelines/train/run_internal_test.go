package train

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// TestNothingIsSilent: each job and each phase of a run has a bar. Without phases, 85 % of the time of a run on
// wide data had none.
func TestNothingIsSilent(t *testing.T) {
	const rows, columns = 300, 30
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
	c := config.DefaultTrain()
	c.Input, c.Label, c.Output, c.Certificate, c.Folds = []string{url}, "class", filepath.Join(t.TempDir(), "run"), false, crossvalidate.Setting{Number: 3}
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
	var names []string
	for _, one := range m.Timings {
		names = append(names, one.Job)
	}
	if want := []string{"footers", "summarise", "bins", "coalesce", "induce", "collect", "trees", "evaluate", "prune", "folds", "smoothing", "score", "frontier", "certificate", "importance"}; !slices.Equal(names, want) {
		t.Errorf("jobs and phases %v, want %v", names, want)
	}
}
