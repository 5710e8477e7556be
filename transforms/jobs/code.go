package jobs

import (
	"context"
	"iter"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// coder turns the rows of row groups into keys of codes. Several goroutines may use it: it
// does not change after newCoder.
type coder struct {
	spec     RowSpec
	layout   dataset.Layout
	encoders []*dataset.Encoder // by feature
	classes  *dataset.ClassCodes
	pieces   int // goroutines that share the columns of a row group
}

func newCoder(spec RowSpec, features []dataset.Feature, classes []string, pieces int) *coder {
	c := &coder{
		spec: spec, layout: dataset.NewLayout(features), encoders: dataset.NewEncoders(features),
		classes: dataset.NewClassCodes(classes), pieces: max(1, min(pieces, len(features))),
	}
	return c
}

// newTable returns an empty table for rows of a part.
func (c *coder) newTable(part dataset.Part) *dataset.Table {
	t := dataset.NewTable(c.layout, c.spec.Weighted())
	if part == dataset.Train && c.spec.Soft.Scale > 0 {
		t = dataset.NewSoftTable(c.layout, c.classes.Len())
	}
	t.KeepGroups(c.spec.Groups[part])
	return t
}

// coded has the codes of a row group. The next row group takes over its memory.
type coded struct {
	keys    []byte   // Stride bytes for each row
	classes []uint16 // class of each row that belongs to a part

	columns []codedColumn // by piece
}

type codedColumn struct {
	vector dataset.Vector
	codes  []uint16
}

// code prepares a row group and encodes its rows.
func (c *coder) code(ctx context.Context, g *rowGroup, s *coded) error {
	err := g.prepare()
	if err != nil {
		return err
	}
	if s.classes, err = g.classCodes(c.classes, s.classes, false); err != nil {
		return err
	}
	g.weighClasses(s.classes)
	s.keys = Resized(s.keys, g.Rows()*c.layout.Stride)
	if s.columns == nil {
		s.columns = make([]codedColumn, c.pieces)
	}
	p := newPool(c.pieces, 0)
	for i := range c.pieces {
		from, to := i*len(c.encoders)/c.pieces, (i+1)*len(c.encoders)/c.pieces
		err := p.do(ctx, func(worker int) error {
			return c.codeColumns(ctx, g, from, to, s.keys, &s.columns[worker])
		})
		if err != nil {
			break // wait returns the error
		}
	}
	return p.wait()
}

// codeColumns encodes the features [from, to) of all rows.
func (c *coder) codeColumns(ctx context.Context, g *rowGroup, from, to int, keys []byte, s *codedColumn) error {
	for i := from; i < to; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := g.feature(i, &s.vector); err != nil {
			return err
		}
		s.codes = c.encoders[i].Encode(&s.vector, keys, c.layout.Offsets[i], c.layout.Stride, s.codes)
	}
	return nil
}

// classCodes returns the code of the class of each row that belongs to a part. Rows of other classes are an error, or are
// left out of all parts if lax is true; they are then counted in otherClass.
func (g *rowGroup) classCodes(codes *dataset.ClassCodes, classes []uint16, lax bool) ([]uint16, error) {
	classes = Resized(classes, g.Rows())
	clear(classes)
	for r, k := range g.eachClass(codes) {
		if k < 0 && lax {
			g.parts[r] = dataset.None
			g.otherClass += g.countOf(r)
			continue
		}
		if k < 0 {
			return nil, g.errorAt(g.spec.Label, g.label.Spell(r), "not one of the tree's classes",
				"train again, leave such rows out of the input, or predict with --label none")
		}
		classes[r] = uint16(k)
	}
	return classes, nil
}

// eachClass yields each row that belongs to a part, with the code of its class; -1: it is
// none of the classes.
func (g *rowGroup) eachClass(codes *dataset.ClassCodes) iter.Seq2[int, int] {
	v := &g.label
	known := make([]int, 0) // code of the class by position in the dictionary; -1: no class
	if v.Index != nil {
		n := len(v.Texts)
		if v.Type == dataset.Number {
			n = len(v.Numbers)
		}
		known = make([]int, n)
		for i := range known {
			one := dataset.Vector{Type: v.Type, Index: []int32{int32(i)}, Numbers: v.Numbers, Texts: v.Texts}
			known[i] = classOf(&one, 0, codes)
		}
	}
	return func(yield func(int, int) bool) {
		for r, part := range g.parts {
			if part == dataset.None {
				continue
			}
			var k int
			if v.Index != nil {
				k = known[v.Index[r]]
			} else {
				k = classOf(v, r, codes)
			}
			if !yield(r, k) {
				return
			}
		}
	}
}

// classOf returns the code of the class of row r; -1: it is none of the classes.
func classOf(v *dataset.Vector, r int, codes *dataset.ClassCodes) int {
	if k, ok := codes.Read(v.Spell(r)); ok {
		return int(k)
	}
	return -1
}

// Resized returns a slice of n elements, in the memory of b if it has room. The elements
// have any values.
func Resized[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}
