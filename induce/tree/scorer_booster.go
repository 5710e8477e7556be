package tree

import (
	"math"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// compiledBooster is up to partTrees trees of a booster, in the form that a scorer needs.
//
// Scoring does not walk the trees. Each tree has treeEnds bits, one per leaf (end). The cuts of all
// splits on a feature divide its values into intervals, and each interval has a mask that clears
// the leaves which rows with such a value cannot reach, because they are on the other side of a
// split. The leaves of a row are the bits left after applying the masks of all its features.
type compiledBooster struct {
	words  int       // length of a mask
	half   int       // half the length of a lead's cuts, padding included: see passed
	leads  []lead    // by feature
	cuts   []float64 // by lead
	masks  []uint64  // by lead and interval
	firsts []int32   // by tree: index of its first end
	values []float64 // by end: what it adds to the scores
}

const (
	treeEnds  = boost.MaxLeaves // bits of a tree in a mask
	wordTrees = 64 / treeEnds
	partWords = 16 // enough for most boosters to be a single part: only shared ones have more than 20 trees
	partTrees = partWords * wordTrees
	together  = 4 // how many trees are added to the scores at once

	// leastHalf is the least half of padded cuts. Most leads have fewer than 16 cuts, and then all searches take the
	// same steps, which the processor predicts.
	leastHalf = 8
)

// left marks the ends of all trees that a row can still reach.
type left [partWords]uint64

// lead is a feature that some splits use.
type lead struct {
	input   int32
	cuts    int32 // position of its first cut
	masks   int32 // position of the mask of its first interval
	missing int32 // interval of missing numbers; a code of missing lies in an interval like any other code
}

// side describes which values of an input, numbers or codes, are on the Yes side of a split: numbers from low, or the
// codes of a set.
type side struct {
	input   int32
	missing bool // whether missing values are on the side
	low     float64
	codes   []uint16 // not empty for a categorical feature
	lost    float64  // the code of missing; NaN for a numeric feature
}

func (s *side) has(x float64) bool {
	if x != x || x == s.lost {
		return s.missing
	}
	if s.codes != nil {
		if x < 0 || x > math.MaxUint16 {
			return false
		}
		_, found := slices.BinarySearch(s.codes, uint16(x))
		return found
	}
	return x >= s.low
}

// cuts appends the numbers at which the side begins or ends.
func (s *side) cuts(list []float64) []float64 {
	if s.codes == nil {
		return append(list, s.low)
	}
	list = append(list, s.lost, s.lost+1)
	for _, code := range s.codes {
		list = append(list, float64(code), float64(code)+1)
	}
	return list
}

// begin returns the mask of all ends.
func (b *compiledBooster) begin() (ends left) {
	for w := range b.words {
		ends[w%partWords] = ^uint64(0)
	}
	return ends
}

// narrow clears the ends that a row cannot reach if the lead has the value x: a number, or the code
// of a category. There is no branch that the processor could mispredict.
func (b *compiledBooster) narrow(ends *left, number int, x float64) {
	l := &b.leads[number]
	at := passed(b.cuts[l.cuts:], b.half, x)
	if x != x {
		at = int(l.missing)
	}
	for w, mask := range b.masks[int(l.masks)+at*b.words:][:b.words] {
		ends[w%partWords] &= mask
	}
}

// passed returns how many of cuts[:2*half] are at most x. half is a power of 2, at least leastHalf.
// The cuts ascend, with padding (NaN) after them and at least in the last place. There
// is no branch that the processor could mispredict.
func passed(cuts []float64, half int, x float64) (number int) {
	for ; half > leastHalf; half >>= 1 {
		number += half & -count(x >= cuts[number+half-1])
	}
	few := (*[2 * leastHalf]float64)(cuts[number:])
	at := count(x >= few[7]) << 3
	at += count(x >= few[(at+3)%16]) << 2
	at += count(x >= few[(at+1)%16]) << 1
	at += count(x >= few[at%16])
	return number + at
}

// halfOf returns the least half with which passed can search this many cuts.
func halfOf(cuts int) int { return max(leastHalf, 1<<bits.Len(uint(cuts))>>1) }

// addTo adds the values of the row's end in each tree to the raised scores, in the order of the
// trees.
func (b *compiledBooster) addTo(scores []float64, raised []int32, ends *left, width int) {
	if width == 1 && len(scores) == 1 {
		z := scores[0]
		for t, first := range b.firsts {
			z += b.values[int(first)+ends.of(t)]
		}
		scores[0] = z
		return
	}
	if raised != nil {
		for t := range b.firsts {
			add(scores, b.numbers(ends, t, width), raised)
		}
		return
	}
	t := 0
	for ; t+together <= len(b.firsts); t += together {
		p, q := b.numbers(ends, t, width)[:len(scores)], b.numbers(ends, t+1, width)[:len(scores)]
		r, s := b.numbers(ends, t+2, width)[:len(scores)], b.numbers(ends, t+3, width)[:len(scores)]
		for k := range scores {
			scores[k] = scores[k] + p[k] + q[k] + r[k] + s[k]
		}
	}
	for ; t < len(b.firsts); t++ {
		add(scores, b.numbers(ends, t, width), nil)
	}
}

// numbers returns the values of the row's end in a tree.
func (b *compiledBooster) numbers(ends *left, tree, width int) []float64 {
	return b.values[(int(b.firsts[tree])+ends.of(tree))*width:][:width]
}

// of returns the index of the end that is left in a tree.
func (ends *left) of(tree int) int {
	return bits.TrailingZeros64(ends[tree/wordTrees%partWords] >> (tree % wordTrees * treeEnds))
}

// add adds values to the raised scores; raised is nil if all scores are raised.
func add(scores, values []float64, raised []int32) {
	if raised == nil {
		values = values[:len(scores)]
		for k, v := range values {
			scores[k] += v
		}
		return
	}
	scores = scores[:len(raised)]
	for k, score := range raised {
		scores[k] += values[score]
	}
}

// boost adds the booster of a leaf's model to the raised scores of a row.
func (s *Scorer) boost(l *compiledLeaf, values []Value, scores []float64) {
	for k := l.boosters.from; k < l.boosters.to; k++ {
		b := &s.models.boosters[k]
		ends := b.begin()
		for i := range b.leads {
			input := b.leads[i].input
			b.narrow(&ends, i, s.entry(input, &values[input]))
		}
		b.addTo(scores, l.raised, &ends, s.models.width)
	}
}

// boost adds the booster of a leaf's model to the scores of rows.
func (b *batch) boost(l *compiledLeaf, rows []int32, scores func(row int32) []float64) {
	m := b.models
	for k := l.boosters.from; k < l.boosters.to; k++ {
		part := &m.boosters[k]
		for i := range part.leads {
			b.column(part.leads[i].input)
		}
		for _, r := range rows {
			ends := part.begin()
			for i := range part.leads {
				part.narrow(&ends, i, b.columns[part.leads[i].input].at(r))
			}
			part.addTo(scores(r), l.raised, &ends, m.width)
		}
	}
}

// inputs returns the inputs used by the booster of a leaf's model, ascending.
func (m *modelling) inputs(l *compiledLeaf) []int32 {
	var list []int32
	for _, b := range m.boosters[l.boosters.from:l.boosters.to] {
		for _, lead := range b.leads {
			list = append(list, lead.input)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// compileBoosters compiles the boosters of the leaves, each into one or more parts, and returns the
// range of parts of each booster.
func (m *modelling) compileBoosters(s *Scorer, t *Tree) map[*boost.Booster]numbers {
	parts := make(map[*boost.Booster]numbers)
	for _, b := range t.boosters() {
		from := int32(len(m.boosters))
		for trees := range slices.Chunk(b.Trees, partTrees) {
			m.boosters = append(m.boosters, s.compileTrees(t, trees))
		}
		parts[b] = numbers{from, int32(len(m.boosters))}
	}
	return parts
}

// sideOf returns the Yes side of a split.
func (s *Scorer) sideOf(t *Tree, by *boost.Split) side {
	f := &t.Features[by.Feature]
	to := side{input: int32(s.columns[by.Feature] - 1), missing: by.Missing, codes: by.Codes, lost: math.NaN()}
	if f.Kind == dataset.Numeric {
		to.low = f.Cuts[by.Code-1]
	} else {
		to.lost = float64(f.MissingCode())
	}
	return to
}

// fork is a split of a tree, with bit masks of the ends below each of its sides.
type fork struct {
	side
	tree    int
	yes, no uint64
}

// compileTrees compiles at most partTrees trees.
func (s *Scorer) compileTrees(t *Tree, trees []boost.Tree) compiledBooster {
	b := compiledBooster{words: (len(trees) + wordTrees - 1) / wordTrees}
	forks := make([][]fork, len(s.inputs))
	for number, tree := range trees {
		b.firsts = append(b.firsts, int32(len(b.values)/portable.Scores(len(t.Label.Classes))))
		for _, f := range b.forksOf(tree, func(by *boost.Split) side { return s.sideOf(t, by) }) {
			f.tree = number
			forks[f.input] = append(forks[f.input], f)
		}
	}
	cuts := make([][]float64, len(forks))
	for input, list := range forks {
		for i := range list {
			cuts[input] = list[i].cuts(cuts[input])
		}
		slices.Sort(cuts[input])
		cuts[input] = slices.Compact(cuts[input])
		b.half = max(b.half, halfOf(len(cuts[input])))
	}
	for input, list := range forks {
		if list != nil {
			b.addLead(int32(input), cuts[input], list)
		}
	}
	return b
}

// forksOf returns the splits of a tree as forks, and appends the values of its ends to b.values.
func (b *compiledBooster) forksOf(tree boost.Tree, sideOf func(*boost.Split) side) []fork {
	forks := make([]fork, len(tree))
	ends := 0
	for i := range tree {
		by := &tree[i]
		forks[i].side = sideOf(by)
		for _, of := range []struct {
			*boost.Side
			below *uint64
		}{{&by.Yes, &forks[i].yes}, {&by.No, &forks[i].no}} {
			if of.Values != nil {
				*of.below = 1 << ends
				b.values = append(b.values, of.Values...)
				ends++
			}
		}
	}
	for i := len(tree) - 1; i >= 0; i-- { // splits come after their parents
		for _, of := range []struct {
			*boost.Side
			below *uint64
		}{{&tree[i].Yes, &forks[i].yes}, {&tree[i].No, &forks[i].no}} {
			if of.Values == nil {
				*of.below = forks[of.Split].yes | forks[of.Split].no
			}
		}
	}
	return forks
}

// addLead adds a lead for an input, given the cuts and forks of its splits.
func (b *compiledBooster) addLead(input int32, cuts []float64, forks []fork) {
	b.leads = append(b.leads, lead{input, int32(len(b.cuts)), int32(len(b.masks)), int32(len(cuts) + 1)})
	b.cuts = append(append(b.cuts, cuts...), slices.Repeat([]float64{math.NaN()}, 2*b.half-len(cuts))...)
	for _, x := range slices.Concat([]float64{math.Inf(-1)}, cuts, []float64{math.NaN()}) { // one value in each interval
		ends := b.begin()
		for i := range forks {
			f := &forks[i]
			gone := f.yes
			if f.has(x) {
				gone = f.no
			}
			ends[f.tree/wordTrees] &^= gone << (f.tree % wordTrees * treeEnds)
		}
		b.masks = append(b.masks, ends[:b.words]...)
	}
}
