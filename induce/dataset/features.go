package dataset

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// featuresVersion opens encoded features.
const featuresVersion = 5

var errFeatures = errors.New("not encoded features")

// EncodeFeatures returns features in the binary form sent to workers. On data of many
// columns JSON would take longer than training.
func EncodeFeatures(features []Feature) []byte {
	b := binary.AppendUvarint([]byte{featuresVersion}, uint64(len(features)))
	for i := range features {
		f := &features[i]
		b = appendText(b, f.Name)
		b = append(b, byte(f.Kind), byte(f.Type))
		b = binary.AppendUvarint(b, uint64(len(f.Cuts)))
		for _, cut := range f.Cuts {
			b = appendFloat(b, cut)
		}
		b = binary.AppendUvarint(b, uint64(len(f.Values)))
		for _, v := range f.Values {
			b = appendText(b, v)
		}
		b = binary.AppendVarint(binary.AppendVarint(b, f.Missing), f.Other)
		b = appendFloat(b, f.Cost)
		b = binary.AppendUvarint(b, uint64(len(f.ValueCosts)))
		for _, v := range sortedKeys(f.ValueCosts) {
			b = appendFloat(appendText(b, v), f.ValueCosts[v])
		}
		b = appendFloat(appendText(b, f.Group), f.GroupCost)
		b = binary.AppendUvarint(b, uint64(len(f.Subsets)))
		for _, subset := range f.Subsets {
			b = binary.AppendUvarint(b, uint64(len(subset)))
			for _, at := range subset {
				b = binary.LittleEndian.AppendUint16(b, at)
			}
		}
		b = binary.AppendUvarint(b, uint64(len(f.Range)))
		for _, x := range f.Range {
			b = appendFloat(b, x)
		}
		b = append(b, byte(f.Unit), byte(f.Zone))
	}
	return b
}

func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// DecodeFeatures reads the bytes of EncodeFeatures.
func DecodeFeatures(b []byte) ([]Feature, error) {
	if len(b) == 0 || b[0] != featuresVersion {
		return nil, errFeatures
	}
	r := featureReader{b: b[1:]}
	features := make([]Feature, r.length(4))
	for i := range features {
		f := &features[i]
		f.Name = r.text()
		f.Kind, f.Type = Kind(r.byte()), ValueType(r.byte())
		f.Cuts = make([]float64, r.length(8))
		for j := range f.Cuts {
			f.Cuts[j] = r.float()
		}
		f.Values = make([]string, r.length(1))
		for j := range f.Values {
			f.Values[j] = r.text()
		}
		f.Missing, f.Other = r.varint(), r.varint()
		f.Cost = r.float()
		for n := r.length(9); n > 0; n-- {
			if f.ValueCosts == nil {
				f.ValueCosts = make(map[string]float64, n)
			}
			v := r.text()
			f.ValueCosts[v] = r.float()
		}
		f.Group, f.GroupCost = r.text(), r.float()
		f.Subsets = make([][]uint16, r.length(1))
		for j := range f.Subsets {
			f.Subsets[j] = make([]uint16, r.length(2))
			for k := range f.Subsets[j] {
				f.Subsets[j][k] = r.uint16()
			}
		}
		f.Range = make([]float64, r.length(8))
		for j := range f.Range {
			f.Range[j] = r.float()
		}
		f.Unit, f.Zone = Unit(r.byte()), Zone(r.byte())
	}
	if r.bad || len(r.b) > 0 {
		return nil, errFeatures
	}
	return features, nil
}

// featureReader reads encoded features. After the first fault it reads zeros.
type featureReader struct {
	b   []byte
	bad bool
}

func (r *featureReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return make([]byte, 8)[:min(max(n, 0), 8)]
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *featureReader) byte() byte { return r.take(1)[0] }

func (r *featureReader) uint16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }

func (r *featureReader) varint() int64 {
	x, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return x
}

// length reads the length of a list. Each member takes at least size bytes.
func (r *featureReader) length(size int) int {
	x, n := binary.Uvarint(r.b)
	if n <= 0 || x > uint64(len(r.b)/size) {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return int(x)
}

func (r *featureReader) text() string { return string(r.take(r.length(1))) }

func (r *featureReader) float() float64 {
	b := r.take(8)
	if len(b) < 8 {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}
