package boost

import "github.com/espalier-ml/espalier/induce/dataset"

// flat is a booster in a form that rates many objects fast: the splits and the values of all trees, each in
// one list.
type flat struct {
	width  int
	roots  []int32 // by tree: its first split
	splits []flatSplit
	values []float64 // by leaf and score
}

// flatSplit is a split with what its test needs of the feature.
type flatSplit struct {
	feature       int32
	yes, no       int32 // the next split; negative: the complement of the position of a leaf in values
	code, missing uint16
	numeric       bool
	missingYes    bool
}

func (b *Booster) flatten(features []dataset.Feature, width int) *flat {
	f := &flat{width: width}
	for _, t := range b.Trees {
		root := int32(len(f.splits))
		f.roots = append(f.roots, root)
		side := func(s *Side) int32 {
			if s.Values == nil {
				return root + int32(s.Split)
			}
			f.values = append(f.values, s.Values...)
			return ^int32(len(f.values) - width)
		}
		for i := range t {
			s := &t[i]
			feature := &features[s.Feature]
			f.splits = append(f.splits, flatSplit{
				feature: int32(s.Feature), yes: side(&s.Yes), no: side(&s.No), code: uint16(s.Code),
				missing: uint16(feature.MissingCode()), numeric: feature.Kind == dataset.Numeric, missingYes: s.Missing,
			})
		}
	}
	return f
}

// addTo is Booster.AddTo for the codes of object i. It is a hot loop.
func (f *flat) addTo(scores []float64, codes []dataset.Codes, i int) {
	for _, at := range f.roots {
		for at >= 0 {
			s := &f.splits[at]
			var code uint16
			if c := &codes[s.feature]; c.U8 != nil {
				code = uint16(c.U8[i])
			} else {
				code = c.U16[i]
			}
			yes := code == s.code
			switch {
			case code == s.missing:
				yes = s.missingYes
			case s.numeric:
				yes = code >= s.code
			}
			if at = s.no; yes {
				at = s.yes
			}
		}
		for k, v := range f.values[^at:][:f.width] {
			scores[k] += v
		}
	}
}
