package tree

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/portable"
)

// TestApportion: the parts are whole, add up to the total, and differ from their shares by less than 1.
func TestApportion(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 5))
	for range 1000 {
		shares := make([]int64, 1+r.IntN(6))
		for i := range shares {
			shares[i] = r.Int64N([]int64{2, 10, 1 << 40}[r.IntN(3)])
		}
		shares[r.IntN(len(shares))]++
		total := r.Int64N([]int64{3, 1000, 1 << 50}[r.IntN(3)])
		all := float64(portable.Sum(shares))
		parts := slices.Clone(shares)
		apportion(total, parts)
		if portable.Sum(parts) != total {
			t.Fatalf("%d by %d: %d", total, shares, parts)
		}
		for i, part := range parts {
			want := float64(total) * float64(shares[i]) / all
			if part < 0 || float64(part) > want+1+want*1e-9 || float64(part) < want-1-want*1e-9 {
				t.Fatalf("%d by %d: %d", total, shares, parts)
			}
		}
	}
}
