package levels_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/split"
)

// byLevels grows a tree as the pipelines do: one level after the other while
// nodes have more objects than the budget, the rest in memory. Objects travel
// as blocks, the growth and its passes as JSON, counts as pieces.
type byLevels struct {
	*growtest.Data

	t      *testing.T
	p      induce.Params
	grower *levels.Grower
	layout dataset.Layout
	blocks [][]byte

	budget int64 // objects
	memory int64 // bytes of histograms
	forget bool  // before each level, as a resumed run does

	inferred int // histograms
	passes   int
}

func newByLevels(t *testing.T, d *growtest.Data, p induce.Params, blocks int, budget int64, piece int) *byLevels {
	t.Helper()
	g := &byLevels{Data: d, t: t, p: p, budget: budget, memory: 1 << 30, layout: dataset.NewLayout(d.Features)}
	setting := levels.Setting{
		Params: p, Columns: d.Columns, Classes: d.Objects.Classes, Total: d.Total,
		Heaviest: slices.Max(d.Objects.Weight), Piece: piece,
	}
	g.grower = levels.NewGrower(setting)
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
func (g *byLevels) start() *levels.Growth {
	n, m := make([]int64, g.Objects.Classes), make([]int64, g.Objects.Classes)
	for i, k := range g.Objects.Class {
		n[k]++
		m[k] += g.Objects.Weight[i]
	}
	return levels.NewGrowth(n, m, g.budget)
}

func (g *byLevels) grow() *induce.Node {
	growth := g.start()
	for len(growth.Large) > 0 {
		if g.forget {
			growth = transported(g.t, growth)
		}
		passes, there := g.grower.Passes(growth, g.memory), transported(g.t, growth)
		g.passes += len(passes)
		children, err := g.grower.Expand(growth, passes, g.memory, 2, func(p *levels.Pass) (*levels.Counts, error) {
			return g.count(there, p), nil
		})
		if err != nil {
			g.t.Fatal(err)
		}
		growth.Next(children, g.budget)
	}
	g.growSmall(growth)
	growth.Root.SumUp()
	return growth.Root
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

// count counts one pass, each block on its own. Of the pieces of one key the
// first half are merged beforehand, as combiners do, the others one by one.
func (g *byLevels) count(growth *levels.Growth, p *levels.Pass) *levels.Counts {
	plan := transported(g.t, p)
	pieces := make(map[int64][][]byte)
	for i, block := range g.blocks {
		level := g.grower.Counter(growth.Root, plan)
		level.Add(g.load(block), 1+i%3)
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

// growSmall gathers the objects of each small node and grows it in memory.
func (g *byLevels) growSmall(growth *levels.Growth) {
	there := transported(g.t, growth)
	router := levels.NewRouter(there.Root, g.Columns)
	numbers := make(map[*induce.Node]int)
	growth.Root.Walk(func(n *induce.Node, _ int) { numbers[n] = len(numbers) })
	grown := make([]*induce.Node, len(growth.Small))
	for i, o := range growth.Small {
		gathered := dataset.NewObjects(g.layout, g.Objects.Classes, g.Objects.Rows != nil, 0)
		for _, block := range g.blocks {
			objects := g.load(block)
			var ids []int32
			for id := range objects.Len() {
				if router.Leaf(objects, id) == numbers[o.Node] {
					ids = append(ids, int32(id))
				}
			}
			if err := gathered.AppendFrom(objects.Select(ids).AppendBlock(nil), g.layout); err != nil {
				g.t.Fatal(err)
			}
		}
		if int64(gathered.Len()) != o.Node.Objects {
			g.t.Fatalf("%d objects reach node %d, want %d", gathered.Len(), numbers[o.Node], o.Node.Objects)
		}
		at := there.Small[i].Place()
		grown[i] = memory.GrowBelow(gathered, g.Columns, []induce.Params{g.p}, g.Total, at, memory.Options{})[0]
	}
	for i, o := range growth.Small {
		*o.Node = *grown[i]
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
		for _, family := range growtest.Families() {
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
				p := growtest.RandomParams(r, a, family)
				want := growtest.Encode(t, d.Grow(p, 1))
				for _, budget := range budgets {
					blocks, piece := 1+r.IntN(5), []int{50, 2000, 1 << 20}[r.IntN(3)]
					g := newByLevels(t, d.Shuffled(r), p, blocks, budget, piece)
					g.memory, g.forget = []int64{0, 30_000, 100_000, 1 << 30}[r.IntN(4)], r.IntN(3) == 0
					if got := growtest.Encode(t, g.grow()); got != want {
						t.Errorf("%d blocks, budget %d, memory %d, %+v: tree\n%s, want\n%s", blocks, budget, g.memory, p, got, want)
					}
					inferred, passes = inferred+g.inferred, passes+g.passes
				}
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

// TestLevelsOneBin: a column of one value with nulls has two codes.
func TestLevelsOneBin(t *testing.T) {
	for _, family := range growtest.Families() {
		features := []dataset.Feature{growtest.Numeric("constant", 1, 1), growtest.Numeric("x", 4, 5)}
		d := growtest.New(rand.New(rand.NewPCG(1, 2)), features, 2, 40, false)
		p := induce.Params{Algorithm: split.EC45, Family: family, Lambda: 1}
		want := growtest.Encode(t, d.Grow(p, 1))
		if got := growtest.Encode(t, newByLevels(t, d, p, 2, 0, 0).grow()); got != want {
			t.Errorf("tests %s: tree\n%s, want\n%s", family, got, want)
		}
	}
}

// TestPasses: no pass takes more memory than it may, but for the least that
// there is, one feature of one node; and each large node is counted once.
func TestPasses(t *testing.T) {
	d := growtest.New(rand.New(rand.NewPCG(5, 6)), growtest.SomeFeatures(), 3, 150, false)
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.001}
	for _, limit := range []int64{0, 5000, 50_000, 1 << 30} {
		g := newByLevels(t, d, p, 2, 0, 1000)
		g.memory = limit
		growth := g.start()
		for len(growth.Large) > 0 {
			passes := g.grower.Passes(growth, limit)
			features := make(map[int]int)
			for i := range passes {
				pass := &passes[i]
				least := len(pass.Nodes) == 1 && pass.To == pass.From+1
				if bytes := g.grower.PassBytes(pass); bytes > limit+1000 && !least { // beside raw class weights
					t.Errorf("memory %d: a pass of %d nodes takes %d", limit, len(pass.Nodes), bytes)
				}
				for _, n := range pass.Nodes {
					features[n.Number] += pass.To - pass.From
				}
			}
			for number, n := range features {
				if n != len(d.Columns) {
					t.Errorf("memory %d: node %d is counted for %d of %d features", limit, number, n, len(d.Columns))
				}
			}
			if len(features) < len(growth.Large) {
				t.Errorf("memory %d: %d of %d large nodes are counted", limit, len(features), len(growth.Large))
			}
			children, err := g.grower.Expand(growth, passes, limit, 1, func(p *levels.Pass) (*levels.Counts, error) {
				return g.count(growth, p), nil
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
		g := newByLevels(t, d, p, 1, 0, 1<<20)
		pass := &levels.Pass{Nodes: []levels.PassNode{{Weight: d.Total, Cells: true, Split: true}}, To: len(d.Columns)}
		level := g.grower.Counter(g.start().Root, pass)
		level.Add(d.Objects, 1)
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
	for _, text := range []string{
		`{}`, `{"root":null}`,
		`{"root":{"class":[1,2]},"large":[{"number":1,"objects":[1,1],"weight":[1,2]}]}`,
		`{"root":{"class":[1,2]},"small":[{"number":-1,"objects":[1,1],"weight":[1,2]}]}`,
		`{"root":{"class":[1,2]},"small":[{"number":0,"objects":[1],"weight":[1,2]}]}`,
	} {
		if err := json.Unmarshal([]byte(text), new(levels.Growth)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// FuzzPiece: damaged pieces never panic, and take no more memory than whole ones.
func FuzzPiece(f *testing.F) {
	d := growtest.New(rand.New(rand.NewPCG(3, 4)), growtest.SomeFeatures(), 3, 50, true)
	l := levels.NewGrower(levels.Setting{
		Params: induce.Params{Algorithm: split.EC45, Family: split.Both}, Columns: d.Columns, Classes: 3, Total: d.Total,
		Heaviest: slices.Max(d.Objects.Weight), Piece: 5000,
	})
	pass := &levels.Pass{Nodes: []levels.PassNode{{Weight: d.Total, Cells: true, Split: true}}, To: len(d.Columns)}
	level := l.Counter(levels.NewOpen(make([]int64, 3), make([]int64, 3), 0).Node, pass)
	level.Add(d.Objects, 1)
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
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.001}
	whole := d.Grow(p, 1)
	for settled := range 4 {
		g := newByLevels(t, d, p, 3, 10, 1000)
		growth := g.start()
		for range settled {
			passes := g.grower.Passes(growth, g.memory)
			children, err := g.grower.Expand(growth, passes, g.memory, 1, func(p *levels.Pass) (*levels.Counts, error) {
				return g.count(growth, p), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			growth.Next(children, g.budget)
		}
		pass := growth.Close()
		g.grower.Fill(pass, g.count(growth, pass))
		g.growSmall(growth)
		growth.Root.SumUp()
		if leaves := growtest.Stopped(t, growth.Root, whole); leaves != len(pass.Nodes) && settled == 0 {
			t.Errorf("%d levels: %d leaves are marked, want %d", settled, leaves, len(pass.Nodes))
		}
	}
}
