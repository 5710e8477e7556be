package comparison

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Counts counts rows by their predictions by two trees, and by true class if they have a label.
//
// Leaves, predicted classes and weights are always exact. Probabilities are part of the key only if
// a tree has leaf models; beyond the bound of a counting.Table they are rounded as described there.
type Counts struct {
	a, b    *side
	classes int // number of classes of the label; 1 without a label
	table   *counting.Table
}

// side is one of the two trees.
type side struct {
	*tree.Tree

	modelled bool
	none     []float64 // probabilities in the key for a leaf without a model; empty if no leaf has a model
	class    []int     // by class of the tree: its index in the counts
}

// NewCounts returns zero counts. If labelled is true, true classes are counted: the trees must then
// have the same classes, and counts use A's order of them for both.
func NewCounts(a, b *tree.Tree, labelled bool) (*Counts, error) {
	c := &Counts{a: newSide(a), b: newSide(b), classes: 1}
	if labelled {
		c.classes = len(a.Label.Classes)
		if !SameClasses(a, b) {
			return nil, fmt.Errorf("the trees have other classes: %q and %q", a.Label.Classes, b.Label.Classes)
		}
		c.b.class = make([]int, c.classes)
		for k, name := range b.Label.Classes {
			c.b.class[k] = slices.Index(a.Label.Classes, name)
		}
	}
	c.table = counting.New(counting.Shape{Words: 2, Numbers: len(c.a.none) + len(c.b.none), Counters: 2 * c.classes})
	return c, nil
}

func newSide(t *tree.Tree) *side {
	s := &side{Tree: t, modelled: t.Modelled()}
	if s.modelled {
		s.none = make([]float64, len(t.Label.Classes))
	}
	for k := range t.Label.Classes {
		s.class = append(s.class, k)
	}
	return s
}

// SameClasses reports whether two trees have the same classes, in any order.
func SameClasses(a, b *tree.Tree) bool {
	return len(Missing(a, b)) == 0 && len(Missing(b, a)) == 0
}

// Missing lists the classes of a tree that another tree does not have.
func Missing(from, in *tree.Tree) []string {
	return slices.DeleteFunc(slices.Clone(from.Label.Classes), func(name string) bool { return slices.Contains(in.Label.Classes, name) })
}

// LostBits returns how many of its lowest bits each probability has lost; 0 if the counts are
// exact.
func (c *Counts) LostBits() int { return c.table.LostBits() }

// bucketShift is the position of the bucket in the first word of a key.
const bucketShift = 48

// Count adds a row of two scored batches: its index in them, its true class (0 without labels), its weight in fixed
// point, the number of equal rows that it represents, and its bucket, see tree.GroupCounts.
func (c *Counts) Count(a, b *tree.Scores, row, class int, weight, rows int64, bucket uint8) {
	wordA, pA := c.a.key(a, row)
	wordB, pB := c.b.key(b, row)
	counters := c.table.AddRows(rows, []uint64{uint64(bucket)<<bucketShift | wordA, wordB}, pA, pB)
	counters[class] += weight
	counters[c.classes+class] += rows
}

// key returns the parts of a table's key that identify a row's prediction.
func (s *side) key(scores *tree.Scores, row int) (word uint64, probabilities []float64) {
	leaf := int(scores.Leaves[row])
	if n := &s.Nodes[leaf]; n.Model == nil {
		return uint64(leaf)<<16 | uint64(n.Class), s.none
	}
	return uint64(leaf)<<16 | uint64(scores.Classes[row]), scores.Of(row)
}

// Encode returns the counts in a form that does not depend on the order of rows and merges.
func (c *Counts) Encode() []byte { return c.table.Append(nil) }

// Merge adds encoded counts of the same trees. After an error the counts are invalid.
func (c *Counts) Merge(b []byte) error {
	return c.table.Merge(b, func(words []uint64) error {
		bucket, word := cutBucket(words[0])
		if bucket >= dataset.Buckets || !c.a.has(word) || !c.b.has(words[1]) {
			return fmt.Errorf("nodes %d and %d: %w", word>>16, words[1]>>16, counting.ErrTable)
		}
		return nil
	})
}

// cutBucket cuts the first word of a key into the bucket and A's prediction.
func cutBucket(word uint64) (bucket uint8, prediction uint64) {
	return uint8(word >> bucketShift), word & (1<<bucketShift - 1)
}

// has reports whether the word of a key names a leaf and a class of the tree.
func (s *side) has(word uint64) bool {
	leaf := word >> 16
	return leaf < uint64(len(s.Nodes)) && s.Nodes[leaf].Leaf() && word&math.MaxUint16 < uint64(len(s.class))
}

// MergeCounts adds up encoded counts of the same two trees without the trees themselves.
func MergeCounts(list [][]byte) ([]byte, error) { return counting.Merge(list) }

// Prediction is the prediction of a tree for a row.
type Prediction struct {
	Leaf  int // id of the leaf's node
	Class int // index in the classes of the tree
	// With labels, Probabilities are in the order of A's classes, and Known is the index of Class
	// there. Without labels, both are in the tree's own order.
	Probabilities []float64
	Known         int
}

// Rows are the rows with the same prediction by each tree, and the same bucket.
type Rows struct {
	A, B    Prediction
	Bucket  uint8
	Rows    int64
	Weights []int64 // by true class; a single class without labels
	ByClass []int64 // number of rows by true class; a single class without labels
}

// List returns the rows by their predictions, in an order that only depends on the rows.
func (c *Counts) List() []Rows {
	rounded := c.LostBits() > 0
	entries := c.table.Entries()
	list := make([]Rows, len(entries))
	for i, e := range entries {
		n := len(c.a.none)
		bucket, word := cutBucket(e.Words[0])
		list[i] = Rows{
			Bucket: bucket,

			A:    c.a.prediction(word, e.Probabilities[:n], rounded),
			B:    c.b.prediction(e.Words[1], e.Probabilities[n:], rounded),
			Rows: e.Rows, Weights: e.Counters[:c.classes:c.classes], ByClass: e.Counters[c.classes:],
		}
	}
	return list
}

// prediction returns the prediction of the rows with a key.
func (s *side) prediction(word uint64, p []float64, rounded bool) Prediction {
	leaf := int(word >> 16)
	class := int(word & math.MaxUint16)
	if n := &s.Nodes[leaf]; n.Model == nil {
		p = n.Probabilities
	} else if rounded {
		tree.Normalise(p)
	}
	known := make([]float64, len(p))
	for k, x := range p {
		known[s.class[k]] = x
	}
	return Prediction{Leaf: leaf, Class: class, Probabilities: known, Known: s.class[class]}
}
