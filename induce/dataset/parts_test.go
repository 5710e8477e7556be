package dataset_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestHashes pins the hashes, so rows stay in their part of a split across versions. The
// values are from this Python, written after the definitions in parts.go:
//
//	M, PHI, SQ = 2**64 - 1, 0x9e3779b97f4a7c15, 0x6a09e667f3bcc909
//	def mul(a, b): p = a * b; return p >> 64 ^ p & M
//	def mix(a, b):
//	    x = mul(a ^ SQ, b ^ PHI)
//	    return mul(x ^ PHI, SQ | 1) ^ x >> 29
//	def text(seed, b):
//	    h = mix(seed, len(b))
//	    while len(b) >= 8:
//	        w = int.from_bytes(b[:8], "little")
//	        h, b = mul(h ^ w, PHI) + w & M, b[8:]
//	    return mix(h, int.from_bytes(b, "little"))
//	def number(seed, x): return mix(seed, int.from_bytes(struct.pack("<d", x), "little"))
//	def row(seed, file, group, row): return mix(mix(text(seed, file), group), row)
//	def key(b): return text(SQ, b)
func TestHashes(t *testing.T) {
	position := func(seed uint64, file string, rowGroup, row int) uint64 {
		return dataset.HashRow(dataset.HashPosition(seed, file, rowGroup), row)
	}
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for i, hash := range []struct{ got, want uint64 }{
		{dataset.HashText(0, ""), 0xe6fc6f4f3eec66bd},
		{dataset.HashText(1, ""), 0x997f7a1df29bc5b8},
		{dataset.HashText(0, "a"), 0xcc920426a5cc9951},
		{dataset.HashText(0, "a\x00"), 0x1d3bf0659451ceb9},
		{dataset.HashText(7, "1234567"), 0x79115ee31daa35dc},
		{dataset.HashText(7, "12345678"), 0x2893a0a98968dd9},
		{dataset.HashText(7, "123456789"), 0x211d4a497d3e1c65},
		{dataset.HashText(math.MaxUint64, string(bytes)), 0x519e25a7a064b0eb},
		{dataset.HashNumber(0, 0), 0x5d2ba71affca56a5},
		{dataset.HashNumber(1, 0), 0x36ba1709440da8d9},
		{dataset.HashNumber(1, 1), 0x394979ea6aef8c1f},
		{dataset.HashNumber(1, -2.5), 0x66cd1639829104},
		{position(0, "", 0, 0), 0x84b606bfcaff1f18},
		{position(1, "part-0.parquet", 0, 0), 0x7924905fa986a870},
		{position(1, "part-0.parquet", 0, 1), 0xad9bef9fb9c92a72},
		{position(1, "part-0.parquet", 1, 0), 0x59e25cb5ef503f38},
		{position(1, "part-1.parquet", 0, 0), 0xdec80585f59b4f6e},
		{dataset.HashKey(nil), 0x287708f7400e0438},
		{dataset.HashKey([]byte{1, 2, 3}), 0x9318b1aaf65425e8},
		{dataset.HashKey(make([]byte, 8)), 0x3de56c27a9b36484},
	} {
		if hash.got != hash.want {
			t.Errorf("hash %d is %#x, want %#x", i, hash.got, hash.want)
		}
	}
}

// kindsOfRows returns hash functions of typical rows: positions, keys and numbers with
// regular patterns.
func kindsOfRows() map[string]func(seed uint64, i int) uint64 {
	return map[string]func(seed uint64, i int) uint64{
		"rows of a row group": func(seed uint64, i int) uint64 {
			return dataset.HashRow(dataset.HashPosition(seed, "part-0.parquet", 0), i)
		},
		"first rows of row groups": func(seed uint64, i int) uint64 {
			return dataset.HashRow(dataset.HashPosition(seed, "part-0.parquet", i), 0)
		},
		"first rows of files": func(seed uint64, i int) uint64 {
			return dataset.HashRow(dataset.HashPosition(seed, fmt.Sprintf("part-%05d.parquet", i), 0), 0)
		},
		"numbers":    func(seed uint64, i int) uint64 { return dataset.HashNumber(seed, float64(i)) },
		"thousands":  func(seed uint64, i int) uint64 { return dataset.HashNumber(seed, 1000*float64(i)) },
		"short keys": func(seed uint64, i int) uint64 { return dataset.HashText(seed, strconv.Itoa(i)) },
		"long keys": func(seed uint64, i int) uint64 {
			return dataset.HashText(seed, fmt.Sprintf("customer/%032d", i))
		},
	}
}

// checkShare fails if a share deviates from its probability by more than 6 standard
// deviations. For independent draws this happens once in 5e8 times.
func checkShare(t *testing.T, what string, count, n int, p float64) {
	t.Helper()
	if d := math.Abs(float64(count) - p*float64(n)); d > 6*math.Sqrt(float64(n)*p*(1-p)) {
		t.Errorf("%s: %d of %d, want %v of them", what, count, n, p)
	}
}

// TestShares: each kind of rows is dealt in proportion to the shares, independently
// between seeds and between neighbouring rows.
func TestShares(t *testing.T) {
	const n = 20_000
	shares := dataset.Shares{70, 10, 20}
	part := [dataset.Parts]float64{.7, .1, .2}
	for name, hash := range kindsOfRows() {
		t.Run(name, func(t *testing.T) {
			var count, both, pairs [dataset.Parts]int
			for i := range n {
				of := shares.Of(hash(1, i))
				count[of]++
				if of == shares.Of(hash(2, i)) {
					both[of]++
				}
				if i%2 == 0 && of == shares.Of(hash(1, i+1)) {
					pairs[of]++
				}
			}
			for p, want := range part {
				checkShare(t, dataset.Part(p).String(), count[p], n, want)
				checkShare(t, "with both seeds in "+dataset.Part(p).String(), both[p], n, want*want)
				checkShare(t, "after each other in "+dataset.Part(p).String(), pairs[p], n/2, want*want)
			}
		})
	}
}

// TestSharesOf: by hand, a part ends exactly at the hash where hash * total / 2^64 reaches
// the sum of the shares. A part with share 0 has no row.
func TestSharesOf(t *testing.T) {
	const half, top = 1 << 63, math.MaxUint64
	for _, test := range []struct {
		shares dataset.Shares
		hash   uint64
		want   dataset.Part
	}{
		{dataset.Shares{1, 0, 0}, 0, dataset.Train},
		{dataset.Shares{1, 0, 0}, top, dataset.Train},
		{dataset.Shares{100, 0, 0}, top, dataset.Train},
		{dataset.Shares{1, 1, 0}, half - 1, dataset.Train},
		{dataset.Shares{1, 1, 0}, half, dataset.Validation},
		{dataset.Shares{1, 1, 0}, top, dataset.Validation},
		{dataset.Shares{1, 0, 1}, half - 1, dataset.Train},
		{dataset.Shares{1, 0, 1}, half, dataset.Test},
		{dataset.Shares{0, 1, 1}, 0, dataset.Validation},
		{dataset.Shares{0, 0, 1}, 0, dataset.Test},
		{dataset.Shares{2, 1, 1}, half + half/2 - 1, dataset.Validation},
		{dataset.Shares{2, 1, 1}, half + half/2, dataset.Test},
		{dataset.Shares{1 << 19, 1 << 18, 1 << 18}, half + half/2, dataset.Test},
		{dataset.Shares{math.MaxUint32, math.MaxUint32, math.MaxUint32}, top, dataset.Test}, // a total beyond 32 bits
		{dataset.Shares{math.MaxUint32, math.MaxUint32, math.MaxUint32}, 0, dataset.Train},
	} {
		if got := test.shares.Of(test.hash); got != test.want {
			t.Errorf("hash %#x with shares %v is of part %s, want %s", test.hash, test.shares, got, test.want)
		}
	}
}

// TestSharesScale: shares count by their proportions.
func TestSharesScale(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 10_000 {
		hash := r.Uint64()
		if a, b := (dataset.Shares{7, 1, 2}).Of(hash), (dataset.Shares{70_000, 10_000, 20_000}).Of(hash); a != b {
			t.Fatalf("hash %#x: part %s, with larger numbers %s", hash, a, b)
		}
	}
}

// TestSharesGrow: a larger training part contains the smaller one, so runs of several
// sizes can be compared.
func TestSharesGrow(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 10_000 {
		hash := r.Uint64()
		for train := uint32(1); train < 100; train += 7 {
			small, large := dataset.Shares{train, 0, 100 - train}, dataset.Shares{train + 1, 0, 99 - train}
			if small.Of(hash) == dataset.Train && large.Of(hash) != dataset.Train {
				t.Fatalf("hash %#x is of the training part with share %d, not with one more", hash, train)
			}
		}
	}
}

// TestHashesDistinct: similar positions and keys have different hashes. Among 15,000 random
// 64-bit hashes two would agree once in 1e11 times.
func TestHashesDistinct(t *testing.T) {
	seen := make(map[uint64]string)
	add := func(hash uint64, what string) {
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have the same hash", what, other)
		}
		seen[hash] = what
	}
	for seed := range uint64(4) {
		for _, file := range []string{
			"", "a", "a\x00", "\x00a", "part-0.parquet", "part-1.parquet",
			strings.Repeat("\x00", 8),
		} {
			for group := range 8 {
				for row := range 64 {
					h := dataset.HashRow(dataset.HashPosition(seed, file, group), row)
					add(h, fmt.Sprintf("seed %d, file %q, row group %d, row %d", seed, file, group, row))
				}
			}
		}
		for size := range 40 {
			add(dataset.HashText(seed, strings.Repeat("\x00", size)), fmt.Sprintf("seed %d, %d zeros", seed, size))
		}
		for _, x := range []float64{0, 1, -1, 0.5, math.MaxFloat64, math.Inf(1), math.Inf(-1)} {
			add(dataset.HashNumber(seed, x), fmt.Sprintf("seed %d, number %v", seed, x))
		}
	}
}

// TestHashKeySpread: typical keys, of few small codes, are dealt evenly to the shards of
// the shuffle and to the slots of a table.
func TestHashKeySpread(t *testing.T) {
	const shards, n = 64, 1 << 16
	for _, width := range []int{2, 8, 30} {
		var high, low [shards]int
		seen := make(map[uint64]bool)
		for i := range n { // the bits of i, two per byte
			key := make([]byte, width)
			if width == 2 {
				binary.LittleEndian.PutUint16(key, uint16(i))
			} else {
				for j := range 8 {
					key[j*width/8] = byte(i >> (2 * j) & 3)
				}
			}
			hash := dataset.HashKey(key)
			seen[hash] = true
			high[hash>>32%shards]++
			low[hash%shards]++
		}
		if len(seen) != n {
			t.Errorf("%d bytes: %d hashes of %d keys", width, len(seen), n)
		}
		for i := range shards {
			checkShare(t, fmt.Sprintf("%d bytes, shard %d", width, i), high[i], n, 1./shards)
			checkShare(t, fmt.Sprintf("%d bytes, slot %d", width, i), low[i], n, 1./shards)
		}
	}
}

func TestParsePart(t *testing.T) {
	for s, want := range map[string]dataset.Part{
		"train": dataset.Train, "Training": dataset.Train, "validation": dataset.Validation,
		"VALID": dataset.Validation,
		"val":   dataset.Validation, "test": dataset.Test, "": dataset.None, "none": dataset.None, "dev": dataset.None,
	} {
		if got, ok := dataset.ParsePart(s); got != want || ok != (want != dataset.None) {
			t.Errorf("part %q is %s, %t, want %s", s, got, ok, want)
		}
	}
	for part := range dataset.Part(dataset.Parts) {
		if got, ok := dataset.ParsePart(part.String()); got != part || !ok {
			t.Errorf("part %s reads back as %s, %t", part, got, ok)
		}
	}
}

func TestParseShares(t *testing.T) {
	for s, want := range map[string]dataset.Shares{
		"70/10/20": {70, 10, 20}, "7 / 1/ 2": {7, 1, 2}, "100/0/0": {100, 0, 0}, "1/0/1048575": {1, 0, 1048575},
		"007/0/1": {7, 0, 1},
	} {
		if got, err := dataset.ParseShares(s); got != want || err != nil {
			t.Errorf("shares %q are %v, %v, want %v", s, got, err, want)
		}
	}
}

// TestParseSharesErrors: the error names the value and the wrong number.
func TestParseSharesErrors(t *testing.T) {
	for s, want := range map[string]string{
		"": "three", "70": "three", "70/30": "three", "70/10/10/10": "three", "70,10,20": "three",
		"a/1/2": `"a"`, "70/10/": `""`, "70/-1/20": `"-1"`, "70/0.5/20": `"0.5"`, "1/1048576/1": `"1048576"`,
		"1/1/99999999999999999999": `"99999999999999999999"`,
		"0/50/50":                  "positive", "0/0/0": "positive",
	} {
		_, err := dataset.ParseShares(s)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
			t.Errorf("shares %q: error %v, want one with %s", s, err, want)
		}
	}
}

// TestDeal: a single row is dealt as Of deals it, and no row is lost. Without a share a part has no rows.
func TestDeal(t *testing.T) {
	for hash := range uint64(2000) {
		hash *= 0x9e3779b97f4a7c15
		shares := dataset.Shares{70, 10 * uint32(hash%2), 20}
		if dealt := shares.Deal(hash, 1); dealt[shares.Of(hash)] != 1 || dealt[0]+dealt[1]+dealt[2] != 1 {
			t.Fatalf("%v for a row of %s", dealt, shares.Of(hash))
		}
		n := int64(hash % 1_000_003)
		if dealt := shares.Deal(hash, n); dealt[0]+dealt[1]+dealt[2] != n || shares[1] == 0 && dealt[1] > 0 {
			t.Fatalf("%v of %d rows by %s", dealt, n, shares)
		}
	}
}
