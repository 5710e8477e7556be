package crossvalidate

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Dealt are objects whose rows were dealt to folds.
type Dealt struct {
	// Held has the objects of each fold, ascending; nil if the objects are grouped: rows of an object
	// may then be in several folds.
	Held [][]int32

	objects *dataset.Objects
	folds   int
}

// Deal deals rows to folds. If the objects are grouped, the fold of a row is that of its bucket: so
// all rows with one key are in one fold, and the seed of the buckets decides which ones. There are
// then at most dataset.Buckets folds with rows. Otherwise all rows of an object are in one fold, which
// depends on the seed and on the codes alone. The order of the objects does not matter.
func Deal(o *dataset.Objects, folds int, seed uint64) *Dealt {
	d := &Dealt{objects: o, folds: folds}
	if o.Grouped() {
		return d
	}
	d.Held = make([][]int32, folds)
	for i, hash := range o.Hashes(seed) {
		fold := hash % uint64(folds)
		d.Held[fold] = append(d.Held[fold], int32(i))
	}
	return d
}

// Fold returns the rows of all folds but one, and the rows of that one, both as objects.
func (d *Dealt) Fold(fold int) (rest, held *dataset.Objects) {
	if d.objects.Grouped() {
		mine := func(bucket uint8) bool { return int(bucket)*d.folds/dataset.Buckets == fold }
		return d.objects.OfBuckets(func(bucket uint8) bool { return !mine(bucket) }), d.objects.OfBuckets(mine)
	}
	return d.objects.Select(others(d.Held, fold)), d.objects.Select(d.Held[fold])
}

// others returns the objects of all folds but one, ascending.
func others(held [][]int32, fold int) []int32 {
	var rest []int32
	for other, ids := range held {
		if other != fold {
			rest = append(rest, ids...)
		}
	}
	slices.Sort(rest)
	return rest
}
