package dataset_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// keyedRows are rows of a few keys, many of which have equal codes.
type keyedRows struct {
	dataset.Rows

	layout  dataset.Layout
	classes int
	soft    bool
}

// newKeyedRows draws rows. Shares of soft rows add up to 8.
func newKeyedRows(r *rand.Rand, n int, weighted, soft bool) *keyedRows {
	k := &keyedRows{
		layout: dataset.NewLayout([]dataset.Feature{numeric("a", 300), categorical("b", 3)}), classes: 3, soft: soft,
	}
	keys := 1 + r.IntN(100)
	for range n {
		key := make([]byte, k.layout.Stride)
		key[0], key[k.layout.Stride-1] = byte(r.IntN(12)), byte(r.IntN(4))
		k.Keys, k.Hashes = append(k.Keys, key...), append(k.Hashes, dataset.HashKey(key))
		k.Classes = append(k.Classes, uint16(r.IntN(k.classes)))
		k.Buckets = append(k.Buckets, dataset.Bucket(dataset.HashNumber(7, float64(r.IntN(keys)))))
		if weighted {
			k.Weights = append(k.Weights, 1+r.Int64N(4))
		}
		if soft {
			first := r.Int32N(9)
			k.Shares = append(k.Shares, first, 0, 8-first)
		}
	}
	return k
}

// table returns a table of some rows, with their groups if most is above 0.
func (k *keyedRows) table(rows []int32, most int64) *dataset.Table {
	t := dataset.NewTable(k.layout, k.Weights != nil)
	if k.soft {
		t = dataset.NewSoftTable(k.layout, k.classes)
	}
	t.KeepGroups(most)
	t.AddRows(&k.Rows, rows)
	return t
}

// objects returns the objects of blocks.
func (k *keyedRows) objects(t *testing.T, blocks ...[]byte) *dataset.Objects {
	t.Helper()
	o := dataset.NewObjects(k.layout, k.classes, k.Weights != nil || k.soft, 0)
	o.KeepGroups()
	for _, block := range blocks {
		if err := o.AppendFrom(block, k.layout); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// groupedObject is the expected content of an object.
type groupedObject struct {
	Codes       []int
	Labels, Raw []dataset.ClassWeight
	Rows        int64
	Groups      []dataset.GroupShare
}

// listed returns the objects in the order of their codes.
func listed(o *dataset.Objects) []groupedObject {
	list := make([]groupedObject, o.Len())
	for i := range list {
		list[i] = groupedObject{Labels: o.Labels(i), Raw: o.Raw(i), Rows: o.RowsOf(i)}
		for f := range o.Codes {
			list[i].Codes = append(list[i].Codes, o.Codes[f].At(i))
		}
		if o.Grouped() {
			list[i].Groups = slices.Clone(o.Groups(i))
		}
	}
	slices.SortFunc(list, func(a, b groupedObject) int { return slices.Compare(a.Codes, b.Codes) })
	return list
}

func every(t *dataset.Table) []byte { return t.AppendBlock(nil, 0, t.Len()) }

func where(n int, take func(i int) bool) (rows []int32) {
	for i := range n {
		if take(i) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// TestOfBuckets: what some buckets have of the objects of all rows is the objects of the rows of these
// buckets. Objects without groups are the same ones.
func TestOfBuckets(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 31))
		k := newKeyedRows(r, 300, seed%2 == 0, seed%4 > 1)
		all := where(300, func(int) bool { return true })
		whole := k.objects(t, every(k.table(all, 1000)))
		plain := k.objects(t, every(k.table(all, 0)))
		if plain.Grouped() || !whole.Grouped() {
			t.Fatal("groups where there are none, or none where they are kept")
		}
		without := listed(whole)
		for i := range without {
			without[i].Groups = nil
		}
		if diff := gocmp.Diff(listed(plain), without); diff != "" {
			t.Fatalf("seed %d: groups change the objects (-plain +grouped):\n%s", seed, diff)
		}
		folds := 2 + r.IntN(8)
		keep := func(bucket uint8) bool { return int(bucket)%folds == 0 }
		want := k.objects(t, every(k.table(where(300, func(i int) bool { return keep(k.Buckets[i]) }), 1000)))
		got := whole.OfBuckets(keep)
		if diff := gocmp.Diff(listed(want), listed(got)); diff != "" {
			t.Fatalf("seed %d: other objects of some buckets (-want +got):\n%s", seed, diff)
		}
		ids := where(whole.Len(), func(i int) bool { return i%3 != 1 })
		slices.Reverse(ids)
		if diff := gocmp.Diff(listed(whole.Select(ids)), listed(k.objects(t, whole.Select(ids).AppendBlock(nil)))); diff != "" {
			t.Fatalf("seed %d: other objects after a block:\n%s", seed, diff)
		}
	}
}

// TestMergedGroups: groups are merged with their objects.
func TestMergedGroups(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 32))
		soft := seed%4 == 3
		k := newKeyedRows(r, 300, seed%2 == 0, soft)
		part := make([]int, 300)
		for i := range part {
			part[i] = r.IntN(3)
		}
		of := func(parts ...int) *dataset.Table {
			return k.table(where(300, func(i int) bool { return slices.Contains(parts, part[i]) }), 1000)
		}
		merged := k.table(nil, 1000)
		for _, parts := range [][]int{{0, 1}, {2}} {
			if err := merged.AddBlock(every(of(parts...)), k.classes); err != nil {
				t.Fatal(err)
			}
		}
		if diff := gocmp.Diff(listed(k.objects(t, every(of(0, 1, 2)))), listed(k.objects(t, every(merged)))); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestManyObjects: a table with more objects than it keeps groups for has none, and so has what is
// merged with it.
func TestManyObjects(t *testing.T) {
	k := newKeyedRows(rand.New(rand.NewPCG(1, 33)), 300, false, false)
	all := where(300, func(int) bool { return true })
	n := int64(k.table(all, 0).Len())
	if !k.objects(t, every(k.table(all, n))).Grouped() {
		t.Error("no groups for as many objects as have them")
	}
	many := every(k.table(all, n-1))
	few := every(k.table(all[:5], n))
	for _, o := range []*dataset.Objects{k.objects(t, many), k.objects(t, few, many), k.objects(t, many, few)} {
		if o.Grouped() {
			t.Error("groups for more objects than have them")
		}
	}
	merged := k.table(all[:5], n)
	if err := merged.AddBlock(many, k.classes); err != nil || k.objects(t, every(merged)).Grouped() {
		t.Errorf("groups after a merge with objects that have none, %v", err)
	}
}

// TestBadGroups: bytes that are no block with groups are an error, or objects whose groups add up.
func TestBadGroups(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 34))
		k := newKeyedRows(r, 8, seed%2 == 0, seed%4 > 1)
		block := every(k.table(where(8, func(int) bool { return true }), 1000))
		for range 1 + r.IntN(3) {
			block[r.IntN(len(block))] ^= 1 << r.IntN(8)
		}
		if r.IntN(3) == 0 {
			block = block[:r.IntN(len(block))]
		}
		o := dataset.NewObjects(k.layout, k.classes, k.Weights != nil || k.soft, 0)
		o.KeepGroups()
		if err := o.AppendFrom(block, k.layout); err != nil || !o.Grouped() {
			continue
		}
		if half := o.OfBuckets(func(bucket uint8) bool { return bucket%2 == 0 }); half.TotalWeight() > o.TotalWeight() && !k.soft {
			t.Errorf("seed %d: half of the buckets weigh %d of %d", seed, half.TotalWeight(), o.TotalWeight())
		}
	}
}

// TestBucket: by hash, buckets have about as many keys, whatever their part of the split, and another seed
// deals the keys otherwise.
func TestBucket(t *testing.T) {
	const keys = 60_000
	var counts [dataset.Buckets]int
	shares, same := dataset.Shares{70, 10, 20}, 0
	trained := 0
	for key := range keys {
		hash := dataset.HashNumber(1, float64(key))
		if dataset.Bucket(hash) == dataset.Bucket(dataset.HashNumber(2, float64(key))) {
			same++
		}
		if shares.Of(hash) == dataset.Train {
			counts[dataset.Bucket(hash)]++
			trained++
		}
	}
	want := trained / dataset.Buckets
	low, high := slices.MinFunc(counts[:], cmp.Compare), slices.MaxFunc(counts[:], cmp.Compare)
	if low < want*4/5 || high > want*6/5 { // more than five deviations of some 26
		t.Errorf("buckets have %d to %d keys, want about %d", low, high, want)
	}
	if same > keys/30 {
		t.Errorf("%d of %d keys have the same bucket by another seed", same, keys)
	}
}

// TestTableObjects: the objects of a table are the objects of its block.
func TestTableObjects(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for i := range 40 {
		weighted, soft, grouped := i&1 > 0, i&2 > 0, i&4 > 0
		k, all := newKeyedRows(r, r.IntN(200), weighted, soft), []int32(nil)
		for row := range k.Classes {
			all = append(all, int32(row))
		}
		most := int64(0)
		if grouped {
			most = int64(len(all)) + 1
		}
		table := k.table(all, most)
		got, want := table.Objects(k.classes), k.objects(t, table.AppendBlock(nil, 0, table.Len()))
		if got.Len() > 0 && (got.Grouped() != grouped || got.Soft() != soft || (got.Rows != nil) != (want.Rows != nil)) {
			t.Fatalf("weighted %v, soft %v, grouped %v: the objects are of another kind", weighted, soft, grouped)
		}
		if got.Len() > 0 && !bytes.Equal(got.AppendBlock(nil), want.AppendBlock(nil)) {
			t.Errorf("weighted %v, soft %v, grouped %v: the objects differ from those of the block", weighted, soft, grouped)
		}
	}
}
