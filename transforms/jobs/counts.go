package jobs

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// numbersKey is the key of the numbers of a job that counts. Keys from 0 on belong to its counts.
const numbersKey = int64(-1)

// leavesKey returns the key of the counts of a tree and a part.
func leavesKey(at int, part dataset.Part) int64 { return int64(at*int(dataset.Parts) + int(part)) }

func countsURL(out string, key int64) string {
	if key == numbersKey {
		return out + "/numbers"
	}
	return fmt.Sprintf("%s/counts-%06d", out, key)
}

// combiner adds up encoded counts.
type combiner interface {
	combine(list [][]byte) ([]byte, error)
}

type (
	leafCounts  struct{} // of tree.LeafCounts
	scoreCounts struct{} // of tree.ScoreCounts
	pairCounts  struct{} // of comparison.Counts
)

func (leafCounts) combine(list [][]byte) ([]byte, error)  { return tree.MergeLeafCounts(list) }
func (scoreCounts) combine(list [][]byte) ([]byte, error) { return tree.MergeScoreCounts(list) }
func (pairCounts) combine(list [][]byte) ([]byte, error)  { return comparison.MergeCounts(list) }

type (
	mergeCountsFn struct{ mergeFn[*adder[leafCounts]] }
	mergeScoresFn struct{ mergeFn[*adder[scoreCounts]] }
	mergePairsFn  struct{ mergeFn[*adder[pairCounts]] }
)

// adder adds up the counts of each key and writes the sum to a file.
type adder[C combiner] struct{ Config }

func (f *adder[C]) merge(ctx context.Context, key int64, list [][]byte) error {
	var err error
	for i := range list {
		if list[i], err = receive(ctx, list[i]); err != nil {
			return err
		}
	}
	var counts C
	combine := counts.combine
	if key == numbersKey {
		combine = addNumbers
	}
	b, err := combine(list)
	if err != nil {
		return err
	}
	return write(ctx, countsURL(f.Out, key), b)
}

// inlineCounts is the most bytes of encoded counts that go through the runner's shuffle.
const inlineCounts = 1 << 20

// sendCounts sends the encoded counts of a key to adder. Large counts go through a file in the folder of
// results.
func (c *Config) sendCounts(ctx context.Context, key int64, b []byte, emit func(int64, []byte)) error {
	value, err := exchange{c.Out}.put(ctx, b, len(b) <= inlineCounts)
	if err == nil {
		emit(key, value)
	}
	return err
}

// readCounts calls add with the sum of each key, which is nil if no bundle has sent counts of the key.
func readCounts(ctx context.Context, out string, keys []int64, add func(i int, b []byte) error) error {
	urls := make([]string, len(keys))
	for i, key := range keys {
		urls[i] = countsURL(out, key)
	}
	return readEach(ctx, urls, add)
}

// readScores returns the counts of keys, each by a tree. They are zeros if no bundle has counts of the key.
func (c *Config) readScores(ctx context.Context, keys []int64, trees []*tree.Tree) ([]*tree.ScoreCounts, error) {
	if c.Handover != nil {
		return c.Handover.scored(keys, trees)
	}
	counts := make([]*tree.ScoreCounts, len(keys))
	for at, t := range trees {
		counts[at] = t.NewScoreCounts()
	}
	return counts, readCounts(ctx, c.Out, keys, func(at int, b []byte) error {
		if b == nil {
			return nil
		}
		return counts[at].Merge(b)
	})
}

// newScoreCounts returns zero counts of rows, with their groups if they are kept.
func (s *RowSpec) newScoreCounts(t *tree.Tree) *tree.ScoreCounts {
	c := t.NewScoreCounts()
	if s.grouped() && (s.Dependent() || s.Weight != "") {
		c.KeepGroups(s.Dependent())
	}
	return c
}

// countScore counts row r, which is row i of a scored batch.
func (g *rowGroup) countScore(c *tree.ScoreCounts, s *tree.Scores, i, r int, class uint16) {
	c.Count(s, i, int(class), g.weight(r), g.countOf(r))
	if g.buckets != nil {
		c.CountGroup(g.buckets[r], int(s.Leaves[i]), int(class), g.weight(r), g.countOf(r))
	}
}

// errGone is the error of counts that a job must have written.
func errGone(out string, key int64) error {
	return fmt.Errorf("the counts %s are gone", countsURL(out, key))
}

// appendNumbers encodes numbers for addNumbers.
func appendNumbers(b []byte, numbers []int64) []byte {
	w := wire.Writer(b)
	for _, x := range numbers {
		w = w.Varint(x)
	}
	return w
}

// addNumbers adds up encoded lists of equally many numbers, number by number.
func addNumbers(list [][]byte) ([]byte, error) {
	var sums []int64
	for i, b := range list {
		numbers, err := decodeNumbers(b)
		if err != nil || i > 0 && len(numbers) != len(sums) {
			return nil, elements.ErrValue
		}
		sums = dataset.AddTo(sums, numbers)
	}
	return appendNumbers(nil, sums), nil
}

func decodeNumbers(b []byte) ([]int64, error) {
	var numbers []int64
	r := wire.Reader{Rest: b}
	for len(r.Rest) > 0 {
		numbers = append(numbers, r.Varint())
	}
	if r.Bad {
		return nil, elements.ErrValue
	}
	return numbers, nil
}

// readNumbers reads the sums of the n numbers of a job.
func readNumbers(ctx context.Context, out string, n int) ([]int64, error) {
	b, err := read(ctx, countsURL(out, numbersKey))
	if isNotExist(err) {
		return nil, errGone(out, numbersKey)
	}
	if err != nil {
		return nil, err
	}
	numbers, err := decodeNumbers(b)
	if err == nil && len(numbers) != n {
		err = elements.ErrValue
	}
	return numbers, err
}
