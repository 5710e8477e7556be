package report

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/textview"
)

// feature is a feature of the page.
type feature struct {
	*dataset.Feature

	name string
}

// maxValues is the greatest number of categories of a feature that are all listed. If a feature has more
// categories, the page lists the categories in the tests of its trees.
const maxValues = 200

// maxAllValues is the greatest number of values listed of all features whose values are all listed.
const maxAllValues = 4000

// pageFeature is a feature as the page's script reads it.
type pageFeature struct {
	Name    string   `json:"name"`
	Numeric bool     `json:"numeric"`
	Unit    string   `json:"unit,omitempty"`
	Cuts    []string `json:"cuts,omitempty"` // the first and the last cut, for reading: the page has no value of a single row
	Lost    bool     `json:"lost,omitempty"` // training rows lacked values, and no presence test comes first

	// Codes and Names are the listed values of a categorical feature. Other is the code of values
	// that training did not list, and Missing the code of no value. Some means that training has
	// listed more values than Codes.
	Codes   []int    `json:"codes,omitempty"`
	Names   []string `json:"names,omitempty"`
	Other   int      `json:"other,omitempty"`
	Missing int      `json:"missing,omitempty"`
	Some    bool     `json:"some,omitempty"`
}

// pageFeatures returns the features of the page.
func (t *tests) pageFeatures() []pageFeature {
	list := make([]pageFeature, len(t.features))
	room := maxAllValues
	for i, f := range t.features {
		list[i] = pageFeature{
			Name: f.name, Numeric: f.Kind == dataset.Numeric, Unit: f.Unit.String(), Lost: f.Missing > 0 && !f.Unordered,
		}
		if f.Kind == dataset.Numeric {
			if n := len(f.Cuts); n > 1 {
				list[i].Cuts = []string{f.Unit.Spell(f.Cuts[0]), f.Unit.Spell(f.Cuts[n-1])}
			}
			continue
		}
		list[i].Other, list[i].Missing = f.OtherCode(), f.MissingCode()
		all := len(f.Values) <= min(room, maxValues)
		if all {
			room -= len(f.Values)
		}
		for code := range f.Values {
			if !all && !t.used[answer{i, code}] {
				list[i].Some = true
				continue
			}
			list[i].Codes = append(list[i].Codes, code)
			list[i].Names = append(list[i].Names, textview.Name(f.Category(code)))
		}
	}
	return list
}
