package settings_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
)

// Settings begin with defaults. All faults are told at once, with the names that the host gives to settings.
func Example() {
	s := settings.Default()
	s.Label, s.Costs = "class", map[string]float64{"scan": 120, "age": 0.5}
	s.Theta = []float64{0} // nodes of any size are split
	fmt.Println(len(s.Members(false)), "trees,", len(s.Faults(settings.FieldName)), "faults")

	s.Tests, s.Monotone = []split.Family{split.OneHot}, map[string]int8{"age": 1}
	s.Teacher, s.MaxDepth = distill.Boosted, -1
	for _, fault := range s.Faults(settings.FlagName) {
		fmt.Println(fault)
	}
	// Output:
	// 10 trees, 0 faults
	// --max_depth -1: want a whole number from 0 to 1000000
	// --monotone needs threshold tests, which --tests onehot lacks: choose threshold or both
	// --teacher boosted does not keep --monotone: leave out one of the two
}
