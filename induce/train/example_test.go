package train_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/train"
)

// Visit is a row. A nil pointer is a value that is missing.
type Visit struct {
	Age    *float64 `json:"age"`
	Smoker bool     `json:"smoker"`
	Class  string   `json:"class"`
}

// A tree is grown from all rows, as settings.Single says, and scores another one. settings.Default chooses
// the best of a grid of trees on rows that it sets aside.
func Example() {
	var visits []Visit
	for i := range 100 {
		visit := Visit{Age: new(float64(i)), Smoker: i%3 == 0, Class: "well"}
		if i >= 60 {
			visit.Class = "ill"
		}
		visits = append(visits, visit)
	}
	s := settings.Single()
	s.Label, s.Algorithm = "class", []split.Algorithm{split.C45}
	s.Costs = map[string]float64{"age": 0.5}
	tree, report, err := train.Train(context.Background(), visits, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, err := gorows.NewScorer[Visit](tree)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := scorer.Predict(&Visit{Age: new(71.0)})
	fmt.Println(report.Rows[0], "rows,", len(tree.Nodes), "nodes:", p.Class, "at a cost of", p.Cost, err)
	// Output:
	// 100 rows, 3 nodes: ill at a cost of 0.5 <nil>
}
