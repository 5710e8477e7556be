package dataset

import (
	"errors"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
)

// featuresVersion opens encoded features.
const featuresVersion = 5

// codedOrdered is the kind of encoded categorical features whose values are ordered.
const codedOrdered = byte(Categorical) + 1

var errFeatures = errors.New("not encoded features")

// EncodeFeatures returns features in the binary form sent to workers. On data of many
// columns JSON would take longer than training.
func EncodeFeatures(features []Feature) []byte {
	w := wire.Writer{featuresVersion}.Length(len(features))
	for i := range features {
		f := &features[i]
		kind := byte(f.Kind)
		if f.Ordered {
			kind = codedOrdered
		}
		w = w.Text(f.Name).Byte(kind).Byte(byte(f.Type)).Floats(f.Cuts).Length(len(f.Values))
		for _, v := range f.Values {
			w = w.Text(v)
		}
		w = w.Varint(f.Missing).Varint(f.Other).Float(f.Cost).Length(len(f.ValueCosts))
		for _, v := range slices.Sorted(maps.Keys(f.ValueCosts)) {
			w = w.Text(v).Float(f.ValueCosts[v])
		}
		w = w.Text(f.Group).Float(f.GroupCost).Byte(byte(boolToInt(f.Unordered))) // 0 in earlier versions
		w = w.Floats(f.Range).Byte(byte(f.Unit)).Byte(byte(f.Zone))
	}
	return w
}

// DecodeFeatures reads the bytes of EncodeFeatures.
func DecodeFeatures(b []byte) ([]Feature, error) {
	if len(b) == 0 || b[0] != featuresVersion {
		return nil, errFeatures
	}
	r := wire.Reader{Rest: b[1:]}
	features := make([]Feature, r.Length(4))
	for i := range features {
		f := &features[i]
		f.Name, f.Kind, f.Type = r.Text(), Kind(r.Byte()), ValueType(r.Byte())
		if byte(f.Kind) == codedOrdered {
			f.Kind = Categorical
			f.Ordered = true
		}
		f.Cuts, f.Values = r.Floats(), make([]string, r.Length(1))
		for j := range f.Values {
			f.Values[j] = r.Text()
		}
		f.Missing, f.Other, f.Cost = r.Varint(), r.Varint(), r.Float()
		for n := r.Length(9); n > 0; n-- {
			if f.ValueCosts == nil {
				f.ValueCosts = make(map[string]float64, n)
			}
			v := r.Text()
			f.ValueCosts[v] = r.Float()
		}
		f.Group, f.GroupCost = r.Text(), r.Float()
		unordered := r.Byte()
		f.Unordered = unordered == 1
		r.Bad = r.Bad || unordered > 1
		f.Range, f.Unit, f.Zone = r.Floats(), Unit(r.Byte()), Zone(r.Byte())
	}
	if r.Bad || len(r.Rest) > 0 {
		return nil, errFeatures
	}
	return features, nil
}
