package dataset

import "encoding/binary"

// Encoder turns the values of one feature into codes. It is read-only, so goroutines may
// share it.
type Encoder struct {
	feature    *Feature
	categories *Categories // nil for a numeric feature
}

// NewEncoder returns the encoder of a feature. The encoder of a categorical feature takes
// columns of either value type, see Categories.
func NewEncoder(f *Feature) *Encoder { return &Encoder{f, f.Categories()} }

// Encode writes the code of each row of v into the rows' keys: the code of row r takes
// Width bytes (little endian) from keys[r*stride+offset]. For a numeric feature v must
// hold numbers. scratch is memory for the codes of dictionaries; Encode returns it for
// the next call.
func (e *Encoder) Encode(v *Vector, keys []byte, offset, stride int, scratch []uint16) []uint16 {
	if v.Index == nil {
		for r, x := range v.Numbers {
			e.put(keys[r*stride+offset:], e.number(x))
		}
		return scratch
	}
	if len(v.Index) < v.entries() { // rows of a large row group, which have few of the values
		for r, i := range v.Index {
			e.put(keys[r*stride+offset:], e.entry(v, int(i)))
		}
		return scratch
	}
	codes := e.dictionary(v, scratch)
	if e.feature.Width() == 1 {
		at := offset
		for _, i := range v.Index {
			keys[at] = byte(codes[i+1])
			at += stride
		}
		return codes
	}
	for r, i := range v.Index {
		binary.LittleEndian.PutUint16(keys[r*stride+offset:], codes[i+1])
	}
	return codes
}

// dictionary returns the codes of a dictionary's entries, shifted by one: the
// first is the code of missing, for index -1.
func (e *Encoder) dictionary(v *Vector, scratch []uint16) []uint16 {
	codes := scratch[:0]
	for i := range v.entries() + 1 {
		codes = append(codes, e.entry(v, i-1))
	}
	return codes
}

// entry returns the code of entry i of a dictionary, or of missing for -1.
func (e *Encoder) entry(v *Vector, i int) uint16 {
	switch {
	case i < 0:
		return uint16(e.feature.MissingCode())
	case v.Type == Number:
		return e.number(v.Numbers[i])
	default:
		return uint16(e.categories.Text(v.Texts[i]))
	}
}

// number returns the code of a number.
func (e *Encoder) number(x float64) uint16 {
	if e.categories != nil {
		return uint16(e.categories.Number(x))
	}
	if x != x {
		return uint16(e.feature.MissingCode())
	}
	return uint16(e.feature.Bin(x))
}

func (e *Encoder) put(key []byte, code uint16) {
	if e.feature.Width() == 1 {
		key[0] = byte(code)
		return
	}
	binary.LittleEndian.PutUint16(key, code)
}

// Layout is the position of each feature's code in a row's key.
type Layout struct {
	Offsets []int
	Widths  []int
	Stride  int // bytes of a key
}

// NewLayout lays the codes of the features side by side.
func NewLayout(features []Feature) Layout {
	l := Layout{Offsets: make([]int, len(features)), Widths: make([]int, len(features))}
	for i := range features {
		l.Offsets[i], l.Widths[i] = l.Stride, features[i].Width()
		l.Stride += l.Widths[i]
	}
	return l
}

// NewEncoders returns an encoder for each feature.
func NewEncoders(features []Feature) []*Encoder {
	encoders := make([]*Encoder, len(features))
	for i := range features {
		encoders[i] = NewEncoder(&features[i])
	}
	return encoders
}
