package train_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// grades has texts in their order; no row has the third one.
func grades() []string { return []string{"poor", "fair", "middling", "good", "fine"} }

// gradeRows writes rows with a grade as text and as its index, and returns their folder.
func gradeRows(t *testing.T) string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 58))
	var texts []*string
	var places []*float64
	var x []float64
	var class []string
	for range 1000 {
		at := []int{0, 1, 3, 4}[r.IntN(4)]
		x = append(x, r.NormFloat64())
		class = append(class, map[bool]string{true: "yes", false: "no"}[float64(at)+x[len(x)-1]+r.NormFloat64() > 2])
		text, place := grades()[at], float64(at)
		texts, places = append(texts, &text), append(places, &place)
		if r.IntN(20) == 0 {
			texts[len(texts)-1], places[len(places)-1] = nil, nil
		}
	}
	folder := t.TempDir()
	for name, column := range map[string]any{"texts": texts, "numbers": places} {
		write(t, folder, name+".parquet", parquetio.WriteColumn{Name: "grade", Values: column},
			parquetio.WriteColumn{Name: "x", Values: x}, parquetio.WriteColumn{Name: "class", Values: class})
	}
	return folder
}

// TestOrdered: texts with an order give the tree that their indexes in the order give as numbers, in memory and by
// levels; its tests are sets of the texts from one on.
func TestOrdered(t *testing.T) {
	folder := gradeRows(t)
	for name, change := range map[string]func(c *config.Train){
		"plain": func(*config.Train) {}, "monotone": func(c *config.Train) { c.Monotone = map[string]int8{"grade": 1} },
		"levels": func(c *config.Train) { c.MemoryObjects = 20 }, "bins": func(c *config.Train) { c.Tests = []split.Family{split.OneHot} },
		"sets": func(c *config.Train) { c.Tests = []split.Family{split.Sets, split.All} },
	} {
		var shapes []string
		for _, file := range []string{"texts", "numbers"} {
			c := config.DefaultTrain()
			c.Input, c.Label, c.Output = []string{filepath.Join(folder, file+".parquet")}, "class", filepath.Join(t.TempDir(), "run")
			c.Split = dataset.Shares{100, 0, 0} // a part depends on the name of the file
			c.Certificate, c.Report = false, "none"
			c = fewTrees(c)
			change(&c)
			if file == "texts" {
				c.Ordered = map[string][]string{"grade": grades()}
			}
			trained, err := train.Train(t.Context(), c, new(silent))
			if err != nil {
				t.Fatal(err)
			}
			m := trained.Tree
			var shape strings.Builder
			for i := range m.Nodes {
				n := &m.Nodes[i]
				fmt.Fprintln(&shape, n.RawClassWeights, n.Probabilities, n.Class, len(n.Branches))
				if !n.Leaf() && m.Features[n.Test.Feature].Ordered {
					last := n.Test.Set.Has(len(grades())-1) && !n.Test.Set.Has(len(grades()))
					if kind := n.Test.Kind; kind == split.Threshold || kind == split.Bin || kind == split.In && !last {
						t.Errorf("%s: node %d has the test %+v", name, i, n.Test)
					}
				}
			}
			at := slices.IndexFunc(m.Features, func(f dataset.Feature) bool { return f.Name == "grade" })
			if f := m.Features[at]; f.Ordered != (file == "texts") || f.Ordered && !slices.Equal(f.Values, grades()) {
				t.Errorf("%s: %+v", name, f)
			}
			shapes = append(shapes, shape.String())
		}
		if shapes[0] != shapes[1] {
			t.Errorf("%s: another tree of texts:\n%s\nthan of numbers:\n%s", name, shapes[0], shapes[1])
		}
	}
}

// TestOrderedRefuses: a text that is not in the order is an error that names its place, also if a
// contract has the order.
func TestOrderedRefuses(t *testing.T) {
	input := []string{filepath.Join(gradeRows(t), "texts.parquet")}
	columns := "format: espalier/contract\nversion: 1\ncolumns:\n  - {name: class, type: text, role: label}\n" +
		"  - {name: grade, type: text, role: feature, values: [poor, fair, good], ordered: true"
	for name, c := range map[string]struct {
		change func(c *config.Train)
		want   string
	}{
		"unlisted": {func(c *config.Train) { c.Ordered = map[string][]string{"grade": grades()[:4]} }, `"fine"`},
		"contract": {func(c *config.Train) { c.ContractFile = textFile(t, "c.yaml", columns+"}\n") }, `"fine"`},
		"numbers":  {func(c *config.Train) { c.Ordered = map[string][]string{"x": {"1", "2"}} }, "has numbers"},
		"the cuts": {func(c *config.Train) {
			c.CutsFrom = c.Output[:len(c.Output)-1]
			c.Ordered = map[string][]string{"grade": {"fine", "good", "fair", "poor"}}
		}, "is read as in"},
	} {
		s := oneTree()
		s.Input, s.Label, s.Output = input, "class", filepath.Join(t.TempDir(), "run")
		if name == "the cuts" {
			first := s
			first.Ordered = map[string][]string{"grade": grades()}
			s.Output = trainedInto(t, first) + "0"
		}
		c.change(&s)
		_, err := train.Train(t.Context(), s, new(silent))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		var fault *dataset.DataError
		if strings.HasPrefix(c.want, `"`) && (!errors.As(err, &fault) || fault.RowGroup == nil || fault.Column != "grade") {
			t.Errorf("%s: %v, want the place of the text", name, err)
		}
	}
}
