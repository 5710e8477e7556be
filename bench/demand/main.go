// Command demand measures on synthetic rows how often a demanded sensitivity, or a sensitivity and a specificity, are kept
// by the truth: on 200,000 new rows, for trees and thresholds that training chose.
//
//	go run ./bench/demand -runs 200
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/train"
)

// row is a row of four values with prices; the dearer, the more they tell.
type row struct {
	Free  float64 `json:"free"`
	Cheap float64 `json:"cheap"`
	Lab   float64 `json:"lab"`
	Scan  float64 `json:"scan"`
	Class string  `json:"class"`
}

// draw returns rows with a share of the class "yes" that follows from the intercept.
func draw(r *portable.Random, n int, intercept float64) []row {
	rows := make([]row, n)
	for i := range rows {
		z := r.Normal()
		near := func(noise float64) float64 { return math.Round(20*(z+float64(noise*r.Normal()))) / 20 }
		rows[i] = row{Free: near(3), Cheap: near(1.5), Lab: near(.8), Scan: near(.4), Class: "no"}
		if float64(r.Below(1<<30))/(1<<30) < 1/(1+portable.Exp(-intercept-float64(3*z))) {
			rows[i].Class = "yes"
		}
	}
	return rows
}

// kept counts what became of the runs of a cell.
type kept struct{ runs, refused, sensitive, specific, both int }

func main() {
	runs := flag.Int("runs", 100, "runs of each cell")
	least := flag.Float64("sensitivity", .9, "least sensitivity")
	specificity := flag.Float64("specificity", 0, "least specificity; 0: none")
	only := flag.Int("rows", 0, "rows of a training; 0: 1,000, 5,000 and 20,000")
	shares := flag.Int("validation", 40, "percent of the rows that validate")
	folds := flag.Bool("folds", false, "choose trees by folds, too, where training does by default")
	rule := flag.String("select", "best", "rule of choice; highest takes trees with more thresholds")
	share := flag.Float64("prevalence", 0, "prevalence of the class; 0: 0.5, 0.08 and 0.01")
	flag.Parse()
	chosen, err := frontier.ParseRule(*rule)
	if err != nil {
		panic(err)
	}
	fmt.Println("prevalence    rows  runs refused  sensitivity kept  specificity kept  mean sensitivity  mean specificity   seconds")
	for _, cell := range []struct{ prevalence, intercept float64 }{{.5, 0}, {.08, -5.06}, {.01, -8.55}} {
		if *share != 0 && cell.prevalence != *share {
			continue
		}
		fresh := draw(&portable.Random{Key: 7}, 200_000, cell.intercept)
		for _, n := range []int{1000, 5000, 20000} {
			if *only != 0 && n != *only {
				continue
			}
			start := time.Now()
			var k kept
			var sumSensitivity, sumSpecificity float64
			for seed := range *runs {
				s := settings.Default()
				s.Label = "class"
				s.Costs = map[string]float64{"free": 0, "cheap": 1, "lab": 8, "scan": 60}
				s.Split = dataset.Shares{uint32(100 - *shares), uint32(*shares), 0}
				s.Seed = uint64(seed)
				s.Certificate = false
				s.Select = chosen
				if !*folds { // validation rows alone choose the tree as well as the threshold: the harder case, and faster
					s.Folds = crossvalidate.Setting{}
				}
				s.MinSensitivity = settings.LeastShare{Class: "yes", Share: *least}
				s.MinSpecificity = settings.LeastShare{Class: "yes", Share: *specificity}
				k.runs++
				t, _, err := train.Train(context.Background(), draw(&portable.Random{Key: uint64(n) << 32, Position: uint64(seed) << 40}, n, cell.intercept), s)
				if err != nil {
					if k.refused++; k.refused == 1 {
						fmt.Fprintln(os.Stderr, err)
					}
					continue
				}
				scorer, err := gorows.NewScorer[row](t)
				if err != nil {
					panic(err)
				}
				var found, ill, clear, well float64
				for i := range fresh {
					p, err := scorer.Predict(&fresh[i])
					if err != nil {
						panic(err)
					}
					if fresh[i].Class == "yes" {
						ill++
						if p.Class == "yes" {
							found++
						}
					} else {
						well++
						if p.Class == "no" {
							clear++
						}
					}
				}
				sumSensitivity += found / ill
				sumSpecificity += clear / well
				if found/ill >= *least {
					k.sensitive++
				}
				if clear/well >= *specificity {
					k.specific++
				}
			}
			decided := float64(k.runs - k.refused)
			fmt.Printf("%10v  %6d  %4d    %4d              %.3f             %.3f             %.4f            %.4f  %8.1f\n", cell.prevalence, n, k.runs,
				k.refused, float64(k.sensitive)/decided, float64(k.specific)/decided, sumSensitivity/decided, sumSpecificity/decided,
				time.Since(start).Seconds())
		}
	}
}
