package jobs

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Bounds are bounds on the values of a column. A row is refused if its value violates one.
type Bounds struct {
	Column string       `json:"column"`
	Unit   dataset.Unit `json:"unit,omitempty"`
	Number bool         `json:"number,omitempty"` // the texts of the column represent numbers: see Task.Digits
	// Texts is how texts are read, if the column is one of numbers and some files have texts. Other texts are refused.
	Texts    *TextColumn `json:"texts,omitempty"`
	Required bool        `json:"required,omitempty"` // whether each row must have a value
	Min      *float64    `json:"min,omitempty"`      // nil: unbounded
	Max      *float64    `json:"max,omitempty"`      // nil: unbounded
	Whole    bool        `json:"whole,omitempty"`    // whether fractions are refused
	Values   []string    `json:"values,omitzero"`    // known values; nil: all
	Closed   bool        `json:"closed,omitempty"`   // whether values other than Values are refused
}

// Reason is why a row is refused.
type Reason string

// The reasons.
const (
	NoReason     Reason = ""
	MissingValue Reason = "missing"
	BelowMin     Reason = "below min"
	AboveMax     Reason = "above max"
	Unlisted     Reason = "not listed"
	NotWhole     Reason = "not whole"
	OtherType    Reason = "of another type"
)

// ColumnCounts counts the values of a column.
type ColumnCounts struct {
	Missing  int64
	Unlisted int64   // rows with an unlisted value
	Refused  int64   // rows that violate a bound of this column
	Sum      float64 // sum of the numbers
}

// add adds the counts of later rows. The order affects the last bits of Sum.
func (c *ColumnCounts) add(o *ColumnCounts) {
	c.Missing += o.Missing
	c.Unlisted += o.Unlisted
	c.Refused += o.Refused
	c.Sum += o.Sum
}

// checker checks the values of a column.
type checker struct {
	*Bounds

	known map[string]bool // nil: all values are known
}

func newChecker(b *Bounds) *checker {
	c := &checker{Bounds: b}
	if b.Values != nil {
		c.known = make(map[string]bool, len(b.Values))
		for _, value := range b.Values {
			c.known[value] = true
			if x, ok := dataset.LabelNumber(value); ok && c.Number && c.Unit == dataset.Plain {
				c.known[dataset.SpellNumber(x)] = true // 3 for 3.0
			}
		}
	}
	return c
}

// column checks all rows of a column. It calls refuse for rows that violate a bound.
func (c *checker) column(v *dataset.Vector, refuse func(row int, why Reason)) ColumnCounts {
	var counts ColumnCounts
	v, others := c.read(v)
	listed := c.listed(v)
	numbers := c.numbers(v)
	for r := range v.Rows() {
		why := NoReason
		switch {
		case v.Missing(r):
			counts.Missing++
			if c.Required {
				why = MissingValue
			}
		default:
			i := r
			if v.Index != nil {
				i = int(v.Index[r])
			}
			if others[i] {
				why = OtherType
				break
			}
			if numbers != nil {
				x := numbers[i]
				counts.Sum += x
				why = c.number(x)
			}
			if listed != nil && !listed(i) {
				counts.Unlisted++
				if c.Closed && why == NoReason {
					why = Unlisted
				}
			}
		}
		if why != NoReason {
			counts.Refused++
			refuse(r, why)
		}
	}
	return counts
}

// read returns a vector with the numbers of its texts, if they are to be read, and the positions of other texts.
func (c *checker) read(v *dataset.Vector) (numbers *dataset.Vector, others map[int]bool) {
	if c.Texts == nil || v.Type != dataset.Text {
		return v, nil
	}
	others = make(map[int]bool)
	numbers = &dataset.Vector{Type: dataset.Number, Index: v.Index, Numbers: make([]float64, len(v.Texts))}
	for i, text := range v.Texts {
		x, ok := c.Texts.Parse(text)
		numbers.Numbers[i] = x
		if !ok {
			numbers.Numbers[i] = 0
			others[i] = true
		}
	}
	return numbers, others
}

// numbers returns the numbers of a vector, by position; nil if it has no numbers.
func (c *checker) numbers(v *dataset.Vector) []float64 {
	if v.Type == dataset.Number || !c.Number {
		return v.Numbers
	}
	numbers := make([]float64, len(v.Texts))
	for i, text := range v.Texts {
		numbers[i], _ = c.Unit.ParseValue(text)
	}
	return numbers
}

// number checks a number. The float32 of a bound is the bound.
func (c *checker) number(x float64) Reason {
	switch {
	case c.Min != nil && x < *c.Min && !dataset.IsSingle(x, *c.Min):
		return BelowMin
	case c.Max != nil && x > *c.Max && !dataset.IsSingle(x, *c.Max):
		return AboveMax
	case c.Whole && x != math.Trunc(x):
		return NotWhole
	default:
		return NoReason
	}
}

// listed returns a function that reports whether the value at a position of the vector is known;
// nil if all are. The float32 of a known number is known. Texts of a dictionary are looked up once.
func (c *checker) listed(v *dataset.Vector) func(i int) bool {
	switch {
	case c.known == nil:
		return nil
	case v.Type == dataset.Text:
		known := make([]bool, len(v.Texts))
		for i, text := range v.Texts {
			known[i] = c.known[text]
		}
		return func(i int) bool { return known[i] }
	default:
		return func(i int) bool {
			x := v.Numbers[i]
			return c.known[c.Unit.Spell(x)] || c.Unit == dataset.Plain && c.known[dataset.SpellNumber(dataset.SingleDecimal(x))]
		}
	}
}
