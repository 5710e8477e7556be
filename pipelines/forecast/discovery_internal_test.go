package forecast

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sampled draws rows from a pool and returns the Tally of the first of them, and
// the objects that all make.
func sampled(random *rand.Rand, sample, all int, draw func() int) (*Tally, float64) {
	rows := make(map[int]int64)
	t := new(Tally)
	for i := range all {
		if i == sample {
			for _, n := range rows {
				t.Add(n)
			}
		}
		rows[draw()]++
	}
	return t, float64(len(rows))
}

// TestDiscovery: objects of made pools are foreseen within a factor of 2 from a
// tenth of the rows, and never below half; pools of about the sample's size come
// out too large, as the comment on discovery says.
func TestDiscovery(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 3))
		next := 0
		zipf := rand.NewZipf(random, 1.2, 1, 1<<40)
		pools := map[string]struct {
			draw func() int
			most float64 // foreseen by true objects
		}{
			"all distinct":                  {func() int { next++; return next }, 1.001},
			"one object":                    {func() int { return 7 }, 1.001},
			"small pool":                    {func() int { return random.IntN(1000) }, 1.001},
			"pool of a fifth of the sample": {func() int { return random.IntN(4000) }, 1.1},
			"pool of the sample's size":     {func() int { return random.IntN(20_000) }, 2},
			"ten times the sample":          {func() int { return random.IntN(200_000) }, 1.5},
			"half from a pool": {func() int {
				next++
				if random.IntN(2) == 0 {
					return -random.IntN(2000)
				}
				return next
			}, 1.1},
			"one in twenty like no other": {func() int {
				next++
				if random.IntN(20) > 0 {
					return -random.IntN(4000)
				}
				return next
			}, 1.3},
			"words": {func() int { return int(zipf.Uint64()) }, 1.3}, // Heaps' law itself
		}
		for name, p := range pools {
			next = 0
			const sample, all = 20_000, 200_000
			tally, truth := sampled(random, sample, all, p.draw)
			d := tally.discovery()
			got := d.at(all)
			if got < truth/1.3 || got > truth*p.most {
				t.Errorf("%s, seed %d: %.0f objects foreseen, %.0f are there", name, seed, got, truth)
			}
			if at := d.at(sample); at != float64(tally.objects) {
				t.Errorf("%s: %.0f objects for the sample itself, it has %d", name, at, tally.objects)
			}
			before := 0.0
			for rows := 1000.0; rows < 1e9; rows *= 3 {
				now := d.at(rows)
				if now < before || now > rows || math.IsNaN(now) {
					t.Errorf("%s: %v objects of %v rows, %v of a third of them", name, now, rows, before)
				}
				before = now
			}
		}
	}
}

// TestHalfSingle: by hand. Objects of 1, 2 and 3 rows are alone in a random half
// with the chances 1/2, 2/4 and 3/8.
func TestHalfSingle(t *testing.T) {
	c := new(Tally)
	for _, rows := range []int64{1, 2, 3, 5000} {
		c.Add(rows)
	}
	if want := 0.5 + 0.5 + 0.375; c.halfSingle != want || c.single != 1 || c.rows != 5006 || c.objects != 4 {
		t.Errorf("%+v, want %v alone in a half", *c, want)
	}
}
