package synth

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// Null is the level of a missing value.
const Null = math.MaxUint16

// prototypes is the first id of a prototype, greater than all numbers of rows.
const prototypes = 1 << 62

// Group generates the rows of one row group after another, column by column. It holds a few columns
// in memory, and only one goroutine may use it.
type Group struct {
	plan *Plan

	first   int64
	ids     []uint64   // by row
	scratch []uint16   // levels of a column that the tree does not test
	kept    [][]uint16 // by column: levels, if the tree tests the column
	made    []bool     // by column: whether kept has the levels of this group
	numbers []float64
	leaves  []uint16

	counts []int64 // by leaf and class: number of rows so far
}

// NewGroup returns an empty group.
func (p *Plan) NewGroup() *Group {
	return &Group{
		plan: p, kept: make([][]uint16, len(p.Columns)), made: make([]bool, len(p.Columns)),
		counts: make([]int64, len(p.nodes)*len(p.Classes)),
	}
}

// Reset starts a group of rows with the given first row.
func (g *Group) Reset(first int64, rows int) {
	c := &g.plan.config
	g.first, g.ids = first, resize(g.ids, rows)
	clear(g.made)
	copies, key := threshold(c.Duplicates), keyOf(c.Seed, streamCopies)
	for i := range g.ids {
		row := uint64(first) + uint64(i)
		g.ids[i] = row
		if copies > 0 {
			if u := portable.SplitMix(key, row); u&math.MaxUint32 < copies {
				g.ids[i] = prototypes + u>>32*uint64(c.Distinct)>>32
			}
		}
	}
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// Levels returns the levels of a column by row: positions in its dictionary, or Null for a
// missing value. They are valid until the next call.
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

// levels generates the levels of a column for the rows with the given ids.
func (p *Plan) levels(dst []uint16, ids []uint64, column int) {
	c, nulls := &p.Columns[column], threshold(p.config.Nulls)
	if c.Proxy < 0 {
		c.draw(dst, ids, nulls)
		return
	}
	p.Columns[c.Proxy].draw(dst, ids, 0)
	c.blur(dst, ids, nulls)
}

// draw generates levels with the column's distribution. The upper half of a random number gives the
// level, and the lower half decides whether it is missing.
func (c *Column) draw(dst []uint16, ids []uint64, nulls uint64) {
	key, n := c.key, uint64(c.levels)
	switch c.shape {
	case uniform:
		for i, id := range ids {
			u := portable.SplitMix(key, id)
			dst[i] = unlessMissing(u, u>>32*n>>32, nulls)
		}
	case bell:
		for i, id := range ids {
			u := portable.SplitMix(key, id)
			dst[i] = unlessMissing(u, (u>>48+u>>32&0xffff)*n>>17, nulls)
		}
	case skewed:
		for i, id := range ids {
			u := portable.SplitMix(key, id)
			dst[i] = unlessMissing(u, (u>>48)*(u>>32&0xffff)*n>>32, nulls)
		}
	default:
		table := (*[1 << tableBits]uint16)(c.table)
		for i, id := range ids {
			u := portable.SplitMix(key, id)
			dst[i] = unlessMissing(u, uint64(table[u>>(64-tableBits)]), nulls)
		}
	}
}

// unlessMissing returns Null if the random number u is below nulls, otherwise level.
func unlessMissing(u, level, nulls uint64) uint16 {
	if u&math.MaxUint32 < nulls {
		level = Null
	}
	return uint16(level)
}

const (
	blurs    = 1 << 16 / 5 // number of replaced values among 2^16 categorical values of a proxy
	blurPart = 4           // a number is moved by at most 1/(2 blurPart) of its range
)

// blur turns the levels of an expensive column into levels of its proxy: it replaces some
// categories, and moves numbers a little.
func (c *Column) blur(dst []uint16, ids []uint64, nulls uint64) {
	key, n := c.key, c.levels
	if c.table != nil {
		for i, id := range ids {
			u, level := portable.SplitMix(key, id), uint64(dst[i])
			if u>>48 < blurs {
				level = u >> 32 & 0xffff * uint64(n) >> 16
			}
			dst[i] = unlessMissing(u, level, nulls)
		}
		return
	}
	reach := n / blurPart
	for i, id := range ids {
		u := portable.SplitMix(key, id)
		move := int((u>>48+u>>32&0xffff)*uint64(reach)>>17) - reach/2
		dst[i] = unlessMissing(u, uint64(min(max(int(dst[i])+move, 0), n-1)), nulls)
	}
}

// Numbers returns the values of a column without a dictionary by row, NaN for a missing
// value. They are valid until the next call.
func (g *Group) Numbers(column int) []float64 {
	levels := g.Levels(column)
	g.numbers = resize(g.numbers, len(levels))
	key := ^g.plan.Columns[column].key
	for i, level := range levels {
		fine := portable.SplitMix(key, g.ids[i]) >> (32 + continuousBits)
		x := float64(uint64(level)<<(32-continuousBits)|fine) * continuousStep
		if level == Null {
			x = math.NaN()
		}
		g.numbers[i] = x
	}
	return g.numbers
}

// Labels returns for each row the index of its class in Plan.Classes. The labels are valid until
// the next call.
func (g *Group) Labels() []uint16 {
	g.route()
	c := &g.plan.config
	classes, noise, key := uint64(len(g.plan.Classes)), threshold(c.Noise), keyOf(c.Seed, streamNoise)
	for i, leaf := range g.leaves {
		class := uint64(g.plan.nodes[leaf].class)
		if u := portable.SplitMix(key, uint64(g.first)+uint64(i)); u&math.MaxUint32 < noise {
			if class += 1 + u>>32*(classes-1)>>32; class >= classes {
				class -= classes
			}
		}
		g.counts[uint64(leaf)*classes+class]++
		g.leaves[i] = uint16(class)
	}
	return g.leaves
}

// routeRows is how many rows are sent down a level at a time, so that their levels stay in the
// processor's cache.
const routeRows = 2048

// route sends all rows to their leaves.
func (g *Group) route() {
	p := g.plan
	g.leaves = resize(g.leaves, len(g.ids))
	clear(g.leaves)
	if p.nodes[0].leaf() {
		return
	}
	columns := make([][]uint16, len(p.nodes)) // by node: levels of the column that it tests
	for i := range p.nodes {
		columns[i] = columns[0] // for a leaf any column works
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

// routeLevel sends the rows, starting at first, down one level. A leaf sends its rows to itself, so
// no check for leaves is needed, which the processor could not predict.
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

// Count adds the number of the group's rows by leaf and class to counts, which must have the length
// Plan.CountsLen. Call Labels first.
func (g *Group) Count(counts []int64) {
	for i, n := range g.counts {
		counts[i] += n
	}
}
