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

// Flags of encoded features; none in earlier versions.
const (
	codedUnordered = byte(1 << iota)
	codedFurther   // has FurtherCosts
)

func flagsOf(f *Feature) (flags byte) {
	if f.Unordered {
		flags |= codedUnordered
	}
	if len(f.FurtherCosts) > 0 {
		flags |= codedFurther
	}
	return flags
}

// appendAmounts writes amounts by name.
func appendAmounts(w wire.Writer, amounts map[string]float64) wire.Writer {
	w = w.Length(len(amounts))
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		w = w.Text(name).Float(amounts[name])
	}
	return w
}

// readAmounts reads what appendAmounts writes; nil for no amounts.
func readAmounts(r *wire.Reader) map[string]float64 {
	var amounts map[string]float64
	for n := r.Length(9); n > 0; n-- {
		if amounts == nil {
			amounts = make(map[string]float64, n)
		}
		name := r.Text()
		amounts[name] = r.Float()
	}
	return amounts
}

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
		w = w.Varint(f.Missing).Varint(f.Other).Float(f.Cost)
		w = appendAmounts(w, f.ValueCosts)
		w = w.Text(f.Group).Float(f.GroupCost).Byte(flagsOf(f))
		w = w.Floats(f.Range).Byte(byte(f.Unit)).Byte(byte(f.Zone))
		if len(f.FurtherCosts) > 0 {
			w = appendAmounts(appendAmounts(w, f.FurtherCosts), f.GroupFurther)
		}
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
		f.ValueCosts = readAmounts(&r)
		f.Group, f.GroupCost = r.Text(), r.Float()
		flags := r.Byte()
		f.Unordered = flags&codedUnordered != 0
		r.Bad = r.Bad || flags > codedUnordered|codedFurther
		f.Range, f.Unit, f.Zone = r.Floats(), Unit(r.Byte()), Zone(r.Byte())
		if flags&codedFurther != 0 {
			f.FurtherCosts = readAmounts(&r)
			f.GroupFurther = readAmounts(&r)
		}
	}
	if r.Bad || len(r.Rest) > 0 {
		return nil, errFeatures
	}
	return features, nil
}
