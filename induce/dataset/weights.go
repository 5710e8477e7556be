package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
)

// Bounds of weights above 0. Within them, quotients of weights and sums of these are exact to the
// last bit of a float64.
const (
	LeastWeight    = 1e-200
	GreatestWeight = 1e200
)

// WeightFault returns what is wrong with the weight x of a row, as the end of a sentence about that
// weight; empty if x is 0 or in [LeastWeight, GreatestWeight].
func WeightFault(x float64) string {
	switch {
	case math.IsNaN(x):
		return "is null or NaN, expected 0 or a number from 1e-200 to 1e200"
	case x != 0 && !(x >= LeastWeight && x <= GreatestWeight):
		return "is out of range, expected 0 or a number from 1e-200 to 1e200"
	}
	return ""
}

// WeightSums holds everything that determines the unit of weights: their exact sum, the least and
// the greatest weight, and the distinct weights if they are few. Sums of parts of the rows can be
// merged in any order, with the same result. The zero value has no rows.
type WeightSums struct {
	Rows int64 // rows with a weight above 0

	least, greatest float64
	counts          map[float64]int64 // rows by weight; nil if there are more than mostWeights
	many            bool
	sums            []sum128 // by binary exponent of the weight, starting at leastExponent: sums of mantissas
	squares         []sum192 // likewise: sums of squares of mantissas
}

// sum128 is an unsigned integer of 128 bits.
type sum128 struct{ hi, lo uint64 }

func (s *sum128) add(hi, lo uint64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

// sum192 is an unsigned integer of 192 bits, least significant word first.
type sum192 [3]uint64

func (s *sum192) add(o *sum192) {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], o[i], carry)
	}
}

// squared returns times * x * x.
func squared(x, times uint64) sum192 {
	hi, lo := bits.Mul64(x, x)
	middle, low := bits.Mul64(lo, times)
	high, part := bits.Mul64(hi, times)
	middle, carry := bits.Add64(middle, part, 0)
	return sum192{low, middle, high + carry}
}

// mostWeights bounds the distinct weights that WeightSums counts: survey weights and prices
// have fewer.
const mostWeights = 1 << 12

// The exponents of weights, as encoded in math.Float64bits, and the value of the last bit of a
// mantissa with exponent 0.
const (
	mantissaBits  = 52
	exponentOfOne = 1023
	leastExponent = 300 // 2^-723, below LeastWeight
	exponents     = 1400
)

// Add adds rows of weight x, for which WeightFault is empty. Rows of weight 0 do not count.
func (s *WeightSums) Add(x float64, rows int64) {
	if x == 0 || rows == 0 {
		return
	}
	if s.Rows == 0 {
		s.least = x
		s.greatest = x
	}
	s.Rows += rows
	s.least = min(s.least, x)
	s.greatest = max(s.greatest, x)
	s.count(x, rows)
	b := math.Float64bits(x)
	s.makeSums()
	mantissa := b&(1<<mantissaBits-1) | 1<<mantissaBits
	at := b>>mantissaBits - leastExponent
	hi, lo := bits.Mul64(mantissa, uint64(rows))
	s.sums[at].add(hi, lo)
	square := squared(mantissa, uint64(rows))
	s.squares[at].add(&square)
}

func (s *WeightSums) makeSums() {
	if s.sums == nil {
		s.sums = make([]sum128, exponents)
		s.squares = make([]sum192, exponents)
	}
}

// count counts rows of a weight unless there are too many weights.
func (s *WeightSums) count(x float64, rows int64) {
	if s.many {
		return
	}
	if s.counts == nil {
		s.counts = make(map[float64]int64)
	}
	s.counts[x] += rows
	if s.many = len(s.counts) > mostWeights; s.many {
		s.counts = nil
	}
}

// LikeCounts reports whether the weights may be numbers of rows: whole numbers, at least three different ones. It returns
// the least and the greatest.
func (s *WeightSums) LikeCounts() (least, greatest float64, like bool) {
	for x := range s.counts {
		if x != math.Trunc(x) {
			return 0, 0, false
		}
	}
	return s.least, s.greatest, len(s.counts) >= 3
}

// Merge adds the sums of other rows.
func (s *WeightSums) Merge(o *WeightSums) {
	if o.Rows == 0 {
		return
	}
	if s.Rows == 0 {
		s.least = o.least
		s.greatest = o.greatest
	}
	s.Rows += o.Rows
	s.least = min(s.least, o.least)
	s.greatest = max(s.greatest, o.greatest)
	if o.many {
		s.many = true
		s.counts = nil
	}
	for x, rows := range o.counts { // in any order: the counts are the same
		s.count(x, rows)
	}
	s.makeSums()
	for exponent := range o.sums {
		s.sums[exponent].add(o.sums[exponent].hi, o.sums[exponent].lo)
		s.squares[exponent].add(&o.squares[exponent])
	}
}

// encodedSums is the JSON form of WeightSums.
type encodedSums struct {
	Rows     int64       `json:"rows"`
	Least    float64     `json:"least"`
	Greatest float64     `json:"greatest"`
	Many     bool        `json:"many,omitempty"`
	Weights  []float64   `json:"weights,omitempty"` // ascending
	Counts   []int64     `json:"counts,omitempty"`  // rows of each of the weights
	Sums     [][3]uint64 `json:"sums"`              // exponent and the two halves of each sum above 0
	Squares  []sum192    `json:"squares"`           // sums of squares of the exponents in Sums
}

// MarshalJSON encodes the sums. The result does not depend on the order in which rows were added.
func (s *WeightSums) MarshalJSON() ([]byte, error) {
	encoded := encodedSums{Rows: s.Rows, Least: s.least, Greatest: s.greatest, Many: s.many, Sums: [][3]uint64{}}
	encoded.Weights = slices.Sorted(maps.Keys(s.counts))
	for _, x := range encoded.Weights {
		encoded.Counts = append(encoded.Counts, s.counts[x])
	}
	for i, sum := range s.sums {
		if sum != (sum128{}) {
			encoded.Sums = append(encoded.Sums, [3]uint64{uint64(i), sum.hi, sum.lo})
			encoded.Squares = append(encoded.Squares, s.squares[i])
		}
	}
	return json.Marshal(&encoded)
}

var errWeightSums = errors.New("not encoded sums of weights")

// UnmarshalJSON decodes what MarshalJSON has encoded.
func (s *WeightSums) UnmarshalJSON(b []byte) error {
	var encoded encodedSums
	if err := json.Unmarshal(b, &encoded); err != nil {
		return err
	}
	if len(encoded.Weights) != len(encoded.Counts) || len(encoded.Weights) > mostWeights || len(encoded.Sums) != len(encoded.Squares) {
		return errWeightSums
	}
	*s = WeightSums{Rows: encoded.Rows, least: encoded.Least, greatest: encoded.Greatest, many: encoded.Many}
	if len(encoded.Weights) > 0 {
		s.counts = make(map[float64]int64, len(encoded.Weights))
		for i, x := range encoded.Weights {
			s.counts[x] = encoded.Counts[i]
		}
	}
	if len(encoded.Sums) > 0 {
		s.makeSums()
	}
	for i, sum := range encoded.Sums {
		if sum[0] >= exponents {
			return errWeightSums
		}
		s.sums[sum[0]] = sum128{sum[1], sum[2]}
		s.squares[sum[0]] = encoded.Squares[i]
	}
	return nil
}

// Mean returns the average weight of the rows, rounded to the nearest float64; 0 without rows.
func (s *WeightSums) Mean() float64 {
	if s.Rows == 0 {
		return 0
	}
	mean := s.total()
	mean.SetMantExp(mean, leastExponent-exponentOfOne-mantissaBits)
	x, _ := mean.Quo(mean, new(big.Float).SetInt64(s.Rows)).Float64()
	return x
}

// bigPrecision is the precision of quotients of exact sums, in bits.
const bigPrecision = 256

// total returns the sum of the weights, in units of the last bit of a weight of the least exponent.
func (s *WeightSums) total() *big.Float {
	return horner(len(s.sums), 1, func(exponent int) []uint64 { return []uint64{s.sums[exponent].lo, s.sums[exponent].hi} })
}

// horner returns the sum of n numbers. words returns the words of the number with an exponent, least significant
// first; the number counts 2^(step*exponent).
func horner(n int, step uint, words func(exponent int) []uint64) *big.Float {
	total := new(big.Int)
	for exponent := n - 1; exponent >= 0; exponent-- {
		total.Lsh(total, step)
		one := new(big.Int)
		for _, word := range slices.Backward(words(exponent)) {
			one.Add(one.Lsh(one, 64), new(big.Int).SetUint64(word))
		}
		total.Add(total, one)
	}
	return new(big.Float).SetPrec(bigPrecision).SetInt(total)
}

// Effect returns the design effect of the weights, at least 1: the variance of a weighted mean
// divided by the variance of a mean of as many rows of equal weight (Kish, Survey Sampling, 1965).
// Multiplying all weights by a constant does not change it. It is 1 without rows.
func (s *WeightSums) Effect() float64 {
	if s.Rows == 0 {
		return 1
	}
	squares := horner(len(s.squares), 2, func(e int) []uint64 { return s.squares[e][:] })
	total := s.total()
	squares.Mul(squares, new(big.Float).SetInt64(s.Rows))
	x, _ := squares.Quo(squares, total.Mul(total, total)).Float64()
	return max(1, rounded(x, scaleDigits))
}

// WeightUnit is the unit in which weights of rows are counted. If all weights are multiplied by a
// constant, so is the unit, and each row keeps its number of units, whatever the weights are
// measured in. The zero value is the unit of rows without weights: each row has weight 1.
type WeightUnit struct {
	Size  float64 `json:"size"`  // weight of a unit, as in the column
	Scale float64 `json:"scale"` // units in the average weight of a training row
	Mean  float64 `json:"mean"`  // average weight of a training row, as in the column
	Total int64   `json:"total"` // greatest possible sum of units over all rows

	Effect float64 `json:"effect,omitempty"` // design effect of the weights, see WeightSums.Effect
}

// finer is the number of steps per unit to which quotients are rounded before they are rounded to
// units. If all weights are multiplied by a constant, quotients change in their last bits, by
// rounding. The two steps round a quotient halfway between two units to the same unit, whatever the
// constant.
const finer = 1 << 20

// Of returns how many units the weight x is.
func (u *WeightUnit) Of(x float64) int64 {
	if x == 0 || u.Size == 0 {
		return 0
	}
	return int64(math.RoundToEven(math.RoundToEven(float64(x/u.Size*finer)) / finer))
}

// TooSmall returns what is wrong with a weight that rounds to 0 units, as the end of a sentence
// about it.
func (u *WeightUnit) TooSmall() string {
	return fmt.Sprintf("is too small to be counted next to the weights of the other rows, expected 0 or at least %.3g",
		u.Size/2)
}

// The units of weights that are not multiples of a common unit, and of weights that are.
const (
	unitBits  = 20      // the average weight has at least 2^unitBits units, if the total of all weights allows it
	leastBits = 4       // the least weight has 2^leastBits units, if the total of all weights allows it
	totalBits = 53      // JSON readers represent integers exactly up to 2^53
	exactBits = 50      // greatest total of units of exact weights
	mostParts = 1 << 20 // greatest number of units in the least exact weight
	mostUnits = 1 << 32 // greatest number of units in the greatest exact weight
	sameBits  = 44      // quotients of weights that agree in this many bits count as equal
)

// WeightClass returns the class of a weight, in [0, Buckets), given its units and scale, the units
// in the average weight. Weights of the same class differ by a factor of less than the square root
// of 2, except in the first and the last class.
func WeightClass(units int64, scale float64) uint8 {
	const ofMean = Buckets / 2
	fraction, exponent := math.Frexp(float64(units) / scale)
	class := ofMean + 2*(exponent-1)
	if fraction >= math.Sqrt2/2 {
		class++
	}
	return uint8(min(max(class, 0), Buckets-1))
}

// WeightUnits returns the unit of the weights of each part. Scales are relative to the average
// weight of the training rows or, if there are no training rows, of the rows of the part.
//
// If all weights of a part are multiples of a common unit, as integers and prices are, they are
// counted in this unit, exactly. Otherwise the unit is a fraction of the greatest weight, chosen so
// that the average weight has at least 2^20 units or, if there are more than 2^33 rows, so that all weights have about
// 2^53 units.
func WeightUnits(parts *[Parts]*WeightSums) (units [Parts]WeightUnit) {
	for part, s := range parts {
		if s != nil && s.Rows > 0 {
			units[part] = s.unit()
		}
	}
	train := units[Train]
	for part := range units {
		if u := &units[part]; Part(part) != Train && train.Size > 0 && u.Size > 0 {
			u.Mean = train.Mean
			u.Scale = rounded(float64(train.Scale*(train.Size/u.Size)), scaleDigits)
		}
	}
	return units
}

// Digits of scales and of units: few enough not to depend on the last bits.
const (
	scaleDigits = 9
	unitDigits  = 15
)

// rounded returns x rounded to this many decimal digits.
func rounded(x float64, digits int) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64) // own digits
	return short
}

// unit returns the unit of the weights. There must be rows.
func (s *WeightSums) unit() WeightUnit {
	u := WeightUnit{Mean: s.Mean(), Effect: s.Effect()}
	if u.Size = s.commonUnit(); u.Size > 0 {
		for x, rows := range s.counts { // integers can be added in any order
			u.Total += rows * u.Of(x)
		}
		u.Scale = float64(u.Total) / float64(s.Rows)
		return u
	}
	peak := rounded(s.greatest/u.Mean, scaleDigits)
	digits := ceilLog2(peak) + unitBits
	room := totalBits - ceilLog2(float64(s.Rows)/peak)
	digits = min(max(digits, ceilLog2(rounded(s.greatest/s.least, scaleDigits))+leastBits), room)
	u.Size = math.Ldexp(s.greatest, -digits)
	u.Scale = math.Round(math.Ldexp(1/peak, digits))
	u.Total = int64(u.Scale+2) * s.Rows // with a margin, because each row is rounded
	return u
}

// MostWeighted is the greatest number of rows with weights that have no common unit: the average weight then has 2^10
// units, which is a thousandth of it.
const MostWeighted = 1 << (totalBits - 10)

// Countable reports whether the weights can be counted, which the number of rows limits.
func (s *WeightSums) Countable() bool { return s.Rows <= MostWeighted || s.commonUnit() > 0 }

// ceilLog2 returns the least integer n with 2^n >= x, for x > 0.
func ceilLog2(x float64) int {
	fraction, n := math.Frexp(x)
	if fraction == 0.5 {
		return n - 1
	}
	return n
}

// commonUnit returns the greatest weight that divides all weights, if the weights are few
// and the multiples not too large; otherwise 0.
func (s *WeightSums) commonUnit() float64 {
	if s.many {
		return 0
	}
	weights := slices.Sorted(maps.Keys(s.counts))
	parts := 1.0 // units in the least weight
	for _, x := range weights {
		d := denominator(float64(x/s.least*parts), mostParts/parts)
		if d == 0 {
			return 0
		}
		parts *= d
	}
	if s.greatest/s.least*parts > mostUnits {
		return 0
	}
	total := 0.0
	for _, x := range weights {
		total += float64(float64(s.counts[x]) * math.Round(float64(x/s.least*parts)))
	}
	if total > 1<<exactBits {
		return 0
	}
	return rounded(s.least/parts, unitDigits) // rounded, so that .3/3 equals .1 in other windows of the rows
}

// denominator returns the least number up to most that makes x an integer, except for the last
// bits; 0 if absent. It tries the convergents of the continued fraction of x.
func denominator(x, most float64) float64 {
	p := math.Floor(x)
	before := 1.0
	q := 1.0
	last := 0.0
	rest := x - p
	for q <= most {
		if math.Abs(float64(x*q)-p) <= math.Ldexp(float64(x*q), -sameBits) {
			return q
		}
		if rest == 0 {
			return 0
		}
		digit := math.Floor(1 / rest)
		rest = 1/rest - digit
		p, before = float64(digit*p)+before, p // a recurrence of two terms
		q, last = float64(digit*q)+last, q
	}
	return 0
}
