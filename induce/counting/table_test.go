package counting_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/counting"
)

// counted is a row to count.
type counted struct {
	words  []uint64
	p      []float64
	weight int64
}

func count(shape counting.Shape, rows []counted, most int) *counting.Table {
	t := counting.New(shape)
	t.Bound(most)
	for _, r := range rows {
		t.Add(r.words, r.p[:shape.Numbers/2], r.p[shape.Numbers/2:])[int(r.weight)%shape.Counters] += r.weight
	}
	return t
}

// TestTable: for each shape the bytes do not depend on the order of rows and merges, and the
// entries of an exact table equal the entries of a map.
func TestTable(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(71, seed))
		shape := counting.Shape{Words: 1 + r.IntN(3), Numbers: r.IntN(4), Counters: 1 + r.IntN(4)}
		rows := make([]counted, 300)
		for i := range rows {
			for range shape.Words {
				rows[i].words = append(rows[i].words, r.Uint64N(3)<<(16*r.Uint64N(4)))
			}
			for range shape.Numbers {
				rows[i].p = append(rows[i].p, float64(r.IntN(9))/8)
			}
			rows[i].weight = r.Int64N(50)
		}
		most := []int{1, 30, 100000}[seed%3]
		whole := count(shape, rows, most)
		if most == 100000 || shape.Numbers == 0 {
			checkExact(t, whole, rows, shape)
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		var parts [][]byte
		for part := range slices.Chunk(rows, 1+r.IntN(150)) {
			parts = append(parts, count(shape, part, most).Append(nil))
		}
		if b, err := counting.Merge(parts); err != nil || !bytes.Equal(b, whole.Append(nil)) {
			t.Errorf("seed %d: merged from %d parts, the bytes differ (%v)", seed, len(parts), err)
		}
	}
}

// checkExact compares a table with a map of the rows.
func checkExact(t *testing.T, c *counting.Table, rows []counted, shape counting.Shape) {
	t.Helper()
	want := make(map[string]string)
	sums, numbers := make(map[string][]int64), make(map[string]int)
	for _, r := range rows {
		key := fmt.Sprint(r.words, r.p)
		if sums[key] == nil {
			sums[key] = make([]int64, shape.Counters)
		}
		sums[key][int(r.weight)%shape.Counters] += r.weight
		numbers[key]++
		want[key] = fmt.Sprint(numbers[key], sums[key])
	}
	got := make(map[string]string)
	for _, e := range c.Entries() {
		got[fmt.Sprint(e.Words, e.Probabilities)] = fmt.Sprint(e.Rows, e.Counters)
	}
	if c.LostBits() != 0 || !maps.Equal(got, want) {
		t.Errorf("%d bits lost; %v, want %v", c.LostBits(), got, want)
	}
}

// TestTableRounds: beyond the bound an entry has the mean of its rows, and words stay apart.
func TestTableRounds(t *testing.T) {
	c := counting.New(counting.Shape{Words: 2, Numbers: 1, Counters: 1})
	c.Bound(2)
	for i := range 1000 {
		c.Add([]uint64{1, uint64(i % 2)}, []float64{0.5 + float64(i)*1e-7})[0] += 3
	}
	list := c.Entries()
	if c.LostBits() == 0 || len(list) != 2 {
		t.Fatalf("%d bits lost, entries %+v", c.LostBits(), list)
	}
	for k, e := range list {
		want := 0.5 + (499+float64(k))*1e-7 // the mean of every second row
		if e.Words[1] != uint64(k) || e.Rows != 500 || e.Counters[0] != 1500 || math.Abs(e.Probabilities[0]-want) > 1e-6 {
			t.Errorf("entry %d: %+v, want a probability of %v", k, e, want)
		}
	}
}

// TestMergeErrors: bytes of another shape or bound, and bytes cut short, are refused.
func TestMergeErrors(t *testing.T) {
	shape := counting.Shape{Words: 2, Numbers: 2, Counters: 2}
	c := counting.New(shape)
	c.Add([]uint64{3, 4}, []float64{.25, .75})[1]++
	b := c.Append(nil)
	other := counting.New(counting.Shape{Words: 2, Numbers: 2, Counters: 3})
	if err := other.Merge(b, nil); err == nil {
		t.Error("counts of another shape are taken")
	}
	refused := errors.New("refused")
	if err := counting.New(shape).Merge(b, func([]uint64) error { return refused }); err != refused { //nolint:errorlint // the very error
		t.Errorf("got %v", err)
	}
	for n := range b {
		if _, err := counting.Merge([][]byte{b[:n], b[:n]}); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(b))
		}
	}
	if _, err := counting.Merge(nil); err == nil {
		t.Error("no counts are taken")
	}
}
