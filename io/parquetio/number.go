package parquetio

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

const (
	// maxExact is the number up to which float64 holds every whole number.
	maxExact = 1 << 53

	maxDecimal = 1024 // greatest length of a decimal in bytes; 128 are enough for float64

	julianEpoch = 2440588 // 1970-01-01 as a Julian day
	dayMicros   = 86400e6
	maxJulian   = 1e8 // greatest number of days whose microseconds do not overflow
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
		return appendInt32s(dst, b, l.spare), nil
	case floats:
		return appendFloats(dst, b), nil
	case doubles:
		return appendDoubles(dst, b), nil
	case int64s:
		return appendInt64s(dst, b)
	case uint64s:
		return appendUint64s(dst, b)
	case ticks32, ticks64:
		return l.appendTicks(dst, b)
	case int96s:
		return appendInt96s(dst, b)
	case decimalBytes:
		return l.appendDecimals(dst, b, n)
	case decimal64:
		if l.scale == 0 {
			return appendInt64s(dst, b)
		}
		return l.appendOthers(dst, b), nil
	default:
		return l.appendOthers(dst, b), nil
	}
}

func appendInt32s(dst []float64, b []byte, spare uint8) []float64 {
	for ; len(b) >= 4; b = b[4:] {
		dst = append(dst, float64(int32(binary.LittleEndian.Uint32(b))<<spare>>spare))
	}
	return dst
}

// appendFloats converts float32 values. Like the other conversions of floating point
// numbers it adds zero, which turns negative zero into zero.
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

// appendTicks converts times and timestamps to microseconds, rounded down.
func (l *leaf) appendTicks(dst []float64, b []byte) ([]float64, error) {
	fine := l.tick < time.Microsecond
	up := int64(1)
	if l.tick == time.Millisecond {
		up = 1000
	}
	limit := maxExact / up // values up to it are exact
	for ; len(b) >= l.width; b = b[l.width:] {
		x := int64(0)
		if l.width == 8 {
			x = int64(binary.LittleEndian.Uint64(b))
		} else {
			x = int64(int32(binary.LittleEndian.Uint32(b)))
		}
		if fine {
			x = floorThousand(x)
		}
		if x > limit || x < -limit {
			if err := l.checkTick(x, up); err != nil {
				return dst, err
			}
		}
		dst = append(dst, float64(x*up))
	}
	return dst, nil
}

// checkTick checks that float64 holds the microseconds of a time exactly.
func (l *leaf) checkTick(x, up int64) error {
	micros := x * up
	if micros/up != x {
		return l.unit.Inexact(fmt.Sprintf("%d x %v", x, l.tick))
	}
	if _, ok := l.unit.Exact(micros); !ok {
		return l.unit.Inexact(l.unit.SpellCount(micros))
	}
	return nil
}

// floorThousand returns x/1000, rounded down.
func floorThousand(x int64) int64 {
	q := x / 1000
	if x%1000 < 0 {
		q--
	}
	return q
}

func appendInt64s(dst []float64, b []byte) ([]float64, error) {
	for ; len(b) >= 8; b = b[8:] {
		x := int64(binary.LittleEndian.Uint64(b))
		if x > maxExact || x < -maxExact {
			if _, ok := dataset.Plain.Exact(x); !ok {
				return dst, dataset.Plain.Inexact(strconv.FormatInt(x, 10))
			}
		}
		dst = append(dst, float64(x))
	}
	return dst, nil
}

func appendUint64s(dst []float64, b []byte) ([]float64, error) {
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		if x > maxExact && !exactUint64(x) {
			return dst, dataset.Plain.Inexact(strconv.FormatUint(x, 10))
		}
		dst = append(dst, float64(x))
	}
	return dst, nil
}

// appendOthers converts rare types of fixed width, with a call per value.
func (l *leaf) appendOthers(dst []float64, b []byte) []float64 {
	for ; len(b) >= l.width; b = b[l.width:] {
		dst = append(dst, l.convert(b))
	}
	return dst
}

func (l *leaf) convert(b []byte) float64 {
	switch l.kind {
	case uint32s:
		return float64(binary.LittleEndian.Uint32(b) << l.spare >> l.spare)
	case float16s:
		return float16(binary.LittleEndian.Uint16(b)) + 0
	case decimal32:
		return decimal(int64(int32(binary.LittleEndian.Uint32(b))), l.scale)
	case decimal64:
		return decimal(int64(binary.LittleEndian.Uint64(b)), l.scale)
	default:
		panic(fmt.Sprintf("no numbers of kind %d", l.kind))
	}
}

func exactUint64(x uint64) bool {
	f := float64(x)
	return f < math.MaxUint64 && uint64(f) == x
}

// float16 widens a half-precision number.
func float16(h uint16) float64 {
	exponent := int(h >> 10 & 31)
	mantissa := float64(h & 1023)
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

// appendInt96s converts legacy timestamps, nanoseconds of a Julian day, to
// microseconds since 1970, rounded down.
func appendInt96s(dst []float64, b []byte) ([]float64, error) {
	for ; len(b) >= 12; b = b[12:] {
		days := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - julianEpoch
		nanos := int64(binary.LittleEndian.Uint64(b))
		if nanos < 0 || nanos >= dayMicros*1000 {
			return dst, fault(fmt.Sprintf("an INT96 timestamp %d nanoseconds after the beginning of its day, expected fewer than "+
				"a day has", nanos), "write null where it stands for none, or leave the column out")
		}
		ofDay := nanos / 1000
		if days > maxJulian || days < -maxJulian {
			return dst, dataset.Timestamp.Inexact(fmt.Sprintf("Julian day %d", days+julianEpoch))
		}
		micros := days*dayMicros + ofDay
		if _, ok := dataset.Timestamp.Exact(micros); !ok {
			return dst, dataset.Timestamp.Inexact(dataset.Timestamp.SpellCount(micros))
		}
		dst = append(dst, float64(micros))
	}
	return dst, nil
}

func (l *leaf) appendDecimals(dst []float64, b []byte, n int) ([]float64, error) {
	for range n {
		value, rest, err := l.next(b)
		if err != nil {
			return dst, err
		}
		if len(value) > maxDecimal {
			return dst, longDecimal(len(value))
		}
		x := bigEndianDecimal(value, l.scale)
		if l.scale == 0 && math.Abs(x) > maxExact {
			if _, accuracy := new(big.Float).SetInt(bigEndian(value)).Float64(); accuracy != big.Exact {
				return dst, dataset.Plain.Inexact(bigEndian(value).String())
			}
		}
		dst = append(dst, x)
		b = rest
	}
	return dst, nil
}

func longDecimal(n int) error {
	return fault(fmt.Sprintf("a decimal of %d bytes, expected at most %d", n, maxDecimal), hintDamaged)
}

// decimal returns the float64 nearest to unscaled/10^scale.
func decimal(unscaled int64, scale int) float64 {
	const maxExactPower = 22 // 10^22 is the greatest power of ten exact in float64
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
	x, _ := strconv.ParseFloat(digits+"e-"+strconv.Itoa(scale), 64) // out of range x is an infinity
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
	x := bigEndian(b)
	if x.IsInt64() {
		return decimal(x.Int64(), scale)
	}
	return parseDecimal(x.String(), scale)
}
