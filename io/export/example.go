package export

import (
	"fmt"
	"math"
)

// Returned describes the members of a prediction, in lines of a comment. class is the name of the
// class in the language, classes the list of the classes.
func (p *program) Returned(class, classes string) []string {
	lines := []string{
		"A prediction has:",
		"  " + class + ": the class",
		"  probabilities: one for each class, in the order of " + classes,
		"  leaf: the number of the leaf, a node of tree.json",
		"  tests: how many tests the row has passed",
		"  cost: what they cost, in the unit of the prices of training; without prices a test costs 1",
	}
	if len(p.Steps) > 0 {
		lines = append(lines, "  path: the conditions that the row has met, in words, from the root on")
	}
	return lines
}

// sample is a value in the example at the head of a file.
type sample struct {
	feature

	Value string // a literal
	Local string // name of a variable
}

// Sample returns values of the first features whose names are short.
func (p *program) Sample() []sample {
	const most, longest = 3, 40
	var list []sample
	for i := range p.Features {
		f := p.Features[i]
		of := &p.tree.Features[i]
		if len(f.Name) > longest || len(list) == most || !f.Numeric && len(f.Values[0]) > longest {
			continue
		}
		s := sample{feature: f, Local: fmt.Sprintf("text%d", len(list)+1)}
		x := 1.0
		if len(of.Cuts) > 0 {
			x = of.Cuts[0]
		}
		switch {
		case !f.Numeric:
			s.Value = p.language.text(f.Values[0])
		case f.Unit != "" && p.language.moments:
			s.Value = p.language.text(of.Unit.Spell(math.Floor(x)))
		default:
			s.Value = p.language.number(x)
		}
		list = append(list, s)
	}
	return list
}
