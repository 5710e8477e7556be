package dataset_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestPatch: the objects of a moving window equal the objects of its rows, for blocks of any size.
func TestPatch(t *testing.T) {
	features := []dataset.Feature{numeric("a", 301), categorical("b", 2)}
	layout := dataset.NewLayout(features)
	const classes = 3
	for seed := range uint64(80) {
		random := rand.New(rand.NewPCG(seed, 6))
		weighted := seed%2 == 0
		var tables [4]*dataset.Table // rows that stay, leave and are new; the window of the first two
		for i := range tables {
			tables[i] = dataset.NewTable(layout, weighted)
		}
		for range 1 + random.IntN(600) {
			key := make([]byte, layout.Stride)
			key[0], key[layout.Stride-1] = byte(random.IntN(30)), byte(random.IntN(4))
			class, weight, part := uint16(random.IntN(classes)), int64(1), random.IntN(3)
			if weighted {
				weight = int64(1 + random.IntN(3))
			}
			tables[part].Add(key, dataset.HashKey(key), class, weight, 1)
			if part < 2 {
				tables[3].Add(key, dataset.HashKey(key), class, weight, 1)
			}
		}
		blocks := func(t *dataset.Table, most int) (list [][]byte) {
			for from := 0; from < t.Len(); from += most {
				list = append(list, t.AppendBlock(nil, from, min(from+most, t.Len())))
			}
			return list
		}
		change, want := dataset.NewTable(layout, weighted), dataset.NewTable(layout, weighted)
		must := func(merge func([]byte, int) error, t0 *dataset.Table) {
			for _, block := range blocks(t0, 1000) {
				if err := merge(block, classes); err != nil {
					t.Fatal(err)
				}
			}
		}
		must(change.SubtractBlock, tables[1])
		must(change.AddBlock, tables[2])
		must(want.AddBlock, tables[0])
		must(want.AddBlock, tables[2])
		most := 1 + random.IntN(80)
		patch := dataset.NewPatch(change, classes, most)
		for _, block := range blocks(tables[3], 1+random.IntN(most)) {
			if err := patch.Apply(block); err != nil {
				t.Fatal(err)
			}
		}
		got, err := patch.End()
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range got {
			if n, err := dataset.BlockLen(block); err != nil || n == 0 || n > most {
				t.Errorf("seed %d: a block of %d objects, want 1 to %d: %v", seed, n, most, err)
			}
		}
		if got, want := objectsIn(t, layout, classes, weighted, got...),
			objectsIn(t, layout, classes, weighted, blocks(want, 1000)...); !maps.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// TestPatchRefuses: what was never there cannot be subtracted, and blocks of another kind are refused.
func TestPatchRefuses(t *testing.T) {
	s := &shape{features: []dataset.Feature{numeric("x", 9)}, distinct: 9, classes: 2}
	one := func(code int, class uint16) row { return row{[]int{code}, class, 1} }
	block := func(t *dataset.Table) []byte { return t.AppendBlock(nil, 0, t.Len()) }
	window := block(s.table([]row{one(1, 0), one(2, 1)}))
	for name, c := range map[string]struct {
		leave []row
		block []byte
		apply bool // Apply fails
	}{
		"another key":      {[]row{one(3, 0)}, window, false},
		"another class":    {[]row{one(1, 1)}, window, true},
		"too often":        {[]row{one(1, 0), one(1, 0)}, window, true},
		"a damaged block":  {nil, window[:len(window)-1], true},
		"what follows":     {nil, append(window[:len(window):len(window)], 0), true},
		"a weighted block": {nil, block((&shape{features: s.features, weighted: true}).table([]row{one(1, 0)})), true},
	} {
		t.Run(name, func(t *testing.T) {
			change := dataset.NewTable(s.layout(), false)
			if err := change.SubtractBlock(block(s.table(c.leave)), s.classes); err != nil {
				t.Fatal(err)
			}
			p := dataset.NewPatch(change, s.classes, 10)
			if err := p.Apply(c.block); (err != nil) != c.apply {
				t.Fatalf("Apply: %v, want an error: %t", err, c.apply)
			} else if err != nil {
				return
			}
			if _, err := p.End(); err == nil {
				t.Error("more was subtracted than was there")
			}
		})
	}
	soft := dataset.NewSoftTable(s.layout(), s.classes)
	if err := dataset.NewPatch(soft, s.classes, 10).Apply(window); err == nil {
		t.Error("a soft table")
	}
}

// BenchmarkPatch moves a window on: a thirtieth of its rows leaves, and as many are new.
func BenchmarkPatch(b *testing.B) {
	const days = 30
	s := &shape{features: make([]dataset.Feature, 8), distinct: benchRows, classes: 2}
	for i := range s.features {
		s.features[i] = numeric("bins", 16)
	}
	rows := s.rows(rand.New(rand.NewPCG(3, 4)), benchRows/days*(days+1))
	day := len(rows) / (days + 1)
	encoded := func(rows []row) []byte {
		t := s.table(rows)
		return t.AppendBlock(nil, 0, t.Len())
	}
	window, leave, join := encoded(rows[:days*day]), encoded(rows[:day]), encoded(rows[days*day:])
	objects, _ := dataset.BlockLen(window)
	for _, how := range []string{"patch", "table"} {
		b.Run("by="+how, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := dataset.NewTable(s.layout(), false)
				var err error
				if how == "table" {
					err = t.AddBlock(window, s.classes)
				}
				if err == nil {
					err = t.SubtractBlock(leave, s.classes)
				}
				if err == nil {
					err = t.AddBlock(join, s.classes)
				}
				if err == nil && how == "table" {
					err = t.DropEmpty()
					t.AppendBlock(nil, 0, t.Len())
				} else if err == nil {
					p := dataset.NewPatch(t, s.classes, benchRows)
					if err = p.Apply(window); err == nil {
						_, err = p.End()
					}
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			reportEach(b, objects, "ns/object")
		})
	}
}
