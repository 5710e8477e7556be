package crossvalidate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
)

// TestDealGroups: no bucket of groups is in two folds, nor on both sides of one; each row is held once.
func TestDealGroups(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 40))
		d := growtest.New(r, growtest.PricedFeatures(), 3, 300, seed%2 == 0).Grouped(r)
		for _, folds := range []int{2, 5, 7, 60, 100} {
			dealt := crossvalidate.Deal(d.Objects, folds, 1)
			var foldOf [dataset.Buckets]int // plus one
			weights := make([]int64, 3)
			for fold := range folds {
				rest, held := dealt.Fold(fold)
				for i := range held.Len() {
					for _, s := range held.Groups(i) {
						if at := &foldOf[s.Bucket]; *at != 0 && *at != fold+1 {
							t.Fatalf("bucket %d is in folds %d and %d of %d", s.Bucket, *at-1, fold, folds)
						}
						foldOf[s.Bucket] = fold + 1
					}
				}
				for i := range rest.Len() {
					for _, s := range rest.Groups(i) {
						if foldOf[s.Bucket] == fold+1 {
							t.Fatalf("bucket %d is on both sides of fold %d of %d", s.Bucket, fold, folds)
						}
					}
				}
				if rest.TotalWeight()+held.TotalWeight() != d.Objects.TotalWeight() {
					t.Errorf("fold %d of %d: some weight is on neither side", fold, folds)
				}
				for k, w := range held.ClassWeights() {
					weights[k] += w
				}
			}
			if !slices.Equal(weights, d.Objects.ClassWeights()) {
				t.Errorf("%d folds hold the weights %v, want %v", folds, weights, d.Objects.ClassWeights())
			}
		}
	}
}

// TestDealBalanced: each fold has about its share of each class, also if all rows of a key are in the same fold.
func TestDealBalanced(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 41))
		plain := growtest.New(r, growtest.PricedFeatures(), 2, 400, false)
		for name, o := range map[string]*dataset.Objects{"rows": plain.Objects, "keys": plain.Grouped(r).Objects} {
			const folds = 5
			heaviest := make([]float64, 2) // of a key's bucket, by class; of a row
			for k := range heaviest {
				heaviest[k] = 1
				var weights [dataset.Buckets]float64
				for i := range o.Len() {
					for _, s := range groupsOf(o, i) {
						if int(s.Class) == k {
							weights[s.Bucket] += float64(s.Weight)
							heaviest[k] = max(heaviest[k], weights[s.Bucket])
						}
					}
				}
			}
			all, dealt := o.ClassWeights(), crossvalidate.Deal(o, folds, seed)
			for fold := range folds {
				_, held := dealt.Fold(fold)
				for k, w := range held.ClassWeights() {
					if want := float64(all[k]) / folds; math.Abs(float64(w)-want) > 1+heaviest[k] {
						t.Errorf("seed %d, %s: fold %d has %d of class %d, want about %.0f +- %.0f", seed, name, fold, w, k, want, heaviest[k])
					}
				}
			}
		}
	}
}

func groupsOf(o *dataset.Objects, i int) []dataset.GroupShare {
	if o.Grouped() {
		return o.Groups(i)
	}
	return nil
}

// TestDealInOrder: the trees of a fold learn from older buckets only, known keys are in no fold, and the newer half of
// the rows is divided evenly.
func TestDealInOrder(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 43))
		d := growtest.New(r, growtest.PricedFeatures(), 3, 600, seed%2 == 0).Grouped(r)
		for _, folds := range []int{2, 5, 7, 60} {
			dealt := crossvalidate.DealInOrder(d.Objects, folds)
			held := int64(0)
			for fold := range folds {
				rest, own := dealt.Fold(fold)
				oldest := dataset.Buckets
				for i := range own.Len() {
					for _, s := range own.Groups(i) {
						if _, known := dataset.OfBlock(s.Bucket); known {
							t.Fatalf("fold %d is judged on rows of known keys", fold)
						}
						oldest = min(oldest, int(s.Bucket))
						held += s.Rows
					}
				}
				for i := range rest.Len() {
					for _, s := range rest.Groups(i) {
						if own.Len() > 0 && int(s.Bucket) >= oldest {
							t.Fatalf("fold %d of %d from bucket %d on learns from bucket %d", fold, folds, oldest, s.Bucket)
						}
					}
				}
			}
			all := int64(0)
			for i := range d.Objects.Len() {
				all += d.Objects.RowsOf(i)
			}
			if share := float64(held) / float64(all); share < .15 || share > .35 { // half of the half that is not known
				t.Errorf("%d folds have %v of the rows", folds, share)
			}
		}
	}
}
