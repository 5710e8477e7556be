package bylevel_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
)

// byLevels grows a tree as the pipelines do: level by level while nodes have more objects than the
// budget, then the small nodes in memory. Objects are exchanged as blocks, the growth and its
// passes as JSON, counts as pieces.
type byLevels struct {
	*growtest.Data

	t      *testing.T
	trees  []induce.Params
	grower *bylevel.Grower
	layout dataset.Layout
	blocks [][]byte

	budget int64 // objects
	memory int64 // bytes of histograms
	forget bool  // before each level, as a resumed run does

	inferred int // histograms
	passes   int
}

func newByLevels(
	t *testing.T, d *growtest.Data, blocks int, budget int64, piece int, trees ...induce.Params,
) *byLevels {
	t.Helper()
	g := &byLevels{Data: d, t: t, trees: trees, budget: budget, memory: 1 << 30, layout: dataset.NewLayout(d.Features)}
	setting := bylevel.Setting{
		Trees: trees, Columns: d.Columns, Classes: d.Objects.Classes, Total: d.Total,
		Heaviest: slices.Max(d.Objects.Weight), Piece: piece, Soft: d.Objects.Soft(),
	}
	g.grower = bylevel.NewGrower(setting)
	n := d.Objects.Len()
	for i := range blocks {
		var ids []int32
		for id := i * n / blocks; id < (i+1)*n/blocks; id++ {
			ids = append(ids, int32(id))
		}
		g.blocks = append(g.blocks, d.Objects.Select(ids).AppendBlock(nil))
	}
	return g
}

// start returns a growth of the root alone.
func (g *byLevels) start() *bylevel.Growth {
	n, m := make([]int64, g.Objects.Classes), make([]int64, g.Objects.Classes)
	for i, k := range g.Objects.Class {
		n[k]++
		if !g.Objects.Soft() && g.trees[0].Classes == split.OfObjects {
			m[k] += g.Objects.Weight[i]
			continue
		}
		for _, cw := range g.Objects.Raw(i) {
			m[cw.Class] += cw.Weight
		}
	}
	return bylevel.NewGrowth(len(g.trees), n, m, g.budget)
}

func (g *byLevels) grow() [][]tree.Node {
	growth := g.start()
	for len(growth.Large) > 0 {
		if g.forget {
			growth = transported(g.t, growth)
		}
		passes := g.grower.Passes(growth, g.memory)
		g.passes += len(passes)
		children, err := g.grower.Expand(growth, passes, g.memory, 2, func(p *bylevel.Pass) (*bylevel.Counts, error) {
			return g.count(p), nil
		})
		if err != nil {
			g.t.Fatal(err)
		}
		growth.Next(children, g.budget)
	}
	g.growSmall(growth)
	return growth.Nodes.Trees()
}

// transported sends a value through its JSON.
func transported[T any](t *testing.T, v *T) *T {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	w := new(T)
	if err := json.Unmarshal(b, w); err != nil {
		t.Fatal(err)
	}
	return w
}

// load reads a block.
func (g *byLevels) load(block []byte) *dataset.Objects {
	o := dataset.NewObjects(g.layout, g.Objects.Classes, g.Objects.Rows != nil, 0)
	if err := o.AppendFrom(block, g.layout); err != nil {
		g.t.Fatal(err)
	}
	return o
}

// count counts one pass, each block separately. The first half of the pieces of one key are merged
// beforehand, as combiners do, the second half one by one.
func (g *byLevels) count(p *bylevel.Pass) *bylevel.Counts {
	plan := transported(g.t, p)
	pieces := make(map[int64][][]byte)
	for i, block := range g.blocks {
		level := g.grower.Counter(plan)
		if i%2 == 0 {
			level.Add(g.load(block))
		} else {
			g.addHalves(level, g.load(block))
		}
		level.Pieces(func(key int64, b []byte) { pieces[key] = append(pieces[key], b) })
	}
	for _, n := range p.Nodes {
		if n.Split && !n.Cells {
			g.inferred++
		}
	}
	keys := g.grower.PieceKeys(p)
	if len(keys) != len(pieces) {
		g.t.Fatalf("%d keys announced, pieces of %d", len(keys), len(pieces))
	}
	counts := g.grower.NewCounts(p)
	for _, key := range keys {
		list := pieces[key]
		half := (len(list) + 1) / 2
		merged, err := g.grower.MergePieces(key, list[:half])
		if err != nil {
			g.t.Fatal(err)
		}
		for _, b := range append(list[half:len(list):len(list)], merged) {
			if err := g.grower.AddPiece(counts, key, b); err != nil {
				g.t.Fatal(err)
			}
		}
	}
	return counts
}

// addHalves adds the two halves of a block at the same time.
func (g *byLevels) addHalves(c *bylevel.PassCounter, o *dataset.Objects) {
	parallel.Each(2, 2, func(half int) {
		var ids []int32
		for id := half; id < o.Len(); id += 2 {
			ids = append(ids, int32(id))
		}
		c.Add(o.Select(ids))
	})
}

// growSmall gathers the objects of each small node and grows it in memory.
func (g *byLevels) growSmall(growth *bylevel.Growth) {
	router := bylevel.NewRouter(growth.Routes(growth.Small), g.Columns)
	gathered := make([]*dataset.Objects, len(growth.Small))
	for i := range gathered {
		gathered[i] = dataset.NewObjects(g.layout, g.Objects.Classes, g.Objects.Rows != nil, 0)
	}
	for _, block := range g.blocks {
		objects := g.load(block)
		router.Route(objects, func(at int, ids []int32) {
			if err := gathered[at].AppendFrom(objects.Select(ids).AppendBlock(nil), g.layout); err != nil {
				g.t.Fatal(err)
			}
		})
	}
	for i, o := range growth.Small {
		if int64(gathered[i].Len()) != o.Count {
			g.t.Fatalf("%d objects reach small node %d, want %d", gathered[i].Len(), i, o.Count)
		}
		var trees []induce.Params
		for _, number := range o.Trees() {
			trees = append(trees, g.trees[number])
		}
		for at, nodes := range inmemory.GrowBelow(gathered[i], g.Columns, trees, g.Total, o.Place, inmemory.Options{}) {
			growth.Nodes.Graft(o.Members[at], nodes)
		}
	}
}

// TestLevels: growth by levels, from any number of blocks, with any budget and
// any memory, resumed or not, gives the bytes that Grow gives.
func TestLevels(t *testing.T) {
	inferred, passes := 0, 0
	budgets := []int64{0, 20, 75, 1000}
	if testing.Short() {
		budgets = budgets[1:2]
	}
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.AllFamilies() {
			t.Run(fmt.Sprintf("algorithm=%s/tests=%s", a, family), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(a), uint64(family)<<8))
				d := growtest.New(r, growtest.SomeFeatures(), 2+r.IntN(6), 150, r.IntN(2) == 0)
				switch r.IntN(4) {
				case 3:
					d = growtest.New(r, growtest.SomeFeatures(), 2, 150, r.IntN(2) == 0).Constrained(r)
				case 1:
					d = growtest.New(r, growtest.PricedFeatures(), 2+r.IntN(6), 150, r.IntN(2) == 0)
				case 2:
					d = growtest.New(r, growtest.PricedFeatures(), 2+r.IntN(6), 150, r.IntN(2) == 0).Freely()
				}
				if r.IntN(3) == 0 {
					d = d.Softened(r)
				} else if r.IntN(2) == 0 {
					d = d.Rare(r)
				}
				i, p := growAlike(t, r, d, randomTrees(r, a, family), budgets, []int{50, 2000, 1 << 20}, []int64{0, 30_000, 100_000, 1 << 30})
				inferred, passes = inferred+i, passes+p
			})
		}
	}
	if inferred == 0 {
		t.Error("no histogram was inferred")
	}
	if passes == 0 {
		t.Error("no pass was made")
	}
}

// TestLevelsUnordered is TestLevels for features whose absent values nobody has ordered. The test for missing values of such a
// feature is a presence test: the objects without a value are a leaf, and the objects with one go to another test of the feature, unless they
// are a leaf.
func TestLevelsUnordered(t *testing.T) {
	longtest.Skip(t)
	tests := 0
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.AllFamilies() {
			t.Run(fmt.Sprintf("algorithm=%s/tests=%s", a, family), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(a)+200, uint64(family)<<8))
				d := growtest.New(r, growtest.PricedFeatures(), 2+r.IntN(4), 200, r.IntN(2) == 0)
				switch r.IntN(4) {
				case 0:
					d = d.Freely()
				case 1:
					d = d.Softened(r)
				case 2:
					d = d.Constrained(r)
				}
				d = d.Unordered(r)
				trees := randomTrees(r, a, family)
				growAlike(t, r, d, trees, []int64{0, 75}, []int{50}, []int64{0, 30_000, 1 << 30})
				for i := range trees {
					tests += checkPresence(t, d, d.Grow(trees[i], 1))
				}
			})
		}
	}
	if tests == 0 {
		t.Error("no tree has a presence test")
	}
}

// checkPresence checks the tests for missing values in a grown tree, and returns the number of presence tests.
func checkPresence(t *testing.T, d *growtest.Data, nodes []tree.Node) (tests int) {
	t.Helper()
	for i := range nodes {
		n := &nodes[i]
		if n.Leaf() || !d.Columns[n.Test.Feature].IsPresence(&n.Test.Test) {
			continue
		}
		tests++
		absent, test := &nodes[n.ByOutcome(1).Child], &nodes[n.ByOutcome(0).Child]
		if !absent.Leaf() || absent.Objects == 0 || n.Test.Cost != 0 || n.Test.Billed != nil {
			t.Errorf("presence test %d: absent %+v, test %+v", i, absent, n.Test)
		}
		if !test.Leaf() && (test.Test.Feature != n.Test.Feature || d.Columns[test.Test.Feature].IsPresence(&test.Test.Test)) {
			t.Errorf("presence test %d of feature %d: the test %+v below", i, n.Test.Feature, test.Test)
		}
	}
	return tests
}

// TestLevelsLarge is TestLevels for data on which the estimates of split.Team may be off the most: some
// thousand objects that weigh up to 1e9, and thousands of codes. The features have prices, some of them in
// groups, and in half of the cases also constraints and free repeats.
func TestLevelsLarge(t *testing.T) {
	longtest.Skip(t)
	priced := func(f dataset.Feature, group string, cost float64) dataset.Feature {
		f.Group, f.GroupCost = group, cost
		return f
	}
	town := growtest.Categorical("town", 500, 1)
	town.ValueCosts = map[string]float64{"v1": 0.5, "v7": 3}
	features := []dataset.Feature{
		priced(growtest.Numeric("fine", 5000, 2), "lab", 20), growtest.Numeric("few", 4, 0), town,
		priced(growtest.Numeric("many", 300, 1e-3), "lab", 20), priced(growtest.Categorical("job", 5, 1), "form", 0.3),
		priced(growtest.Numeric("flag", 2, 1), "form", 0.3), growtest.Numeric("coarse", 40, 3),
	}
	heavy := 0
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.AllFamilies() {
			t.Run(fmt.Sprintf("algorithm=%s/tests=%s", a, family), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(a)+100, uint64(family)<<8))
				d := growtest.New(r, features, 2+r.IntN(2)*r.IntN(3), 1200, r.IntN(2) == 0).Weighty(r)
				if r.IntN(2) == 0 {
					d = d.Constrained(r)
				}
				if r.IntN(2) == 0 {
					d = d.Freely()
				}
				trees := randomTrees(r, a, family)
				for i := range trees {
					trees[i].MaxDepth = 6 // a chain of tests for single codes takes a level for each
				}
				growAlike(t, r, d, trees, []int64{100, 800}, []int{1 << 20}, []int64{100_000, 1 << 30})
				for i := range trees {
					if c := trees[i].Criterion(d.Total); trees[i].Theta > 0 && c.IsHeavy(slices.Max(d.Objects.Weight)) {
						heavy++
					}
				}
			})
		}
	}
	if heavy == 0 {
		t.Error("no tree has light and heavy objects")
	}
}

// randomTrees draws the parameters of one tree to five: the first of an algorithm and a family, each other
// likewise or of any.
func randomTrees(r *rand.Rand, a split.Algorithm, family split.Family) []induce.Params {
	trees := []induce.Params{growtest.RandomParams(r, a, family)}
	for range r.IntN(4) {
		p := growtest.RandomParams(r, a, family)
		if r.IntN(2) == 0 {
			all, families := growtest.Algorithms(), growtest.AllFamilies()
			p = growtest.RandomParams(r, all[r.IntN(len(all))], families[r.IntN(len(families))])
		}
		trees = append(trees, p)
	}
	by := split.Classes(r.IntN(2))
	for i := range trees {
		trees[i].Classes = by
	}
	return trees
}

// growAlike checks that growth by levels gives the bytes that Grow gives for each of the trees: with each of the
// budgets, and with a length of pieces and a memory drawn for each budget. It returns how many histograms were inferred, and how many passes made.
func growAlike(
	t *testing.T, r *rand.Rand, d *growtest.Data, trees []induce.Params, budgets []int64, pieces []int, memories []int64,
) (inferred, passes int) {
	t.Helper()
	var want []string
	for _, p := range trees {
		want = append(want, growtest.Encode(t, d.Grow(p, 1)))
	}
	for _, budget := range budgets {
		blocks, piece := 1+r.IntN(5), pieces[r.IntN(len(pieces))]
		g := newByLevels(t, d.Shuffled(r), blocks, budget, piece, trees...)
		g.memory, g.forget = memories[r.IntN(len(memories))], r.IntN(3) == 0
		for i, root := range g.grow() {
			if got := growtest.Encode(t, root); got != want[i] {
				t.Errorf("%d blocks, budget %d, memory %d, tree %d of %+v:\n%s, want\n%s",
					blocks, budget, g.memory, i, trees, got, want[i])
			}
		}
		inferred, passes = inferred+g.inferred, passes+g.passes
	}
	return inferred, passes
}

// TestLevelsOneBin: a column of one value with nulls has two codes.
func TestLevelsOneBin(t *testing.T) {
	for _, family := range growtest.AllFamilies() {
		features := []dataset.Feature{growtest.Numeric("constant", 1, 1), growtest.Numeric("x", 4, 5)}
		d := growtest.New(rand.New(rand.NewPCG(1, 2)), features, 2, 40, false)
		p := induce.Params{Algorithm: split.EC45, Family: family, Lambda: 1}
		want := growtest.Encode(t, d.Grow(p, 1))
		if got := growtest.Encode(t, newByLevels(t, d, 2, 0, 0, p).grow()[0]); got != want {
			t.Errorf("tests %s: tree\n%s, want\n%s", family, got, want)
		}
	}
}

// ways lists the tests and outcomes that lead to each node of a pass.
func ways(p *bylevel.Pass) []string {
	list := make([]string, len(p.Nodes))
	var follow func(route int, way string)
	follow = func(route int, way string) {
		if at := p.Routes[route].At; at >= 0 {
			list[at] = way
		}
		for _, f := range p.Routes[route].Forks {
			for outcome, to := range f.To {
				if to >= 0 {
					follow(to, fmt.Sprintf("%s/%v=%d", way, f.Test, outcome))
				}
			}
		}
	}
	follow(0, "root")
	return list
}

// TestPasses: no pass takes more memory than it may, but for the least that
// there is, one feature of one node; and each large node is counted once.
func TestPasses(t *testing.T) {
	d := growtest.New(rand.New(rand.NewPCG(5, 6)), growtest.SomeFeatures(), 3, 150, false)
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.001}
	more := induce.Params{Algorithm: split.CART, Family: split.OneHot, Theta: 0.01}
	for _, limit := range []int64{0, 5000, 50_000, 1 << 30} {
		g := newByLevels(t, d, 2, 0, 1000, p, p, more)
		g.memory = limit
		growth := g.start()
		for len(growth.Large) > 0 {
			passes := g.grower.Passes(growth, limit)
			features := make(map[string]int)
			for i := range passes {
				pass := &passes[i]
				least := len(pass.Nodes) == 1 && pass.To == pass.From+1
				if bytes := g.grower.PassBytes(pass); bytes > limit+1000 && !least { // in addition to raw class weights
					t.Errorf("memory %d: a pass of %d nodes takes %d", limit, len(pass.Nodes), bytes)
				}
				for _, way := range ways(pass) {
					features[way] += pass.To - pass.From
				}
			}
			for way, n := range features {
				if n != len(d.Columns) {
					t.Errorf("memory %d: node %s is counted for %d of %d features", limit, way, n, len(d.Columns))
				}
			}
			if len(features) < len(growth.Large) {
				t.Errorf("memory %d: %d of %d large nodes are counted", limit, len(features), len(growth.Large))
			}
			children, err := g.grower.Expand(growth, passes, limit, 1, func(p *bylevel.Pass) (*bylevel.Counts, error) {
				return g.count(p), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			growth.Next(children, 0)
		}
	}
}

// TestPieceErrors: truncated pieces and pieces of no pass are errors. With theta 1 no object is heavy, with theta 0 all are.
func TestPieceErrors(t *testing.T) {
	d := growtest.New(rand.New(rand.NewPCG(3, 4)), growtest.SomeFeatures(), 3, 50, true)
	for _, theta := range []float64{0, 1} {
		p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: theta}
		g := newByLevels(t, d, 1, 0, 1<<20, p)
		pass := &g.grower.Passes(g.start(), 1<<30)[0]
		level := g.grower.Counter(pass)
		level.Add(d.Objects)
		level.Pieces(func(key int64, b []byte) {
			for _, bad := range [][]byte{
				nil, b[:1], b[:len(b)/2], b[:len(b)-1], append(slices.Clone(b), 2), append(slices.Clone(b), 0, 1),
			} {
				if err := g.grower.AddPiece(g.grower.NewCounts(pass), key, bad); err == nil {
					t.Errorf("key %d with %d of %d bytes: no error", key, len(bad), len(b))
				}
			}
		})
		for _, key := range []int64{-1, -2, 2, 3, 1 << 40} {
			if err := g.grower.AddPiece(g.grower.NewCounts(pass), key, []byte{0, 1}); err == nil {
				t.Errorf("key %d: no error", key)
			}
		}
	}
}

// TestGrowthErrors: growths that no run can have written are refused.
func TestGrowthErrors(t *testing.T) {
	const leaf = `{"classes":2,"trees":["AQAAAAAAAA=="],`
	if err := json.Unmarshal([]byte(leaf+`"small":[{"trees":[0],"objects":[1,1],"weight":[1,2]}]}`), new(bylevel.Growth)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{}`, `{"trees":[]}`, `{"classes":2,"trees":[null]}`, `{"classes":2,"trees":["AQAAAAAAAA"]}`, `{"classes":2,"trees":["AgAAAAAAAA=="]}`,
		leaf + `"large":[{"trees":[1],"objects":[1,1],"weight":[1,2]}]}`,
		leaf + `"large":[{"trees":[-1],"objects":[1,1],"weight":[1,2]}]}`,
		leaf + `"large":[{"trees":[0],"path":[{"outcome":1}],"objects":[1,1],"weight":[1,2]}]}`,
		leaf + `"small":[{"trees":[0],"objects":[1],"weight":[1,2]}]}`,
		leaf + `"small":[{"trees":[0],"objects":[1],"weight":[1]}]}`,
		leaf + `"small":[{"trees":[],"objects":[1,1],"weight":[1,2]}]}`,
		leaf + `"small":[{"trees":[0],"objects":[-1,1],"weight":[1,2]}]}`,
		`{"classes":2147483650,"trees":["AQAAAAAAAA=="]}`, `{"classes":0,"trees":["AQAAAAAAAA=="]}`,
	} {
		if err := json.Unmarshal([]byte(text), new(bylevel.Growth)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// FuzzPiece: damaged pieces never panic, and take no more memory than whole ones.
func FuzzPiece(f *testing.F) {
	d := growtest.New(rand.New(rand.NewPCG(3, 4)), growtest.SomeFeatures(), 3, 50, true)
	l := bylevel.NewGrower(bylevel.Setting{
		Trees: []induce.Params{{Algorithm: split.EC45, Family: split.Both}}, Columns: d.Columns, Classes: 3, Total: d.Total,
		Heaviest: slices.Max(d.Objects.Weight), Piece: 5000,
	})
	pass := &l.Passes(bylevel.NewGrowth(1, []int64{20, 20, 10}, []int64{20, 20, d.Total - 40}, 0), 1<<30)[0]
	level := l.Counter(pass)
	level.Add(d.Objects)
	level.Pieces(func(key int64, b []byte) { f.Add(key, b) })
	f.Add(int64(0), []byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(_ *testing.T, key int64, b []byte) {
		_ = l.AddPiece(l.NewCounts(pass), key, b) // an error or none
		_, _ = l.MergePieces(key, [][]byte{b, b}) // likewise
	})
}

// TestClose: closed large nodes become leaves with all their rows.
func TestClose(t *testing.T) {
	d := growtest.New(rand.New(rand.NewPCG(9, 8)), growtest.SomeFeatures(), 3, 300, true)
	for _, by := range []split.Classes{split.OfObjects, split.OfRows} {
		p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.001, Classes: by}
		testClose(t, d, p)
	}
}

func testClose(t *testing.T, d *growtest.Data, p induce.Params) {
	t.Helper()
	whole := d.Grow(p, 1)
	for settled := range 4 {
		g := newByLevels(t, d, 3, 10, 1000, p)
		growth := g.start()
		for range settled {
			passes := g.grower.Passes(growth, g.memory)
			children, err := g.grower.Expand(growth, passes, g.memory, 1, func(p *bylevel.Pass) (*bylevel.Counts, error) {
				return g.count(p), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			growth.Next(children, g.budget)
		}
		pass := g.grower.Close(growth)
		g.grower.Fill(pass, g.count(pass))
		g.growSmall(growth)
		grown := tree.SumUp(growth.Nodes.Trees()[0])
		n, root := &grown[0], &whole[0]
		if !slices.Equal(n.RawClassWeights, root.RawClassWeights) || !slices.Equal(n.ClassWeights, root.ClassWeights) {
			t.Errorf("%d levels: the root has the class weights %v and %v, want %v and %v", settled, n.ClassWeights,
				n.RawClassWeights, root.ClassWeights, root.RawClassWeights)
		}
		if leaves := growtest.Stopped(t, grown, whole); leaves != len(pass.Nodes) && settled == 0 {
			t.Errorf("%d levels: %d leaves are marked, want %d", settled, leaves, len(pass.Nodes))
		}
	}
}
