package crossvalidate

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Dealt are objects whose rows are divided into folds.
type Dealt struct {
	// held has the objects of each fold, ascending; nil if rows of the same object may be in
	// several folds.
	held [][]int32

	objects *dataset.Objects
	folds   int
	byRow   bool // whether the buckets of the objects are folds
}

// Deal divides rows into folds. If the objects are grouped, the fold of a row follows from its
// bucket: all rows with the same key are in the same fold, and the seed of the buckets decides
// which keys share a fold. At most dataset.Buckets folds then have rows. Otherwise each row is
// assigned independently, see dataset.Objects.ByRow: then objects may have rows both in the fold
// and outside of it, as they may have training rows and validation rows. All rows of a soft object
// are in the same fold. The folds depend on the seed and on the objects, but not on the order of
// the objects.
func Deal(o *dataset.Objects, folds int, seed uint64) *Dealt {
	d := &Dealt{objects: o, folds: folds}
	if o.Grouped() {
		return d
	}
	if !o.Soft() && rowsOf(o) > int64(o.Len()) {
		d.objects, d.byRow = o.ByRow(folds, seed), true
		return d
	}
	d.held = make([][]int32, folds)
	for i, hash := range o.Hashes(seed) {
		fold := hash % uint64(folds)
		d.held[fold] = append(d.held[fold], int32(i))
	}
	return d
}

func rowsOf(o *dataset.Objects) int64 {
	rows := int64(0)
	for i := range o.Len() {
		rows += o.RowsOf(i)
	}
	return rows
}

// Fold returns the rows of all other folds, and the rows of this fold, both as objects.
func (d *Dealt) Fold(fold int) (rest, held *dataset.Objects) {
	if d.held != nil {
		return d.objects.Select(others(d.held, fold)), d.objects.Select(d.held[fold])
	}
	mine := func(bucket uint8) bool { return int(bucket)*d.folds/dataset.Buckets == fold }
	if d.byRow {
		mine = func(bucket uint8) bool { return int(bucket) == fold }
	}
	rest, held = d.objects.OfBuckets(func(bucket uint8) bool { return !mine(bucket) }), d.objects.OfBuckets(mine)
	if d.byRow {
		return rest.Ungrouped(), held.Ungrouped()
	}
	return rest, held
}

// others returns the objects of all other folds, ascending.
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
