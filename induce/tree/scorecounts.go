package tree

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// ScoreCounts counts rows by leaf, predicted probabilities and true class. All metrics of
// a tree with leaf models follow from it; those of a tree without models follow from
// LeafCounts.
//
// The table of predictions has at most 2^21 probabilities: 1,048,576 entries of two
// classes, 299,593 of seven. As long as the distinct predictions fit, it is exact.
// Otherwise rows share an entry if their probabilities differ only in the lowest bits. As
// few bits as possible are lost for all rows to fit, and an entry has the mean of its
// rows' probabilities. Both depend on the rows alone, not on their order or on the order
// of merges. Predicted classes, leaves and weights stay exact. An entry takes about 80
// bytes for two classes, and 24 more for each further class. While rows are counted there
// are up to twice as many entries.
type ScoreCounts struct {
	tree  *Tree
	plain *LeafCounts // of leaves without models
	table scoreTable
	key   []uint64
}

// scoreNumbers is the number of probabilities in a table.
const scoreNumbers = 1 << 21

// scoreTable has the distinct probabilities of rows at leaves with models, with the rows'
// numbers and weights. It is a hash table.
type scoreTable struct {
	classes int
	most    int // entries
	level   int // number of lowest bits that each probability has lost
	keys    []uint64
	rows    []int64  // by entry
	sums    []int64  // by entry, then by class: sum over rows of the highest bits; only if level > 0
	weights []int64  // by entry, then by true class
	slots   []int32  // entry plus 1; 0: empty
	passed  []uint64 // memory for a key
}

// The key of an entry is its leaf and predicted class in one word, then the bits of each
// class's probability, shifted to the right.
func (t *scoreTable) keyLen() int { return 1 + t.classes }

func (t *scoreTable) len() int { return len(t.rows) }

func (t *scoreTable) keyOf(entry int) []uint64 { return t.keys[entry*t.keyLen():][:t.keyLen()] }

// lastLevel is the level of probabilities without any bit.
const lastLevel = 64

// meanBits is the number of lowest bits of a probability that the sums of an entry leave
// out: the sums of 2^33 rows have room. Bits of a positive number grow as its logarithm
// does, about, so their mean is about the logarithm's.
const meanBits = 32

// NewScoreCounts returns zero counts for a tree.
func (t *Tree) NewScoreCounts() *ScoreCounts {
	classes := len(t.Label.Classes)
	return &ScoreCounts{tree: t, plain: t.NewLeafCounts(), table: newScoreTable(classes, max(1, scoreNumbers/classes))}
}

// Bound lowers the number of entries to most, at least 1, before any row is counted.
func (c *ScoreCounts) Bound(most int) { c.table.most = max(1, min(c.table.most, most)) }

func newScoreTable(classes, most int) scoreTable {
	return scoreTable{classes: classes, most: most, passed: make([]uint64, 1+classes)}
}

// Add counts a row: the id of its leaf's node, the predicted class, the probabilities by
// class, the true class, and the weight in fixed point. At a leaf without a model the
// predictions are the leaf's own, and those given have no effect.
func (c *ScoreCounts) Add(leaf, predicted int, probabilities []float64, class int, weight int64) {
	if c.tree.Nodes[leaf].Model == nil {
		c.plain.Rows[leaf]++
		c.plain.Weights[leaf][class] += weight
		return
	}
	c.key = append(c.key[:0], uint64(leaf)<<16|uint64(predicted))
	for _, p := range probabilities {
		c.key = append(c.key, math.Float64bits(p+0)) // -0 becomes 0
	}
	c.table.weights[c.table.addRows(c.key, 1)*c.table.classes+class] += weight
	c.table.fitSoon()
}

// addRows adds rows with all bits of their probabilities to an entry, which it returns.
func (t *scoreTable) addRows(key []uint64, rows int64) int {
	if t.level == 0 {
		entry := t.entry(key)
		t.rows[entry] += rows
		return entry
	}
	entry := t.entryAt(0, key)
	t.rows[entry] += rows
	for k, word := range key[1:] {
		t.sums[entry*t.classes+k] += rows * int64(word>>meanBits)
	}
	return entry
}

// entryAt returns the entry of a key of at most the table's level.
func (t *scoreTable) entryAt(level int, key []uint64) int {
	t.passed[0] = key[0]
	for k, word := range key[1:] {
		t.passed[1+k] = word >> (t.level - level)
	}
	return t.entry(t.passed)
}

// Count adds a row of a scored batch, see Add.
func (c *ScoreCounts) Count(s *Scores, row, class int, weight int64) {
	leaf := int(s.Leaves[row])
	if c.tree.Nodes[leaf].Model == nil {
		c.plain.Rows[leaf]++
		c.plain.Weights[leaf][class] += weight
		return
	}
	c.Add(leaf, int(s.Classes[row]), s.Of(row), class, weight)
}

// entry returns the entry of a key, which it adds if there is none.
func (t *scoreTable) entry(key []uint64) int {
	if 2*t.len() >= len(t.slots) {
		t.grow()
	}
	mask := len(t.slots) - 1
	for at := int(hashOf(key)) & mask; ; at = (at + 1) & mask {
		switch entry := int(t.slots[at]) - 1; {
		case entry < 0:
			t.slots[at] = int32(t.len() + 1)
			t.keys, t.rows = append(t.keys, key...), append(t.rows, 0)
			for range t.classes {
				t.weights = append(t.weights, 0)
				if t.level > 0 {
					t.sums = append(t.sums, 0)
				}
			}
			return t.len() - 1
		case slices.Equal(t.keyOf(entry), key):
			return entry
		}
	}
}

func (t *scoreTable) grow() {
	t.slots = make([]int32, max(16, 2*len(t.slots)))
	mask := len(t.slots) - 1
	for entry := range t.len() {
		at := int(hashOf(t.keyOf(entry))) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = int32(entry + 1)
	}
}

func hashOf(key []uint64) uint64 {
	h := uint64(0)
	for _, word := range key {
		h = (h ^ word) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h >> 1 // no negative int
}

// fit raises the level to the least at which there are at most as many entries as
// allowed; to the last level if there is none.
func (t *scoreTable) fit() {
	if t.len() <= t.most || t.level == lastLevel {
		return
	}
	order := t.sortedBy(compareByBits)
	var merging [lastLevel + 1]int // by further level: entries that fall together with the one before
	for i, entry := range order[1:] {
		if a, b := t.keyOf(order[i]), t.keyOf(entry); a[0] == b[0] {
			_, differ := highest(a, b)
			merging[bits.Len64(differ)]++
		}
	}
	up, left := 1, t.len()-merging[1]
	for left > t.most && t.level+up < lastLevel {
		up++
		left -= merging[up]
	}
	*t = t.at(t.level + up)
}

// fitSoon is fit once there are twice as many entries as allowed: fewer calls are then
// needed in all. Who reads the table calls fit first.
func (t *scoreTable) fitSoon() {
	if t.len() > 2*t.most {
		t.fit()
	}
}

// compareByBits orders keys by leaf and class, then by the highest bit of each
// probability, then by the next one, and so on. So entries that fall together at a level
// stand side by side.
func compareByBits(a, b []uint64) int {
	k, _ := highest(a, b)
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[k], b[k]))
}

// highest returns the position of the first probability whose difference has the highest
// bit of all, and the difference.
func highest(a, b []uint64) (position int, differ uint64) {
	for k := range a[1:] {
		if x := a[1+k] ^ b[1+k]; differ < x && differ < differ^x {
			position, differ = 1+k, x
		}
	}
	return position, differ
}

// at returns the table at a level from its own on.
func (t *scoreTable) at(level int) scoreTable {
	to, n := newScoreTable(t.classes, t.most), min(t.len(), t.most)
	to.level, to.rows, to.keys = level, make([]int64, 0, n), make([]uint64, 0, n*t.keyLen())
	to.sums, to.weights = make([]int64, 0, n*t.classes), make([]int64, 0, n*t.classes)
	to.addAll(t)
	return to
}

// addAll adds the entries of a table of at most the same level.
func (t *scoreTable) addAll(from *scoreTable) {
	for entry := range from.len() {
		var sums []int64
		if from.level > 0 {
			sums = from.sums[entry*t.classes:][:t.classes]
		}
		t.addEntry(from.level, from.keyOf(entry), from.rows[entry], sums, from.weights[entry*t.classes:][:t.classes])
	}
}

// addEntry adds an entry of at most the same level. sums is nil at level 0.
func (t *scoreTable) addEntry(level int, key []uint64, rows int64, sums, weights []int64) {
	var to int
	if level == 0 {
		to = t.addRows(key, rows)
	} else {
		to = t.entryAt(level, key)
		t.rows[to] += rows
		for k, sum := range sums {
			t.sums[to*t.classes+k] += sum
		}
	}
	for k, w := range weights {
		t.weights[to*t.classes+k] += w
	}
}

// sorted returns the entries in the order of their keys.
func (t *scoreTable) sorted() []int { return t.sortedBy(slices.Compare[[]uint64]) }

// sortedBy returns the entries in the order of their leaves and classes, then in a given one. It
// first brings together those of a leaf and class: their keys fit the nearest cache.
func (t *scoreTable) sortedBy(compare func(a, b []uint64) int) []int {
	type entry struct {
		first uint64
		at    int
	}
	list := make([]entry, t.len())
	for i := range list {
		list[i] = entry{t.keyOf(i)[0], i}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.first, b.first) })
	order := make([]int, len(list))
	for i := range list {
		order[i] = list[i].at
	}
	from := 0
	for i := range list {
		if i+1 == len(list) || list[i+1].first != list[i].first {
			slices.SortFunc(order[from:i+1], func(a, b int) int { return compare(t.keyOf(a), t.keyOf(b)) })
			from = i + 1
		}
	}
	return order
}

// LostBits returns the number of lowest bits that each probability has lost, up to 64; 0:
// the counts are exact.
func (c *ScoreCounts) LostBits() int {
	c.table.fit()
	return c.table.level
}

// Plain returns the counts of the leaves without models. Those of the other leaves are 0.
func (c *ScoreCounts) Plain() *LeafCounts { return c.plain }

// ScoreCount is the number of rows of a leaf with a model that have the same prediction.
type ScoreCount struct {
	Leaf          int       // id of the leaf's node
	Class         int       // predicted class
	Probabilities []float64 // by class
	Weights       []int64   // by true class
	Rows          int64
}

// Modelled returns the rows of the leaves with models by their predictions, in the order
// of leaves, classes and probabilities.
func (c *ScoreCounts) Modelled() []ScoreCount {
	t := &c.table
	t.fit()
	list := make([]ScoreCount, 0, t.len())
	numbers := make([]float64, t.len()*t.classes)
	for _, entry := range t.sorted() {
		key, p := t.keyOf(entry), numbers[:t.classes:t.classes]
		numbers = numbers[t.classes:]
		for k, word := range key[1:] {
			if p[k] = math.Float64frombits(word); t.level > 0 {
				p[k] = meanOf(t.sums[entry*t.classes+k], t.rows[entry])
			}
		}
		if t.level > 0 {
			normalise(p)
		}
		list = append(list, ScoreCount{
			Leaf: int(key[0] >> 16), Class: int(key[0] & math.MaxUint16), Probabilities: p,
			Weights: t.weights[entry*t.classes:][:t.classes:t.classes], Rows: t.rows[entry],
		})
	}
	return list
}

// meanOf returns the mean of the probabilities of rows, given the sum of their highest
// bits. The bits left out are half of their range in the mean.
func meanOf(sum, rows int64) float64 {
	mean := float64(sum)/float64(rows) + 0.5
	return min(1, math.Float64frombits(uint64(float64(mean*(1<<meanBits)))))
}

// Encode returns the counts in a form that does not depend on the order of rows and
// merges: the counts of the leaves without models, then the table.
func (c *ScoreCounts) Encode() []byte { return appendScores(nil, c.plain.Encode(), &c.table) }

func appendScores(b, plain []byte, t *scoreTable) []byte {
	t.fit()
	b = append(binary.AppendUvarint(b, uint64(len(plain))), plain...)
	for _, n := range []int{t.classes, t.most, t.level, t.len()} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	before := uint64(0)
	for _, entry := range t.sorted() {
		key := t.keyOf(entry)
		b = binary.AppendUvarint(b, key[0]-before)
		before = key[0]
		for k, word := range key[1:] {
			if b = binary.AppendUvarint(b, word); t.level > 0 {
				b = binary.AppendUvarint(b, uint64(t.sums[entry*t.classes+k]))
			}
		}
		b = appendLeaf(b, t.rows[entry], listed(t.weights[entry*t.classes:][:t.classes]))
	}
	return b
}

var errScoreCounts = errors.New("counts by probabilities of another tree, or cut short")

// scoreReader reads encoded counts.
type scoreReader struct {
	leafReader

	plain []byte
	table scoreTable // without entries
	count int
}

// number reads a number of at most most.
func (r *scoreReader) number(most uint64) (uint64, error) {
	x, n := binary.Uvarint(r.b)
	if n <= 0 || x > most {
		return 0, errScoreCounts
	}
	r.b = r.b[n:]
	return x, nil
}

func newScoreReader(b []byte) (*scoreReader, error) {
	r := &scoreReader{leafReader: leafReader{b: b}}
	size, err := r.number(uint64(len(b)))
	if err != nil || size > uint64(len(r.b)) {
		return nil, errScoreCounts
	}
	r.plain, r.b = r.b[:size], r.b[size:]
	var numbers [4]int
	for i, most := range []uint64{maxClasses, scoreNumbers, lastLevel, uint64(len(b))} {
		x, err := r.number(most)
		if err != nil {
			return nil, err
		}
		numbers[i] = int(x)
	}
	r.table = newScoreTable(numbers[0], numbers[1])
	r.table.level, r.count = numbers[2], numbers[3]
	return r, nil
}

// each reads the entries.
func (r *scoreReader) each(visit func(key []uint64, rows int64, sums, weights []int64) error) error {
	key, weights := make([]uint64, r.table.keyLen()), make([]int64, r.table.classes)
	sums := make([]int64, r.table.classes)
	for range r.count {
		step, err := r.number(math.MaxUint64)
		if err != nil {
			return err
		}
		key[0] += step
		for k := range r.table.classes {
			if key[1+k], err = r.number(math.Float64bits(1) >> r.table.level); err != nil {
				return err
			}
			if r.table.level > 0 {
				sum, err := r.number(math.MaxInt64)
				if err != nil {
					return err
				}
				sums[k] = int64(sum)
			}
		}
		if err := r.next(r.table.classes); err != nil {
			return err
		}
		if r.rows <= 0 || slices.Max(sums)/r.rows > int64(math.Float64bits(1)>>meanBits) {
			return errScoreCounts
		}
		clear(weights)
		for _, s := range r.shares {
			weights[s.class] = s.weight
		}
		if err := visit(key, r.rows, sums, weights); err != nil {
			return err
		}
	}
	if len(r.b) > 0 {
		return errScoreCounts
	}
	return nil
}

// mergeInto adds the entries to a table.
func (r *scoreReader) mergeInto(t *scoreTable, check func(key []uint64) error) error {
	if t.len() == 0 && r.table.most > 0 {
		t.most = r.table.most
	}
	if r.table.classes != t.classes || r.table.most != t.most {
		return errScoreCounts
	}
	if r.table.level > t.level {
		*t = t.at(r.table.level)
	}
	return r.each(func(key []uint64, rows int64, sums, weights []int64) error {
		if err := check(key); err != nil {
			return err
		}
		t.addEntry(r.table.level, key, rows, sums, weights)
		t.fitSoon()
		return nil
	})
}

// Merge adds encoded counts of the same tree, whose bound counts without rows take over.
// After an error the counts are invalid.
func (c *ScoreCounts) Merge(b []byte) error {
	r, err := newScoreReader(b)
	if err == nil {
		err = c.plain.Add(r.plain)
	}
	if err != nil {
		return err
	}
	return r.mergeInto(&c.table, func(key []uint64) error {
		leaf := key[0] >> 16
		if leaf >= uint64(len(c.tree.Nodes)) || c.tree.Nodes[leaf].Model == nil || !c.tree.Nodes[leaf].Leaf() ||
			int(key[0]&math.MaxUint16) >= c.table.classes {
			return fmt.Errorf("node %d: %w", leaf, errScoreCounts)
		}
		return nil
	})
}

// MergeScoreCounts adds up encoded counts of one tree without the tree itself.
func MergeScoreCounts(list [][]byte) ([]byte, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	var plain [][]byte
	var table scoreTable
	for i, b := range list {
		r, err := newScoreReader(b)
		if err != nil {
			return nil, err
		}
		if plain = append(plain, r.plain); i == 0 {
			table = newScoreTable(r.table.classes, r.table.most)
		}
		if err := r.mergeInto(&table, func([]uint64) error { return nil }); err != nil {
			return nil, err
		}
	}
	merged, err := MergeLeafCounts(plain)
	if err != nil {
		return nil, err
	}
	return appendScores(nil, merged, &table), nil
}
