package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// gain compares a figure of a tree with the same figure of a single leaf.
type gain struct {
	Tree, Leaf float64
	// Low and High are the 95 % interval of the tree's gain per row.
	Low, High float64
}

// verdict compares a tree with a single leaf, on rows from which neither was grown: is the tree better than always
// predicting the same class?
type verdict struct {
	Rows     string // the number and the kind of the rows
	LogLoss  gain   // in nats; the gain is the decrease
	Accuracy gain   // with error costs: the cost of tests and errors, whose gain is the decrease
	costs    bool   // whether Accuracy is a cost
	Class    int    // class that the leaf predicts
}

// better reports whether the tree is better by at least one of the two figures, beyond chance; with error costs, whether
// its tests and errors cost less.
func (v *verdict) better() bool {
	if v.costs {
		return v.Accuracy.Tree < v.Accuracy.Leaf
	}
	return v.LogLoss.Low > 0 || v.Accuracy.Low > 0
}

// String returns the figures.
func (v *verdict) String() string {
	name := "accuracy"
	if v.costs {
		name = "cost of tests and errors"
	}
	return fmt.Sprintf("log loss %.4f against %.4f (95 %% interval of the gain: %.4f to %.4f), "+
		"%s %.4f against %.4f (%.4f to %.4f)",
		v.LogLoss.Tree, v.LogLoss.Leaf, v.LogLoss.Low, v.LogLoss.High,
		name, v.Accuracy.Tree, v.Accuracy.Leaf, v.Accuracy.Low, v.Accuracy.High)
}

// verdictOnRows judges a tree without leaf models by counts of rows by leaf. It returns nil without rows.
func verdictOnRows(t *tree.Tree, counts *tree.LeafCounts, kind string) *verdict {
	if counts == nil || counts.TotalRows() == 0 {
		return nil
	}
	v := &verdict{Rows: fmt.Sprintf("%d %s rows", counts.TotalRows(), kind), costs: t.Label.ErrorCosts != nil}
	root := &t.Nodes[0]
	if v.Class = mostProbable(root.Probabilities); v.costs {
		v.Class = cheapestClass(t, counts)
	}
	counts = t.KnownCounts(counts)
	_, paid := t.PathCosts()
	if !v.costs {
		clear(paid)
	}
	var loss, hits moments
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !n.Leaf() {
			continue
		}
		for class, weight := range counts.Weights[i] {
			if weight == 0 {
				continue
			}
			w := float64(weight)
			loss.add(w, metric.Surprise(n.Probabilities[class]), metric.Surprise(root.Probabilities[class]))
			hits.add(w, paid[i]+right(t, n.Class, class), right(t, v.Class, class))
		}
	}
	v.LogLoss = loss.compared(counts.TotalRows(), -1)
	if v.Accuracy = hits.compared(counts.TotalRows(), 1); v.costs {
		v.Accuracy = hits.compared(counts.TotalRows(), -1)
	}
	return v
}

// mostProbable returns the class that a tree without a threshold predicts.
func mostProbable(probabilities []float64) int { return new(tree.Label).Decide(probabilities) }

// cheapestClass returns the class whose errors cost the least if all rows are predicted as the class.
func cheapestClass(t *tree.Tree, counts *tree.LeafCounts) int {
	costs := make([]float64, len(t.Label.Classes))
	for _, weights := range counts.Weights {
		for actual, weight := range weights {
			for predicted, cost := range t.Label.ErrorCosts[actual] {
				costs[predicted] += float64(float64(weight) * cost)
			}
		}
	}
	return slices.Index(costs, slices.Min(costs))
}

// right returns 1 if the predicted class is the actual class, otherwise 0; with error costs, the
// cost.
func right(t *tree.Tree, predicted, actual int) float64 {
	switch {
	case t.Label.ErrorCosts != nil:
		return t.Label.ErrorCosts[actual][predicted]
	case predicted == actual:
		return 1
	default:
		return 0
	}
}

// moments are sums over rows of a figure of the tree and of the leaf.
type moments struct{ weight, tree, leaf, squares float64 }

func (m *moments) add(weight, ofTree, ofLeaf float64) {
	m.weight += weight
	m.tree += float64(weight * ofTree)
	m.leaf += float64(weight * ofLeaf)
	m.squares += float64(weight * (ofTree - ofLeaf) * (ofTree - ofLeaf))
}

// compared returns the gain over this many rows; sign is -1 if less is better.
func (m *moments) compared(rows int64, sign float64) gain {
	g := gain{Tree: m.tree / m.weight, Leaf: m.leaf / m.weight}
	mean := g.Tree - g.Leaf
	const normal = 1.96 // for a 95 % interval
	margin := float64(normal * math.Sqrt(max(m.squares/m.weight-float64(mean*mean), 0)/float64(max(rows-1, 1))))
	g.Low = float64(sign*mean) - margin
	g.High = float64(sign*mean) + margin
	return g
}

// verdictOnFolds judges trees of the same kind on folds of the training rows. It returns nil if fewer than
// two folds have rows.
func verdictOnFolds(t *tree.Tree, folds []crossvalidate.Counterpart) *verdict {
	var losses, hits []fold
	rows := int64(0)
	leaf := tree.Label{ErrorCosts: t.Label.ErrorCosts}
	v := &verdict{Class: leaf.Decide(t.Nodes[0].Probabilities)}
	for i := range folds {
		f := &folds[i]
		if f.Score.LogLoss == nil || f.Leaf.LogLoss == nil || f.Rows == 0 {
			continue
		}
		rows += f.Rows
		losses = append(losses, fold{float64(f.Rows), *f.Score.LogLoss, *f.Leaf.LogLoss})
		if v.costs = f.Score.TotalCost != nil; v.costs {
			hits = append(hits, fold{float64(f.Rows), *f.Score.TotalCost, *f.Leaf.TotalCost})
		} else {
			hits = append(hits, fold{float64(f.Rows), *f.Score.Accuracy, *f.Leaf.Accuracy})
		}
	}
	if len(losses) < 2 {
		return nil
	}
	v.Rows = fmt.Sprintf("%d rows in %d folds", rows, len(losses))
	v.LogLoss = overFolds(losses, -1)
	if v.Accuracy = overFolds(hits, 1); v.costs {
		v.Accuracy = overFolds(hits, -1)
	}
	return v
}

// fold is a figure of a tree and of a leaf on the rows of a fold.
type fold struct{ rows, tree, leaf float64 }

// overFolds returns the gain over folds, which are about equally large.
func overFolds(folds []fold, sign float64) gain {
	var m moments
	for _, f := range folds {
		m.add(f.rows, f.tree, f.leaf)
	}
	g := m.compared(int64(len(folds)), sign)
	const normal = 1.96
	wide := student(len(folds)-1) / normal
	middle, half := float64((g.Low+g.High)/2), float64((g.High-g.Low)/2*wide) // a half is also a product
	g.Low = middle - half
	g.High = middle + half
	return g
}

// student returns the 97.5 % quantile of Student's t distribution, from a table.
func student(freedom int) float64 {
	table := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	return 2.23 // value for 10 degrees of freedom; the limit is 1.96
}
