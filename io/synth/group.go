package synth

import (
	"math"
	"slices"
)

// Null is the level of a missing value.
const Null = math.MaxUint16

// prototypes is where the ids of prototypes begin, far beyond all rows.
const prototypes = 1 << 62

// Group makes the rows of one row group after the other, column by column. Its
// memory is that of a few columns. It is for one goroutine.
type Group struct {
	plan *Plan

	first   int64
	ids     []uint64   // by row
	scratch []uint16   // levels of a column that the tree does not ask
	kept    [][]uint16 // by column: levels of columns that it asks
	made    []bool     // by column: kept is of this group
	numbers []float64
	leaves  []uint16

	counts []int64 // rows so far, by leaf and class
}

// NewGroup returns an empty group.
func (p *Plan) NewGroup() *Group {
	return &Group{
		plan: p, kept: make([][]uint16, len(p.Columns)), made: make([]bool, len(p.Columns)),
		counts: make([]int64, len(p.nodes)*len(p.Classes)),
	}
}

// Reset makes the group one of rows from the first on.
func (g *Group) Reset(first int64, rows int) {
	c := &g.plan.config
	g.first, g.ids = first, resize(g.ids, rows)
	clear(g.made)
	copies, key := threshold(c.Duplicates), keyOf(c.Seed, streamCopies)
	for i := range g.ids {
		row := uint64(first) + uint64(i)
		g.ids[i] = row
		if copies > 0 {
			if u := at(key, row); u&math.MaxUint32 < copies {
				g.ids[i] = prototypes + u>>32*uint64(c.Distinct)>>32
			}
		}
	}
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// Levels returns the levels of a column by row, Null where the value is missing:
// positions in its dictionary. They are valid until the next call.
func (g *Group) Levels(column int) []uint16 {
	if g.made[column] {
		return g.kept[column]
	}
	into := &g.scratch
	if slices.Contains(g.plan.asked, column) {
		into, g.made[column] = &g.kept[column], true
	}
	*into = resize(*into, len(g.ids))
	g.plan.levels(*into, g.ids, column)
	return *into
}

// levels makes the levels of a column for the rows of the given ids.
func (p *Plan) levels(dst []uint16, ids []uint64, column int) {
	c, nulls := &p.Columns[column], threshold(p.config.Nulls)
	if c.Proxy < 0 {
		c.draw(dst, ids, nulls)
		return
	}
	p.Columns[c.Proxy].draw(dst, ids, 0)
	c.blur(dst, ids, nulls)
}

// draw makes levels of the column's shape. The upper half of a random number
// gives the level, the lower half says whether it is missing.
func (c *Column) draw(dst []uint16, ids []uint64, nulls uint64) {
	key, n := c.key, uint64(c.levels)
	switch c.shape {
	case uniform:
		for i, id := range ids {
			u := at(key, id)
			dst[i] = unlessMissing(u, u>>32*n>>32, nulls)
		}
	case bell:
		for i, id := range ids {
			u := at(key, id)
			dst[i] = unlessMissing(u, (u>>48+u>>32&0xffff)*n>>17, nulls)
		}
	case skewed:
		for i, id := range ids {
			u := at(key, id)
			dst[i] = unlessMissing(u, (u>>48)*(u>>32&0xffff)*n>>32, nulls)
		}
	default:
		table := (*[1 << tableBits]uint16)(c.table)
		for i, id := range ids {
			u := at(key, id)
			dst[i] = unlessMissing(u, uint64(table[u>>(64-tableBits)]), nulls)
		}
	}
}

// unlessMissing returns a level, or Null for as many random numbers u as nulls.
func unlessMissing(u, level, nulls uint64) uint16 {
	if u&math.MaxUint32 < nulls {
		level = Null
	}
	return uint16(level)
}

const (
	blurs    = 1 << 16 / 5 // of 2^16 categorical values of a proxy, those that are drawn anew
	blurPart = 4           // a number is moved by at most half of this part of its range
)

// blur makes a proxy's levels of those of the column that it shows: categories
// are replaced now and then, numbers are moved a little.
func (c *Column) blur(dst []uint16, ids []uint64, nulls uint64) {
	key, n := c.key, c.levels
	if c.table != nil {
		for i, id := range ids {
			u, level := at(key, id), uint64(dst[i])
			if u>>48 < blurs {
				level = u >> 32 & 0xffff * uint64(n) >> 16
			}
			dst[i] = unlessMissing(u, level, nulls)
		}
		return
	}
	reach := n / blurPart
	for i, id := range ids {
		u := at(key, id)
		move := int((u>>48+u>>32&0xffff)*uint64(reach)>>17) - reach/2
		dst[i] = unlessMissing(u, uint64(min(max(int(dst[i])+move, 0), n-1)), nulls)
	}
}

// Numbers returns the values of a column without a dictionary by row, NaN where
// the value is missing. They are valid until the next call.
func (g *Group) Numbers(column int) []float64 {
	levels := g.Levels(column)
	g.numbers = resize(g.numbers, len(levels))
	key := ^g.plan.Columns[column].key
	for i, level := range levels {
		fine := at(key, g.ids[i]) >> (32 + continuousBits)
		x := float64(uint64(level)<<(32-continuousBits)|fine) * continuousStep
		if level == Null {
			x = math.NaN()
		}
		g.numbers[i] = x
	}
	return g.numbers
}

// Labels returns the rows' classes, as positions among the plan's. They are
// valid until the next call.
func (g *Group) Labels() []uint16 {
	g.route()
	c := &g.plan.config
	classes, noise, key := uint64(len(g.plan.Classes)), threshold(c.Noise), keyOf(c.Seed, streamNoise)
	for i, leaf := range g.leaves {
		class := uint64(g.plan.nodes[leaf].class)
		if u := at(key, uint64(g.first)+uint64(i)); u&math.MaxUint32 < noise {
			if class += 1 + u>>32*(classes-1)>>32; class >= classes {
				class -= classes
			}
		}
		g.counts[uint64(leaf)*classes+class]++
		g.leaves[i] = uint16(class)
	}
	return g.leaves
}

// routeRows is how many rows are sent a level down at a time: their levels stay
// in the processor's cache.
const routeRows = 2048

// route sends all rows to their leaves.
func (g *Group) route() {
	p := g.plan
	g.leaves = resize(g.leaves, len(g.ids))
	clear(g.leaves)
	if p.nodes[0].leaf() {
		return
	}
	columns := make([][]uint16, len(p.nodes)) // by node: levels of the column that it asks
	for i := range p.nodes {
		columns[i] = columns[0] // of leaves any one will do
		if n := &p.nodes[i]; !n.leaf() {
			columns[i] = g.Levels(n.column)
		}
	}
	steps := p.steps()
	for from := 0; from < len(g.leaves); from += routeRows {
		to := min(len(g.leaves), from+routeRows)
		for range p.config.Depth {
			routeLevel(g.leaves[from:to], columns, steps, from)
		}
	}
}

// routeLevel sends the rows behind first one level down. It does not look which
// of them have arrived: leaves send to themselves, which is cheaper than a
// branch that cannot be foretold.
func routeLevel(nodes []uint16, columns [][]uint16, steps []step, first int) {
	for i, at := range nodes {
		s := &steps[at]
		next := s.no
		if columns[at][first+i]-s.least < s.width {
			next--
		}
		nodes[i] = next
	}
}

// Count adds the group's rows so far, by leaf and class, to counts, which has
// the plan's CountsLen.
func (g *Group) Count(counts []int64) {
	for i, n := range g.counts {
		counts[i] += n
	}
}
