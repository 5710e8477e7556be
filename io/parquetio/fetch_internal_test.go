package parquetio

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name         string
		wanted, want []span
	}{
		{"nothing", nil, nil},
		{"one", []span{{4, 10}}, []span{{4, 10}}},
		{"neighbours, in any order", []span{{10, 20}, {4, 10}}, []span{{4, 20}}},
		{"a far one", []span{{4, 10}, {1000, 1010}}, []span{{4, 10}, {1000, 1010}}},
		{"the same twice", []span{{4, 10}, {4, 10}}, []span{{4, 10}}},
		{"one inside the other", []span{{4, 100}, {10, 20}, {90, 110}}, []span{{4, 110}}},
		{"a gap of a 128th", []span{{0, 640}, {650, 1290}}, []span{{0, 1290}}},
		{"a gap of more", []span{{0, 640}, {651, 1291}}, []span{{0, 640}, {651, 1291}}},
		{"the smaller of two gaps", []span{{0, 640}, {650, 1290}, {1295, 1300}}, []span{{0, 640}, {650, 1300}}},
	} {
		if got := plan(slices.Clone(c.wanted)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestPlanCovers: the requests cover the needed spans, in order, with no more unneeded bytes
// than allowed.
func TestPlanCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		const size = 4000
		var wanted []span
		needed := make([]bool, size)
		for range 1 + random.IntN(12) {
			start := random.Int64N(size - 1)
			s := span{start, min(size, start+1+random.Int64N(600))}
			wanted = append(wanted, s)
			for i := s.start; i < s.end; i++ {
				needed[i] = true
			}
		}
		runs := plan(wanted)
		covered := make([]bool, size)
		for i, r := range runs {
			if r.start >= r.end || i > 0 && r.start <= runs[i-1].end {
				t.Fatalf("runs %v are empty, touch or are out of order", runs)
			}
			for k := r.start; k < r.end; k++ {
				covered[k] = true
			}
		}
		bytes, gaps := 0, 0
		for i := range covered {
			switch {
			case needed[i] && !covered[i]:
				t.Fatalf("byte %d of %v is not in %v", i, wanted, runs)
			case needed[i]:
				bytes++
			case covered[i]:
				gaps++
			}
		}
		if gaps > bytes/128 {
			t.Fatalf("%d bytes for %d wanted by nobody", gaps, bytes)
		}
	}
}
