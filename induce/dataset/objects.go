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

	// Class weights take no memory for an object of weight 1, little for an object of one
	// class. rawAt is nil while all objects weigh 1. Else rawAt[i] is 0 for an object of
	// weight 1. For others its low bits are one more than the position of the object's
	// first entry in raw; with rawMany the entry before has the number of its entries.
	rawAt []uint32
	raw   []ClassWeight
	units []ClassWeight // by class: an object of this class and of weight 1
}

// rawMany marks an object with several classes.
const rawMany = 1 << 31

// Len returns the number of objects.
func (o *Objects) Len() int { return len(o.Class) }

// Raw returns the weights of the classes in object i, in class order, without classes of
// weight 0. They must not be changed.
func (o *Objects) Raw(i int) []ClassWeight {
	if o.rawAt == nil || o.rawAt[i] == 0 {
		k := o.Class[i]
		return o.units[k : k+1 : k+1]
	}
	at, n := o.rawAt[i]-1, uint32(1)
	if at&rawMany != 0 {
		at &^= rawMany
		n = uint32(o.raw[at-1].Weight)
	}
	return o.raw[at : at+n : at+n]
}

// addRaw appends the class weights of the last object.
func (o *Objects) addRaw(raw []ClassWeight) {
	unit := len(raw) == 1 && raw[0].Weight == 1
	if unit && o.rawAt == nil {
		return
	}
	if o.rawAt == nil {
		o.rawAt = make([]uint32, len(o.Class)-1, cap(o.Class))
	}
	at, many := uint32(0), uint32(0)
	if len(raw) > 1 {
		many = rawMany
		o.raw = append(o.raw, ClassWeight{Weight: int64(len(raw))})
	}
	if !unit {
		at = uint32(len(o.raw)+1) | many
		o.raw = append(o.raw, raw...)
	}
	o.rawAt = append(o.rawAt, at)
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
		units:   units(classes),
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

// units returns an entry of weight 1 for each class.
func units(classes int) []ClassWeight {
	list := make([]ClassWeight, classes)
	for k := range list {
		list[k] = ClassWeight{uint16(k), 1}
	}
	return list
}

// Majority returns the class of the most weight, the first of several such classes, and
// the weight of all classes.
func Majority(raw []ClassWeight) (class uint16, total int64) {
	var most int64
	for _, cw := range raw {
		total += cw.Weight
		if cw.Weight > most {
			class, most = cw.Class, cw.Weight
		}
	}
	return class, total
}

// addClasses appends the weights of one object, without its codes.
func (o *Objects) addClasses(raw []ClassWeight, rows int64) {
	class, total := Majority(raw)
	o.Class = append(o.Class, class)
	o.Weight = append(o.Weight, total)
	if o.Rows != nil {
		o.Rows = append(o.Rows, rows)
	}
	o.addRaw(raw)
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
		units:   o.units,
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
