package dataset_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestAddContent: equal rows have equal hashes, whatever the order of the columns and the form of their vectors.
func TestAddContent(t *testing.T) {
	plain := dataset.Vector{Type: dataset.Number, Numbers: []float64{1, 2, 1, math.NaN()}}
	indexed := dataset.Vector{Type: dataset.Number, Numbers: []float64{2, 1}, Index: []int32{1, 0, 1, -1}}
	texts := dataset.Vector{Type: dataset.Text, Texts: []string{"a", "b"}, Index: []int32{0, 1, 0, -1}}
	a, b := make([]uint64, 4), make([]uint64, 4)
	dataset.AddContent(a, "x", &plain)
	dataset.AddContent(a, "y", &texts)
	dataset.AddContent(b, "y", &texts)
	dataset.AddContent(b, "x", &indexed)
	for r := range a {
		if a[r] != b[r] {
			t.Errorf("row %d: hashes %x and %x", r, a[r], b[r])
		}
		for s := range r {
			if equal := r == 2 && s == 0; (a[r] == a[s]) != equal {
				t.Errorf("rows %d and %d: equal %v", s, r, !equal)
			}
		}
	}
}

// TestCopies: by hand. Ten rows have six contents, so that four rows repeat one. Two contents are neighbours in one
// column.
func TestCopies(t *testing.T) {
	c := dataset.Copies{
		Rows: 10, Contents: 6, Parts: [dataset.Parts]int64{7, 1, 2}, Trained: [dataset.Parts]int64{7, 0, 1},
	}
	c.Neighbours = float64(dataset.Rests{{7, 3, 1}, {3, 9, 8, 9}}.Neighbours())
	if c.Neighbours != 2 || c.Repeated() != .4 || c.TrainedShare(dataset.Test) != .5 || !c.Real() {
		t.Errorf("%+v: %v repeated, %v of the test rows known, copies %v", c, c.Repeated(), c.TrainedShare(dataset.Test), c.Real())
	}
	if c.Neighbours = 8; c.Real() {
		t.Errorf("%v neighbours of sampled contents, copies %v", c.Neighbours, c.Real())
	}
}

// TestCopiesOfOneColumn: all contents are neighbours if a single column is measured. Rows that occur equally often are
// copies, if their labels agree; rows that draw one of a few values, or equal values in any number, are none.
func TestCopiesOfOneColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 58))
	drawn := func(values, rows int) map[int]int {
		times := make(map[int]int)
		for range rows {
			times[int(float64(values)*math.Abs(r.NormFloat64()))]++
		}
		return times
	}
	each := func(values, times, copied int) map[int]int {
		of := make(map[int]int)
		for v := range values {
			if of[v] = 1; v < copied {
				of[v] = times
			}
		}
		return of
	}
	for name, c := range map[string]struct {
		times  map[int]int
		labels int
		copies bool
	}{
		"each row twice":                  {each(200, 2, 200), 1, true},
		"each row five times":             {each(100, 5, 100), 1, true},
		"a fifth of the rows twice":       {each(800, 2, 160), 1, true},
		"two cases of each day":           {each(200, 2, 200), 2, false},
		"a few rows twice":                {each(800, 2, 20), 1, false},
		"ages":                            {drawn(30, 1000), 1, false},
		"amounts":                         {drawn(1000, 1000), 1, false},
		"more values than rows":           {drawn(10000, 1000), 1, false},
		"many cases with a few values":    {drawn(40, 100000), 1, false},
		"many values, many cases of each": {drawn(3000, 100000), 1, false},
	} {
		var found dataset.Copies
		var rest []uint64
		for range c.times {
			rest = append(rest, 1)
		}
		for _, times := range c.times {
			n := int64(times)
			labels := []int64{n}
			if c.labels > 1 { // half of the rows have each
				labels = []int64{n / 2, n - n/2}
			}
			found.Add(content(labels...))
		}
		found.Labels = map[uint64]int64{1: found.Rows / 2, 2: found.Rows - found.Rows/2}
		even := found.Agree() && found.Even()
		if found.Neighbours = float64(dataset.Rests{rest}.Neighbours()); found.Real() || even != c.copies {
			t.Errorf("%s: copies %v, by neighbours %v", name, even, found.Real())
		}
	}
}

// TestRests: objects that are equal without their second feature, and none without another one. With one sampled hash in
// two the share is about the same. Without two columns that are as coarse, no column is alone.
func TestRests(t *testing.T) {
	const n = 2000
	r := rand.New(rand.NewPCG(3, 84))
	objects := func(draw func(i int) []int) *dataset.Objects {
		o := dataset.NewObjects(dataset.Layout{Widths: []int{2, 1, 2}}, 2, false, n)
		for i := range n {
			o.Append(draw(i), []dataset.ClassWeight{{Weight: 1}}, 1)
		}
		return o
	}
	var codes [3]int
	twice := objects(func(i int) []int {
		if i%2 == 0 {
			codes = [3]int{r.IntN(60000), 0, r.IntN(60000)}
		}
		codes[1] = i % 2
		return codes[:]
	})
	for zeros := range 2 {
		rests := make(dataset.Rests, 3)
		rests.Add(twice, zeros)
		if column, share := rests.Alone(10); column != 1 || share != .5 {
			t.Errorf("column %d with %v of the objects", column, share)
		}
	}
	hashes := twice.Without(1)
	for i := 1; i < n; i += 2 {
		if hashes[i] != hashes[i-1] || i+1 < n && hashes[i] == hashes[i+1] {
			t.Fatalf("hashes %x around object %d", hashes[i-1:i+2], i)
		}
	}
	rests := make(dataset.Rests, 3)
	rests.Add(objects(func(int) []int { return []int{r.IntN(60), r.IntN(60), 0} }), 0)
	if _, share := rests.Alone(10); share != 0 {
		t.Errorf("a column is alone with %v of the objects", share)
	}
}

// TestAgree: two rows with equal contents and a class that 3 % of the rows have by error differ in 6 % of the pairs, where any
// two rows differ in 50 %. With labels of their own, which the content decides in part (90 and 10 %), they differ in 18 %.
func TestAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 84))
	for wrong, want := range map[float64]bool{0: true, .03: true, .1: false, .5: false} {
		found := dataset.Copies{Labels: make(map[uint64]int64)}
		for i := range 1000 {
			var rows [2]int64
			for range 5 {
				class := i % 2
				if r.Float64() < wrong {
					class = 1 - class
				}
				rows[class]++
				found.Labels[uint64(class)]++
			}
			found.Add(content(rows[:]...))
		}
		if got := found.Agree(); got != want {
			t.Errorf("%v of the labels are wrong: agree %v", wrong, got)
		}
	}
}

// TestManyRowsOfAContent: the pairs of rows do not overflow where a line of a file stands for 10^12 rows.
func TestManyRowsOfAContent(t *testing.T) {
	const each = 1_000_000_000_000
	for _, agree := range []bool{false, true} {
		found := dataset.Copies{Labels: map[uint64]int64{0: 1000 * each, 1: 1000 * each}}
		for i := range 1000 {
			labels := []int64{each, each} // as chance would have them
			if agree {
				labels = []int64{2 * each * int64(i%2), 2 * each * int64(1-i%2)}
			}
			found.Add(content(labels...))
		}
		if found.Agree() != agree {
			t.Errorf("want agree %v", agree)
		}
	}
}

// content returns a content whose rows have labels, given by the number of rows of each.
func content(labels ...int64) *dataset.Content {
	one := new(dataset.Content)
	for _, rows := range labels {
		one.Parts[dataset.Train] += rows
		one.Agreeing.Add(uint64(rows), uint64(max(0, rows-1)))
	}
	return one
}
