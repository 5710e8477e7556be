package forest

import "github.com/espalier-ml/espalier/induce/dataset"

// codesOf returns the codes of the objects in [from, to), object by object.
func codesOf(o *dataset.Objects, from, to int) [][]uint16 {
	features := len(o.Codes)
	all, list := make([]uint16, (to-from)*features), make([][]uint16, to-from)
	for i := range list {
		list[i] = all[i*features : (i+1)*features]
	}
	for f := range o.Codes {
		if codes := o.Codes[f].U8; codes != nil {
			for i, code := range codes[from:to] {
				list[i][f] = uint16(code)
			}
		} else {
			for i, code := range o.Codes[f].U16[from:to] {
				list[i][f] = code
			}
		}
	}
	return list
}
