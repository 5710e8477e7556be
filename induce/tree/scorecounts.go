package tree

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/wire"
)

// ScoreCounts counts rows by leaf, predicted probabilities and true class. All metrics of a tree
// with leaf models follow from these counts; the metrics of a tree without models follow from
// LeafCounts.
//
// The predictions at leaves with models are in a counting.Table, which is exact for up to 2,097,152
// distinct predictions of two classes, or 599,186 of seven. Beyond that, rows share an entry if
// their probabilities differ only in the lowest bits. Predicted classes, leaves and weights stay
// exact. An entry takes about 80 bytes for two classes, and 24 more for each further class.
type ScoreCounts struct {
	tree  *Tree
	plain *LeafCounts // counts of leaves without models
	table *counting.Table

	groups *groupTable // nil: rows are independent, and have the same weight
	keyed  bool        // see GroupCounts
}

// NewScoreCounts returns zero counts for a tree.
func (t *Tree) NewScoreCounts() *ScoreCounts {
	classes := len(t.Label.Classes)
	shape := counting.Shape{Words: 1, Numbers: classes, Counters: classes}
	return &ScoreCounts{tree: t, plain: t.NewLeafCounts(), table: counting.New(shape)}
}

// Bound lowers the limit of distinct predictions to most, at least 1. Call it before any row is
// counted.
func (c *ScoreCounts) Bound(most int) { c.table.Bound(most) }

// KeepGroups makes CountGroup count rows by their groups: keyed is whether these are groups of keys, or classes of
// weights.
func (c *ScoreCounts) KeepGroups(keyed bool) {
	if c.groups == nil {
		table := newGroupTable()
		c.groups = &table
		c.keyed = keyed
	}
}

// CountGroup adds counted rows to the counts of their bucket.
func (c *ScoreCounts) CountGroup(bucket uint8, leaf, class int, weight, rows int64) {
	c.groups.add(bucket, leaf, class, weight, rows)
}

// Groups returns the counts of the rows by their groups; nil if they are not kept.
func (c *ScoreCounts) Groups() *GroupCounts {
	if c.groups == nil {
		return nil
	}
	return c.groups.list(c.keyed)
}

// Add counts equal rows: the id of their leaf's node, the predicted class, the probabilities by class, the
// true class, their weight in fixed point, and their number. At a leaf without a model the prediction of the leaf
// counts instead of the given class and probabilities.
func (c *ScoreCounts) Add(leaf, predicted int, probabilities []float64, class int, weight, rows int64) {
	if c.tree.Nodes[leaf].Model == nil {
		c.plain.Rows[leaf] += rows
		c.plain.Weights[leaf][class] += weight
		return
	}
	c.table.AddRows(rows, []uint64{uint64(leaf)<<16 | uint64(predicted)}, probabilities)[class] += weight
}

// Count adds a row of a scored batch, which represents this many equal rows. See Add.
func (c *ScoreCounts) Count(s *Scores, row, class int, weight, rows int64) {
	leaf := int(s.Leaves[row])
	if c.tree.Nodes[leaf].Model == nil {
		c.plain.Rows[leaf] += rows
		c.plain.Weights[leaf][class] += weight
		return
	}
	c.Add(leaf, int(s.Classes[row]), s.Of(row), class, weight, rows)
}

// LostBits returns how many of the lowest bits each probability has lost, up to 64; 0 if the counts
// are exact.
func (c *ScoreCounts) LostBits() int { return c.table.LostBits() }

// Plain returns the counts of the leaves without models. Leaves with models have counts of 0 there.
func (c *ScoreCounts) Plain() *LeafCounts { return c.plain }

// ScoreCount counts the rows of a leaf with a model that have the same prediction.
type ScoreCount struct {
	Leaf          int       // id of the leaf's node
	Class         int       // predicted class
	Probabilities []float64 // by class
	Weights       []int64   // by true class
	Rows          int64
}

// Modelled returns the counts at the leaves with models, one for each prediction, ordered by leaf,
// class and probabilities.
func (c *ScoreCounts) Modelled() []ScoreCount {
	return slices.AppendSeq(make([]ScoreCount, 0, c.Predictions()), c.each(c.table.All()))
}

// Predictions returns how many distinct predictions the leaves with models have made.
func (c *ScoreCounts) Predictions() int { return c.table.Len() }

// Unordered iterates over the counts that Modelled returns, in no particular order.
func (c *ScoreCounts) Unordered() iter.Seq[ScoreCount] { return c.each(c.table.Unordered()) }

func (c *ScoreCounts) each(entries iter.Seq[counting.Entry]) iter.Seq[ScoreCount] {
	return func(yield func(ScoreCount) bool) {
		rounded := c.LostBits() > 0
		for e := range entries {
			if rounded {
				Normalise(e.Probabilities)
			}
			if !yield(ScoreCount{
				Leaf: int(e.Words[0] >> 16), Class: int(e.Words[0] & math.MaxUint16), Probabilities: e.Probabilities,
				Weights: e.Counters, Rows: e.Rows,
			}) {
				return
			}
		}
	}
}

// ByLeaf returns the weights by leaf, whatever the predictions, with the strata.
func (c *ScoreCounts) ByLeaf() *LeafCounts {
	all := &LeafCounts{Weights: make([][]int64, len(c.plain.Weights)), Strata: c.plain.Strata}
	for i, weights := range c.plain.Weights {
		all.Weights[i] = slices.Clone(weights)
	}
	for s := range c.Unordered() {
		for k, w := range s.Weights {
			all.Weights[s.Leaf][k] += w
		}
	}
	return all
}

// Encode returns the counts of the leaves without models, followed by the groups and the table. The result does
// not depend on the order of rows and merges.
func (c *ScoreCounts) Encode() []byte {
	e := encodedScores{plain: c.plain.Encode()}
	if c.groups != nil {
		e.groups = c.groups.Append([]byte{byte(count(c.keyed))})
	}
	return c.table.Append(e.append(nil))
}

// encodedScores are the parts of encoded counts.
type encodedScores struct {
	plain  []byte // counts of the leaves without models
	groups []byte // 1 if they have keys, otherwise 0, and the table of the groups; empty if they are not kept
	table  []byte
}

// append appends plain and groups with their lengths.
func (e *encodedScores) append(b []byte) []byte {
	return wire.Writer(b).Bytes(e.plain).Bytes(e.groups)
}

// cutScores cuts encoded counts into their parts.
func cutScores(b []byte) (e encodedScores, err error) {
	r := wire.Reader{Rest: b}
	if e.plain, e.groups = r.Bytes(), r.Bytes(); r.Bad {
		return e, counting.ErrTable
	}
	e.table = r.Rest
	return e, nil
}

// Merge adds encoded counts of the same tree. If no row has been counted, it also takes over their
// bound. After an error the counts are invalid.
func (c *ScoreCounts) Merge(b []byte) error {
	e, err := cutScores(b)
	if err == nil {
		err = c.plain.Add(e.plain)
	}
	if err == nil && len(e.groups) > 0 {
		c.KeepGroups(e.groups[0] == 1)
		err = c.groups.Merge(e.groups[1:], func(words []uint64) error {
			if !c.tree.hasGroup(words[0]) {
				return fmt.Errorf("group %x: %w", words[0], counting.ErrTable)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	return c.table.Merge(e.table, func(words []uint64) error {
		leaf := words[0] >> 16
		if leaf >= uint64(len(c.tree.Nodes)) || c.tree.Nodes[leaf].Model == nil || !c.tree.Nodes[leaf].Leaf() ||
			int(words[0]&math.MaxUint16) >= len(c.tree.Label.Classes) {
			return fmt.Errorf("node %d: %w", leaf, counting.ErrTable)
		}
		return nil
	})
}

// MergeScoreCounts adds up encoded counts of a tree without needing the tree.
func MergeScoreCounts(list [][]byte) ([]byte, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	var plains, groups, tables [][]byte
	var sum encodedScores
	for _, b := range list {
		e, err := cutScores(b)
		if err != nil {
			return nil, err
		}
		plains = append(plains, e.plain)
		tables = append(tables, e.table)
		if len(e.groups) > 0 {
			sum.groups, groups = e.groups[:1], append(groups, e.groups[1:])
		}
	}
	var err error
	if sum.plain, err = MergeLeafCounts(plains); err != nil {
		return nil, err
	}
	if len(groups) > 0 {
		table, err := counting.Merge(groups)
		if err != nil {
			return nil, err
		}
		sum.groups = append([]byte{sum.groups[0]}, table...)
	}
	table, err := counting.Merge(tables)
	if err != nil {
		return nil, err
	}
	return append(sum.append(nil), table...), nil
}
