package tallied

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestRows returns the test rows of a tally, as a tally.
func TestRows(tally []byte) ([]byte, error) {
	return dataset.SelectTally(tally, func(key []byte) bool { return len(key) > 0 && key[0] == kindOfPart(dataset.Test) })
}

// Comparison is the comparison of two trees on the test rows of a tally.
type Comparison struct {
	*metric.Paired

	Area  *metric.Estimate // AUC of B; nil if it is undefined
	Flips float64          // share of the rows with another class
}

// Compare measures two trees of the specification with the same classes on the test rows of a tally. The error is a
// *dataset.DataError if a tree cannot score the rows.
func (s *Spec) Compare(tally []byte, a, b *tree.Tree) (*Comparison, error) {
	units, err := s.unitsIn(tally, ownRows)
	if err != nil {
		return nil, err
	}
	r, err := newRowsReader(s, tally, kindOfPart(dataset.Test), units)
	if err != nil {
		return nil, err
	}
	counts, err := comparison.NewCounts(a, b, true)
	if err != nil {
		return nil, err
	}
	classes, scorers := dataset.ClassCodes(a.Label.Classes), [2]*tree.Scorer{a.Scorer(), b.Scorer()}
	var scores [2]tree.Scores
	keyed := s.groups() > 0
	unequal := !keyed && units != nil && units[dataset.Test].Effect > 1
	for r.next() {
		for i, scorer := range scorers {
			columns, err := r.columnsOf(scorer)
			if err == nil {
				err = scorer.Score(columns, len(r.positions), &scores[i])
			}
			if err != nil {
				return nil, err
			}
		}
		for row, rows := range r.rows {
			class, err := ClassCode(classes, r.label.Spell(row), s.Settings.Label)
			if err != nil {
				return nil, err
			}
			bucket, weight := r.buckets[row], r.weights[row]/rows
			if unequal {
				bucket = dataset.WeightClass(weight, units[dataset.Test].Scale)
			}
			for range rows {
				counts.Count(&scores[0], &scores[1], row, int(class), weight, bucket)
			}
		}
	}
	list := counts.List()
	pairs := metric.PairRows(a, b, list)
	unit := metric.JudgePairs(a, b, pairs)
	return &Comparison{
		metric.Compare(pairs, len(classes), unit, b.Label.ErrorCosts, keyed), metric.AreaOfB(pairs, keyed),
		comparison.NewFlips(a, b, list, true).Share,
	}, r.err()
}

// columnsOf returns the columns of the features that a tree tests.
func (r *rowsReader) columnsOf(s *tree.Scorer) ([]dataset.Vector, error) {
	var columns []dataset.Vector
	for _, in := range s.Features() {
		at := slices.IndexFunc(r.spec.Columns, func(c dataset.FeatureColumn) bool { return c.Name == in.Name })
		if at < 0 || in.Kind == dataset.Numeric && r.columns[at].Type != dataset.Number || r.types[at].typ != 0 && r.types[at].unit != in.Unit {
			return nil, MixedTypes(in.Name)
		}
		columns = append(columns, r.columns[at])
	}
	return columns, nil
}
