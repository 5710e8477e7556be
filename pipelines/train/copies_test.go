package train_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestCopies: rows without a signal that occur twice are a single leaf, because copies are in one part and one fold, in
// both ways of growing; a warning says so. Where the parts are named, a warning says how many rows are known. Ratings
// that are equal by chance are no copies, nor are frequent rows of zeros, which one part would have whole. Copies may
// differ in one feature, or be rows of one line with a count.
func TestCopies(t *testing.T) {
	longtest.Skip(t)
	const n = 800
	r := rand.New(rand.NewPCG(5, 60))
	twice, ratings, zeros, sales := newRows(n), newRows(n), newRows(n), newRows(n)
	for i := range n {
		a, b := r.NormFloat64(), r.NormFloat64()
		class := []string{"low", "high"}[r.IntN(2)]
		age, rating := float64(20+r.IntN(60)), float64(r.IntN(3))
		if i >= n/2 {
			a, b, class = *twice.a[i-n/2], *twice.b[i-n/2], twice.class[i-n/2]
		}
		twice.a[i], twice.b[i], twice.class[i] = &a, &b, class
		ratings.a[i], ratings.b[i], ratings.class[i] = &age, &rating, class
		if zeros.a[i], zeros.b[i], zeros.class[i] = &a, &b, class; i%3 == 0 {
			zeros.a[i], zeros.b[i] = new(0.0), new(0.0)
		}
	}
	run := func(rows *rows, change func(c *config.Train)) ([]byte, []string) {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output = []string{rows.write(t, rand.New(rand.NewPCG(5, 61)).Perm(n), 2, parquetio.WriteOptions{})}, "class", t.TempDir()
		c.Ignore, c.Certificate, c.Report = []string{"twin", "flag", "weight", "id", "color"}, false, "none"
		change(&c)
		var told silent
		if _, err := train.Train(t.Context(), c, &told); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
		if err != nil {
			t.Fatal(err)
		}
		return b, slices.DeleteFunc(told.warnings, func(text string) bool {
			return !strings.Contains(text, "copies") && !strings.Contains(text, "of the same objects")
		})
	}
	inMemory, warned := run(twice, func(*config.Train) {})
	if !strings.Contains(string(inMemory), `"leaves": 1,`) || len(warned) != 1 || !strings.HasPrefix(warned[0], "50.0% of the rows") {
		t.Errorf("warnings %q, tree %s", warned, inMemory)
	}
	byLevel, _ := run(twice, func(c *config.Train) { c.MemoryObjects = 50 })
	if !bytes.Equal(inMemory, byLevel) {
		t.Error("another tree by levels")
	}
	counted := newRows(n)
	for i := range n { // each line is two rows
		counted.a[i], counted.b[i], counted.weight[i], counted.class[i] = new(r.NormFloat64()), new(r.NormFloat64()), 2, []string{"low", "high"}[r.IntN(2)]
	}
	other, warned := run(counted, func(c *config.Train) { c.Count, c.Ignore = "weight", []string{"twin", "flag", "id", "color"} })
	if !strings.Contains(string(other), `"leaves": 1,`) || len(warned) != 1 || !strings.HasPrefix(warned[0], "50.0% of the rows") {
		t.Errorf("warnings %q of counted rows, tree %s", warned, other)
	}
	byColor := func(c *config.Train) { c.Ignore = []string{"twin", "flag", "weight", "id"} }
	if other, warned := run(twice, byColor); len(warned) != 1 || !strings.Contains(warned[0], `in all features but "color"`) ||
		!strings.Contains(string(other), `"leaves": 1,`) {
		t.Errorf("warnings %q of copies of other colours, tree %s", warned, other)
	}
	one := func(c *config.Train) { c.Select = frontier.First } // warnings do not need a choice
	if _, warned = run(twice, func(c *config.Train) {
		one(c)
		c.Ignore, c.Group = []string{"twin", "flag", "weight", "color"}, "id"
	}); len(warned) == 0 || !strings.Contains(warned[len(warned)-1], "of the test rows are copies of training rows") {
		t.Errorf("warnings %q of copies in several groups", warned)
	}
	for _, other := range []float64{0, 3} { // a is the only measured column
		for i := range n {
			rating := math.Floor(other * *twice.a[i])
			twice.b[i] = &rating
		}
		tree, warned := run(twice, func(*config.Train) {})
		if !strings.Contains(string(tree), `"leaves": 1,`) || len(warned) != 1 {
			t.Errorf("warnings %q, tree %s", warned, tree)
		}
	}
	for i := range n { // sales of 100 products have labels of their own
		if i < 100 {
			sales.a[i], sales.b[i] = new(r.NormFloat64()), new(r.NormFloat64())
		}
		sales.a[i], sales.b[i] = sales.a[i%100], sales.b[i%100]
		sales.class[i] = []string{"low", "high"}[r.IntN(2)]
	}
	for name, rows := range map[string]*rows{"ratings": ratings, "rows of zeros": zeros, "sales": sales} {
		want := ""
		if name == "sales" {
			want = "have labels of their own"
		}
		if _, warned = run(rows, one); len(warned) > 1 || !strings.Contains(strings.Join(warned, ""), want) || want == "" && len(warned) > 0 {
			t.Errorf("warnings %q of %s", warned, name)
		}
	}
}

// TestEvaluatedCopies: evaluate counts copies as one, as training does: with two copies of each row, standard errors are
// larger by the square root of two than those of rows, within the error of an estimate from 60 buckets.
func TestEvaluatedCopies(t *testing.T) {
	const n = 2000
	r := rand.New(rand.NewPCG(5, 84))
	a, b, day, class := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		a[i], b[i], day[i], class[i] = r.NormFloat64(), r.NormFloat64(), float64(i%2), []string{"low", "high"}[r.IntN(2)]
		if a[i] > r.NormFloat64() {
			class[i] = "high"
		}
		if i%2 == 1 {
			a[i], b[i], class[i] = a[i-1], b[i-1], class[i-1]
		}
	}
	c := oneTree()
	c.Input, c.Label, c.Output, c.Ignore = []string{filepath.Join(t.TempDir(), "rows.parquet")}, "class", t.TempDir(), nil
	if err := parquetio.Write(t.Context(), objectstore.New(), c.Input[0], []parquetio.WriteColumn{
		{Name: "a", Values: a}, {Name: "b", Values: b}, {Name: "day", Values: day}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	var told silent
	if _, err := train.Train(t.Context(), c, &told); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(told.warnings, func(text string) bool { return strings.Contains(text, `but "day"`) }) {
		t.Fatalf("warnings %q", told.warnings)
	}
	var errors [2]float64
	for i, group := range []string{"", config.ColumnNone} {
		e := config.DefaultEvaluate()
		e.Model, e.Input, e.Group = c.Output, c.Input, group
		_, m, err := pipelines.Evaluate(t.Context(), e, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		errors[i] = m.Test.Intervals.Accuracy.StandardError
	}
	if by := errors[0] / errors[1]; by < 1.2 || by > 1.7 {
		t.Errorf("standard errors %v by copies and %v by rows", errors[0], errors[1])
	}
}

// TestFewContents: many rows that share few contents are no copies, though a sample by the number of rows has hardly any
// of these contents.
func TestFewContents(t *testing.T) {
	const n = 1 << 18
	r := rand.New(rand.NewPCG(5, 62))
	age, rating, class := make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		age[i], rating[i], class[i] = float64(20+r.IntN(40)), float64(r.IntN(2)), []string{"low", "high"}[r.IntN(2)]
	}
	input := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquetio.Write(t.Context(), objectstore.New(), input, []parquetio.WriteColumn{
		{Name: "age", Values: age}, {Name: "rating", Values: rating}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c := oneTree()
	c.Input, c.Label, c.Output, c.Ignore = []string{input}, "class", t.TempDir(), nil
	var told silent
	if _, err := train.Train(t.Context(), c, &told); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(told.warnings, func(text string) bool { return strings.Contains(text, "copies") }) {
		t.Errorf("warnings %q", told.warnings)
	}
}
