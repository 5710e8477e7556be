package train_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// softRows are rows with a column of probabilities for each class, in the order high, low,
// middle.
type softRows struct {
	*rows

	p    [3][]*float64
	part []string
}

// newSoftRows draws rows. If certain is true, the class of a row has probability 1. Otherwise only
// training rows have probabilities.
func newSoftRows(n int, certain bool) *softRows {
	random := rand.New(rand.NewPCG(17, 3))
	r := &softRows{rows: newRows(n)}
	for i := range n {
		r.part = append(r.part, []string{"train", "train", "train", "validation", "test"}[random.IntN(5)])
		at := slices.Index([]string{"high", "low", "middle"}, r.class[i])
		rest := 1.0
		if !certain {
			rest = random.Float64()
		}
		for k := range r.p {
			x := (1 - rest) / 3
			if k == at {
				x += rest
			}
			r.p[k] = append(r.p[k], &x)
			if !certain && r.part[i] != "train" {
				r.p[k][i] = nil
			}
		}
	}
	return r
}

// write writes the rows, in the given order, to the given number of files. The label is left out if
// labelled is false.
func (r *softRows) write(t *testing.T, order []int, files int, labelled bool) string {
	t.Helper()
	folder := t.TempDir()
	for f := range files {
		part := order[f*len(order)/files : (f+1)*len(order)/files]
		columns := []parquetio.WriteColumn{
			{Name: "a", Values: pick(r.a, part)},
			{Name: "p_middle", Values: pick(r.p[2], part)},
			{Name: "b", Values: pick(r.b, part)},
			{Name: "p_low", Values: pick(r.p[1], part)},
			{Name: "color", Values: pick(r.color, part)},
			{Name: "weight", Values: pick(r.weight, part)},
			{Name: "p_high", Values: pick(r.p[0], part)},
			{Name: "part", Values: pick(r.part, part)},
		}
		if labelled {
			columns = append(columns, parquetio.WriteColumn{Name: "class", Values: pick(r.class, part)})
		}
		url := filepath.Join(folder, fmt.Sprintf("part-%02d.parquet", f))
		err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{RowsPerGroup: 90})
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "*.parquet")
}

// softTrees is a small grid over rows with probabilities, chosen with folds.
func softTrees() config.Train {
	c := config.DefaultTrain()
	c.Label, c.SplitColumn, c.LabelProbabilities, c.Ignore = "class", "part", []string{"p_*"}, []string{"weight"}
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.EC45, split.CART}, []float64{10}, []float64{0.002}
	c.Bins, c.Folds = 16, crossvalidate.Setting{Number: 3}
	return c
}

// TestSoftSameBytes: runs with soft labels give the same bytes on every runner, for every order and
// number of files, by levels, and with weights of rows and classes.
func TestSoftSameBytes(t *testing.T) {
	longtest.Skip(t)
	const n = 350
	data := newSoftRows(n, false)
	shuffled := rand.New(rand.NewPCG(5, 6)).Perm(n)
	plain, other := data.write(t, ascending(n), 1, true), data.write(t, shuffled, 5, true)
	for name, change := range map[string]func(*config.Train){
		"plain":    func(*config.Train) {},
		"weighted": func(c *config.Train) { c.Weight, c.Ignore, c.BalanceClasses = "weight", nil, true },
		"models":   func(c *config.Train) { c.LeafModel = "linear" },
		"teacher":  func(c *config.Train) { c.TeacherWeight, c.Weight, c.Ignore = 1, "weight", nil },
	} {
		if !longtest.Enabled() && (name == "weighted" || name == "models") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := softTrees()
			change(&c)
			c.Input = []string{plain}
			want := treeOf(t, c)
			for what, change := range map[string]func(*config.Train){
				"other files":     func(*config.Train) {},
				"levels":          func(c *config.Train) { c.MemoryObjects = 40 },
				"levels on prism": func(c *config.Train) { c.MemoryObjects, c.LevelsPerJob, c.Runner = 40, 3, "prism" },
				"one by one": func(c *config.Train) {
					c.LabelProbabilities = []string{"middle=p_middle", "low=p_low", "high=p_high"}
				},
			} {
				other1 := c
				other1.Input = []string{other}
				change(&other1)
				if got := treeOf(t, other1); string(got) != string(want) {
					t.Errorf("%s: other files (-want +got):\n%s", what, cmp.Diff(string(want), string(got)))
				}
			}
			hard := c
			hard.LabelProbabilities, hard.TeacherWeight, hard.Ignore = nil, 0.5, append(slices.Clone(c.Ignore), "p_high", "p_low", "p_middle")
			if string(treeOf(t, hard)) == string(want) {
				t.Error("the probabilities change nothing")
			}
		})
	}
}

// TestSoftCertain: certain probabilities of the label's class give the bytes of the label. So
// they do without a label, but for its name.
func TestSoftCertain(t *testing.T) {
	const n = 600
	data := newSoftRows(n, true)
	c := softTrees()
	c.Input = []string{data.write(t, ascending(n), 2, true)}
	hard, alone := c, c
	hard.LabelProbabilities, hard.Ignore = nil, []string{"weight", "p_high", "p_low", "p_middle"}
	alone.Label, alone.Input = "", []string{data.write(t, ascending(n), 2, false)}
	want, got := string(treeOf(t, hard)), string(treeOf(t, c))
	if got != want {
		t.Errorf("certain probabilities (-want +got):\n%s", cmp.Diff(want, got))
	}
	digest := regexp.MustCompile(`"tree_sha256":"[0-9a-f]{64}"`) // the name is also in the digested tree
	got, want = strings.ReplaceAll(string(treeOf(t, alone)), `"p_*"`, `"class"`), digest.ReplaceAllString(want, "")
	if got = digest.ReplaceAllString(got, ""); got != want {
		t.Errorf("without a label (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestSoftFigures: the tree has the soft weights, and metrics are by the labels. By hand: five
// rows of two values.
func TestSoftFigures(t *testing.T) {
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{
		{Name: "x", Values: []float64{1, 1, 2, 2, 2}},
		{Name: "class", Values: []string{"a", "b", "b", "b", "a"}},
		{Name: "a_p", Values: []float64{0.5, 0.25, 0, 0, 0.25}},
		{Name: "b_p", Values: []float64{0.5, 0.75, 1, 1, 0.75}},
	}
	if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c := oneTree()
	c.Input, c.Label, c.Split, c.LabelProbabilities, c.LeafEstimate = []string{url}, "class", dataset.Shares{100, 0, 0}, []string{"*_p"}, tree.Raw
	for _, test := range []struct {
		teacher float64
		a       []float64 // weight of class a: in total, with x = 1, with x = 2; 2 objects, 5 rows
	}{{0.5, []float64{1.5, 0.875, 0.625}}, {1, []float64{1, 0.75, 0.25}}} {
		c.TeacherWeight = test.teacher
		r := mustTrain(t, c)
		scale := float64(r.Tree.Training.WeightScale)
		if len(r.Tree.Nodes) != 3 || r.Tree.Training.Rows != 5 || float64(r.Tree.Training.Weight) != 5*scale {
			t.Fatalf("%d nodes, training %+v", len(r.Tree.Nodes), r.Tree.Training)
		}
		var got []float64
		for _, node := range []int{0, 2, 1} { // the first branch is yes: x = 2
			got = append(got, float64(r.Tree.Nodes[node].RawClassWeights[0])/scale)
		}
		if !slices.Equal(got, test.a) {
			t.Errorf("teacher weight %v: weights %v of a, want %v", test.teacher, got, test.a)
		}
		m, want := r.Metrics.Train, [][]int64{{0, 2}, {0, 3}} // b weighs more in both leaves
		if m.Rows != 5 || m.Weight != 5 || r.Tree.Training.RelabelledRows != 2 || !cmp.Equal(m.Confusion, want) {
			t.Errorf("teacher weight %v: %+v, relabelled %d", test.teacher, m, r.Tree.Training.RelabelledRows)
		}
	}
}

// TestSoftResume: soft labels belong to a checkpoint, and a dry run takes them.
func TestSoftResume(t *testing.T) {
	const n = 700
	c := softTrees()
	c.Input, c.Output = []string{newSoftRows(n, false).write(t, ascending(n), 2, true)}, t.TempDir()
	c.MemoryObjects = 30
	want := broken(t, &c)
	changed := c
	changed.TeacherWeight = 0.75
	if _, err := train.Train(t.Context(), changed, new(silent)); err == nil || !strings.Contains(err.Error(), "--teacher_weight has become") {
		t.Errorf("another weight of the teacher: %v", err)
	}
	resumes(t, c, want)
	c.Resume, c.DryRun = false, true
	if r, err := train.Train(t.Context(), c, new(silent)); err != nil || r.Sizes == nil {
		t.Errorf("dry run: %v", err)
	}
}
