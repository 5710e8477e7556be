package jobs

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// cutLabel makes classes of the numbers of the label, if the specification has cuts.
func (g *rowGroup) cutLabel() error {
	cuts := g.spec.LabelCuts
	if len(cuts) == 0 {
		return nil
	}
	v := g.label
	g.label = dataset.Vector{Type: dataset.Text, Texts: dataset.RangeNames(cuts), Index: slices.Repeat([]int32{-1}, g.rows)}
	for r := range g.kept() {
		if v.Missing(r) {
			continue
		}
		var x float64
		var ok bool
		if v.Type == dataset.Number {
			x = numberAt(&v, r)
		} else if x, ok = dataset.LabelNumber(v.Spell(r)); !ok {
			return g.errorAt(g.spec.Label, v.Spell(r), fmt.Sprintf("the label of %s is not a number, and --label_cuts cuts numbers",
				g.rowName(r)), "write a number without leading zeros or null there, or leave out --label_cuts")
		}
		g.label.Index[r] = int32(dataset.RangeAt(cuts, x))
	}
	return nil
}
