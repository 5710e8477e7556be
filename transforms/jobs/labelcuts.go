package jobs

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// cutLabel makes classes of the numbers of the label, if the specification has cuts.
func (g *rowGroup) cutLabel() error {
	cuts := g.spec.LabelCuts
	if len(cuts) == 0 {
		return nil
	}
	label := g.label
	numbers := label  // numbers that Index refers to
	var others []bool // by text: whether it is not a number
	if g.label.Type == dataset.Text {
		numbers.Numbers, others = make([]float64, len(g.label.Texts)), make([]bool, len(g.label.Texts))
		for i, text := range g.label.Texts {
			x, ok := dataset.Plain.ParseValue(text)
			numbers.Numbers[i], others[i] = x, !ok
		}
	}
	numbers.Type = dataset.Number
	g.label = dataset.Vector{Type: dataset.Text, Texts: dataset.RangeNames(cuts), Index: make([]int32, g.rows)}
	for r := range g.label.Index {
		g.label.Index[r] = -1
	}
	for r := range g.kept() {
		if others != nil && !label.Missing(r) && others[label.Index[r]] {
			return g.errorAt(g.spec.Label, label.Spell(r), "not a number, and --label_cuts cuts numbers",
				"write a number or null there, or leave out --label_cuts")
		}
		if x := numberAt(&numbers, r); !math.IsNaN(x) {
			g.label.Index[r] = int32(dataset.RangeAt(cuts, x))
		}
	}
	return nil
}
