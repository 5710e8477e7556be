package metric_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
)

// The tests in this file draw samples from distributions whose figures are known, and count how many intervals hold
// them. A coverage of .93 to .97 is right.

// covers checks the number of intervals of samples that hold the true value, within three standard deviations of the
// binomial distribution.
func covers(t *testing.T, what string, held, samples int, least, most float64) {
	t.Helper()
	n := float64(samples)
	from, to := n*least-3*math.Sqrt(n*least*(1-least)), n*most+3*math.Sqrt(n*most*(1-most))
	if x := float64(held); x < from || x > to {
		t.Errorf("%s: %d of %d intervals hold the true value, want a share of %v to %v", what, held, samples, least, most)
	}
}

// ranked returns the table of a tree with n leaves, whose scores are normal with the standard deviation 1 and the mean 0
// for the first of two classes, or apart for the second. Weights are proportions of the class. Cuts between leaves are
// from low to high.
func ranked(apart, low, high float64, n int) []metric.Leaf {
	const unit = 1 << 40
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	leaves := make([]metric.Leaf, n)
	from := math.Inf(-1)
	for i := range leaves {
		to := low + (high-low)*float64(i)/float64(n-2)
		if i == n-1 {
			to = math.Inf(1)
		}
		weights := []int64{int64(unit * (normal(to) - normal(from))), int64(unit * (normal(to-apart) - normal(from-apart)))}
		p := float64(i) / float64(n)
		leaves[i] = metric.Leaf{Probabilities: []float64{1 - p, p}, Weights: weights}
		from = to
	}
	return leaves
}

// drawn returns a sample of leaves with a number of rows of each class.
func drawn(r *rand.Rand, leaves []metric.Leaf, rows ...int) []metric.Leaf {
	sample := make([]metric.Leaf, len(leaves))
	for i := range sample {
		sample[i] = leaves[i]
		sample[i].Weights = make([]int64, len(rows))
	}
	for class, n := range rows {
		ends := make([]int64, len(leaves))
		sum := int64(0)
		for i := range leaves {
			sum += leaves[i].Weights[class]
			ends[i] = sum
		}
		for range n {
			x, at := r.Int64N(sum), 0
			for ends[at] <= x {
				at++
			}
			sample[at].Weights[class]++
			sample[at].Rows++
		}
	}
	return sample
}

// TestAreaNearOneAndOfFewRows: normal scores with areas from .6 to .997, in 60 leaves and in 7, and from 4 to 500 rows of
// a class.
func TestAreaNearOneAndOfFewRows(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 13))
	// The difference of the means of both classes, for the areas .6, .75, .9, .97 and .997.
	for _, apart := range []float64{.3583, .9539, 1.8124, 2.6599, 3.8859} {
		for _, shape := range []struct {
			leaves    int
			low, high float64
		}{{60, -2.5, 2.5 + apart}, {7, -1.5, 1.5 + apart}} {
			all := ranked(apart, shape.low, shape.high, shape.leaves)
			truth := *metric.MeanArea(all)
			for _, rows := range [][]int{{196, 4}, {490, 10}, {80, 20}, {50, 50}, {500, 500}} {
				samples, held := 1000, 0
				if rows[0]+rows[1] == 1000 {
					samples = 300
				}
				for range samples {
					if i := metric.Area(drawn(r, all, rows...)); i.Low <= truth && truth <= i.High {
						held++
					}
				}
				most := .97
				if rows[1] <= 20 || truth > .95 {
					most = .995 // there are few values of the area, and none is too low
				}
				covers(t, fmt.Sprintf("area %.4f in %d leaves, %v rows", truth, shape.leaves, rows), held, samples, .93, most)
			}
		}
	}
}
