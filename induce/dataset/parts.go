package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/portable"
)

// Part is the part of a split that a row belongs to.
type Part uint8

// The parts of a split. Rows of part None are left out.
const (
	Train Part = iota
	Validation
	Test
	Parts      = 3
	None  Part = 255
)

// String returns the part's name as metrics.json and split columns spell it.
func (p Part) String() string {
	switch p {
	case Train:
		return "train"
	case Validation:
		return "validation"
	case Test:
		return "test"
	default:
		return "none"
	}
}

// ParsePart reads a part's name.
func ParsePart(s string) (Part, bool) {
	switch strings.ToLower(s) {
	case "train", "training":
		return Train, true
	case "validation", "valid", "val":
		return Validation, true
	case "test":
		return Test, true
	default:
		return None, false
	}
}

// Shares are the relative sizes of the parts, such as 70, 10 and 20.
type Shares [Parts]uint32

// String spells the shares as ParseShares reads them.
func (s Shares) String() string { return fmt.Sprintf("%d/%d/%d", s[Train], s[Validation], s[Test]) }

// Whole returns the part of all rows, if a single share is positive.
func (s Shares) Whole() (Part, bool) {
	whole := Part(0)
	taking := 0
	for part, share := range s {
		if share > 0 {
			whole = Part(part)
			taking++
		}
	}
	return whole, taking == 1
}

// ParseShares reads shares such as "70/10/20": whole numbers, the first of them positive.
// Their sum need not be 100.
func ParseShares(s string) (Shares, error) {
	var shares Shares
	fields := strings.Split(s, "/")
	if len(fields) != Parts {
		return shares, fmt.Errorf("split %q: want three whole numbers such as 70/10/20", s)
	}
	for i, f := range fields {
		n, err := strconv.ParseUint(strings.TrimSpace(f), 10, 20)
		if err != nil {
			return shares, fmt.Errorf("split %q: %q is not a whole number from 0 to 1048575", s, f)
		}
		shares[i] = uint32(n)
	}
	if shares[Train] == 0 {
		return shares, fmt.Errorf("split %q: the training part, the first number, must be positive", s)
	}
	return shares, nil
}

// Of returns the part of a row with the given hash.
func (s Shares) Of(hash uint64) Part {
	total := uint64(s[0]) + uint64(s[1]) + uint64(s[2])
	at, _ := bits.Mul64(hash, total)
	if at < uint64(s[Train]) {
		return Train
	}
	if at < uint64(s[Train])+uint64(s[Validation]) {
		return Validation
	}
	return Test
}

// MostCount is the greatest number of equal rows that a line represents.
const MostCount = 1_000_000_000_000

// Deal returns how many of n equal rows belong to each part, each dealt independently: a single row as Of deals it, more
// rows by random numbers that follow from the hash.
func (s Shares) Deal(hash uint64, n int64) (dealt [Parts]int64) {
	if n == 1 {
		dealt[s.Of(hash)] = 1
		return dealt
	}
	random := portable.Random{Key: hash}
	share := uint64(s[Train]) + uint64(s[Validation]) + uint64(s[Test])
	for part, own := range s {
		dealt[part] = random.Binomial(n, uint64(own), share)
		n -= dealt[part]
		share -= uint64(own)
	}
	return dealt
}

// HashPosition returns the hash of a row group. HashRow takes it, with the row's number
// in the group.
func HashPosition(seed uint64, file string, rowGroup int) uint64 {
	return mix(hashBytes(seed, []byte(file)), uint64(rowGroup))
}

// HashRow returns the hash of a row by its position.
func HashRow(group uint64, row int) uint64 { return mix(group, uint64(row)) }

// HashText returns the hash of a key column's text.
func HashText(seed uint64, s string) uint64 { return hashBytes(seed, []byte(s)) }

// HashNumber returns the hash of a key column's number.
func HashNumber(seed uint64, x float64) uint64 { return mix(seed, math.Float64bits(x)) }

// Two odd constants with well-spread bits: the fractional parts of the golden ratio and
// of the square root of two.
const (
	phi64   = 0x9e3779b97f4a7c15
	sqrt264 = 0x6a09e667f3bcc909
)

// mix hashes two words: it folds the 128-bit product of its arguments, each moved by a
// constant. All machines give the same hash, as the split and the shuffle require.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^sqrt264, b^phi64)
	x := hi ^ lo
	hi, lo = bits.Mul64(x^phi64, sqrt264|1)
	return hi ^ lo ^ x>>29
}

func hashBytes(seed uint64, b []byte) uint64 {
	h := mix(seed, uint64(len(b)))
	for len(b) >= 8 {
		h = fold(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var last uint64
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	return mix(h, last)
}

func fold(h, word uint64) uint64 {
	hi, lo := bits.Mul64(h^word, phi64)
	return hi ^ lo + word
}
