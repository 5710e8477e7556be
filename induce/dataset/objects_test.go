package dataset_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestObjectsAppend: objects appended one by one equal the objects of a table.
func TestObjectsAppend(t *testing.T) {
	for _, d := range draws(3) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			want := coalesce(s.rows(r, 400))
			o := s.noObjects()
			for i := range want {
				o.Append(want[i].Codes, want[i].Raw, want[i].Rows)
			}
			checkObjects(t, o, want)
		})
	}
}

// TestObjectsSelect: numbers may be missing, repeated and in any order. The selected objects share
// no memory with the source objects.
func TestObjectsSelect(t *testing.T) {
	for _, d := range draws(3) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			table := s.table(s.rows(r, 300))
			o := s.decode(t, table.AppendBlock(nil, 0, table.Len()))
			before := contents(o)
			ids := make([]int32, r.IntN(2*o.Len()))
			want := make([]object, len(ids))
			for i := range ids {
				ids[i] = int32(r.IntN(o.Len()))
				want[i] = before[ids[i]]
			}
			selected := o.Select(ids)
			selected.Append(make([]int, len(s.features)), []dataset.ClassWeight{{Class: 1, Weight: 9}}, 1)
			checkObjects(t, o, before)
			ids = ids[:0]
			for i := range want {
				ids = append(ids, int32(i))
			}
			checkObjects(t, selected.Select(ids), want)
		})
	}
}

// TestFirstByHash: any number of first objects are those of sorting all objects by their hash, codes and weights.
func TestFirstByHash(t *testing.T) {
	for _, d := range draws(3) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			for _, rows := range []int{0, 1, 300, 20_000} {
				table := s.table(s.rows(r, rows))
				if rows == 0 {
					table = s.table(nil)
				}
				o := s.decode(t, table.AppendBlock(nil, 0, table.Len()))
				hashes, all := o.Hashes(0), make([]int32, o.Len())
				for i := range all {
					all[i] = int32(i)
				}
				slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(hashes[a], hashes[b]) })
				for _, most := range []int{0, 1, 10, 1000, o.Len(), o.Len() + 5} {
					got := o.FirstByHash(most)
					if len(got) != min(most, o.Len()) {
						t.Fatalf("%d of %d objects, want %d", len(got), o.Len(), most)
					}
					for i, id := range got {
						if hashes[id] != hashes[all[i]] {
							t.Fatalf("object %d at place %d of %d, want %d", id, i, o.Len(), all[i])
						}
					}
				}
			}
		})
	}
}

// TestObjectsClass: by hand, the class of the most weight; the first class of a tie.
func TestObjectsClass(t *testing.T) {
	for _, test := range []struct {
		raw  []dataset.ClassWeight
		want uint16
	}{
		{[]dataset.ClassWeight{{Class: 2, Weight: 1}}, 2},
		{[]dataset.ClassWeight{{Class: 0, Weight: 1}, {Class: 1, Weight: 1}}, 0},
		{[]dataset.ClassWeight{{Class: 0, Weight: 1}, {Class: 1, Weight: 3}, {Class: 2, Weight: 3}}, 1},
		{[]dataset.ClassWeight{{Class: 0, Weight: 2}, {Class: 1, Weight: 3}, {Class: 2, Weight: 4}}, 2},
	} {
		o := dataset.NewObjects(dataset.Layout{}, 3, false, 1)
		o.Append(nil, test.raw, 0)
		if o.Class[0] != test.want {
			t.Errorf("class of %v is %d, want %d", test.raw, o.Class[0], test.want)
		}
	}
}

// TestRowsOf: if rows weigh 1, their number is the weight.
func TestRowsOf(t *testing.T) {
	raw := []dataset.ClassWeight{{Class: 0, Weight: 40}, {Class: 1, Weight: 2}}
	for weighted, want := range map[bool]int64{false: 42, true: 7} { // by hand
		o := dataset.NewObjects(dataset.Layout{}, 2, weighted, 0)
		o.Append(nil, raw, 7)
		if got := o.RowsOf(0); got != want {
			t.Errorf("weighted %t: %d rows, want %d", weighted, got, want)
		}
	}
}
