// Command demand measures on synthetic rows how often a demanded sensitivity, or a sensitivity and a specificity, are kept
// by the truth: on 200,000 new rows, for trees and thresholds that training chose.
//
//	go run ./bench/demand -runs 200
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
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
	"github.com/espalier-ml/espalier/induce/tree"
)

// row is a row of four values with prices; more expensive values tell more.
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

// measurement says what each training demands.
type measurement struct {
	prevalence, intercept float64
	rows, runs            int
	validation            int // percent of the rows
	rule                  frontier.Rule
	folds                 bool
	sensitivity           float64
	specificity           float64 // 0: none
}

// settings returns the settings of a run.
func (m *measurement) settings(seed int) settings.Settings {
	s := settings.Default()
	s.Label = "class"
	s.Costs = map[string]float64{"free": 0, "cheap": 1, "lab": 8, "scan": 60}
	s.Split = dataset.Shares{uint32(100 - m.validation), uint32(m.validation), 0}
	s.Seed = uint64(seed)
	s.Certificate = false
	s.Select = m.rule
	if !m.folds { // validation rows alone choose the tree as well as the threshold: the harder case, and faster
		s.Folds = crossvalidate.Setting{}
	}
	s.MinSensitivity = settings.LeastShare{Class: "yes", Share: m.sensitivity}
	s.MinSpecificity = settings.LeastShare{Class: "yes", Share: m.specificity}
	return s
}

// truth returns the sensitivity and the specificity of a tree on new rows.
func truth(t *tree.Tree, fresh []row) (sensitivity, specificity float64, err error) {
	scorer, err := gorows.NewScorer[row](t)
	if err != nil {
		return 0, 0, err
	}
	var right, all [2]float64 // of the other class and of the class
	for i := range fresh {
		p, err := scorer.Predict(&fresh[i])
		if err != nil {
			return 0, 0, err
		}
		k := 0
		if fresh[i].Class == "yes" {
			k = 1
		}
		all[k]++
		if p.Class == fresh[i].Class {
			right[k]++
		}
	}
	return right[1] / all[1], right[0] / all[0], nil
}

// run trains on each draw of the rows, and writes a line of what became of the demand.
func (m *measurement) run(w io.Writer) error {
	start := time.Now()
	fresh := draw(&portable.Random{Key: 7}, 200_000, m.intercept)
	var decided, sensitive, specific, sumSensitivity, sumSpecificity float64
	for seed := range m.runs {
		rows := draw(&portable.Random{Key: uint64(m.rows) << 32, Position: uint64(seed) << 40}, m.rows, m.intercept)
		t, _, err := train.Train(context.Background(), rows, m.settings(seed))
		if err != nil {
			continue // refused: the rows show too little
		}
		sensitivity, specificity, err := truth(t, fresh)
		if err != nil {
			return err
		}
		decided++
		sumSensitivity += sensitivity
		sumSpecificity += specificity
		if sensitivity >= m.sensitivity {
			sensitive++
		}
		if specificity >= m.specificity {
			specific++
		}
	}
	_, err := fmt.Fprintf(w, "%10v  %6d  %4d    %4v              %.3f             %.3f             %.4f            %.4f  %8.1f\n", m.prevalence,
		m.rows, m.runs, float64(m.runs)-decided, sensitive/decided, specific/decided, sumSensitivity/decided, sumSpecificity/decided,
		time.Since(start).Seconds())
	return err
}

func main() {
	var m measurement
	flag.IntVar(&m.runs, "runs", 100, "runs of each cell")
	flag.Float64Var(&m.sensitivity, "sensitivity", .9, "least sensitivity")
	flag.Float64Var(&m.specificity, "specificity", 0, "least specificity; 0: none")
	flag.IntVar(&m.validation, "validation", 40, "percent of the rows that validate")
	flag.BoolVar(&m.folds, "folds", false, "choose trees by folds, too, where training does by default")
	only := flag.Int("rows", 0, "rows of a training; 0: 1,000, 5,000 and 20,000")
	rule := flag.String("select", "best", "rule of choice; highest takes trees with more thresholds")
	share := flag.Float64("prevalence", 0, "prevalence of the class; 0: 0.5, 0.08 and 0.01")
	flag.Parse()
	if err := measure(os.Stdout, m, *rule, *only, *share); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure measures each cell, or those of a number of rows and a prevalence.
func measure(w io.Writer, m measurement, rule string, only int, share float64) (err error) {
	if m.rule, err = frontier.ParseRule(rule); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, "prevalence    rows  runs refused  sensitivity kept  specificity kept  mean sensitivity  mean specificity   seconds"); err != nil {
		return err
	}
	for _, cell := range []struct{ prevalence, intercept float64 }{{.5, 0}, {.08, -5.06}, {.01, -8.55}} {
		for _, n := range []int{1000, 5000, 20000} {
			if share != 0 && cell.prevalence != share || only != 0 && n != only {
				continue
			}
			m.prevalence = cell.prevalence
			m.intercept = cell.intercept
			m.rows = n
			if err := m.run(w); err != nil {
				return err
			}
		}
	}
	return nil
}
