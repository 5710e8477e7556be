package portable

import "math/bits"

// Products is an exact sum of products of whole numbers, in 128 bits.
type Products struct{ hi, lo uint64 }

// Add adds the product of two numbers.
func (p *Products) Add(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	p.Plus(Products{hi, lo})
}

// Plus adds another sum.
func (p *Products) Plus(other Products) {
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, other.lo, 0)
	p.hi, _ = bits.Add64(p.hi, other.hi, carry)
}

// Sub subtracts the product of two numbers.
func (p *Products) Sub(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	var borrow uint64
	p.lo, borrow = bits.Sub64(p.lo, lo, 0)
	p.hi, _ = bits.Sub64(p.hi, hi, borrow)
}

// Float returns the sum, rounded.
func (p *Products) Float() float64 { return float64(float64(p.hi)*0x1p64) + float64(p.lo) }
