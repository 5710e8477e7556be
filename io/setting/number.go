package setting

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/settings"
)

// Range bounds a number.
type Range = settings.Range

// Between is the range from low to high, both included.
func Between(low, high float64) Range { return settings.Between(low, high) }

// From returns the range [low, infinity].
func From(low float64) Range { return settings.From(low) }

// Above is the range above low, which is not included, up to high, which is.
func Above(low, high float64) Range { return settings.Above(low, high) }

// outside is what is wrong with a number.
func outside(r Range, x float64, spelling, noun string) []error {
	if r.Has(x) {
		return nil
	}
	return []error{fmt.Errorf("%s: want %s %s", spelling, noun, r)}
}

// Whole is a setting of a whole number, which may be written as 1e8.
func Whole[T int | int64 | uint64](to *T, within Range) Value { return &whole[T]{to, within} }

type whole[T int | int64 | uint64] struct {
	to     *T
	within Range
}

func (v *whole[T]) Type() string  { return "count" }
func (v *whole[T]) Wants() string { return "a whole number " + v.within.String() }
func (v *whole[T]) empty() bool   { return false }
func (v *whole[T]) target() any   { return v.to }
func (v *whole[T]) faults() []error {
	return outside(v.within, float64(*v.to), v.String(), "a whole number")
}

// String spells all digits.
func (v *whole[T]) String() string {
	n := valueOf(v.to)
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}

// Set reads digits, or a number such as 1e8 whose digits all count.
func (v *whole[T]) Set(text string) error {
	x, err := parseWhole[T](text)
	if err == nil {
		*v.to = x
	}
	return err
}

func parseWhole[T int | int64 | uint64](text string) (T, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && int64(T(n)) == n && (T(n) < 0) == (n < 0) {
		return T(n), nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && uint64(T(n)) == n && T(n) >= 0 {
		return T(n), nil
	}
	x, err := exponential(text)
	switch {
	case err != nil:
		return 0, err
	case x < 0 && T(0)-1 > 0:
		return 0, errors.New("want a whole number from 0")
	case math.Abs(x) > 1<<53 || float64(T(x)) != x:
		return 0, errors.New("want a whole number of at most 16 digits")
	}
	return T(x), nil
}

// exponential reads a whole number such as 1e8, infinite where it is too large.
func exponential(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	tooLarge := errors.Is(err, strconv.ErrRange)
	if err != nil && !tooLarge || x != math.Trunc(x) || math.IsInf(x, 0) && !tooLarge {
		return 0, errors.New("want a whole number such as 250000 or 1e8")
	}
	return x, nil
}

// Number is a setting of a finite number.
func Number(to *float64, within Range) Value { return &number{to, within} }

type number struct {
	to     *float64
	within Range
}

func (v *number) String() string { return strconv.FormatFloat(valueOf(v.to), 'g', -1, 64) }
func (v *number) Type() string   { return "number" }
func (v *number) Wants() string  { return "a number " + v.within.String() }
func (v *number) empty() bool    { return false }
func (v *number) target() any    { return v.to }
func (v *number) faults() []error {
	return outside(v.within, *v.to, settings.Spelled(*v.to), "a number")
}

// Set reads a number, of any range.
func (v *number) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return errors.New("want a finite number such as 0.5 or 12")
	}
	*v.to = x
	return nil
}

// Share is a setting of a number from 0 to 1.
func Share(to *float64) Value { return &share{number{to, Between(0, 1)}} }

type share struct{ number }

func (v *share) Type() string    { return "share" }
func (v *share) Wants() string   { return "a share from 0 to 1" }
func (v *share) faults() []error { return outside(v.within, *v.to, settings.Spelled(*v.to), "a share") }

// Set reads a number from 0 to 1.
func (v *share) Set(text string) error {
	x, err := v.within.Parse(text)
	if err != nil {
		return errors.New("want a share from 0 to 1")
	}
	*v.to = x
	return nil
}

// Size is a setting of a number of bytes, which may have a unit.
func Size(to *int64) Value { return &size{whole[int64]{to, From(0)}} }

type size struct{ whole[int64] }

func (v *size) Type() string  { return "size" }
func (v *size) Wants() string { return "a size such as 64MiB or 1.5GB" }
func (v *size) faults() []error {
	return outside(v.within, float64(*v.to), v.whole.String(), "a number of bytes")
}

// String spells the size in the largest unit of which it is a multiple.
func (v *size) String() string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{
		{humanize.TiByte, "TiB"},
		{humanize.GiByte, "GiB"},
		{humanize.MiByte, "MiB"},
		{humanize.TByte, "TB"},
		{humanize.GByte, "GB"},
		{humanize.MByte, "MB"},
		{humanize.KiByte, "KiB"},
		{humanize.KByte, "kB"},
	} {
		if n := valueOf(v.to); n > 0 && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return v.whole.String()
}

// Set reads a number of bytes with or without a unit.
func (v *size) Set(text string) error {
	if n, err := parseWhole[int64](text); err == nil {
		if n < 0 {
			return errors.New("want a size from 0")
		}
		*v.to = n
		return nil
	}
	n, err := humanize.ParseBytes(text)
	unit := strings.ContainsFunc(text, unicode.IsLetter)
	if err != nil || n > math.MaxInt64 || !unit || strings.Contains(text, ",") { // 1,5GB would be 15 of them
		return errors.New("want a size such as 64MiB or 1.5GB, or a number of bytes")
	}
	*v.to = int64(n)
	return nil
}

// Duration is a setting of a time in seconds, which may have units.
func Duration(seconds *float64, within Range) Value { return &duration{number{seconds, within}} }

type duration struct{ number }

func (v *duration) Type() string  { return "duration" }
func (v *duration) Wants() string { return "a duration such as 30s or 1h30m" }
func (v *duration) faults() []error {
	return outside(v.within, *v.to, settings.Spelled(*v.to), "a number of seconds")
}

// String spells the duration with units, or in seconds where units would lose a digit.
func (v *duration) String() string {
	seconds := valueOf(v.to)
	plain := v.number.String()
	if seconds == 0 || math.Abs(seconds) > math.MaxInt64/1e9 {
		return plain
	}
	d := time.Duration(seconds * float64(time.Second))
	if d.Seconds() != seconds {
		return plain
	}
	text := d.String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Set reads a number of seconds, or a duration with units.
func (v *duration) Set(text string) error {
	if v.number.Set(text) == nil {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("want a duration such as 30s, 5m or 1h30m, or a number of seconds")
	}
	*v.to = d.Seconds()
	return nil
}
