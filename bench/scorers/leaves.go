//go:build !noleaves

package main

import (
	"path/filepath"

	"github.com/dmitryikh/leaves"
)

func init() {
	load := func(folder string) *leaves.Ensemble {
		e, err := leaves.LGEnsembleFromFile(filepath.Join(folder, "lightgbm.txt"), false)
		if err != nil {
			panic(err)
		}
		return e
	}
	others["leaves row"] = func(folder string, features int) func([]float64, []int32) float64 {
		e := load(folder)
		return func(rows []float64, order []int32) float64 {
			sum := 0.
			for _, r := range order {
				sum += e.PredictSingle(rows[int(r)*features:][:features], 0)
			}
			return sum
		}
	}
	others["leaves batch"] = func(folder string, features int) func([]float64, []int32) float64 {
		e := load(folder)
		var said []float64
		return func(rows []float64, _ []int32) float64 {
			said = append(said[:0], make([]float64, len(rows)/features)...)
			if err := e.PredictDense(rows, len(rows)/features, features, said, 0, 1); err != nil {
				panic(err)
			}
			sum := 0.
			for _, x := range said {
				sum += x
			}
			return sum
		}
	}
}
