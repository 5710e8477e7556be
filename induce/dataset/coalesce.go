package dataset

import (
	"bytes"
	"cmp"
	"slices"
)

// Table coalesces rows with equal keys into objects. It belongs to one
// goroutine at a time.
type Table struct {
	layout  Layout
	hasRows bool // rows and weight differ

	keys   []byte   // Stride bytes per object
	slots  []uint64 // open addressing: upper half of the hash, object number plus one
	class  []uint16 // by object: class of its first row
	weight []int64  // by object: weight of that class
	rows   []int64  // by object: number of rows, if hasRows
	head   []int32  // by object: first entry of its further classes plus one; nil: there are none
	more   []entry  // further classes, chained
}

type entry struct {
	weight int64
	next   int32
	class  uint16
}

// ClassWeight is the weight of one class in an object.
type ClassWeight struct {
	Class  uint16
	Weight int64
}

// NewTable returns an empty table. weighted says that rows may have weights other than
// 1; objects then count their rows beside their weight.
func NewTable(layout Layout, weighted bool) *Table {
	return &Table{layout: layout, hasRows: weighted}
}

// Len returns the number of objects.
func (t *Table) Len() int { return len(t.class) }

// Bytes returns the approximate memory of the table, in bytes.
func (t *Table) Bytes() int {
	perObject := 2*cap(t.class) + 8*cap(t.weight) + 8*cap(t.rows) + 4*cap(t.head)
	return cap(t.keys) + 8*cap(t.slots) + perObject + 16*cap(t.more)
}

// Reset empties the table and keeps its memory.
func (t *Table) Reset() {
	clear(t.slots)
	t.keys, t.class, t.weight, t.rows, t.head, t.more = t.keys[:0], t.class[:0], t.weight[:0], t.rows[:0], nil,
		t.more[:0]
}

// HashKey returns the hash of a key. It also decides the shard of the key.
func HashKey(key []byte) uint64 { return hashBytes(sqrt264, key) }

// Add adds rows of one key, all of one class. hash must be HashKey(key).
func (t *Table) Add(key []byte, hash uint64, class uint16, weight, rows int64) {
	id := t.find(key, hash, class)
	if t.hasRows {
		t.rows[id] += rows
	}
	if t.class[id] == class {
		t.weight[id] += weight
		return
	}
	t.addMore(id, class, weight)
}

// find returns the number of the key's object, and adds an object for a new key.
func (t *Table) find(key []byte, hash uint64, class uint16) int {
	if 4*(len(t.class)+1) > 3*len(t.slots) {
		t.grow()
	}
	stride := t.layout.Stride
	mask := uint64(len(t.slots) - 1)
	tag := hash >> 32 << 32
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := t.slots[at]
		if slot == 0 {
			t.slots[at] = tag | uint64(len(t.class)+1)
			return t.insert(key, class)
		}
		if slot>>32<<32 != tag {
			continue
		}
		id := int(uint32(slot)) - 1
		if bytes.Equal(t.keys[id*stride:id*stride+stride], key[:stride]) {
			return id
		}
	}
}

func (t *Table) insert(key []byte, class uint16) int {
	t.keys = append(t.keys, key[:t.layout.Stride]...)
	t.class = append(t.class, class)
	t.weight = append(t.weight, 0)
	if t.hasRows {
		t.rows = append(t.rows, 0)
	}
	if t.head != nil {
		t.head = append(t.head, 0)
	}
	return len(t.class) - 1
}

func (t *Table) grow() {
	n := max(64, 2*len(t.slots))
	t.slots = make([]uint64, n)
	mask := uint64(n - 1)
	stride := t.layout.Stride
	for id := range t.class {
		hash := HashKey(t.keys[id*stride : id*stride+stride])
		at := hash & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = hash>>32<<32 | uint64(id+1)
	}
}

func (t *Table) addMore(id int, class uint16, weight int64) {
	if t.head == nil {
		t.head = make([]int32, len(t.class), cap(t.class))
	}
	for i := t.head[id]; i != 0; i = t.more[i-1].next {
		if e := &t.more[i-1]; e.class == class {
			e.weight += weight
			return
		}
	}
	t.more = append(t.more, entry{class: class, weight: weight, next: t.head[id]})
	t.head[id] = int32(len(t.more))
}

// classWeights appends the classes of an object in class order.
func (t *Table) classWeights(id int, dst []ClassWeight) []ClassWeight {
	dst = append(dst[:0], ClassWeight{t.class[id], t.weight[id]})
	if t.head == nil || t.head[id] == 0 {
		return dst
	}
	for i := t.head[id]; i != 0; i = t.more[i-1].next {
		dst = append(dst, ClassWeight{t.more[i-1].class, t.more[i-1].weight})
	}
	slices.SortFunc(dst, func(a, b ClassWeight) int { return cmp.Compare(a.Class, b.Class) })
	return dst
}
