package leafmodel

import "github.com/espalier-ml/espalier/induce/dataset"

// Sorted returns the objects in the order of dataset.Objects.ByHash. most bounds their number;
// 0: all.
func Sorted(o *dataset.Objects, most int) *dataset.Objects {
	ids := o.ByHash()
	if most > 0 && len(ids) > most {
		ids = ids[:most]
	}
	return o.Select(ids)
}
