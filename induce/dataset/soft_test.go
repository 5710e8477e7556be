package dataset_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// softRows are rows of smallShape with shares of 1/16.
func softRows(r *rand.Rand, s *shape, n int) (rows []row, shares []int32) {
	rows = s.rows(r, n)
	shares = make([]int32, n*s.classes)
	for i := range rows {
		rows[i].weight %= 1000
		rows[i].weight++
		for range 16 {
			shares[i*s.classes+r.IntN(1+r.IntN(s.classes))]++
		}
	}
	return rows, shares
}

// addSoft adds rows with shares to a table.
func (s *shape) addSoft(t *dataset.Table, rows []row, shares []int32) {
	all := dataset.Rows{Shares: shares}
	var at []int32
	for i := range rows {
		key := s.key(rows[i].codes)
		all.Keys, all.Hashes = append(all.Keys, key...), append(all.Hashes, dataset.HashKey(key))
		all.Classes, all.Weights = append(all.Classes, rows[i].class), append(all.Weights, rows[i].weight)
		at = append(at, int32(i))
	}
	t.AddRows(&all, at)
}

// TestSoftObjects: soft objects have the labels of hard objects of the same rows, and the sums
// of shares times weights. Blocks, selections and merged tables keep both.
func TestSoftObjects(t *testing.T) {
	s, r := smallShape(true), rand.New(rand.NewPCG(1, 2))
	rows, shares := softRows(r, s, 900)
	table, half, other := dataset.NewSoftTable(s.layout(), s.classes), dataset.NewSoftTable(s.layout(), s.classes),
		dataset.NewSoftTable(s.layout(), s.classes)
	s.addSoft(table, rows, shares)
	s.addSoft(half, rows[:400], shares[:400*s.classes])
	s.addSoft(other, rows[400:], shares[400*s.classes:])
	hard := s.decode(t, s.table(rows).AppendBlock(nil, 0, table.Len()))
	block := table.AppendBlock(nil, 0, table.Len())
	o := s.decode(t, block)
	if !o.Soft() || hard.Soft() || o.Len() != hard.Len() || !bytes.Equal(o.AppendBlock(nil), block) {
		t.Fatalf("soft %v, %d objects, want %d", o.Soft(), o.Len(), hard.Len())
	}
	for i := range o.Len() {
		want := make([]int64, s.classes)
		for at := range rows {
			if slices.EqualFunc(rows[at].codes, o.Codes, func(code int, c dataset.Codes) bool { return c.At(i) == code }) {
				for k, share := range shares[at*s.classes : (at+1)*s.classes] {
					want[k] += int64(share) * rows[at].weight
				}
			}
		}
		for _, cw := range o.Raw(i) {
			if want[cw.Class] -= cw.Weight; cw.Weight == 0 {
				t.Errorf("object %d: a class without weight", i)
			}
		}
		if slices.ContainsFunc(want, func(x int64) bool { return x != 0 }) || o.Weight[i] != 16*hard.Weight[i] ||
			o.RowsOf(i) != hard.RowsOf(i) || o.Class[i] != hard.Class[i] || !slices.Equal(o.Labels(i), hard.Raw(i)) {
			t.Errorf("object %d: other weights than its rows", i)
		}
	}
	if err := half.AddBlock(other.AppendBlock(nil, 0, other.Len()), s.classes); err != nil {
		t.Fatal(err)
	}
	merged := s.decode(t, half.AppendBlock(nil, 0, half.Len()))
	if !bytes.Equal(sortedBlock(s, merged), sortedBlock(s, o)) {
		t.Error("merged tables differ from one table")
	}
	all := make([]int32, o.Len())
	for i := range all {
		all[i] = int32(i)
	}
	if !bytes.Equal(o.Select(all).AppendBlock(nil), block) {
		t.Error("all objects, selected, differ")
	}
}

// sortedBlock returns the block of objects in the order of their codes.
func sortedBlock(s *shape, o *dataset.Objects) []byte {
	ids := make([]int32, o.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int {
		for f := range s.features {
			if x, y := o.Codes[f].At(int(a)), o.Codes[f].At(int(b)); x != y {
				return x - y
			}
		}
		return 0
	})
	return o.Select(ids).AppendBlock(nil)
}

// TestSoftBlockFaults: blocks of both kinds do not mix, and no byte of a soft block that is cut
// or changed makes the decoder panic.
func TestSoftBlockFaults(t *testing.T) {
	s, r := smallShape(true), rand.New(rand.NewPCG(3, 4))
	rows, shares := softRows(r, s, 20)
	table := dataset.NewSoftTable(s.layout(), s.classes)
	s.addSoft(table, rows, shares)
	soft, hard := table.AppendBlock(nil, 0, table.Len()), s.table(rows).AppendBlock(nil, 0, table.Len())
	for _, pair := range [][2][]byte{{soft, hard}, {hard, soft}} {
		o := s.noObjects()
		if err := o.AppendFrom(pair[0], s.layout()); err != nil {
			t.Fatal(err)
		}
		if o.AppendFrom(pair[1], s.layout()) == nil {
			t.Error("soft and other objects mix")
		}
	}
	if table.AddBlock(hard, s.classes) == nil || s.table(rows).AddBlock(soft, s.classes) == nil ||
		dataset.NewSoftTable(s.layout(), s.classes-1).AddBlock(soft, s.classes) == nil {
		t.Error("a table takes a block of another kind")
	}
	for at := range soft {
		if s.noObjects().AppendFrom(soft[:at], s.layout()) == nil {
			t.Errorf("the first %d bytes of %d are no block", at, len(soft))
		}
		changed := slices.Clone(soft)
		changed[at] ^= byte(1 + r.IntN(255))
		_ = s.noObjects().AppendFrom(changed, s.layout()) // it may still be a block
		_ = dataset.NewSoftTable(s.layout(), s.classes).AddBlock(changed, s.classes)
	}
}
