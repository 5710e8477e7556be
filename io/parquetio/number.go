package parquetio

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
)

const (
	// maxExact bounds the whole numbers that float64 holds without gaps.
	maxExact = 1 << 53

	maxDecimal = 1024 // bytes of a decimal: those that float64 can hold have 128

	julianEpoch = 2440588 // 1970-01-01 as a Julian day
	dayNanos    = 86400e9
)

// appendNumbers converts n values in the PLAIN layout.
func (l *leaf) appendNumbers(dst []float64, b []byte, n int) ([]float64, error) {
	if l.width > 0 {
		if n > len(b)/l.width {
			return dst, errShort
		}
		b = b[:n*l.width]
	}
	switch l.kind {
	case int32s:
		return appendInt32s(dst, b), nil
	case floats:
		return appendFloats(dst, b), nil
	case doubles:
		return appendDoubles(dst, b), nil
	case int64s:
		return appendInt64s(dst, b)
	case uint64s:
		return appendUint64s(dst, b)
	case ticks:
		return appendTicks(dst, b), nil
	case decimalBytes:
		return l.appendDecimals(dst, b, n)
	default:
		return l.appendOthers(dst, b), nil
	}
}

func appendInt32s(dst []float64, b []byte) []float64 {
	for ; len(b) >= 4; b = b[4:] {
		dst = append(dst, float64(int32(binary.LittleEndian.Uint32(b))))
	}
	return dst
}

// appendFloats, like all that convert floating point numbers, adds zero: that
// turns negative zero into zero.
func appendFloats(dst []float64, b []byte) []float64 {
	for ; len(b) >= 4; b = b[4:] {
		dst = append(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))+0)
	}
	return dst
}

func appendDoubles(dst []float64, b []byte) []float64 {
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(b))+0)
	}
	return dst
}

func appendTicks(dst []float64, b []byte) []float64 {
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, float64(int64(binary.LittleEndian.Uint64(b))))
	}
	return dst
}

func appendInt64s(dst []float64, b []byte) ([]float64, error) {
	for ; len(b) >= 8; b = b[8:] {
		x := int64(binary.LittleEndian.Uint64(b))
		if (x > maxExact || x < -maxExact) && !exactInt64(x) {
			return dst, inexact(strconv.FormatInt(x, 10))
		}
		dst = append(dst, float64(x))
	}
	return dst, nil
}

func appendUint64s(dst []float64, b []byte) ([]float64, error) {
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		if x > maxExact && !exactUint64(x) {
			return dst, inexact(strconv.FormatUint(x, 10))
		}
		dst = append(dst, float64(x))
	}
	return dst, nil
}

// appendOthers converts types of fixed width that are rare enough for a call
// per value.
func (l *leaf) appendOthers(dst []float64, b []byte) []float64 {
	for ; len(b) >= l.width; b = b[l.width:] {
		dst = append(dst, l.convert(b))
	}
	return dst
}

func (l *leaf) convert(b []byte) float64 {
	switch l.kind {
	case uint32s:
		return float64(binary.LittleEndian.Uint32(b))
	case float16s:
		return float16(binary.LittleEndian.Uint16(b)) + 0
	case int96s:
		return int96(b)
	case decimal32:
		return decimal(int64(int32(binary.LittleEndian.Uint32(b))), l.scale)
	case decimal64:
		return decimal(int64(binary.LittleEndian.Uint64(b)), l.scale)
	default:
		panic(fmt.Sprintf("no numbers of kind %d", l.kind))
	}
}

func exactInt64(x int64) bool {
	f := float64(x)
	return f < math.MaxInt64 && int64(f) == x // MaxInt64 rounds up to 2^63
}

func exactUint64(x uint64) bool {
	f := float64(x)
	return f < math.MaxUint64 && uint64(f) == x
}

func inexact(value string) *dataset.DataError {
	return &dataset.DataError{
		Value:   value,
		Problem: "a whole number beyond 2^53 that floating point cannot hold exactly",
		Hint:    "write the column as text or leave it out",
	}
}

// float16 widens a half-precision number.
func float16(h uint16) float64 {
	exponent, mantissa := int(h>>10&31), float64(h&1023)
	var x float64
	switch {
	case exponent == 31 && mantissa != 0:
		return math.NaN()
	case exponent == 31:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(mantissa, -24)
	default:
		x = math.Ldexp(mantissa+1024, exponent-25)
	}
	if h>>15 != 0 {
		return -x
	}
	return x
}

// int96 converts a legacy timestamp, nanoseconds of a Julian day, to
// nanoseconds since 1970.
func int96(b []byte) float64 {
	nanos := int64(binary.LittleEndian.Uint64(b))
	days := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - julianEpoch
	const maxDays = 106750 // beyond, the nanoseconds exceed int64
	if -maxDays < days && days < maxDays && 0 <= nanos && nanos <= dayNanos {
		return float64(days*dayNanos + nanos)
	}
	return float64(float64(days)*dayNanos) + float64(nanos)
}

func (l *leaf) appendDecimals(dst []float64, b []byte, n int) ([]float64, error) {
	for range n {
		value, rest, err := l.next(b)
		if err != nil {
			return dst, err
		}
		if len(value) > maxDecimal {
			return dst, fault(fmt.Sprintf("a decimal of %d bytes, expected at most %d", len(value), maxDecimal), hintDamaged)
		}
		dst, b = append(dst, bigEndianDecimal(value, l.scale)), rest
	}
	return dst, nil
}

// decimal returns the float64 nearest to unscaled/10^scale.
func decimal(unscaled int64, scale int) float64 {
	const maxExactPower = 22 // 10^22 is the last power of ten that float64 holds
	if -maxExact <= unscaled && unscaled <= maxExact && scale <= maxExactPower {
		return float64(unscaled) / powersOfTen(scale)
	}
	return parseDecimal(strconv.FormatInt(unscaled, 10), scale)
}

func powersOfTen(n int) float64 {
	p := 1.0
	for range n {
		p *= 10 // exact up to 10^22
	}
	return p
}

func parseDecimal(digits string, scale int) float64 {
	x, _ := strconv.ParseFloat(digits+"e-"+strconv.Itoa(scale), 64) // out of range: the infinity that x is
	return x + 0
}

// bigEndianDecimal reads a two's complement number of any length.
func bigEndianDecimal(b []byte, scale int) float64 {
	if len(b) <= 8 {
		var x int64
		if len(b) > 0 && b[0]&0x80 != 0 {
			x = -1
		}
		for _, c := range b {
			x = x<<8 | int64(c)
		}
		return decimal(x, scale)
	}
	x := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if x.IsInt64() {
		return decimal(x.Int64(), scale)
	}
	return parseDecimal(x.String(), scale)
}
