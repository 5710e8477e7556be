package parquetio

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/bitpacked"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// lengths are lengths around multiples of the groups' sizes.
var lengths = []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 99, 100, 101, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025}

func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	hybrid, packed := rle.Encoding{BitWidth: 1}, bitpacked.Encoding{BitWidth: 1}
	var s scratch
	for _, n := range lengths {
		for _, odds := range []int{1, 2, 30} {
			want, missing := make([]byte, n), 0
			for i := range want {
				if want[i] = 1; r.IntN(odds) == 0 {
					want[i], missing = 0, missing+1
				}
			}
			b, err := hybrid.EncodeLevels(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			got, count, err := s.runLevels(b, n)
			if err != nil || count != missing || got != nil && !cmp.Equal(got, want) {
				t.Fatalf("%d levels, %d missing: %v, %d, %v", n, missing, got, count, err)
			}
			if b, err = packed.EncodeLevels(nil, want); err != nil {
				t.Fatal(err)
			}
			if got, count := s.bitLevels(b, n, false); count != missing || !cmp.Equal(got, want) {
				t.Fatalf("%d packed levels: %v, expected %v", n, got, want)
			}
		}
	}
}

// TestRunClaims checks that runs with too many values are refused before memory is
// allocated for them.
func TestRunClaims(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<31<<1)
	for name, b := range map[string][]byte{
		"repeated": append(huge, 0), "packed": binary.AppendUvarint(nil, 1<<20<<1|1), "no value": {2},
		"too many": append(binary.AppendUvarint(nil, 2000<<1), 1),
	} {
		if _, _, _, err := checkRuns(b, 1, 1000); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var s scratch
	for name, b := range map[string][]byte{"empty": {}, "short": {2, 1}, "level 2": {20, 2}, "no runs": {0, 0, 0, 0}} {
		if _, _, err := s.runLevels(b, 10); err == nil {
			t.Errorf("levels, %s: no error", name)
		}
	}
}

func TestDeltaInts(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range append(lengths, 0) {
		for _, width := range []int{1, 5, 8, 31, 33, 63, 64} {
			want := make([]int64, n)
			for i := range want {
				want[i] = int64(r.Uint64() >> (64 - width))
			}
			b, err := parquet.DeltaBinaryPacked.EncodeInt64(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			got, rest, err := deltaInts(nil, append(b, "rest"...), n)
			if err != nil || string(rest) != "rest" || n > 0 && !cmp.Equal(got, want) {
				t.Fatalf("%d values of %d bits: %v, rest %q", n, width, err, rest)
			}
			if _, _, err := deltaInts(nil, b, n+1); err == nil {
				t.Fatal("a wrong number of values was not refused")
			}
		}
	}
}

func TestDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32()) * byte(r.IntN(2))
		}
		scale := r.IntN(40)
		x := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		want, _ := new(big.Rat).SetFrac(x, power).Float64()
		if got := bigEndianDecimal(b, scale); got != want {
			t.Fatalf("%s / 10^%d = %v, expected %v", x, scale, got, want)
		}
	}
}

func TestFloat16(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x3c00: 1, 0xbc00: -1, 0x7bff: 65504, 0x0001: 0x1p-24, 0x03ff: 0x3ffp-24, 0x0400: 0x1p-14,
		0x3555: 0x1.554p-2,
	} {
		if got := float16(bits); got != want {
			t.Errorf("%#x: got %v, expected %v", bits, got, want)
		}
	}
	if x := float16(0x7e00); x == x {
		t.Errorf("got %v, expected NaN", x)
	}
}
