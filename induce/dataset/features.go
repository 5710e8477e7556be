package dataset

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
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
		for _, v := range slices.Sorted(maps.Keys(f.ValueCosts)) {
			b = appendFloat(appendText(b, v), f.ValueCosts[v])
		}
		b = appendFloat(appendText(b, f.Group), f.GroupCost)
		b = append(b, 0) // earlier versions had subsets of the cuts here
		b = binary.AppendUvarint(b, uint64(len(f.Range)))
		for _, x := range f.Range {
			b = appendFloat(b, x)
		}
		b = append(b, byte(f.Unit), byte(f.Zone))
	}
	return b
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
	r := wire.Reader{Rest: b[1:]}
	features := make([]Feature, r.Length(4))
	for i := range features {
		f := &features[i]
		f.Name = string(r.Bytes())
		f.Kind, f.Type = Kind(r.Byte()), ValueType(r.Byte())
		f.Cuts = make([]float64, r.Length(8))
		for j := range f.Cuts {
			f.Cuts[j] = r.Float()
		}
		f.Values = make([]string, r.Length(1))
		for j := range f.Values {
			f.Values[j] = string(r.Bytes())
		}
		f.Missing, f.Other = r.Varint(), r.Varint()
		f.Cost = r.Float()
		for n := r.Length(9); n > 0; n-- {
			if f.ValueCosts == nil {
				f.ValueCosts = make(map[string]float64, n)
			}
			v := string(r.Bytes())
			f.ValueCosts[v] = r.Float()
		}
		f.Group, f.GroupCost = string(r.Bytes()), r.Float()
		r.Bad = r.Byte() != 0 || r.Bad
		f.Range = make([]float64, r.Length(8))
		for j := range f.Range {
			f.Range[j] = r.Float()
		}
		f.Unit, f.Zone = Unit(r.Byte()), Zone(r.Byte())
	}
	if r.Bad || len(r.Rest) > 0 {
		return nil, errFeatures
	}
	return features, nil
}
