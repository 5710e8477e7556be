package textview

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestCharged: a feature has a price if it, or its group, costs something in any currency.
func TestCharged(t *testing.T) {
	minutes := map[string]float64{"minutes": 3}
	for _, c := range []struct {
		feature dataset.Feature
		want    bool
	}{
		{dataset.Feature{}, false},
		{dataset.Feature{FurtherCosts: map[string]float64{"minutes": 0}}, false},
		{dataset.Feature{Cost: 2}, true},
		{dataset.Feature{GroupCost: 2}, true},
		{dataset.Feature{FurtherCosts: minutes}, true},
		{dataset.Feature{GroupFurther: minutes}, true},
	} {
		if charged(&c.feature) != c.want {
			t.Errorf("%+v: want %v", c.feature, c.want)
		}
	}
}
