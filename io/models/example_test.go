package models_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/io/models"
)

// Row is a row of the tree below. A nil pointer is a value that is missing.
type Row struct {
	Age *float64 `json:"age"`
	Job string   `json:"job"`
}

// A model is read by its URL, here from a file: a program names its run folder.
func ExampleOpen() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	wd, err := os.Getwd()
	if err != nil {
		fmt.Println(err)
		return
	}
	url := "file://" + filepath.Join(filepath.Dir(filepath.Dir(wd)), "induce/tree/testdata/golden/small.json")
	model, err := models.Open(ctx, url)
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, err := gorows.NewScorer[Row](model.Tree)
	if err != nil {
		fmt.Println(err)
		return
	}
	age := 24.0
	p, err := scorer.Predict(&Row{Age: &age, Job: "b"})
	fmt.Println(model.ID, p.Class, err)
	// Output:
	// 845a2e6068450745 p <nil>
}
