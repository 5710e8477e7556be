package pipelines_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/pipelines"
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
	data := filepath.Join(t.TempDir(), "data")
	s := pipelines.DefaultSynthConfig()
	s.Output, s.Rows, s.Numeric, s.Categorical = data, 26_000, 3, 1
	if _, err := pipelines.Synth(t.Context(), s, new(silent)); err != nil {
		t.Fatal(err)
	}
	run := func(memory int64) (documents map[string]string, jobs []string) {
		c := pipelines.DefaultConfig()
		c.Input, c.Label, c.Output = []string{data + "/*.parquet"}, "class", filepath.Join(t.TempDir(), "run")
		c.Memory, c.Theta, c.Lambda = memory, pipelines.Choices{"0.01"}, pipelines.Choices{"10"}
		reporter := new(jobNames)
		if _, err := pipelines.Train(t.Context(), c, reporter); err != nil {
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
	if all := strings.Join(jobs, " "); strings.Contains(all, "level") || strings.Contains(all, "rehearse") {
		t.Errorf("by default: %s, want no level and no rehearsal", all)
	}
	got, jobs := run(1 << 20)
	if all := strings.Join(jobs, " "); !strings.Contains(all, "coalesce level 0 induce") {
		t.Errorf("--memory 1MiB: %s, want levels", all)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("--memory 1MiB (-want +got):\n%s", diff)
	}
}
