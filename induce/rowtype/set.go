package rowtype

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Set sets the field of a struct to a value: it is the reverse of reading the field. row is a
// struct that can be set. A missing value makes a pointer nil, a nullable struct invalid, a
// time zero and a float NaN; other fields cannot take it. Numbers are in the column's unit.
func (c *Column) Set(row reflect.Value, x Cell) error {
	for _, i := range c.Field {
		if row.Kind() == reflect.Pointer {
			if row.IsNil() && !row.CanSet() {
				return &dataset.DataError{
					Column: c.Name, Problem: fmt.Sprintf("a pointer to an embedded %s cannot be made", row.Type().Elem()),
					Hint: "embed the struct itself, or begin its name with a capital letter",
				}
			}
			if row.IsNil() {
				row.Set(reflect.New(row.Type().Elem()))
			}
			row = row.Elem()
		}
		row = row.Field(i)
	}
	return c.set(row, x)
}

func (c *Column) set(v reflect.Value, x Cell) error {
	switch t := v.Type(); {
	case t.Kind() == reflect.Pointer:
		if x.Type == 0 {
			v.SetZero()
			return nil
		}
		v.Set(reflect.New(t.Elem()))
		return c.set(v.Elem(), x)
	case nullable(t):
		if v.SetZero(); x.Type == 0 {
			return nil
		}
		v.Field(1).SetBool(true)
		return c.set(v.Field(0), x)
	case isTime(t):
		return c.setTime(v, x)
	case x.Type == 0:
		return c.setMissing(v)
	case t.Kind() == reflect.Interface:
		v.Set(reflect.ValueOf(x.plain()))
		return nil
	default:
		return c.setPlain(v, x)
	}
}

// plain returns the value as a float64 or a string.
func (c *Cell) plain() any {
	if c.Type == dataset.Number {
		return c.Number
	}
	return c.Text
}

func (c *Column) setMissing(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.NaN())
	case reflect.Interface:
		v.SetZero()
	default:
		return &dataset.DataError{
			Column: c.Name, Problem: fmt.Sprintf("a missing value, which a field of type %s cannot hold", v.Type()),
			Hint: "make the field a pointer",
		}
	}
	return nil
}

func (c *Column) setPlain(v reflect.Value, x Cell) error {
	switch k := v.Kind(); {
	case k == reflect.String:
		v.SetString(x.Spell())
	case x.Type == dataset.Number && (k == reflect.Float64 || k == reflect.Float32):
		v.SetFloat(x.Number)
	case k == reflect.Bool && (x.Text == "true" || x.Text == "false"):
		v.SetBool(x.Text == "true")
	case x.Type != dataset.Number || !isWhole(k) || !setWhole(v, c.counts(x.Number)):
		return c.misfit(v, x)
	}
	return nil
}

// setWhole sets a field of a whole number, and reports whether it can hold the number.
func setWhole(v reflect.Value, x float64) bool {
	switch {
	case x != math.Trunc(x) || x < math.MinInt64 || x >= math.MaxUint64:
		return false
	case v.CanInt():
		if x >= math.MaxInt64 || v.OverflowInt(int64(x)) {
			return false
		}
		v.SetInt(int64(x))
	default:
		if x < 0 || v.OverflowUint(uint64(x)) {
			return false
		}
		v.SetUint(uint64(x))
	}
	return true
}

// misfit returns the error of a value that a field cannot hold.
func (c *Column) misfit(v reflect.Value, x Cell) error {
	return &dataset.DataError{
		Column: c.Name, Value: x.Spell(), Problem: fmt.Sprintf("a field of type %s cannot hold the value", v.Type()),
		Hint: "give the field another type",
	}
}

// counts returns the whole number that the field has for a value: a number of ticks for points in
// time, of units of the last digit for decimals.
func (c *Column) counts(x float64) float64 {
	switch {
	case c.Scale != 0:
		power, _ := strconv.ParseFloat("1e"+strconv.Itoa(c.Scale), 64) // the tag has a small number
		return math.RoundToEven(float64(x * power))
	case c.Unit == dataset.Plain || c.Unit == dataset.Date:
		return x
	case c.Tick < time.Microsecond:
		return x * float64(time.Microsecond/max(c.Tick, 1))
	default:
		return math.Floor(x / float64(c.Tick/time.Microsecond))
	}
}

// setTime sets a point in time, in UTC.
func (c *Column) setTime(v reflect.Value, x Cell) error {
	var at time.Time
	switch {
	case x.Type == 0:
	case x.Type != dataset.Number || x.Number != math.Trunc(x.Number):
		return c.misfit(v, x)
	case c.Unit == dataset.Date:
		at = time.Unix(int64(x.Number)*int64(24*time.Hour/time.Second), 0).UTC()
	default:
		at = time.UnixMicro(int64(x.Number)).UTC()
	}
	v.Set(reflect.ValueOf(at).Convert(v.Type()))
	return nil
}
