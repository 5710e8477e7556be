package jobs

import (
	"fmt"
	"iter"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// assignParts sets the part of each row: by time, by the split column, by the hash of the key, or by the hash of
// the row's position or contents. It sets the buckets of the keys, if they are wanted. columns reads the split column,
// the key and the contents, in this order.
func (g *rowGroup) assignParts(columns *columnReader) error {
	p := &g.spec.Parting
	if p.Time != "" {
		return g.assignByTime(columns)
	}
	if p.SplitColumn != "" {
		if err := g.assignNamed(columns); err != nil {
			return err
		}
	}
	whole, isWhole := p.Shares.Whole()
	byHash := p.SplitColumn == "" && !isWhole
	if p.SplitColumn == "" && isWhole {
		for r := range g.parts {
			g.parts[r] = whole
		}
	}
	switch {
	case p.Key != "" && (byHash || g.spec.grouped()):
		return g.assignByKey(columns, byHash)
	case p.Key != "":
		columns.skip()
	case len(p.Content) > 0:
		return g.assignByContent(columns, byHash)
	case byHash:
		for r, hash := range g.places() {
			g.parts[r] = p.Shares.Of(hash)
		}
	}
	return nil
}

// places yields each line and the hash of its place.
func (g *rowGroup) places() iter.Seq2[int, uint64] {
	group := dataset.HashPosition(g.spec.Seed, baseName(g.task.File), g.task.RowGroup)
	return func(yield func(int, uint64) bool) {
		for line := range g.rows {
			if !yield(line, dataset.HashRow(group, g.first+line)) {
				return
			}
		}
	}
}

// assignNamed sets the parts that the split column names.
func (g *rowGroup) assignNamed(columns *columnReader) error {
	var v dataset.Vector
	if err := columns.read(&v); err != nil {
		return err
	}
	for r := range g.parts {
		if g.countOf(r) == 0 {
			continue
		}
		part, ok := dataset.ParsePart(v.Spell(r))
		if !ok {
			return g.placed(g.spec.NameError(v.Spell(r), g.rowName(r)))
		}
		g.parts[r] = part
	}
	return nil
}

// assignByTime sets the parts and buckets by the time of each row and, with a key, by the time of the first row of its
// key.
func (g *rowGroup) assignByTime(columns *columnReader) error {
	var times, keys dataset.Vector
	if err := columns.readNumbers(g.spec.Time, &times); err != nil {
		return err
	}
	if g.spec.Key != "" {
		if err := columns.read(&keys); err != nil {
			return err
		}
	}
	if g.spec.grouped() {
		g.buckets = make([]uint8, g.Rows())
	}
	for r := range g.parts {
		if g.countOf(r) == 0 {
			continue
		}
		x, err := g.timeAt(g.spec.Time, &times, r)
		if err != nil {
			return err
		}
		part, bucket := g.spec.OfTime(x)
		if g.spec.Key != "" {
			first := g.spec.firstOfKeys[g.spec.HashKeyAt(&keys, r)]
			if part, bucket = dataset.OfKeyAt(dataset.NewPlace(part, bucket), first); part == dataset.None {
				g.known += g.countOf(r)
			}
		}
		g.parts[r] = part
		if g.buckets != nil {
			g.buckets[r] = bucket
		}
	}
	return nil
}

// timeAt returns the time of row r of a column.
func (g *rowGroup) timeAt(column string, v *dataset.Vector, r int) (float64, error) {
	if v.Missing(r) || v.Type != dataset.Number {
		return 0, g.errorAt(column, "", fmt.Sprintf("the time of row %d is null or NaN, expected a number or a point in time",
			g.first+r), "fill it in, or leave such rows out of the input")
	}
	if v.Index != nil {
		r = int(v.Index[r])
	}
	return v.Numbers[r], nil
}

// assignByKey sets the parts of rows by their keys, if parts is true, and their buckets, if they are wanted.
func (g *rowGroup) assignByKey(columns *columnReader, parts bool) error {
	var v dataset.Vector
	if err := columns.read(&v); err != nil {
		return err
	}
	g.assignByHash(parts, func(r int) uint64 { return g.spec.HashKeyAt(&v, r) })
	return nil
}

// assignByContent is assignByKey for rows with equal values.
func (g *rowGroup) assignByContent(columns *columnReader, parts bool) error {
	contents := make([]uint64, g.rows)
	for _, name := range g.spec.Content {
		if err := g.addContent(columns.next, name, contents); err != nil {
			return err
		}
		columns.skip()
	}
	g.assignByHash(parts, func(r int) uint64 { return g.spec.HashOf(contents[r]) })
	return nil
}

func (g *rowGroup) assignByHash(parts bool, hash func(r int) uint64) {
	if g.spec.grouped() {
		g.buckets = make([]uint8, g.Rows())
	}
	for r := range g.parts {
		part, bucket := g.spec.OfKey(hash(r))
		if parts {
			g.parts[r] = part
		}
		if g.buckets != nil {
			g.buckets[r] = bucket
		}
	}
}

// columnReader reads the requested columns of a row group one after the other.
type columnReader struct {
	g    *rowGroup
	next int
}

func (c *columnReader) read(dst *dataset.Vector) error {
	c.next++
	return c.g.ReadColumn(c.next-1, dst)
}

// readNumbers reads a column of numbers, whose digits may be spelled.
func (c *columnReader) readNumbers(name string, dst *dataset.Vector) error {
	err := c.read(dst)
	if err == nil && dst.Type == dataset.Text && slices.Contains(c.g.task.Digits, name) {
		err = c.g.asNumbers(&dataset.FeatureColumn{Name: name}, dst)
	}
	return err
}

// skip passes over a column that is of no use.
func (c *columnReader) skip() { c.next++ }

// baseName returns the name of a file without its folders. The split depends on it alone,
// so a data set that was moved has the same split.
func baseName(url string) string {
	for i := len(url) - 1; i >= 0; i-- {
		if url[i] == '/' {
			return url[i+1:]
		}
	}
	return url
}
