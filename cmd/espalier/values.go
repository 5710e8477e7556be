package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

// whole is a flag of a whole number, which may be written as 1e8.
type whole[T int | int64 | uint64] struct{ to *T }

// String implements pflag.Value.
func (v whole[T]) String() string {
	if *v.to < 0 {
		return strconv.FormatInt(int64(*v.to), 10)
	}
	return strconv.FormatUint(uint64(*v.to), 10)
}

// Type implements pflag.Value.
func (whole[T]) Type() string { return "count" }

// Set implements pflag.Value.
func (v whole[T]) Set(text string) error {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && int64(T(n)) == n && (T(n) < 0) == (n < 0) {
		*v.to = T(n)
		return nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && uint64(T(n)) == n && T(n) >= 0 {
		*v.to = T(n)
		return nil
	}
	x, err := exponential(text)
	switch {
	case err != nil:
		return err
	case x < 0 && T(0)-1 > 0:
		return errors.New("want a whole number from 0")
	case math.Abs(x) > 1<<53 || float64(T(x)) != x:
		return errors.New("want a whole number of at most 16 digits")
	}
	*v.to = T(x)
	return nil
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

// number is a flag of a finite number.
type number float64

// String implements pflag.Value.
func (v *number) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 64) }

// Type implements pflag.Value.
func (*number) Type() string { return "number" }

// Set implements pflag.Value.
func (v *number) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return errors.New("want a finite number such as 0.5 or 12")
	}
	*v = number(x)
	return nil
}

// share is a flag of a number from 0 to 1.
type share float64

// String implements pflag.Value.
func (v *share) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 64) }

// Type implements pflag.Value.
func (*share) Type() string { return "share" }

// Set implements pflag.Value.
func (v *share) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1) { // NaN too
		return errors.New("want a share from 0 to 1")
	}
	*v = share(x)
	return nil
}

// size is a flag of a number of bytes, which may have a unit.
type size int64

// String implements pflag.Value: in the largest unit that the size is a multiple of.
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
		if n := int64(*v); n > 0 && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(*v), 10)
}

// Type implements pflag.Value.
func (*size) Type() string { return "size" }

// Set implements pflag.Value.
func (v *size) Set(text string) error {
	if before := *v; (whole[int64]{(*int64)(v)}).Set(text) == nil {
		if *v >= 0 {
			return nil
		}
		*v = before
		return errors.New("want a size from 0")
	}
	n, err := humanize.ParseBytes(text)
	unit := strings.ContainsFunc(text, unicode.IsLetter)
	if err != nil || n > math.MaxInt64 || !unit || strings.Contains(text, ",") { // 1,5GB would be 15 of them
		return errors.New("want a size such as 64MiB or 1.5GB, or a number of bytes")
	}
	*v = size(n)
	return nil
}

// duration is a flag of a time in seconds, which may have units.
type duration float64

// String implements pflag.Value.
func (v *duration) String() string {
	plain := strconv.FormatFloat(float64(*v), 'g', -1, 64)
	if *v == 0 || math.Abs(float64(*v)) > math.MaxInt64/1e9 {
		return plain
	}
	d := time.Duration(float64(*v) * float64(time.Second))
	if d.Seconds() != float64(*v) {
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

// Type implements pflag.Value.
func (*duration) Type() string { return "duration" }

// Set implements pflag.Value.
func (v *duration) Set(text string) error {
	if (*number)(v).Set(text) == nil {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("want a duration such as 30s, 5m or 1h30m, or a number of seconds")
	}
	*v = duration(d.Seconds())
	return nil
}

// wholeVar adds a flag of a whole number.
func wholeVar[T int | int64 | uint64](f *pflag.FlagSet, to *T, name, help string) {
	f.Var(whole[T]{to}, name, help)
}

// wanted says what a flag takes.
func wanted(f *pflag.Flag, err error) string {
	switch f.Value.Type() {
	case "bool":
		return "want true or false"
	case "int", "uint":
		return "want a whole number"
	case "stringSlice":
		return "want values separated by commas; one with a comma in it stands in double quotes"
	default:
		return err.Error()
	}
}
