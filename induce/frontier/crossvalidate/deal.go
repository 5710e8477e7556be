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
	keyed   bool        // whether buckets are of keys; otherwise they are folds
	foldOf  [1 << 8]int // by bucket
}

// Deal divides rows into folds, with about the same share of each class in each fold. If the objects are grouped, all
// rows of a bucket are in the same fold, and so are all rows with the same key; at most dataset.Buckets folds then have
// rows. Otherwise rows are assigned at random, see dataset.Objects.ByRow: then objects may have rows both in the fold
// and outside of it, as they may have training rows and validation rows. All rows of a soft object are in the same
// fold. The folds depend on the seed and on the objects, but not on the order of the objects or of the features.
func Deal(o *dataset.Objects, folds int, seed uint64) *Dealt {
	if o.Grouped() {
		return &Dealt{objects: o, keyed: true, foldOf: balanced(o, folds, seed)}
	}
	d := &Dealt{objects: o.ByRow(folds, seed)}
	for fold := range d.foldOf {
		d.foldOf[fold] = fold
	}
	return d
}

// balanced assigns buckets to folds. Larger buckets come first, buckets of about the same size in an order by the seed,
// and each goes where the rows of its classes are fewest.
func balanced(o *dataset.Objects, folds int, seed uint64) (foldOf [1 << 8]int) {
	weights, all, order := make([][]float64, dataset.Buckets), make([]float64, o.Classes), make([]int, dataset.Buckets)
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
				best, least = fold, sum
			}
		}
		foldOf[bucket] = best
		for k, w := range weights[bucket] {
			have[best][k] += w
		}
	}
	return foldOf
}

// Fold returns the rows of all other folds, and the rows of this fold, both as objects.
func (d *Dealt) Fold(fold int) (rest, held *dataset.Objects) {
	rest = d.objects.OfBuckets(func(bucket uint8) bool { return d.foldOf[bucket] != fold })
	held = d.objects.OfBuckets(func(bucket uint8) bool { return d.foldOf[bucket] == fold })
	if d.keyed {
		return rest, held
	}
	return rest.Ungrouped(), held.Ungrouped()
}
