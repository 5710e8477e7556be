package crossvalidate

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Dealt are objects whose rows are divided into folds.
type Dealt struct {
	objects *dataset.Objects
	grouped bool        // whether buckets are of keys or times; otherwise they are folds
	chained bool        // whether the trees of a fold learn from earlier folds only
	foldOf  [1 << 8]int // by bucket; noFold: the rows are in no fold, and the trees of all folds learn from them
}

// Deal divides rows into folds, with about the same share of each class in each fold. If the objects are grouped, all
// rows of a bucket are in the same fold, and so are all rows with the same key; at most dataset.Buckets folds then have
// rows. Otherwise rows are assigned at random, see dataset.Objects.ByRow: then objects may have rows both in the fold
// and outside of it, as they may have training rows and validation rows. All rows of a soft object are in the same
// fold. The folds depend on the seed and on the objects, but not on the order of the objects or of the features.
func Deal(o *dataset.Objects, folds int, seed uint64) *Dealt {
	if o.Grouped() {
		return &Dealt{objects: o, grouped: true, foldOf: balanced(o, folds, seed)}
	}
	d := &Dealt{objects: o.ByRow(folds, seed)}
	for fold := range d.foldOf {
		d.foldOf[fold] = fold
	}
	return d
}

// DealInOrder divides rows into folds by their buckets, which are blocks of time. The oldest half of the rows is in no
// fold. The newer rows are divided evenly, in order: the rows of a fold are newer than all rows that its trees learn
// from. Rows on both sides of a fold would let its trees interpolate what changes with time. The oldest half is large
// enough for trees like the ones that all rows grow: trees of a sixth of the rows would only show that large trees need
// more rows.
func DealInOrder(o *dataset.Objects, folds int) *Dealt {
	d := &Dealt{objects: o, grouped: true, chained: true}
	var rows [dataset.Blocks]int64
	all := int64(0)
	for i := range o.Len() {
		for _, s := range o.Groups(i) {
			block, _ := dataset.OfBlock(s.Bucket)
			rows[block] += s.Rows
			all += s.Rows
		}
	}
	before := int64(0)
	for block, n := range rows {
		fold := noFold
		if newer := 2*before + n - all; newer >= 0 { // twice the rows from the middle of all to the middle of the block
			fold = int(newer * int64(folds) / max(1, all))
		}
		d.foldOf[dataset.BlockBucket(block, false)], d.foldOf[dataset.BlockBucket(block, true)] = fold, fold
		before += n
	}
	return d
}

// balanced assigns buckets to folds. Larger buckets come first, buckets of about the same size in an order by the seed,
// and each goes where the rows of its classes are fewest.
func balanced(o *dataset.Objects, folds int, seed uint64) (foldOf [1 << 8]int) {
	weights := make([][]float64, dataset.Buckets)
	all := make([]float64, o.Classes)
	order := make([]int, dataset.Buckets)
	total := make([]int64, dataset.Buckets)
	for bucket := range weights {
		weights[bucket] = make([]float64, o.Classes)
		order[bucket] = bucket
	}
	for i := range o.Len() {
		for _, s := range o.Groups(i) {
			weights[s.Bucket][s.Class] += float64(s.Weight)
			all[s.Class] += float64(s.Weight)
			total[s.Bucket] += s.Weight
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(bits.Len64(uint64(total[b])), bits.Len64(uint64(total[a]))),
			cmp.Compare(portable.SplitMix(seed, uint64(a)), portable.SplitMix(seed, uint64(b))))
	})
	have := make([][]float64, folds)
	for fold := range have {
		have[fold] = make([]float64, o.Classes)
	}
	for _, bucket := range order {
		best := 0
		least := 0.0
		for fold := range have {
			sum := 0.0
			for k, w := range weights[bucket] {
				if w > 0 {
					sum += float64(have[fold][k] / all[k] * (w / all[k]))
				}
			}
			if fold == 0 || sum < least {
				best = fold
				least = sum
			}
		}
		foldOf[bucket] = best
		for k, w := range weights[bucket] {
			have[best][k] += w
		}
	}
	return foldOf
}

// Fold returns the rows that the trees of a fold learn from, and the rows of the fold, both as objects.
func (d *Dealt) Fold(fold int) (rest, held *dataset.Objects) {
	rest = d.objects.OfBuckets(func(bucket uint8) bool {
		return d.foldOf[bucket] < fold || !d.chained && d.foldOf[bucket] > fold
	})
	held = d.objects.OfBuckets(func(bucket uint8) bool {
		_, known := dataset.OfBlock(bucket)
		return d.foldOf[bucket] == fold && (!d.chained || !known)
	})
	if d.grouped {
		return rest, held
	}
	return rest.Ungrouped(), held.Ungrouped()
}
