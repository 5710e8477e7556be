package gorows_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Patient is a row. A nil pointer is a value that is missing.
type Patient struct {
	Age    *float64 `json:"age"`
	Smoker bool     `json:"smoker"`
	Name   string   `json:"name"` // which no tree tests
}

// patients is a tree of one test: 60 years or more.
func patients() *tree.Tree {
	leaf := func(class int, p float64) tree.Node {
		return tree.Node{Class: class, Probabilities: []float64{1 - p, p}}
	}
	root := leaf(0, 0.4)
	root.Test = &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1}
	root.Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}}
	return &tree.Tree{
		Label:    tree.Label{Column: "class", Classes: []string{"well", "ill"}},
		Features: []dataset.Feature{{Name: "age", Kind: dataset.Numeric, Cuts: []float64{60}, Cost: 1}},
		Nodes:    []tree.Node{root, leaf(1, 0.75), leaf(0, 0.25)},
	}
}

func ExampleScorer_Predict() {
	scorer, err := gorows.NewScorer[Patient](patients()) // once; safe for many goroutines
	if err != nil {
		fmt.Println(err)
		return
	}
	old := 71.0
	for _, patient := range []Patient{{Age: &old}, {Name: "of unknown age"}} {
		p, err := scorer.Predict(&patient)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Class, p.Probabilities, p.Cost)
	}
	// Output:
	// ill [0.25 0.75] 1
	// well [0.75 0.25] 1
}

func ExampleMapScorer_Predict() {
	scorer, err := gorows.NewMapScorer(patients(), "name") // a row may also have a name
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := scorer.Predict(map[string]any{"age": 71, "name": "Ada"})
	fmt.Println(p.Class, err)
	_, err = scorer.Predict(map[string]any{"aeg": 71})
	fmt.Println(err)
	// Output:
	// ill <nil>
	// column "aeg": no column has this name, only ["age" "name"]; did you mean "age"?
}
