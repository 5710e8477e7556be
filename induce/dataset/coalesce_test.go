package dataset_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestTable: a table has the same objects as maps over its rows. With up to 2000 rows it
// grows several times.
func TestTable(t *testing.T) {
	for _, d := range draws(6) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			rows := s.rows(r, 1+r.IntN(2000))
			table, want := s.table(rows), coalesce(rows)
			if table.Len() != len(want) {
				t.Errorf("%d objects, want %d", table.Len(), len(want))
			}
			checkObjects(t, canonical(s.decode(t, table.AppendBlock(nil, 0, table.Len()))), want)
		})
	}
}

// TestTableOrder: the objects of a table are in the order of their first rows, wherever
// the blocks are cut.
func TestTableOrder(t *testing.T) {
	for _, d := range draws(3) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			table := s.table(s.rows(r, 500))
			want := contents(s.decode(t, table.AppendBlock(nil, 0, table.Len())))
			var blocks [][]byte
			for from := 0; from < table.Len(); {
				to := from + 1 + r.IntN(table.Len()-from)
				blocks = append(blocks, table.AppendBlock(nil, from, to))
				from = to
			}
			checkObjects(t, s.decode(t, blocks...), want)
		})
	}
}

// TestTableMerge: the merged objects, once sorted, are the same to the byte for any
// distribution of the rows over tables, any blocks of the tables, and any order of the
// blocks.
func TestTableMerge(t *testing.T) {
	for _, d := range draws(4) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			rows := s.rows(r, 1+r.IntN(1500))
			want := coalesce(rows)
			var first []byte
			for range 3 {
				merged := dataset.NewTable(s.layout(), s.weighted)
				for _, b := range dealtBlocks(r, s, rows) {
					if err := merged.AddBlock(b, s.classes); err != nil {
						t.Fatal(err)
					}
				}
				objects := canonical(s.decode(t, merged.AppendBlock(nil, 0, merged.Len())))
				checkObjects(t, objects, want)
				encoded := objects.AppendBlock(nil)
				if first == nil {
					first = encoded
				}
				if !bytes.Equal(encoded, first) {
					t.Error("rows dealt out in another way give other bytes")
				}
			}
		})
	}
}

// dealtBlocks deals the rows to one to six tables and returns all their blocks,
// shuffled.
func dealtBlocks(r *rand.Rand, s *shape, rows []row) [][]byte {
	dealt := make([][]row, 1+r.IntN(6))
	for _, i := range r.Perm(len(rows)) {
		to := r.IntN(len(dealt))
		dealt[to] = append(dealt[to], rows[i])
	}
	var blocks [][]byte
	for _, some := range dealt {
		t := s.table(some)
		half := r.IntN(t.Len() + 1)
		blocks = append(blocks, t.AppendBlock(nil, 0, half), t.AppendBlock(nil, half, t.Len()))
	}
	r.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	return blocks
}

// TestTableBytes: Bytes grows at least with the keys, as callers flush tables by it.
func TestTableBytes(t *testing.T) {
	for _, s := range shapes() {
		empty := dataset.NewTable(s.layout(), s.weighted)
		table := s.table(s.rows(rand.New(rand.NewPCG(1, 1)), 2000))
		// 18 bytes: slot, class and weight.
		if least := table.Len() * (s.layout().Stride + 18); empty.Bytes() != 0 || table.Bytes() < least {
			t.Errorf("%s: %d bytes of an empty table, %d of %d objects; want 0 and %d at least",
				s.name, empty.Bytes(), table.Bytes(), table.Len(), least)
		}
	}
}

// TestTableCollision: two keys stay apart if their hashes agree in all bits that the
// table uses. The pair is the first among the keys 1, 2, ..., found by the Python of
// TestHashes. By chance TestTable has no such pair.
func TestTableCollision(t *testing.T) {
	a := binary.LittleEndian.AppendUint64(nil, 373069)
	b := binary.LittleEndian.AppendUint64(nil, 497941)
	const looked = 0xffffffff_0000003f // the tag and the place in 64 slots
	if x, y := dataset.HashKey(a), dataset.HashKey(b); x&looked != y&looked {
		t.Fatalf("hashes %x and %x do not collide", x, y)
	}
	s := shape{features: make([]dataset.Feature, 8), classes: 2}
	for i := range s.features {
		s.features[i] = numeric("byte", 255)
	}
	table := dataset.NewTable(s.layout(), false)
	for i, key := range [][]byte{a, b, a, b, b} {
		table.Add(key, dataset.HashKey(key), uint16(i%2), 1, 1)
	}
	got := s.decode(t, table.AppendBlock(nil, 0, table.Len()))
	if got.Len() != 2 || got.Weight[0] != 2 || got.Weight[1] != 3 { // by hand
		t.Errorf("weights %v, want [2 3]", got.Weight)
	}
}
