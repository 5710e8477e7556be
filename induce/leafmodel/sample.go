package leafmodel

import (
	"cmp"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Sorted returns the objects in an order that depends on their codes alone: by a hash of
// the codes, as if the objects were shuffled. most bounds their number; 0: all.
func Sorted(o *dataset.Objects, most int) *dataset.Objects {
	type entry struct {
		hash uint64
		id   int32
	}
	list := make([]entry, o.Len())
	key := make([]byte, 0, 2*len(o.Codes))
	for i := range list {
		key = key[:0]
		for f := range o.Codes {
			code := o.Codes[f].At(i)
			key = append(key, byte(code), byte(code>>8))
		}
		list[i] = entry{dataset.HashText(0, string(key)), int32(i)}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), compareObjects(o, int(a.id), int(b.id)))
	})
	if most > 0 && len(list) > most {
		list = list[:most]
	}
	ids := make([]int32, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	return o.Select(ids)
}

// compareObjects compares two objects by their codes. Objects of a training differ in them;
// others are compared by their class weights, too.
func compareObjects(o *dataset.Objects, i, j int) int {
	for f := range o.Codes {
		if c := cmp.Compare(o.Codes[f].At(i), o.Codes[f].At(j)); c != 0 {
			return c
		}
	}
	return slices.CompareFunc(o.Raw(i), o.Raw(j), func(a, b dataset.ClassWeight) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Weight, b.Weight))
	})
}
