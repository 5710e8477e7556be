package dataset

// Categories maps the values of a categorical feature to codes. Texts match by their
// bytes, numbers by the number that a listed value spells. Categories are read-only, so
// goroutines may share them.
type Categories struct {
	byText         map[string]int32
	byNumber       map[float64]int32
	other, missing int32
}

// Categories returns the codes of a categorical feature's values, nil for a numeric
// feature.
func (f *Feature) Categories() *Categories {
	if f.Kind != Categorical {
		return nil
	}
	c := &Categories{
		byText: make(map[string]int32, len(f.Values)), byNumber: make(map[float64]int32),
		other: int32(f.OtherCode()), missing: int32(f.MissingCode()),
	}
	for code, s := range f.Values {
		c.byText[s] = int32(code)
	}
	for x, code := range f.Numbers() {
		c.byNumber[x] = int32(code)
	}
	return c
}

// Missing returns the code of missing values.
func (c *Categories) Missing() int32 { return c.missing }

// Text returns the code of a text, or the code of "other" if the text is not listed.
func (c *Categories) Text(s string) int32 {
	if code, ok := c.byText[s]; ok {
		return code
	}
	return c.other
}

// Number returns the code of a number: the code of missing for NaN, the code of "other"
// if no listed value spells the number.
func (c *Categories) Number(x float64) int32 {
	if x != x {
		return c.missing
	}
	if code, ok := c.byNumber[x]; ok {
		return code
	}
	return c.other
}
