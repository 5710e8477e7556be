package train_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// countedFiles writes lines with a count, and the rows that they represent.
func countedFiles(t *testing.T, lines int) (counted, repeated string) {
	t.Helper()
	data := newRows(lines)
	random := rand.New(rand.NewPCG(8, 58))
	count := make([]int64, lines)
	var rows []int
	for i := range count {
		count[i] = random.Int64N(4)
		for range count[i] {
			rows = append(rows, i)
		}
	}
	folder := t.TempDir()
	for name, order := range map[string][]int{"counted": ascending(lines), "repeated": rows} {
		part, group, time, class := make([]string, len(order)), make([]string, len(order)), make([]int64, len(order)), make([]*string, len(order))
		for i, k := range order {
			part[i] = [...]string{"train", "validation", "train", "train", "test"}[k%7%5]
			group[i] = strconv.Itoa(k / 3)
			time[i] = int64(k * 17 % lines)
			if class[i] = &data.class[k]; k%50 == 0 {
				class[i] = nil
			}
		}
		columns := []parquetio.WriteColumn{
			{Name: "a", Values: pick(data.a, order)},
			{Name: "b", Values: pick(data.b, order)},
			{Name: "color", Values: pick(data.color, order)},
			{Name: "weight", Values: pick(data.weight, order)},
			{Name: "part", Values: part},
			{Name: "group", Values: group},
			{Name: "time", Values: time},
			{Name: "class", Values: class},
		}
		if name == "counted" {
			columns = append(columns, parquetio.WriteColumn{Name: "n", Values: count})
		}
		write(t, folder, name+".parquet", columns...)
	}
	return filepath.Join(folder, "counted.parquet"), filepath.Join(folder, "repeated.parquet")
}

// TestCounts: lines with counts give the documents of as many rows, wherever parts do not depend on places.
func TestCounts(t *testing.T) {
	longtest.Skip(t)
	counted, repeated := countedFiles(t, 500)
	for name, change := range map[string]func(c *config.Train){
		"plain":       func(*config.Train) {},
		"whole":       func(c *config.Train) { c.SplitColumn, c.Split = "", [3]uint32{100, 0, 0} },
		"levels":      func(c *config.Train) { c.MemoryObjects = 20 },
		"weight":      func(c *config.Train) { c.Weight = "weight" },
		"balanced":    func(c *config.Train) { c.BalanceClasses, c.Weight = true, "weight" },
		"group":       func(c *config.Train) { c.Group, c.SplitColumn = "group", "" },
		"time":        func(c *config.Train) { c.SplitTime, c.SplitColumn = "time", "" },
		"key in time": func(c *config.Train) { c.SplitTime, c.SplitColumn, c.Group = "time", "", "group" },
		"models":      func(c *config.Train) { c.LeafModel = "linear" },
		"slices":      func(c *config.Train) { c.Slice = []string{"color", "b"} },
	} {
		t.Run(name, func(t *testing.T) {
			var runs [2]string
			for i, file := range []string{repeated, counted} {
				c := fewTrees(config.DefaultTrain())
				c.Input, c.Label, c.SplitColumn, c.DropNullLabels = []string{file}, "class", "part", true
				c.Certificate, c.Report, c.Output = false, "none", filepath.Join(t.TempDir(), "run")
				change(&c)
				if c.Ignore = []string{"part", "group", "time"}; c.Weight == "" {
					c.Ignore = append(c.Ignore, "weight")
				}
				if file == counted {
					c.Count = "n"
				}
				if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
					t.Fatal(err)
				}
				runs[i] = c.Output
			}
			for _, name := range []string{"tree.json", "metrics.json", "frontier.json", "importance.json", "distribution.json"} {
				var documents [2]string
				for i, run := range runs {
					b, err := os.ReadFile(filepath.Join(run, name))
					if err != nil {
						t.Fatal(err)
					}
					documents[i] = string(b)
				}
				if diff := cmp.Diff(strings.Split(documents[0], "\n"), strings.Split(documents[1], "\n")); diff != "" {
					t.Errorf("%s (-rows +counts):\n%.3000s", name, diff)
				}
			}
		})
	}
}

// TestLargeCounts: large counts take no time, and the parts have their shares of them within chance.
func TestLargeCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 58))
	const lines = 40
	var x []string
	var class []string
	var count []int64
	total := int64(0)
	for i := range lines {
		x, class = append(x, strconv.Itoa(i/2)), append(class, []string{"no", "yes"}[i%2])
		n := 1_000_000_000 + random.Int64N(1_000_000)
		count = append(count, n)
		total += n
	}
	folder := t.TempDir()
	write(t, folder, "lines.parquet", parquetio.WriteColumn{Name: "x", Values: x}, parquetio.WriteColumn{Name: "class", Values: class},
		parquetio.WriteColumn{Name: "n", Values: count})
	c := config.DefaultTrain()
	c.Input, c.Label, c.Count = []string{filepath.Join(folder, "lines.parquet")}, "class", "n"
	r := mustTrain(t, c)
	rows := float64(r.Metrics.Test.Rows)
	if deviations := (rows - 0.2*float64(total)) / math.Sqrt(0.2*0.8*float64(total)); math.Abs(deviations) > 6 {
		t.Errorf("%v of %d rows are test rows, %.1f standard deviations from a fifth", rows, total, deviations)
	}
	again := mustTrain(t, c)
	if !bytes.Equal(r.Tree.Encode(), again.Tree.Encode()) {
		t.Error("another tree at the second run")
	}
}

// linesOf writes lines with counts and weights.
func linesOf(t *testing.T, lines int, count func(line int) int64) string {
	t.Helper()
	random := rand.New(rand.NewPCG(10, 58))
	x, weight := make([]float64, lines), make([]float64, lines)
	class, counts := make([]string, lines), make([]int64, lines)
	for i := range lines {
		x[i], weight[i], counts[i] = float64(random.IntN(1<<20)), random.Float64(), count(i)
		class[i] = []string{"no", "yes"}[int(x[i]+float64(1<<18)*random.Float64())>>17&1]
	}
	return write(t, t.TempDir(), "lines.parquet", parquetio.WriteColumn{Name: "x", Values: x}, parquetio.WriteColumn{Name: "n", Values: counts},
		parquetio.WriteColumn{Name: "weight", Values: weight}, parquetio.WriteColumn{Name: "class", Values: class})
}

// TestCountLimits: counts that cannot be added up, with or without weights, are refused, and other counts give figures.
func TestCountLimits(t *testing.T) {
	for _, test := range []struct {
		lines  int
		count  int64
		weight string
		want   string // part of the error; empty: none
	}{
		{lines: 40, count: 0, want: "the counts of all lines are 0"},
		{lines: 40, count: 1e12},
		{lines: 9100, count: 1e12, want: "2^53"},
		{lines: 40, count: 1e9, weight: "weight"},
		{lines: 40, count: 1e11, weight: "weight"},
		{lines: 40, count: 1e12, weight: "weight", want: `column "weight"`},
	} {
		c := oneTree()
		c.Input, c.Label, c.Count, c.Weight = []string{linesOf(t, test.lines, func(int) int64 { return test.count })}, "class", "n", test.weight
		c.Ignore, c.Output = nil, filepath.Join(t.TempDir(), "run")
		r, err := train.Train(t.Context(), c, new(silent))
		switch {
		case test.want != "":
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v: error %v", test, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", test, err)
		default:
			if m := r.Metrics.Test; !(*m.Accuracy >= 0 && *m.Accuracy <= 1) || m.Rows < int64(test.lines)*test.count/10 {
				t.Errorf("%+v: accuracy %v of %d rows", test, *m.Accuracy, m.Rows)
			}
		}
	}
}

// TestCountedBins: the automatic number of bins depends on rows, not on lines.
func TestCountedBins(t *testing.T) {
	const lines = 700
	for count, want := range map[int64]int{1: 128, 30_000 / lines: 128, 30_000/lines + 1: 512} {
		c := oneTree()
		c.Input, c.Label, c.Count, c.Split = []string{linesOf(t, lines, func(int) int64 { return count })}, "class", "n", [3]uint32{100, 0, 0}
		c.Ignore, c.Bins = []string{"weight"}, 0
		if bins := len(mustTrain(t, c).Schema.Features()[0].Cuts) + 1; bins < want*9/10 || bins > want {
			t.Errorf("counts of %d: %d bins, want %d", count, bins, want)
		}
	}
}

// TestNoRows: lines with the count 0 are left out whatever they have in other columns.
func TestNoRows(t *testing.T) {
	const lines = 60
	x, count, weight := make([]float64, lines), make([]int64, lines), make([]float64, lines)
	part, class, time := make([]string, lines), make([]*string, lines), make([]float64, lines)
	names := []string{"1", "30"}
	for i := range lines {
		x[i], count[i], weight[i], part[i], class[i], time[i] = float64(i), int64(1+i%3), 1, "train", &names[i%5/3], float64(i)
		if i%7 == 0 {
			count[i], weight[i], part[i], class[i], time[i] = 0, math.NaN(), "nowhere", nil, math.NaN()
		}
		if i == 7 {
			class[i] = new("none")
		}
	}
	file := write(t, t.TempDir(), "lines.parquet", parquetio.WriteColumn{Name: "x", Values: x}, parquetio.WriteColumn{Name: "n", Values: count},
		parquetio.WriteColumn{Name: "weight", Values: weight}, parquetio.WriteColumn{Name: "part", Values: part},
		parquetio.WriteColumn{Name: "time", Values: time}, parquetio.WriteColumn{Name: "class", Values: class})
	for name, change := range map[string]func(c *config.Train){
		"column": func(c *config.Train) { c.SplitColumn, c.Ignore = "part", []string{"time"} },
		"time":   func(c *config.Train) { c.SplitTime, c.Ignore = "time", []string{"part"} },
	} {
		c := oneTree()
		c.Input, c.Label, c.Count, c.Weight, c.LabelCuts = []string{file}, "class", "n", "weight", []float64{10}
		change(&c)
		if r := mustTrain(t, c); len(r.Tree.Label.Classes) != 2 {
			t.Errorf("%s: classes %q", name, r.Tree.Label.Classes)
		}
	}
}
