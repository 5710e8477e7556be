package synth

import (
	"fmt"
	"math"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Label is the name of the class column.
const Label = "class"

// Column is a feature column of a data set.
type Column struct {
	Name string
	Kind dataset.Kind
	// Dictionary holds the values of the levels, ascending: []float64, []int64 or []string.
	// If it is nil, Group.Numbers returns the values.
	Dictionary any
	Cost       float64 // price of a test
	Proxy      int     // for a proxy: its expensive column; otherwise -1

	key    uint64
	levels int
	shape  shape
	table  []uint16 // for shape tabled: level by the upper bits of a random number
}

// shape is the distribution of a column's levels.
type shape uint8

const (
	uniform shape = iota
	bell          // the sum of two uniform numbers
	skewed        // the product of two uniform numbers: low levels are common
	tabled        // given by Column.table
	shapes  = int(tabled)
)

// tableBits is the number of bits of a random number that index a table.
const tableBits = 12

// Plan holds the columns, the classes and the hidden tree of a data set. It is read-only, so
// goroutines may share it.
type Plan struct {
	Columns []Column
	Classes []string // in byte order

	config Config
	nodes  []node // nodes of the hidden tree, breadth-first
	asked  []int  // columns that the hidden tree tests
}

// New plans a data set.
func New(c Config) (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &Plan{config: c, Classes: names("class-", c.Classes, 1)}
	r := &random{portable.Random{Key: keyOf(c.Seed, streamPlan)}}
	numeric := p.addColumns(r, "x", c.Numeric, p.numeric)
	categorical := p.addColumns(r, "c", c.Categorical, p.categorical)
	candidates := candidates{
		dear:  append(numeric.dear, categorical.dear...),
		cheap: append(numeric.cheap, categorical.cheap...),
	}
	p.growHidden(r, &candidates)
	return p, nil
}

// names returns numbered names with leading zeros, so that they sort by number.
func names(prefix string, n, leastDigits int) []string {
	list := make([]string, n)
	digits := max(leastDigits, len(strconv.Itoa(n-1)))
	for i := range list {
		list[i] = fmt.Sprintf("%s%0*d", prefix, digits, i)
	}
	return list
}

// candidates are the columns that the hidden tree may test.
type candidates struct{ dear, cheap []int }

const (
	maxPairs = 16 // greatest number of expensive columns, each with a proxy, per kind
	maxCheap = 16 // greatest number of cheap columns that the hidden tree may test, per kind
)

// addColumns adds n columns of a kind with random roles. A quarter are expensive, and as many are
// their proxies. The hidden tree may test half of the remaining columns.
func (p *Plan) addColumns(r *random, prefix string, n int, describe func(r *random, c *Column, i, n int)) candidates {
	first := len(p.Columns)
	for i, name := range names(prefix, n, 2) {
		c := Column{Name: name, Proxy: -1, key: keyOf(p.config.Seed, streamColumns+len(p.Columns)), Cost: cheapCost(r)}
		describe(r, &c, i, n)
		p.Columns = append(p.Columns, c)
	}
	order := r.permutation(n)
	for i := range order {
		order[i] += first
	}
	pairs := min((n+1)/4, maxPairs)
	var roles candidates
	for i := range pairs {
		dear, proxy := &p.Columns[order[i]], &p.Columns[order[pairs+i]]
		dear.Cost, proxy.Cost = dearCost(r), 1
		proxy.Proxy = order[i]
		imitate(proxy, dear)
		roles.dear = append(roles.dear, order[i])
	}
	ordinary := order[2*pairs:]
	roles.cheap = ordinary[:min((len(ordinary)+1)/2, maxCheap)]
	return roles
}

func cheapCost(r *random) float64 { return float64(r.between(1, 4)) }

func dearCost(r *random) float64 { return float64(10 * r.between(2, 5)) }

// imitate gives a proxy the levels of its expensive column.
func imitate(proxy, dear *Column) {
	proxy.levels, proxy.table = dear.levels, dear.table
	switch d := proxy.Dictionary.(type) {
	case []float64:
		proxy.Dictionary = grid(d[0], d[1]-d[0], proxy.levels)
	case []int64:
		proxy.Dictionary = wholes(d[0], proxy.levels)
	case []string:
		proxy.Dictionary = names("v", proxy.levels, 2)
	}
}

// continuousLevels is how many levels the column without a dictionary has. A level is the upper
// bits of a value.
const (
	continuousLevels = 1 << continuousBits
	continuousBits   = 12
	continuousStep   = 1.0 / (1 << 22) // distance of two values: 2^32 values lie below 1024
)

func (p *Plan) numeric(r *random, c *Column, i, n int) {
	c.Kind = dataset.Numeric
	c.shape = shape(r.Below(shapes))
	sizes := []int{64, 100, 256, 500, 1000, 2000, 4096}
	c.levels = sizes[r.Below(len(sizes))]
	first := r.between(-500, 500)
	exponent := -r.Below(7) // steps of 1 to 1/64
	switch {
	case n > 1 && i == n-1:
		c.levels = continuousLevels
	case i == 1 || i == 2:
		c.Dictionary = wholes(int64(max(0, first)), c.levels)
	default:
		step := math.Ldexp(1, exponent)
		c.Dictionary = grid(float64(float64(first)*step), step, c.levels)
	}
}

// grid returns n numbers, starting at first, at distances of step, a power of two. All are exact.
func grid(first, step float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = first + float64(float64(i)*step)
	}
	return values
}

func wholes(first int64, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = first + int64(i)
	}
	return values
}

func (*Plan) categorical(r *random, c *Column, _, _ int) {
	c.Kind, c.shape = dataset.Categorical, tabled
	sizes := []int{2, 3, 4, 6, 8, 12, 20, 32}
	c.levels = sizes[r.Below(len(sizes))]
	c.Dictionary = names("v", c.levels, 2)
	c.table = popularity(c.levels)
}

// popularity returns a table of the values 0 to n-1. The share of value i is proportional to
// 1/(i+2).
func popularity(n int) []uint16 {
	const unit = int64(1 << 20)
	total := int64(0)
	for i := range n {
		total += unit / int64(i+2)
	}
	table := make([]uint16, 1<<tableBits)
	value, upTo := 0, unit/2
	for i := range table {
		for value < n-1 && int64(i)*total >= upTo<<tableBits {
			value++
			upTo += unit / int64(value+2)
		}
		table[i] = uint16(value)
	}
	return table
}
