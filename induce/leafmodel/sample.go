package leafmodel

import "github.com/espalier-ml/espalier/induce/dataset"

// Sorted returns the objects in the order of dataset.Objects.ByHash. most bounds their number;
// 0: all.
func Sorted(o *dataset.Objects, most int) *dataset.Objects {
	if most <= 0 {
		most = o.Len()
	}
	return o.Select(o.FirstByHash(most))
}
