package portable_test

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/portable"
)

// TestRandom: the first numbers of SplitMix64 for the seed 1234567, as Rosetta Code lists them.
func TestRandom(t *testing.T) {
	r := portable.Random{Key: 1234567}
	for i, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		if got := r.Next(); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}
