package dataset_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// smallShape has codes of both widths: "job" has 3 values and 5 codes, "x" has 300 bins
// and 301 codes.
func smallShape(weighted bool) *shape {
	return &shape{
		features: []dataset.Feature{categorical("job", 3), numeric("x", 300)}, distinct: 4, classes: 130,
		weighted: weighted,
	}
}

// smallBlock is a block of smallShape by hand, after the format in the comment
// of Table.AppendBlock.
func smallBlock() ([]byte, []object) {
	block := slices.Concat(
		[]byte{1, 1, 2},       // version, rows follow, two objects
		[]byte{4, 0},          // codes of "job"
		[]byte{44, 1, 255, 0}, // codes of "x": 256+44 and 255
		[]byte{1, 129, 1, 5, 3},
		[]byte{2, 0, 128, 1, 2, 127, 128, 2},
	)
	return block, []object{
		{Codes: []int{4, 300}, Class: 129, Weight: 5, Rows: 3, Raw: []dataset.ClassWeight{{Class: 129, Weight: 5}}},
		{
			Codes: []int{0, 255}, Class: 0, Weight: 255, Rows: 256,
			Raw: []dataset.ClassWeight{{Class: 0, Weight: 128}, {Class: 2, Weight: 127}},
		},
	}
}

// TestBlockFormat pins the format: a resumed run reads blocks of earlier files.
func TestBlockFormat(t *testing.T) {
	s := smallShape(true)
	block, want := smallBlock()
	o := s.decode(t, block)
	checkObjects(t, o, want)
	if got := o.AppendBlock(nil); !bytes.Equal(got, block) {
		t.Errorf("block % x, want % x", got, block)
	}
}

// TestBlockRoundTrip: decoding a block gives its objects, and decoding several blocks
// gives all their objects in order. A table and Objects write the same block.
func TestBlockRoundTrip(t *testing.T) {
	for _, d := range draws(4) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			table := s.table(s.rows(r, 1+r.IntN(600)))
			block := table.AppendBlock(nil, 0, table.Len())
			o := s.decode(t, block)
			want := contents(o)
			checkObjects(t, s.decode(t, block, block), append(slices.Clone(want), want...))
			prefix := []byte("before")
			if again := o.AppendBlock(prefix); !bytes.Equal(again, append(prefix, block...)) {
				t.Error("encoded again: other bytes")
			}
			if again := table.AppendBlock(prefix, 0, table.Len()); !bytes.Equal(again, append(prefix, block...)) {
				t.Error("a table's block behind other bytes has other bytes")
			}
			if n, err := dataset.BlockLen(block); n != o.Len() || err != nil {
				t.Errorf("BlockLen is %d, %v, want %d", n, err, o.Len())
			}
		})
	}
}

// TestBlockEmpty: a block may be empty, as shards of small data often are.
func TestBlockEmpty(t *testing.T) {
	for _, s := range shapes() {
		block := s.noObjects().AppendBlock(nil)
		if o := s.decode(t, block); o.Len() != 0 {
			t.Errorf("%s: %d objects", s.name, o.Len())
		}
		if got := s.table(nil).AppendBlock(nil, 0, 0); !bytes.Equal(got, block) {
			t.Errorf("%s: empty table gives % x, want % x", s.name, got, block)
		}
	}
}

// TestBlockRows: for a block without rows the weight is the number of rows. Objects
// without rows ignore the rows of a block.
func TestBlockRows(t *testing.T) {
	block, objects := smallBlock()
	without := smallShape(false).decode(t, block)
	for i := range objects {
		objects[i].Rows = objects[i].Weight
	}
	checkObjects(t, without, objects)
	checkObjects(t, smallShape(true).decode(t, without.AppendBlock(nil)), objects)
}

// readers are the ways to read a block.
func readers(s *shape) map[string]func([]byte) error {
	return map[string]func([]byte) error{
		"AppendFrom": func(b []byte) error { return s.noObjects().AppendFrom(b, s.layout()) },
		"AddBlock":   func(b []byte) error { return dataset.NewTable(s.layout(), s.weighted).AddBlock(b, s.classes) },
	}
}

func TestBlockCut(t *testing.T) {
	for _, d := range draws(1) {
		t.Run(d.label, func(t *testing.T) {
			s, r := d.shape, d.r
			table := s.table(s.rows(r, 30))
			block := table.AppendBlock(nil, 0, table.Len())
			for name, read := range readers(s) {
				for size := range block {
					if err := read(block[:size]); err == nil {
						t.Errorf("%s, cut to %d of %d bytes: no error", name, size, len(block))
					}
				}
			}
		})
	}
}

// edit spoils a valid encoding: it replaces bytes [from, to).
type edit struct {
	name     string
	from, to int
	with     []byte
}

func (e *edit) apply(b []byte) []byte { return slices.Concat(b[:e.from], e.with, b[e.to:]) }

func uvarint(x uint64) []byte { return binary.AppendUvarint(nil, x) }

// hostileBlocks spoil smallBlock, whose columns are bytes 3 to 9 and whose
// objects start at 9 and 14.
func hostileBlocks() []edit {
	return []edit{
		{"empty", 0, 22, nil},
		{"another version", 0, 1, []byte{2}},
		{"unknown flag", 1, 2, []byte{3}},
		{"an object more", 2, 3, []byte{3}},
		{"an object less", 2, 3, []byte{1}},
		{"2^32 objects", 2, 3, uvarint(1 << 32)},
		{"2^62 objects", 2, 3, uvarint(1 << 62)},
		{"2^64 - 1 objects", 2, 3, uvarint(math.MaxUint64)},
		{"a number of objects beyond 64 bits", 2, 3, bytes.Repeat([]byte{0xff}, 11)},
		{"an object without classes", 9, 10, []byte{0}},
		{"more classes than there are", 9, 10, uvarint(131)},
		{"2^64 - 1 classes", 9, 10, uvarint(math.MaxUint64)},
		{"class beyond the last", 10, 12, uvarint(130)},
		{"class beyond two bytes", 10, 12, uvarint(1<<16 + 1)},
		{"classes out of order", 15, 19, []byte{2, 127, 0, 127}},
		{"class twice", 18, 19, []byte{0}},
		{"class without weight", 12, 13, []byte{0}},
		{"weight beyond int64", 12, 13, uvarint(1 << 63)},
		{"weights that sum up beyond int64", 16, 20, slices.Concat(uvarint(1<<62), []byte{2}, uvarint(1<<62))},
		{"negative rows", 13, 14, uvarint(math.MaxUint64)},
		{"bytes after the block", 22, 22, []byte{0}},
	}
}

func TestBlockErrors(t *testing.T) {
	block, _ := smallBlock()
	for name, read := range readers(smallShape(true)) {
		if err := read(block); err != nil {
			t.Fatalf("%s of the valid block: %v", name, err)
		}
		for _, e := range hostileBlocks() {
			if err := read(e.apply(block)); err == nil {
				t.Errorf("%s, %s: no error", name, e.name)
			}
		}
	}
}

// TestBlockLayout: a block of fewer or of other features is refused.
func TestBlockLayout(t *testing.T) {
	block, _ := smallBlock()
	s := smallShape(true)
	if err := s.noObjects().AppendFrom(block, dataset.NewLayout(s.features[:1])); err == nil {
		t.Error("layout of a feature less: no error")
	}
	for _, features := range [][]dataset.Feature{s.features[:1], slices.Repeat(s.features, 2)} {
		o := dataset.NewObjects(dataset.NewLayout(features), s.classes, true, 0)
		if err := o.AppendFrom(block, s.layout()); err == nil {
			t.Errorf("into objects of %d features: no error", len(features))
		}
	}
	other := &shape{features: slices.Repeat(s.features, 20), classes: s.classes, weighted: true}
	for name, read := range readers(other) {
		if err := read(block); err == nil {
			t.Errorf("%s with a layout of more features: no error", name)
		}
	}
}

func TestBlockLenErrors(t *testing.T) {
	block, _ := smallBlock()
	for _, b := range [][]byte{
		nil, block[:1], block[:2],
		{2, 0, 0},
		slices.Concat(block[:2], uvarint(1<<40)),
		slices.Concat(block[:2], bytes.Repeat([]byte{0xff}, 11)),
	} {
		if n, err := dataset.BlockLen(b); err == nil {
			t.Errorf("length of % x is %d, want an error", b, n)
		}
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBlockAllocations: memory is bounded by the bytes of a block, not by the counts in
// its head. The worst case is 1 MiB of objects without features: the head claims an
// object per byte.
func TestBlockAllocations(t *testing.T) {
	const size = 1 << 20
	for _, s := range shapes() {
		block := slices.Concat([]byte{1, 1}, uvarint(size), make([]byte, size))
		for name, read := range readers(&s) {
			took := allocated(func() {
				if read(block) == nil {
					t.Errorf("%s, %s: no error", s.name, name)
				}
			})
			if took > 8*size {
				t.Errorf("%s, %s: %d bytes allocated for %d", s.name, name, took, size)
			}
		}
	}
}

// fuzzShapes are the layouts of FuzzBlock, by its second argument.
func fuzzShapes() []*shape {
	list := []*shape{smallShape(false), smallShape(true)}
	for _, s := range shapes() {
		list = append(list, &s)
	}
	return list
}

// FuzzBlock: any bytes give an error or valid objects. Encoding these objects gives a
// block of the same contents, and all readers agree.
func FuzzBlock(f *testing.F) {
	block, _ := smallBlock()
	f.Add(block, uint8(0))
	for _, e := range hostileBlocks() {
		f.Add(e.apply(block), uint8(1))
	}
	list := fuzzShapes()
	for i, s := range list {
		table := s.table(s.rows(rand.New(rand.NewPCG(1, uint64(i))), 20))
		f.Add(table.AppendBlock(nil, 0, table.Len()), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, choice uint8) {
		s := list[int(choice)%len(list)]
		o := s.noObjects()
		err := o.AppendFrom(b, s.layout())
		for name, read := range readers(s) {
			if got := read(b); (got == nil) != (err == nil) {
				t.Fatalf("%s gives error %v, AppendFrom %v", name, got, err)
			}
		}
		if err != nil {
			return
		}
		if n, err := dataset.BlockLen(b); n != o.Len() || err != nil {
			t.Fatalf("BlockLen is %d, %v, want %d", n, err, o.Len())
		}
		for _, x := range contents(o) {
			checkObject(t, s, x)
		}
		checkObjects(t, s.decode(t, o.AppendBlock(nil)), contents(o))
	})
}

// checkObject checks the contract of the fields of Objects.
func checkObject(t *testing.T, s *shape, o object) {
	t.Helper()
	total, last := int64(0), -1
	for _, cw := range o.Raw {
		if int(cw.Class) <= last || int(cw.Class) >= s.classes || cw.Weight <= 0 {
			t.Fatalf("class weights %v of %d classes", o.Raw, s.classes)
		}
		last = int(cw.Class)
		total += cw.Weight
	}
	if o.Weight != total || o.Weight <= 0 || o.Rows < 0 || o.Class != majority(o.Raw) {
		t.Fatalf("object %+v", o)
	}
}
