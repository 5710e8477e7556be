package train_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// jobNames is a Reporter that keeps the names of the jobs.
type jobNames struct {
	silent

	jobs []string
}

func (r *jobNames) Job(name string, _ int64, _ string) { r.jobs = append(r.jobs, name) }

// TestMemory: where the objects do not fit the memory, they go to files and large nodes are
// split level by level; the tree, the metrics and the frontier have the same bytes.
func TestMemory(t *testing.T) {
	data := newRows(36_000).write(t, ascending(36_000), 1, parquetio.WriteOptions{})
	run := func(memory int64) (documents map[string]string, jobs []string) {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Ignore, c.Output = []string{data}, "class", []string{"id"}, filepath.Join(t.TempDir(), "run")
		c.Memory, c.Theta, c.Lambda, c.Algorithm, c.Folds, c.Certificate = memory, []float64{0.01}, []float64{10}, []split.Algorithm{split.EC45}, crossvalidate.Setting{Number: 2}, false
		reporter := new(jobNames)
		if _, err := train.Train(t.Context(), c, reporter); err != nil {
			t.Fatal(err)
		}
		documents = make(map[string]string)
		for _, name := range []string{"tree.json", "metrics.json", "frontier.json"} {
			b, err := os.ReadFile(filepath.Join(c.Output, name))
			if err != nil {
				t.Fatal(err)
			}
			documents[name] = string(b)
		}
		if _, err := os.Stat(filepath.Join(c.Output, "checkpoints")); err == nil {
			t.Errorf("--memory %d: the checkpoints of the finished run stay", memory)
		}
		return documents, reporter.jobs
	}
	want, jobs := run(0)
	if all := strings.Join(jobs, " "); strings.Contains(all, "level") {
		t.Errorf("by default: %s, want no level", all)
	}
	got, jobs := run(1 << 20)
	if all := strings.Join(jobs, " "); !strings.Contains(all, "coalesce copies copies level 0 induce") {
		t.Errorf("--memory 1MiB: %s, want levels", all)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("--memory 1MiB (-want +got):\n%s", diff)
	}
}

// TestManyCategories: a column of more values than a summary keeps by default is refused with
// the ways out, one of which is to keep more: the rarest are then other values.
func TestManyCategories(t *testing.T) {
	const n = 70_000
	names, class := make([]string, n), make([]string, n)
	for i := range names {
		names[i], class[i] = fmt.Sprintf("name %05d", i), []string{"yes", "no"}[i%2]
	}
	for range 100 { // one value is frequent
		names, class = append(names, "name 00007"), append(class, "yes")
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{{Name: "name", Values: names}, {Name: "class", Values: class}}
	if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c, err := config.Preset("paper")
	if err != nil {
		t.Fatal(err)
	}
	c.Input, c.Label, c.Output, c.Split = []string{url}, "class", filepath.Join(t.TempDir(), "run"), dataset.Shares{100, 0, 0}
	c.Categorical = []string{"name"} // otherwise the column is left out
	_, err = train.Train(t.Context(), c, new(silent))
	if err == nil || !strings.Contains(err.Error(), "--ignore name") || !strings.Contains(err.Error(), "--max_values") {
		t.Errorf("%d values: %v, want the ways out", n, err)
	}
	c.MaxValues, c.Theta = 100_000, []float64{0.001}
	r, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Tree.Features[0]; len(f.Values) != c.MaxCategories || f.Other != int64(n-c.MaxCategories) {
		t.Errorf("%d values and %d rows of others", len(f.Values), f.Other)
	}
}
