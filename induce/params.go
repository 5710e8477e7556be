package induce

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Params are the parameters of growing.
type Params struct {
	Algorithm split.Algorithm
	Family    split.Family
	Lambda    float64       // weight of the discrimination, >= 0
	Theta     float64       // nodes that weigh at most theta of all objects are leaves, 0..1
	Pricing   split.Pricing // how scores count prices
	// Classes selects the class weights of nodes. It must be the same for all trees that grow
	// together.
	Classes   split.Classes
	MaxDepth  int   // tests on the longest path; 0: unlimited
	MinRows   int64 // nodes with fewer rows are leaves
	MaxLeaves int   // leaves of the tree, see tree.BestFirst; 0: unlimited
	// PathFeatures is the greatest number of different features on a path; 0: unlimited. Each of them
	// may be tested any number of times.
	PathFeatures int
	// RootByCodes makes the root test the feature whose codes together gain the most, instead of the
	// feature with the best test, see split.Scanner.Gain.
	RootByCodes bool
	// PathCost is the greatest billed cost of a path; 0: unlimited. Features whose tests would lead beyond it are not
	// tested.
	PathCost float64
	// PathTests is the greatest number of tests on a path that cost something; 0: unlimited. Beyond it only features with a
	// free test are tested.
	PathTests int `json:",omitempty"`
	// PathFurther are the greatest billed costs of a path in further currencies; 0: unlimited. They hold as PathCost does.
	PathFurther dataset.Amounts `json:",omitzero"`
	Selected    split.CodeSet   `json:",omitempty"` // the only features that are tested; empty: all
	Once        bool            `json:",omitempty"` // whether a feature is tested once on a path
	// Losses make the tree grow by the total cost of tests and errors, see package policy; empty: by the score of the
	// algorithm.
	Losses    Losses  `json:",omitempty"`
	Empirical bool    `json:",omitempty"` // whether policies count the errors of the training rows as they are
	RowWeight float64 // weight of an average row, times the design effect of the weights; 0: 1
}

// Limited reports whether what a path may cost is limited.
func (p *Params) Limited() bool {
	return p.PathCost > 0 || p.PathTests > 0 || p.PathFurther != dataset.Amounts{}
}

// MostCost returns the greatest cost of a path, with the rounding errors of sums that reach PathCost.
func (p *Params) MostCost() float64 { return most(p.PathCost) }

// most returns a limit with the rounding errors of sums that reach it. The limit 0 is none.
func most(limit float64) float64 {
	if limit == 0 {
		return math.Inf(1)
	}
	const slack = 1e-12
	return float64(limit * (1 + slack))
}

// Allow reports whether a test may follow the tests of a path, given what they cost.
func (p *Params) Allow(due Due, spent *Bill) bool {
	return spent.Cost+due.Cost <= p.MostCost() && (due.Cost == 0 || p.PathTests == 0 || spent.Tests < p.PathTests) &&
		spent.Keeps(p.PathFurther, due.Further)
}

// Due is what a test costs at a node.
type Due struct {
	Cost    float64
	Further dataset.Amounts // in further currencies
}

// Bill is what the tests of a path cost.
type Bill struct {
	Due
	Tests int // tests whose Cost is above 0
}

// Keeps reports whether the bill keeps limits in further currencies after a test that costs due.
func (b *Bill) Keeps(limits, due dataset.Amounts) bool {
	for i, limit := range limits {
		if b.Further[i]+due[i] > most(limit) {
			return false
		}
	}
	return true
}

// Add adds what a test costs.
func (b *Bill) Add(due Due) {
	b.Further = b.Further.Plus(due.Further)
	if b.Cost += due.Cost; due.Cost > 0 {
		b.Tests++
	}
}

// Criterion returns the scoring rule of a training in which all objects together weigh total.
func (p *Params) Criterion(total int64) *split.Criterion {
	return split.NewCriterion(p.Algorithm, p.Family, p.Lambda, p.Theta, total).
		Count(p.Pricing).Stop(p.Classes).Weigh(cmp.Or(p.RowWeight, 1))
}

// Losses are what policies minimise besides the price of tests, in a form that can be compared: the JSON of LossTable.
// The empty text means that errors have no costs.
type Losses string

// LossTable has the costs of errors, and the classes of the rows that make them.
type LossTable struct {
	ErrorCosts [][]float64 // by actual class, then by predicted class
	Priors     []float64   // frequencies of the classes where the tree will be used; nil: as among the training rows
}

// Losses returns the table as a text.
func (t LossTable) Losses() Losses {
	text, err := json.Marshal(t)
	if err != nil { // numbers that are not finite, which settings exclude
		return ""
	}
	return Losses(text)
}

// Table returns the table of a text that LossTable.Losses has returned.
func (l Losses) Table() (t LossTable) {
	if json.Unmarshal([]byte(l), &t) != nil {
		return LossTable{}
	}
	return t
}
