package jobs

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestApportion: shares add up to the scale, each is within one unit of what it stands for, and
// a class that the label and the probabilities do not have gets none.
func TestApportion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		soft := &SoftLabels{TeacherWeight: []float64{0.5, 1, 0, r.Float64()}[r.IntN(4)], Scale: 1 << (8 + r.IntN(13))}
		p, sum := make([]float64, 1+r.IntN(40)), 0.0
		for k := range p {
			if r.IntN(3) > 0 {
				p[k] = math.Pow(r.Float64(), 6)
				sum += p[k]
			}
		}
		label := r.IntN(len(p))
		if sum == 0 {
			p[label], sum = 1, 1
		}
		shares, total := make([]int32, len(p)), int64(0)
		for k := range p {
			p[k] /= sum
		}
		apportion(shares, p, label, soft)
		for k, share := range shares {
			total += int64(share)
			want := soft.TeacherWeight * p[k]
			if k == label {
				want += 1 - soft.TeacherWeight
			}
			if share < 0 || math.Abs(float64(share)-want*float64(soft.Scale)) > 1.001 || want == 0 && share != 0 {
				t.Errorf("class %d of %d gets %d of %d, want %v", k, len(p), share, soft.Scale, want*float64(soft.Scale))
			}
		}
		if total != soft.Scale {
			t.Errorf("shares add up to %d, want %d", total, soft.Scale)
		}
	}
}

// TestClassNumber: numbers as classes of number columns are spelled.
func TestClassNumber(t *testing.T) {
	for class, want := range map[string]bool{
		"0": true, "-3": true, "2.5": true, "1e+30": true, "": false, "2.50": false, "true": false, "NaN": false, "Inf": false,
		"+Inf": false, "a": false, "1.0": false, "0x10": false, "1_000": false,
	} {
		if _, ok := ClassNumber(class); ok != want {
			t.Errorf("%q: %v", class, ok)
		}
	}
}
