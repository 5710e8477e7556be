package leafmodel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// codedObjects returns objects whose classes depend on all features, in order. Some values of the last
// feature are missing.
func codedObjects(classes, number int) (*dataset.Objects, []dataset.Feature) {
	features := make([]dataset.Feature, 4)
	for i := range features {
		features[i] = dataset.Feature{Name: fmt.Sprint("x", i), Kind: dataset.Numeric, Cost: 1}
		for cut := range 40 {
			features[i].Cuts = append(features[i].Cuts, float64(cut))
		}
	}
	r := rand.New(rand.NewPCG(uint64(classes), 3))
	o := dataset.NewObjects(dataset.NewLayout(features), classes, false, number)
	for range number {
		codes, sum := make([]int, len(features)), 0
		for f := range codes {
			codes[f] = r.IntN(41)
			sum += codes[f]
		}
		if r.IntN(5) == 0 {
			codes[3] = features[3].MissingCode()
		}
		class := uint16(min(classes-1, (sum+r.IntN(60))*classes/220))
		o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1 + int64(r.IntN(3))}}, 1)
	}
	return o, features
}

// TestCoded: a fit of coded rows is the fit of the same rows in a design, for features in any
// number, and for a node below another fit.
func TestCoded(t *testing.T) {
	for _, classes := range []int{2, 3, 4} {
		t.Run(fmt.Sprintf("classes=%d", classes), func(t *testing.T) {
			o, features := codedObjects(classes, 3000)
			f := &fitter{walk: walk{objects: o, features: features}, options: Options{Ridge: 3}, scores: classes, scale: 1, bound: bound}
			if f.scores == 2 {
				f.scores = 1
			}
			root := &place{layer: &layer{objects: o.Len(), intercept: make([]float64, f.scores)}}
			for id := range int32(o.Len()) {
				root.ids = append(root.ids, id)
			}
			above := f.fit(&place{layer: root.layer, ids: root.ids, asked: []int{1}}, f.bound)
			for _, l := range []*layer{root.layer, above} {
				b := &broad{layer: l, ids: root.ids, asked: []int{1}}
				rows := f.codedRows(b)
				b.rows = func() *codedRows { return rows }
				for _, asked := range [][]int{{1}, {0, 1, 3}, {0, 1, 2, 3}} {
					want := f.fit(&place{layer: l, ids: root.ids, asked: asked}, f.bound)
					compareLayers(t, b.fit(f, asked), want)
				}
			}
		})
	}
}

// compareLayers compares layers but for the last bits.
func compareLayers(t *testing.T, got, want *layer) {
	t.Helper()
	if len(got.terms) != len(want.terms) || got.whole != want.whole {
		t.Fatalf("%d terms, whole %v, want %d, %v", len(got.terms), got.whole, len(want.terms), want.whole)
	}
	a, b := got.intercept, want.intercept
	for i := range want.terms {
		a, b = append(a, got.terms[i].coefficients...), append(b, want.terms[i].coefficients...)
	}
	for j, v := range b {
		if math.Abs(a[j]-v) > 1e-9 {
			t.Errorf("coefficient %d is %v, want %v", j, a[j], v)
		}
	}
}

// BenchmarkBroad fits a broad node to many sets of features, as the leaves below ask for them.
func BenchmarkBroad(b *testing.B) {
	o, features := codedObjects(2, 16000)
	f := &fitter{walk: walk{objects: o, features: features}, options: Options{Ridge: 3}, scores: 1, scale: 1, bound: bound}
	root := &broad{layer: &layer{objects: o.Len(), intercept: make([]float64, 1)}}
	for id := range int32(o.Len()) {
		root.ids = append(root.ids, id)
	}
	for b.Loop() {
		rows := f.codedRows(root)
		root.rows = func() *codedRows { return rows }
		for _, asked := range [][]int{{0}, {1}, {0, 1}, {1, 2}, {0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 1, 2, 3}} {
			root.fit(f, asked)
		}
	}
}
