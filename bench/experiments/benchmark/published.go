package benchmark

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Published holds the published figures of a method on a data set against ours, where each test
// costs 1.
type Published struct {
	Set    string  `json:"set"`
	Method string  `json:"method"`
	AUC    float64 `json:"auc"`  // published, as is
	Cost   float64 `json:"cost"` // this

	Ours    Means    `json:"ours"`             // the same method
	Nearest *Means   `json:"nearest"`          // the lambda whose mean cost is nearest; nil: the method has no lambda
	Lambda  float64  `json:"lambda,omitempty"` // of Nearest
	Budget  *Means   `json:"budget"`           // the budget query at the published cost; nil: there are no frontiers
	Margin  *float64 `json:"margin"`           // AUC of the budget query less the published one
}

// Means are means over the splits, with standard deviations.
type Means struct {
	AUC           float64 `json:"auc"`
	AUCDeviation  float64 `json:"auc_deviation"`
	Cost          float64 `json:"cost"`
	CostDeviation float64 `json:"cost_deviation"`
}

func newMeans(areas, costs []float64) *Means {
	return &Means{ranking.Mean(areas), ranking.Deviation(areas), ranking.Mean(costs), ranking.Deviation(costs)}
}

// publishedPoint is a published pair of figures.
type publishedPoint struct{ auc, cost float64 }

// The columns of published figures: what they are, of pruned trees or not, and the algorithm.
const (
	nameColumn   = "dataset"
	areaColumn   = "ROC AUC"
	costColumn   = "Cost"
	prunedColumn = " (ccp)"
)

// readPublished reads published figures, by the names of data sets and of methods.
func readPublished(
	ctx context.Context, s *objectstore.Store, c *Config,
) (map[string]map[string]publishedPoint, error) {
	if c.Published == "" {
		return nil, nil //nolint:nilnil // there need not be any
	}
	const limit = 1 << 24
	b, err := s.ReadAll(ctx, c.Published, limit)
	if err != nil {
		return nil, usage.Errorf("--published: %v", err)
	}
	table := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	lines, err := table.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("--published %s: %w", c.Published, err)
	}
	if len(lines) == 0 || !slices.Contains(lines[0], nameColumn) {
		return nil, &dataset.DataError{
			File: c.Published, Column: nameColumn, Problem: "the column is missing in the first line",
			Hint: fmt.Sprintf("further columns are such as %q, %q and, of pruned trees, %q", areaColumn+":EC4.5",
				costColumn+":EC4.5", areaColumn+prunedColumn+":EC4.5"),
		}
	}
	all := make(map[string]map[string]publishedPoint)
	for number, line := range lines[1:] {
		points, err := publishedLine(lines[0], line)
		if err != nil {
			return nil, &dataset.DataError{File: c.Published, Problem: fmt.Sprintf("line %d: %v", number+2, err)}
		}
		all[line[slices.Index(lines[0], nameColumn)]] = points
	}
	return all, nil
}

// publishedLine reads the points of a data set. Pairs with an empty figure are left out.
func publishedLine(header, line []string) (map[string]publishedPoint, error) {
	points := make(map[string]publishedPoint)
	for _, m := range paperMethods(Algorithms()) {
		var point publishedPoint
		found := true
		for column, to := range map[string]*float64{areaColumn: &point.auc, costColumn: &point.cost} {
			if m.pruned {
				column += prunedColumn
			}
			at := slices.IndexFunc(header, func(name string) bool {
				what, algorithm, _ := strings.Cut(name, ":")
				return what == column && plainName(algorithm) == m.algorithm
			})
			if at < 0 || line[at] == "" {
				found = false
				continue
			}
			x, err := strconv.ParseFloat(line[at], 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
				return nil, fmt.Errorf("%s is %q: want a number", header[at], line[at])
			}
			*to = x
		}
		if found {
			points[m.String()] = point
		}
	}
	return points, nil
}

// plainName returns the name that Espalier has for an algorithm of the paper, such as EC4.5.
func plainName(algorithm string) string {
	return strings.ToLower(strings.ReplaceAll(algorithm, ".", ""))
}

// hold compares published figures with the figures of the splits.
func hold(splits []*Split, sets []dataSet, all map[string]map[string]publishedPoint, algorithms []string) []Published {
	var list []Published
	for i := range sets {
		of := slices.DeleteFunc(slices.Clone(splits), func(s *Split) bool { return s.Set != sets[i].name })
		for _, m := range paperMethods(algorithms) {
			if point, ok := all[sets[i].paperName][m.String()]; ok {
				list = append(list, holdOne(of, m, point))
			}
		}
	}
	return list
}

// holdOne holds a published point against the splits of its data set.
func holdOne(splits []*Split, m method, point publishedPoint) Published {
	p := Published{Set: splits[0].Set, Method: m.String(), AUC: point.auc, Cost: point.cost}
	var areas, costs, answers, paid []float64
	for _, s := range splits {
		for i := range s.Figures {
			if f := &s.Figures[i]; f.Costs == UnitCosts && f.Algorithm == m.algorithm && f.Pruned == m.pruned {
				areas = append(areas, f.AUC)
				costs = append(costs, f.Cost)
			}
		}
		if len(s.Frontier) > 0 {
			a := answer(s.Frontier, point.cost)
			answers = append(answers, a.AUC)
			paid = append(paid, a.Cost)
		}
	}
	p.Ours = *newMeans(areas, costs)
	if !m.pruned {
		p.Nearest, p.Lambda = nearest(splits, m.algorithm, point.cost)
	}
	if len(answers) == len(splits) {
		p.Budget = newMeans(answers, paid)
		p.Margin = new(p.Budget.AUC - point.auc)
	}
	return p
}

// nearest returns the means of the lambda whose mean cost is nearest to a cost.
func nearest(splits []*Split, algorithm string, cost float64) (best *Means, lambda float64) {
	for _, l := range lambdaMeans(splits, UnitCosts, algorithm) {
		if best == nil || distance(l.of.Cost, cost) < distance(best.Cost, cost) {
			best = &l.of
			lambda = l.lambda
		}
	}
	return best, lambda
}

// lambdaMean has means over the splits of one lambda.
type lambdaMean struct {
	lambda     float64
	validation float64
	of         Means
}

// lambdaMeans returns the means of plain trees by lambda, from small to large.
func lambdaMeans(splits []*Split, law, algorithm string) []lambdaMean {
	var lambdas []float64
	for _, s := range splits {
		for _, l := range s.Lambdas {
			if !slices.Contains(lambdas, l.Lambda) {
				lambdas = append(lambdas, l.Lambda)
			}
		}
	}
	slices.Sort(lambdas)
	var list []lambdaMean
	for _, lambda := range lambdas {
		var validation, areas, costs []float64
		for _, s := range splits {
			for _, l := range s.Lambdas {
				if l.Lambda == lambda && l.Costs == law && l.Algorithm == algorithm {
					validation = append(validation, l.Validation)
					areas = append(areas, l.AUC)
					costs = append(costs, l.Cost)
				}
			}
		}
		if len(areas) > 0 {
			list = append(list, lambdaMean{lambda, ranking.Mean(validation), *newMeans(areas, costs)})
		}
	}
	return list
}
