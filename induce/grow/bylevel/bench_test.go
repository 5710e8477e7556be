package bylevel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
)

// benchObjects is the number of objects of a block, about as many as a block of 4 MiB has.
const benchObjects = 1 << 16

// benchData draws a block of objects with ten features of 128 bins.
func benchData() *growtest.Data {
	var features []dataset.Feature
	for f := range 10 {
		features = append(features, growtest.Numeric(fmt.Sprintf("x%d", f), 128, float64(1+f%3)))
	}
	return growtest.New(rand.New(rand.NewPCG(1, 1)), features, 2, benchObjects, false)
}

// benchGrid returns the parameters of trees that differ early.
func benchGrid(trees int) []induce.Params {
	grid := make([]induce.Params, trees)
	algorithms := []split.Algorithm{split.EC45, split.C45, split.ECART, split.Bal}
	for i := range grid {
		grid[i] = induce.Params{
			Algorithm: algorithms[i%len(algorithms)], Family: split.Thresholds, Lambda: float64(1 + i/len(algorithms)),
		}
	}
	return grid
}

// benchGrowth is a growth of trees after some levels.
type benchGrowth struct {
	*growtest.Data

	grower *bylevel.Grower
	growth *bylevel.Growth
	passes []bylevel.Pass // passes of the large nodes
}

const benchMemory = 1 << 30 // bytes of histograms

func newBenchGrowth(b *testing.B, d *growtest.Data, trees, depth int) *benchGrowth {
	b.Helper()
	g := &benchGrowth{Data: d, grower: bylevel.NewGrower(bylevel.Setting{
		Trees: benchGrid(trees), Columns: d.Columns, Classes: d.Objects.Classes, Total: d.Total,
		Heaviest: slices.Max(d.Objects.Weight), Soft: d.Objects.Soft(),
	})}
	n, m := make([]int64, d.Objects.Classes), make([]int64, d.Objects.Classes)
	for i, k := range d.Objects.Class {
		n[k]++
		if !d.Objects.Soft() {
			m[k] += d.Objects.Weight[i]
			continue
		}
		for _, cw := range d.Objects.Raw(i) {
			m[cw.Class] += cw.Weight
		}
	}
	g.growth = bylevel.NewGrowth(trees, n, m, 0)
	for range depth {
		g.expand(b, g.count)
	}
	g.passes = g.grower.Passes(g.growth, benchMemory)
	return g
}

// expand grows the large nodes by a level.
func (g *benchGrowth) expand(b *testing.B, count func(*bylevel.Pass) (*bylevel.Counts, error)) {
	b.Helper()
	passes := g.grower.Passes(g.growth, benchMemory)
	children, err := g.grower.Expand(g.growth, passes, 0, 1, count)
	if err != nil {
		b.Fatal(err)
	}
	g.growth.Next(children, 0)
}

// count counts all objects for a pass.
func (g *benchGrowth) count(p *bylevel.Pass) (*bylevel.Counts, error) {
	counter := g.grower.Counter(p)
	counter.Add(g.Objects)
	return g.grower.Total(p, []*bylevel.PassCounter{counter}), nil
}

// BenchmarkRoute: the objects of a block go to the open nodes of trees that branch, or of a
// chain of tests that each lead on by one outcome.
func BenchmarkRoute(b *testing.B) {
	d := benchData()
	run := func(name string, routes []bylevel.Route) {
		b.Run(name, func(b *testing.B) {
			router := bylevel.NewRouter(routes, d.Columns)
			b.SetBytes(int64(d.Objects.Len() * len(d.Columns)))
			reached := 0
			for b.Loop() {
				router.Route(d.Objects, func(_ int, ids []int32) { reached += len(ids) })
			}
			if reached == 0 {
				b.Fatal("no object reaches a node")
			}
		})
	}
	for _, trees := range []int{1, 4} {
		g := newBenchGrowth(b, d, trees, 5)
		run(fmt.Sprintf("way=branches/objects=%d/trees=%d", benchObjects, trees), g.growth.Routes(g.growth.Large))
	}
	for _, depth := range []int{10, 100} {
		run(fmt.Sprintf("way=chain/objects=%d/depth=%d", benchObjects, depth), chain(depth, len(d.Columns)))
	}
}

// chain returns the routes of tests for single bins, each of which few objects fail.
func chain(depth, features int) []bylevel.Route {
	routes := make([]bylevel.Route, depth+1)
	for i := range depth {
		test := split.Test{Feature: i % features, Kind: split.Bin, Code: 1 + i/features}
		routes[i] = bylevel.Route{At: -1, Forks: []bylevel.Fork{{Test: test, To: []int{i + 1, -1}}}}
	}
	return routes
}

// BenchmarkCount: the objects of a block are counted for the root of all trees, or for the
// open nodes of a deeper level. Soft objects have weights of both classes.
func BenchmarkCount(b *testing.B) {
	hard := benchData()
	soft := hard.Softened(rand.New(rand.NewPCG(2, 2)))
	for _, at := range []struct {
		*growtest.Data

		trees, depth int
		labels       string
	}{{hard, 4, 0, ""}, {hard, 1, 5, ""}, {hard, 4, 5, ""}, {soft, 4, 0, "/labels=soft"}, {soft, 4, 5, "/labels=soft"}} {
		d, g := at.Data, newBenchGrowth(b, at.Data, at.trees, at.depth)
		name := fmt.Sprintf("objects=%d/trees=%d/depth=%d%s", benchObjects, at.trees, at.depth, at.labels)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(d.Objects.Len() * len(d.Columns)))
			counter := g.grower.Counter(&g.passes[0])
			for b.Loop() {
				counter.Add(d.Objects)
			}
			b.ReportMetric(float64(len(g.growth.Large)), "nodes")
		})
	}
}

// BenchmarkPieces: counts are encoded, merged with others and added up.
func BenchmarkPieces(b *testing.B) {
	d := benchData()
	for _, depth := range []int{0, 5} {
		g := newBenchGrowth(b, d, 4, depth)
		p := &g.passes[0]
		counter := g.grower.Counter(p)
		counter.Add(d.Objects)
		b.Run(fmt.Sprintf("objects=%d/trees=4/depth=%d", benchObjects, depth), func(b *testing.B) {
			b.SetBytes(g.grower.PassBytes(p))
			for b.Loop() {
				counts := g.grower.NewCounts(p)
				counter.Pieces(func(key int64, piece []byte) {
					merged, err := g.grower.MergePieces(key, [][]byte{piece, piece})
					if err == nil {
						err = g.grower.AddPiece(counts, key, merged)
					}
					if err != nil {
						b.Fatal(err)
					}
				})
			}
		})
	}
}

// BenchmarkExpand: the driver scores the tests of all open nodes for all trees, and splits the
// nodes. The trees are decoded again from their JSON each time, which is not timed.
func BenchmarkExpand(b *testing.B) {
	d := benchData()
	for _, at := range []struct{ trees, depth int }{{1, 5}, {4, 0}, {4, 5}} {
		g := newBenchGrowth(b, d, at.trees, at.depth)
		before, err := g.growth.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		if len(g.passes) != 1 {
			b.Fatalf("%d passes, one is wanted", len(g.passes))
		}
		name := fmt.Sprintf("objects=%d/trees=%d/depth=%d", benchObjects, at.trees, at.depth)
		b.Run(name, func(b *testing.B) {
			counts, err := g.count(&g.passes[0])
			if err != nil {
				b.Fatal(err)
			}
			read := func(*bylevel.Pass) (*bylevel.Counts, error) { return counts, nil }
			for range b.N {
				b.StopTimer()
				g.growth = new(bylevel.Growth)
				if err := g.growth.UnmarshalJSON(before); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				g.expand(b, read)
			}
		})
	}
}
