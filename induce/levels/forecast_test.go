package levels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestForecast: the forecast from the tree itself has the passes, the histograms and the
// small nodes of the training. Its pieces are as long but for a half, as there are no
// heavy objects.
func TestForecast(t *testing.T) {
	for _, memory := range []int64{20_000, 60_000, 1 << 30} {
		for _, budget := range []int64{0, 40, 1000} {
			d := growtest.New(rand.New(rand.NewPCG(6, 7)), growtest.SomeFeatures(), 3, 400, false)
			p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.05}
			other := induce.Params{Algorithm: split.CART, Family: split.Thresholds, Theta: 0.02}
			g := newByLevels(t, d, 1, budget, 0, p, other)
			g.memory = memory
			growth, passes, histogram, bytes := g.start(), 0, int64(0), 0.0
			var small []float64
			for {
				for _, o := range growth.Small {
					small = append(small, float64(o.Count))
				}
				growth.Small = nil
				if len(growth.Large) == 0 {
					break
				}
				list := g.grower.Passes(growth, memory)
				passes += len(list)
				for i := range list {
					histogram = max(histogram, g.grower.PassBytes(&list[i]))
					counter := g.grower.Counter(&list[i])
					counter.Add(d.Objects)
					counter.Pieces(func(_ int64, b []byte) { bytes += float64(len(b)) })
				}
				children, err := g.grower.Expand(growth, list, memory, 1, func(p *levels.Pass) (*levels.Counts, error) {
					return g.count(p), nil
				})
				if err != nil {
					t.Fatal(err)
				}
				growth.Next(children, budget)
			}
			if passes < 4 && budget < 1000 {
				t.Errorf("memory %d, budget %d: %d passes are too few to tell anything", memory, budget, passes)
			}
			roots := []*induce.Node{d.Grow(p, 1), d.Grow(other, 1)}
			f := g.grower.Forecast(roots, levels.Scale{Objects: 1, Weight: 1}, budget, memory, memory)
			slices.Sort(f.Small)
			slices.Sort(small)
			if f.Passes != passes || f.Histogram != histogram || !slices.Equal(f.Small, small) {
				t.Errorf("memory %d, budget %d: %d passes, histogram %d, small nodes %v; want %d, %d, %v", memory, budget,
					f.Passes, f.Histogram, f.Small, passes, histogram, small)
			}
			if f.Pieces < 0.5*bytes || f.Pieces > 1.5*bytes {
				t.Errorf("memory %d, budget %d: pieces of %.0f bytes, want about %.0f", memory, budget, f.Pieces, bytes)
			}
		}
	}
}

// TestRedeal: another budget makes other nodes small; the open weight stays.
func TestRedeal(t *testing.T) {
	growth := levels.NewGrowth(1, []int64{3, 4}, []int64{30, 40}, 6)
	if len(growth.Large) != 1 || len(growth.Small) != 0 || growth.Weight() != 70 {
		t.Fatalf("%d large and %d small nodes of weight %d", len(growth.Large), len(growth.Small), growth.Weight())
	}
	for _, budget := range []int64{7, -1} {
		growth.Redeal(6)
		growth.Redeal(budget)
		if len(growth.Large) != 0 || len(growth.Small) != 1 || growth.Weight() != 70 {
			t.Errorf("budget %d: %d large and %d small nodes of weight %d", budget, len(growth.Large), len(growth.Small),
				growth.Weight())
		}
	}
}
