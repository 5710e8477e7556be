package tree_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// benchmarked returns a small tree, a large tree, and a tree of a single test.
func benchmarked() []*tree.Tree {
	return []*tree.Tree{
		randomTree(rand.New(rand.NewPCG(1, 1)), split.Both, 100),
		randomTree(rand.New(rand.NewPCG(1, 1)), split.Both, 10_000),
		wideTree(60_000),
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, tr := range benchmarked() {
		b.Run(fmt.Sprintf("nodes=%d", len(tr.Nodes)), func(b *testing.B) {
			b.SetBytes(int64(len(tr.Encode())))
			for b.Loop() {
				tr.Encode()
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, tr := range benchmarked() {
		encoded := tr.Encode()
		b.Run(fmt.Sprintf("nodes=%d", len(tr.Nodes)), func(b *testing.B) {
			b.SetBytes(int64(len(encoded)))
			for b.Loop() {
				if _, err := tree.Decode(encoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRouter(b *testing.B) {
	const rows = 1 << 14
	for _, family := range []split.Family{split.Both, split.Multiways} {
		r := rand.New(rand.NewPCG(1, 1))
		tr := randomTree(r, family, 2000)
		router, layout := tr.Router(), dataset.NewLayout(tr.Features)
		o := dataset.NewObjects(layout, 3, false, rows)
		for range rows {
			codes := make([]int, len(tr.Features))
			for f := range codes {
				codes[f] = r.IntN(tr.Features[f].Codes())
			}
			o.Append(codes, []dataset.ClassWeight{{Class: 0, Weight: 1}}, 1)
		}
		b.Run("by=object/tests="+family.String(), func(b *testing.B) {
			for b.Loop() {
				for i := range rows {
					router.Leaf(o, i)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkCountObjects counts objects by the leaves of a tree: together, and object by object.
func BenchmarkCountObjects(b *testing.B) {
	const rows = 1 << 16
	r := rand.New(rand.NewPCG(1, 1))
	tr := randomTree(rand.New(rand.NewPCG(0, 1)), split.Both, 2000)
	o := dataset.NewObjects(dataset.NewLayout(tr.Features), 3, false, rows)
	for range rows {
		codes := make([]int, len(o.Codes))
		for f := range codes {
			codes[f] = r.IntN(tr.Features[f].Codes())
		}
		o.Append(codes, []dataset.ClassWeight{{Class: uint16(r.IntN(3)), Weight: 1}}, 1)
	}
	b.Run("by=leaves", func(b *testing.B) {
		for b.Loop() {
			tr.CountObjects(o)
		}
		b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("by=object", func(b *testing.B) {
		for b.Loop() {
			counts, router := tr.NewLeafCounts(), tr.Router()
			for i := range rows {
				counts.Count(router.Leaf(o, i), o, i)
			}
		}
		b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}
