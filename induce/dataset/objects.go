package dataset

// Codes is one feature's column of codes, one code per object. U8 is set if the feature's
// Width is 1, else U16.
type Codes struct {
	U8  []uint8
	U16 []uint16
}

// At returns the code of object i.
func (c *Codes) At(i int) int {
	if c.U8 != nil {
		return int(c.U8[i])
	}
	return int(c.U16[i])
}

// Objects are coalesced rows, as columns.
type Objects struct {
	Classes int
	Codes   []Codes  // per feature
	Class   []uint16 // class of the most weight; ties: the first class
	Weight  []int64  // weight of all classes, in fixed-point units
	Rows    []int64  // number of rows; nil if each row weighs 1, so Weight counts rows

	rawEnd []int64 // end of an object's entries in raw
	raw    []ClassWeight
}

// Len returns the number of objects.
func (o *Objects) Len() int { return len(o.Class) }

// Raw returns the weights of the classes in object i, in class order, without classes of
// weight 0.
func (o *Objects) Raw(i int) []ClassWeight {
	if i == 0 {
		return o.raw[:o.rawEnd[0]]
	}
	return o.raw[o.rawEnd[i-1]:o.rawEnd[i]]
}

// RowsOf returns the number of rows of object i.
func (o *Objects) RowsOf(i int) int64 {
	if o.Rows == nil {
		return o.Weight[i]
	}
	return o.Rows[i]
}

// NewObjects returns no objects of the features, with room for n.
func NewObjects(layout Layout, classes int, weighted bool, n int) *Objects {
	o := &Objects{
		Classes: classes,
		Codes:   make([]Codes, len(layout.Widths)),
		Class:   make([]uint16, 0, n),
		Weight:  make([]int64, 0, n),
		rawEnd:  make([]int64, 0, n),
		raw:     make([]ClassWeight, 0, n),
	}
	if weighted {
		o.Rows = make([]int64, 0, n)
	}
	for i, w := range layout.Widths {
		if w == 1 {
			o.Codes[i].U8 = make([]uint8, 0, n)
		} else {
			o.Codes[i].U16 = make([]uint16, 0, n)
		}
	}
	return o
}

// addClasses appends the weights of one object, without its codes.
func (o *Objects) addClasses(raw []ClassWeight, rows int64) {
	var total, most int64
	var class uint16
	for _, cw := range raw {
		total += cw.Weight
		if cw.Weight > most {
			class, most = cw.Class, cw.Weight
		}
	}
	o.Class = append(o.Class, class)
	o.Weight = append(o.Weight, total)
	if o.Rows != nil {
		o.Rows = append(o.Rows, rows)
	}
	o.raw = append(o.raw, raw...)
	o.rawEnd = append(o.rawEnd, int64(len(o.raw)))
}

// Append appends one object: its codes in feature order, the weights of its
// classes in class order, and its rows.
func (o *Objects) Append(codes []int, raw []ClassWeight, rows int64) {
	for f, code := range codes {
		if c := &o.Codes[f]; c.U8 != nil {
			c.U8 = append(c.U8, uint8(code))
		} else {
			c.U16 = append(c.U16, uint16(code))
		}
	}
	o.addClasses(raw, rows)
}

// Select returns the objects with the given numbers, in that order.
func (o *Objects) Select(ids []int32) *Objects {
	s := &Objects{
		Classes: o.Classes,
		Codes:   make([]Codes, len(o.Codes)),
		Class:   make([]uint16, 0, len(ids)),
		Weight:  make([]int64, 0, len(ids)),
		rawEnd:  make([]int64, 0, len(ids)),
		raw:     make([]ClassWeight, 0, len(ids)),
	}
	if o.Rows != nil {
		s.Rows = make([]int64, 0, len(ids))
	}
	for f := range o.Codes {
		if c := o.Codes[f]; c.U8 != nil {
			s.Codes[f].U8 = pick(c.U8, ids)
		} else {
			s.Codes[f].U16 = pick(c.U16, ids)
		}
	}
	for _, id := range ids {
		s.addClasses(o.Raw(int(id)), o.RowsOf(int(id)))
	}
	return s
}

func pick[T uint8 | uint16](column []T, ids []int32) []T {
	out := make([]T, len(ids))
	for i, id := range ids {
		out[i] = column[id]
	}
	return out
}
