package train_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// talking is a Reporter that keeps warnings and notes.
type talking struct {
	silent

	notes []string
}

func (k *talking) Note(text string) { k.notes = append(k.notes, text) }

// doubtfulRows writes 800 rows. x tells 9 of 10 rows the class y: "yes" above .5. g, the text, and z
// tell nothing, one is 1 everywhere, and coin is a label of noise. group tells the class few: 10 of 40
// rows of each of its values are "rare".
func doubtfulRows(t *testing.T) string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 8))
	var x, z, one []float64
	var g, group, y, coin, few []string
	for i := range 800 {
		x, z, one = append(x, r.Float64()), append(z, r.Float64()), append(one, 1)
		g, group = append(g, string(rune('a'+r.IntN(3)))), append(group, string(rune('a'+i/40)))
		y = append(y, map[bool]string{true: "yes", false: "no"}[(x[i] > .5) != (r.IntN(10) == 0)])
		coin = append(coin, string(rune('a'+r.IntN(2))))
		few = append(few, map[bool]string{true: "rare", false: "usual"}[i%40 < 10])
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{
		{Name: "x", Values: x},
		{Name: "z", Values: z},
		{Name: "one", Values: one},
		{Name: "g", Values: g},
		{Name: "group", Values: group},
		{Name: "y", Values: y},
		{Name: "coin", Values: coin},
		{Name: "few", Values: few},
	}
	if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return url
}

// TestWarnings: a run says in one line what excluded all tests, and that a tree is worth nothing; a
// good tree has no warning.
func TestWarnings(t *testing.T) {
	url := doubtfulRows(t)
	costs := textFile(t, "costs.csv", "feature,cost,group,group_cost\nx,5,lab,2\nz,7.5,,\n")
	for name, test := range map[string]struct {
		features string // features of the rows
		label    string
		edit     func(c *config.Train)
		want     []string // parts of the warnings, in order
	}{
		"a good tree": {"x,z,g", "y", func(*config.Train) {}, nil},
		"a budget": {"x,z", "y", func(c *config.Train) { c.CostsFile, c.MaxExpectedCost = costs, 1 }, []string{
			"a single leaf: every test costs at least 7, the budget --max_expected_cost is 1",
		}},
		"a budget of paths": {"x,z", "y", func(c *config.Train) { c.CostsFile, c.MaxCost = costs, 6.5 }, []string{
			"a single leaf: every test costs at least 7, the budget --max_cost is 6.5",
		}},
		"a budget that has room": {"x,z", "y", func(c *config.Train) { c.CostsFile, c.MaxCost = costs, 7 }, nil},
		"a first feature beyond the budget": {"x,z", "y", func(c *config.Train) {
			c.CostsFile, c.MaxCost, c.First = costs, 7, []string{"z"}
		}, []string{"--first: no node tests z, as a test costs at least 7.5, and --max_cost is 7"}},
		"one leaf": {"x,z", "y", func(c *config.Train) { c.MaxLeaves = 1 }, []string{
			"a single leaf: --max_leaves 1 allows no test",
		}},
		"min_rows": {"x,z", "y", func(c *config.Train) { c.MinRows = 1000 }, []string{"--min_rows 1000 is more than"}},
		"theta":    {"x,z", "y", func(c *config.Train) { c.Theta = []float64{1} }, []string{"--theta 1 makes a leaf"}},
		"the wrong sign": {"x", "y", func(c *config.Train) { c.Monotone = map[string]int8{"x": -1} }, []string{
			`--monotone x=-1 excludes every threshold on x at the root: the share of the class "yes" rises as x grows; x=+1 would allow it`,
			"a single leaf: no other feature separates the training rows than x, whose sign excludes all thresholds",
		}},
		"the right sign": {"x", "y", func(c *config.Train) { c.Monotone = map[string]int8{"x": 1} }, nil},
		"the wrong sign beside noise": {"x,g", "y", func(c *config.Train) {
			c.Monotone, c.Select, c.Split = map[string]int8{"x": -1}, frontier.First, dataset.Shares{50, 50, 0}
		}, []string{
			"--monotone x=-1 excludes every threshold on x at the root", `the tree is no better than always saying the most frequent class, "`,
		}},
		"constant features": {"x,one", "y", func(c *config.Train) {
			c.First, c.Monotone = []string{"one"}, map[string]int8{"one": 1}
		}, []string{
			`--first: column "one" has one value among the training rows`, `--monotone: column "one" has one value among the training rows`,
		}},
		"noise": {"z,g", "coin", func(c *config.Train) { c.Select, c.Split = frontier.First, dataset.Shares{50, 50, 0} }, []string{
			` validation rows the tree is no better than always saying the most frequent class, "`,
		}},
		"classes of rows": {"group", "few", func(c *config.Train) { c.Select, c.Split = frontier.First, dataset.Shares{100, 0, 0} }, []string{
			"no test is worth asking: no feature separates the training objects",
		}},
		"relabelled": {"group", "few", func(c *config.Train) {
			c.Select, c.Split, c.Classes = frontier.First, dataset.Shares{100, 0, 0}, split.OfObjects
		}, []string{
			`100.0% of the training rows of the class "rare" count as another class`, "no test is worth asking: all training objects are of one class",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.DefaultTrain()
			c.Input, c.Label, c.Output, c.Certificate = []string{url}, test.label, filepath.Join(t.TempDir(), "run"), false
			for _, column := range []string{"x", "z", "one", "g", "group", "y", "coin", "few"} {
				if column != test.label && !slices.Contains(strings.Split(test.features, ","), column) {
					c.Ignore = append(c.Ignore, column)
				}
			}
			test.edit(&c)
			reporter := new(talking)
			if _, err := train.Train(context.Background(), c, reporter); err != nil {
				t.Fatal(err)
			}
			if len(reporter.warnings) != len(test.want) {
				t.Fatalf("warnings %q, want %q", reporter.warnings, test.want)
			}
			for i, want := range test.want {
				if got := reporter.warnings[i]; !strings.Contains(got, want) || strings.Contains(got, "\n") {
					t.Errorf("warning %q, want %q", got, want)
				}
			}
		})
	}
}

// TestLeftOut: next to a monotone feature, a note says that leaf models and teachers are left out
// where they would have been tried; elsewhere it does not.
func TestLeftOut(t *testing.T) {
	longtest.Skip(t)
	url := doubtfulRows(t)
	for _, test := range []struct {
		preset, monotone string
		want             int
	}{{"accurate", "x=+1", 2}, {"accurate", "", 0}, {"default", "x=+1", 0}} {
		c, err := config.Preset(test.preset)
		if err != nil {
			t.Fatal(err)
		}
		c.Input, c.Label, c.Output, c.Certificate = []string{url}, "y", filepath.Join(t.TempDir(), "run"), false
		c.Ignore = []string{"one", "g", "group", "coin", "few"}
		if test.monotone != "" {
			c.Monotone = map[string]int8{"x": 1}
		}
		reporter := new(talking)
		if _, err := train.Train(context.Background(), c, reporter); err != nil {
			t.Fatal(err)
		}
		left := slices.DeleteFunc(reporter.notes, func(text string) bool { return !strings.Contains(text, "does not keep --monotone") })
		if len(left) != test.want {
			t.Errorf("preset %s, monotone %q: notes %q, want %d", test.preset, test.monotone, left, test.want)
		}
	}
}
