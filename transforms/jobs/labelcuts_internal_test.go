package jobs

import (
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestCutLabel: numbers and texts of numbers become ranges. A text that is no number is an error that names the row, unless
// the row is refused or no row has the text.
func TestCutLabel(t *testing.T) {
	cut := func(refused []int32, label dataset.Vector) ([]int32, error) {
		g := &rowGroup{spec: &RowSpec{Label: "y", LabelCuts: []float64{5}}, rows: 3, label: label, task: Task{Refused: refused}}
		err := g.cutLabel()
		return g.label.Index, err
	}
	texts := dataset.Vector{Type: dataset.Text, Texts: []string{"4", "05", "5", "true"}, Index: []int32{0, 1, 2}}
	if at, err := cut([]int32{1}, texts); err != nil || !slices.Equal(at, []int32{0, -1, 1}) {
		t.Errorf("ranges %v, %v", at, err)
	}
	if _, err := cut(nil, texts); err == nil || !strings.Contains(err.Error(), "row 1 ") || !strings.Contains(err.Error(), `"05"`) {
		t.Errorf("%v, want an error of row 1", err)
	}
	if at, err := cut(nil, dataset.Vector{Type: dataset.Number, Numbers: []float64{5, -1, 9}}); err != nil || !slices.Equal(at, []int32{1, 0, 1}) {
		t.Errorf("ranges %v, %v", at, err)
	}
}
