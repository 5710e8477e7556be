package tallies

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// Measured counts tallied rows by the predictions of a grown tree and by class, and the test rows also by the
// predictions of an earlier tree.
type Measured struct {
	spec    *Spec
	plan    *Plan
	trees   []*tree.Tree // the grown tree; the earlier tree, if there is one
	columns [][]int      // by tree and input: position in Spec.Columns
	counts  [dataset.Parts]*tree.ScoreCounts
	pairs   *comparison.Counts // nil without an earlier tree

	Own, Earlier *BinCounts // see MeasureBins; nil: not counted
}

// NewMeasured returns zero counts. earlier may be nil. The error says why the earlier tree cannot be compared: it predicts
// another label or other classes, or tests a column that is not a feature, or that has values of another kind or unit.
func (s *Spec) NewMeasured(p *Plan, grown, earlier *tree.Tree) (*Measured, error) {
	m := &Measured{spec: s, plan: p, trees: []*tree.Tree{grown}}
	for part := range m.counts {
		if m.counts[part] = grown.NewScoreCounts(); m.grouped(dataset.Part(part)) {
			m.counts[part].KeepGroups(s.keyed())
		}
	}
	var err error
	if earlier != nil {
		m.trees = append(m.trees, earlier)
		if earlier.Label.Column != grown.Label.Column {
			return nil, fmt.Errorf("it predicts the column %q, expected %q", earlier.Label.Column, grown.Label.Column)
		}
		if m.pairs, err = comparison.NewCounts(earlier, grown, true); err != nil {
			return nil, err
		}
	}
	for _, t := range m.trees {
		var at []int
		for _, in := range t.Scorer().Features() {
			i, err := s.columnOf(p, in.Name, in.Kind, in.Unit)
			if err != nil {
				return nil, fmt.Errorf("it tests %w", err)
			}
			at = append(at, i)
		}
		m.columns = append(m.columns, at)
	}
	return m, nil
}

// keyed reports whether rows with the same key form a group.
func (s *Spec) keyed() bool { return s.Settings.Group != "" }

// grouped reports whether the rows of a part are counted by their groups, or by the classes of their weights.
func (m *Measured) grouped(part dataset.Part) bool {
	return m.spec.keyed() || m.plan.Units != nil && m.plan.Units[part].Effect > 1
}

// Add counts the rows of a tally.
func (m *Measured) Add(tally []byte) error {
	for part := range dataset.Part(dataset.Parts) {
		if err := m.addPart(tally, part); err != nil {
			return err
		}
	}
	return nil
}

func (m *Measured) addPart(tally []byte, part dataset.Part) error {
	r, err := newRowsReader(m.spec, tally, part, m.plan.Units)
	if err != nil {
		return err
	}
	classes := dataset.NewClassCodes(m.plan.Classes)
	rule := m.plan.rule(part)
	trees := m.trees
	if part != dataset.Test && m.Earlier == nil {
		trees = trees[:1]
	}
	binned := m.binsOf(part)
	scores := make([]tree.Scores, len(trees))
	scorers := make([]*tree.Scorer, len(trees))
	for at, t := range trees {
		scorers[at] = t.Scorer()
	}
	for r.next() {
		for at := range trees {
			var columns []dataset.Vector
			for _, i := range m.columns[at] {
				columns = append(columns, r.columns[i])
			}
			if err := scorers[at].Score(columns, len(r.positions), &scores[at]); err != nil {
				return err
			}
		}
		for _, b := range binned {
			if err := b.add(r); err != nil {
				return err
			}
		}
		for row := range r.positions {
			m.addNodes(part, scores, row, r.rows[row])
			class, err := ClassCode(classes, r.label.Spell(row), m.spec.Settings.Label)
			if err != nil {
				return err
			}
			if w := weighed(rule, r.weights[row], r.rows[row], class); w > 0 {
				m.add(part, scores, row, int(class), w, r.rows[row], m.bucket(r, part, row))
			}
		}
	}
	return r.err()
}

// bucket returns the bucket of the group of a row, or the class of its weight if rows have no keys.
func (m *Measured) bucket(r *rowsReader, part dataset.Part, row int) uint8 {
	if m.spec.keyed() || m.plan.Units == nil {
		return r.buckets[row]
	}
	return dataset.WeightClass(r.weights[row]/r.rows[row], m.plan.Units[part].Scale)
}

func (m *Measured) add(part dataset.Part, scores []tree.Scores, row, class int, weight, rows int64, bucket uint8) {
	c := m.counts[part]
	grown := &scores[0]
	c.Count(grown, row, class, weight, rows)
	if m.grouped(part) {
		c.CountGroup(bucket, int(grown.Leaves[row]), class, weight, rows)
	}
	if len(scores) > 1 && part == dataset.Test {
		m.pairs.Count(&scores[1], grown, row, m.earlierClass(class), weight, rows, bucket)
	}
}

// addNodes counts rows by the nodes at which they end.
func (m *Measured) addNodes(part dataset.Part, scores []tree.Scores, row int, rows int64) {
	if m.Own != nil && part != dataset.Train {
		m.Own.Nodes[scores[0].Leaves[row]] += rows
	}
	if m.Earlier != nil {
		m.Earlier.Nodes[scores[1].Leaves[row]] += rows
	}
}

// earlierClass returns the index of a class of the grown tree among the classes of the earlier tree.
func (m *Measured) earlierClass(class int) int {
	return slices.Index(m.trees[1].Label.Classes, m.trees[0].Label.Classes[class])
}

// Encode returns the counts in a form that merges.
func (m *Measured) Encode() []byte {
	var b wire.Writer
	for _, c := range m.counts {
		b = b.Bytes(c.Encode())
	}
	if m.pairs != nil {
		b = b.Bytes(m.pairs.Encode())
	}
	for _, c := range []*BinCounts{m.Own, m.Earlier} {
		if c != nil {
			b = b.Bytes(c.Encode())
		}
	}
	return b
}

// Merge adds encoded counts of the same trees.
func (m *Measured) Merge(b []byte) error {
	r := wire.Reader{Rest: b}
	for _, c := range m.counts {
		if err := c.Merge(r.Bytes()); err != nil {
			return err
		}
	}
	if m.pairs != nil && !r.Bad {
		if err := m.pairs.Merge(r.Bytes()); err != nil {
			return err
		}
	}
	for _, c := range []*BinCounts{m.Own, m.Earlier} {
		if c == nil || r.Bad {
			continue
		}
		if err := c.Merge(r.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// Metrics returns the metrics of the grown tree by part, as `espalier train` writes them; nil for a part without rows.
func (m *Measured) Metrics() (parts [dataset.Parts]*metric.Metrics) {
	t := m.trees[0]
	for part, c := range m.counts {
		scale := cmp.Or(m.plan.ScaleOf(dataset.Part(part)), 1)
		if found := metric.OfScores(t, c, metric.FactorsOf(t, c), scale); found.Rows > 0 {
			parts[part] = found
		}
	}
	return parts
}

// Paired compares the earlier tree, A, with the grown tree, B, on the test rows. Both results are nil without an earlier
// tree or test rows.
func (m *Measured) Paired() (*metric.Paired, *comparison.Flips) {
	if m.pairs == nil {
		return nil, nil
	}
	rows := m.pairs.List()
	if len(rows) == 0 {
		return nil, nil
	}
	grown, earlier := m.trees[0], m.trees[1]
	pairs := metric.PairRows(earlier, grown, rows)
	unit := metric.JudgePairs(earlier, grown, pairs)
	scale := unit * m.plan.ScaleOf(dataset.Test)
	paired := metric.Compare(pairs, len(earlier.Label.Classes), scale, comparison.ErrorCosts(earlier, grown), m.spec.keyed())
	return paired, comparison.NewFlips(earlier, grown, rows, true)
}
