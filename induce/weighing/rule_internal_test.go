package weighing

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestMultiplied compares products with products of big integers, rounded half up.
func TestMultiplied(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		weight, factor, unit := r.Int64N(1<<(1+r.IntN(60))), r.Int64N(1<<(1+r.IntN(62))), []uint64{1, 1_000_000}[r.IntN(2)]
		want := new(big.Int).Mul(big.NewInt(2*weight), big.NewInt(factor))
		want.Add(want, new(big.Int).SetUint64(unit))
		want.Div(want, new(big.Int).SetUint64(2*unit))
		if unit == 1 { // nothing to round
			want.Mul(big.NewInt(weight), big.NewInt(factor))
		}
		if most := big.NewInt(MaxTotalWeight); want.Cmp(most) > 0 {
			want = most
		}
		if got := multiplied(weight, factor, unit); got != want.Int64() {
			t.Fatalf("%d * %d / %d = %d, want %v", weight, factor, unit, got, want)
		}
	}
}

// TestRelabelledRows: by hand. Training rows of the classes weigh 2 and a half, in units
// of 1e-6; test rows weigh what they do.
func TestRelabelledRows(t *testing.T) {
	rule := &Rule{ClassWeights: []int64{2_000_000, 500_000}, ClassDivisor: 1}
	train := &dataset.ObjectCounts{Part: dataset.Train, Relabelled: []int64{6_000_000, 2_000_000}}
	test := &dataset.ObjectCounts{Part: dataset.Test, Relabelled: []int64{6, 0}}
	if a, b := rule.RelabelledRows(train), rule.RelabelledRows(test); a != 3+4 || b != 6 {
		t.Errorf("%d and %d rows, want 7 and 6", a, b)
	}
	if rule.ScaleOf(dataset.Train) != FractionScale || rule.ScaleOf(dataset.Test) != 1 || !rule.Weighted() || new(Rule).Weighted() {
		t.Error("scales of weights")
	}
}
