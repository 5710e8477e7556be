package jobs

import (
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// SoftLabels describes the columns with probabilities of the classes, and how these and the label
// give the class weights of a training row. Without columns only the label counts.
type SoftLabels struct {
	Columns []ProbabilityColumn `json:"columns,omitempty"` // one for each class, in the order of the classes
	Named   string              `json:"named,omitempty"`   // how the user names the columns, for messages
	// TeacherWeight is the weight of the probabilities in the class weights, 0 to 1. The label has
	// weight 1 - TeacherWeight.
	TeacherWeight float64 `json:"teacher_weight,omitempty"`
	// Scale is how many units all class weights of a row with weight 1 have in total, a power of
	// two. 0: the class weights follow from the label.
	Scale int64 `json:"scale,omitempty"`
}

// ProbabilityColumn is a column with the probability of a class.
type ProbabilityColumn struct {
	Name  string `json:"name"`
	Class string `json:"class"`
}

// MostSoftScale is the greatest SoftLabels.Scale.
const MostSoftScale = 1 << 20

// ProbabilityTolerance is how much the sum of the probabilities of a row may differ from 1.
const ProbabilityTolerance = 1e-6

// bytes estimates the bytes of an object's soft weights.
func (s *SoftLabels) bytes() int {
	if s.Scale == 0 {
		return 0
	}
	return 8 * len(s.Columns)
}

// readProbabilities reads the probabilities of the classes. If there is no label, each row gets the
// most probable class, or the first of several such classes. If there is a label, only training
// rows need to have probabilities.
func (g *rowGroup) readProbabilities() error {
	soft := &g.spec.Soft
	p := make([]float64, g.Rows()*len(soft.Columns))
	first := len(g.spec.Columns()) - len(soft.Columns)
	var v dataset.Vector
	for k := range soft.Columns {
		if err := g.ReadColumn(first+k, &v); err != nil {
			return err
		}
		if err := g.readProbability(k, &v, p); err != nil {
			return err
		}
	}
	if err := g.normalise(p); err != nil {
		return err
	}
	if g.spec.Label == "" {
		g.labelByProbability(p)
	}
	g.mix(p)
	return nil
}

// probable reports whether row r must have probabilities.
func (g *rowGroup) probable(r int) bool {
	return g.parts[r] == dataset.Train || g.spec.Label == "" && g.parts[r] != dataset.None
}

// readProbability checks the probabilities of class k, and writes them to p, which holds the
// probabilities of all classes, row after row.
func (g *rowGroup) readProbability(k int, v *dataset.Vector, p []float64) error {
	column := g.spec.Soft.Columns[k].Name
	classes := len(g.spec.Soft.Columns)
	const expected = "expected a number from 0 to 1"
	for r := range g.parts {
		if !g.probable(r) {
			continue
		}
		if v.Missing(r) {
			return g.errorAt(column, "", fmt.Sprintf("the probability in %s is null or NaN, %s", g.rowName(r), expected),
				"leave such rows out of the input, or give each class the same probability there")
		}
		if v.Type != dataset.Number {
			return g.errorAt(column, v.Spell(r), fmt.Sprintf("the probability in %s is text, %s", g.rowName(r), expected), "")
		}
		i := r
		if v.Index != nil {
			i = int(v.Index[r])
		}
		x := v.Numbers[i]
		if !(x >= 0 && x <= 1) {
			return g.errorAt(column, v.Spell(r),
				fmt.Sprintf("the probability in %s is out of range, %s", g.rowName(r), expected), "")
		}
		p[r*classes+k] = x
	}
	return nil
}

// normalise divides the probabilities of each row by their sum, which must be 1 except for
// rounding.
func (g *rowGroup) normalise(p []float64) error {
	classes := len(g.spec.Soft.Columns)
	for r := range g.parts {
		if !g.probable(r) {
			continue
		}
		of := p[r*classes : (r+1)*classes]
		sum := portable.Sum(of)
		if math.Abs(sum-1) > ProbabilityTolerance {
			return g.errorAt(g.spec.Soft.Named, dataset.SpellNumber(sum),
				fmt.Sprintf("the probabilities of the classes in %s do not add up to 1, within %g",
					g.rowName(r), ProbabilityTolerance), "give each class a column, and divide each row by its sum")
		}
		for k := range of {
			of[k] /= sum
		}
	}
	return nil
}

// labelByProbability sets the label of each row to its most probable class.
func (g *rowGroup) labelByProbability(p []float64) {
	columns := g.spec.Soft.Columns
	g.label = dataset.Vector{Type: dataset.Number, Index: make([]int32, len(g.parts))}
	for _, c := range columns {
		x, ok := ClassNumber(c.Class)
		if !ok {
			g.label.Type = dataset.Text
		}
		g.label.Numbers = append(g.label.Numbers, x)
		g.label.Texts = append(g.label.Texts, c.Class)
	}
	for r := range g.parts {
		g.label.Index[r] = -1
		if !g.probable(r) {
			continue
		}
		best := 0
		for k, x := range p[r*len(columns) : (r+1)*len(columns)] {
			if x > p[r*len(columns)+best] {
				best = k
			}
		}
		g.label.Index[r] = int32(best)
	}
}

// ClassNumber returns the number that a class name represents, if it is spelled like the classes of
// number columns.
func ClassNumber(class string) (x float64, ok bool) {
	x, ok = dataset.Plain.ParseValue(class)
	return x, ok && math.Abs(x) <= math.MaxFloat64 && dataset.SpellNumber(x) == class
}

// mix sets the shares of the classes in each training row, and records whether they are soft. The
// shares are the weighted mean of the label and the probabilities, rounded so that the shares of a
// row add up to the scale.
func (g *rowGroup) mix(p []float64) {
	soft := &g.spec.Soft
	classes := len(soft.Columns)
	if soft.Scale > 0 {
		g.shares = make([]int32, len(p))
	}
	names := make([]string, classes)
	for k, c := range soft.Columns {
		names[k] = c.Class
	}
	for r, k := range g.eachClass(dataset.NewClassCodes(names)) {
		if g.parts[r] != dataset.Train {
			continue
		}
		of := p[r*classes : (r+1)*classes]
		g.soft = g.soft || soft.TeacherWeight > 0 && (k < 0 || of[k] != 1)
		if g.shares != nil {
			apportion(g.shares[r*classes:(r+1)*classes], of, k, soft)
		}
	}
}

// apportion writes the shares of the classes in a row of class k. Rounding the running sums keeps
// each share within one unit, and their sum exact.
func apportion(shares []int32, p []float64, k int, soft *SoftLabels) {
	running := 0.0
	before := int32(0)
	last := len(p) - 1
	for last > 0 && p[last] == 0 && last != k {
		last--
	}
	for c := range shares {
		share := float64(soft.TeacherWeight * p[c])
		if c == k {
			share += 1 - soft.TeacherWeight
		}
		running += share
		upTo := min(int32(math.Floor(float64(running*float64(soft.Scale))+0.5)), int32(soft.Scale))
		if c >= last {
			upTo = int32(soft.Scale)
		}
		shares[c] = upTo - before
		before = upTo
	}
}
