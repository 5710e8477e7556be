package dataset

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Table coalesces rows with equal keys into objects. Only one goroutine at a time may use it.
//
// Objects are stored in pages of a fixed capacity, so that a growing table does not copy them. The
// slots of the hash table are ordered by hash, so it also grows in a single pass from front to
// back, without reading the keys.
type Table struct {
	layout  Layout
	hasRows bool      // rows and weight differ
	soft    int       // number of classes if the objects are soft, see Objects; else 0
	raw     [][]int64 // of soft objects, page by page: raw weight by object and class

	n      int          // objects
	page   uint8        // log2 of the objects in a page
	pages  []tablePage  // all full but the last
	slots  []uint64     // open addressing: upper half of the hash, object number plus one
	shift  uint8        // 32 - log2(len(slots))
	head   []int32      // by object: first entry of its further classes plus one; nil if no object has several classes
	more   []entry      // further classes, chained
	bytes  int          // memory of the pages
	groups *tableGroups // nil if the table does not keep groups
}

// tablePage holds objects with consecutive numbers.
type tablePage struct {
	keys   []byte   // Stride bytes per object
	class  []uint16 // by object: class of its first row
	weight []int64  // by object: weight of that class
	rows   []int64  // by object: number of rows, if hasRows
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

const (
	pageBytes = 64 << 10 // greatest size of a page's keys, unless one key is larger
	leastPage = 16       // objects for which a new table makes room
	leastSlot = 64
)

// NewTable returns an empty table. If weighted is true, rows may have weights other than 1, and
// objects count their rows in addition to their weight.
func NewTable(layout Layout, weighted bool) *Table {
	page := bits.Len(uint(max(1, pageBytes/max(1, layout.Stride)))) - 1
	return &Table{layout: layout, hasRows: weighted, page: uint8(min(page, 10))}
}

// NewSoftTable returns an empty table of soft objects with this many classes, see Objects. Its rows
// must have shares.
func NewSoftTable(layout Layout, classes int) *Table {
	t := NewTable(layout, true)
	t.soft = classes
	return t
}

// Len returns the number of objects.
func (t *Table) Len() int { return t.n }

// Bytes returns the approximate memory of the table, in bytes.
func (t *Table) Bytes() int {
	held := t.bytes + 8*cap(t.slots) + 4*cap(t.head) + 16*cap(t.more)
	if t.groups != nil {
		held += t.groups.bytes
	}
	return held
}

// HashKey returns the hash of a key. It also decides the shard of the key.
func HashKey(key []byte) uint64 { return hashBytes(sqrt264, key) }

// AddGrouped is Add for rows of the same bucket, see Bucket.
func (t *Table) AddGrouped(key []byte, hash uint64, bucket uint8, class uint16, weight, rows int64) {
	id := t.Add(key, hash, class, weight, rows)
	if t.groups != nil {
		t.addGroup(id, GroupShare{Bucket: bucket, Class: class, Weight: weight, Rows: rows})
	}
}

// Add adds rows with the same key and class, and returns the number of the object. hash must be HashKey(key).
func (t *Table) Add(key []byte, hash uint64, class uint16, weight, rows int64) (id int) {
	id = t.find(key, hash, class)
	p, at := t.place(id)
	if t.hasRows {
		p.rows[at] += rows
	}
	if p.class[at] == class {
		p.weight[at] += weight
		return id
	}
	t.addMore(id, class, weight)
	return id
}

// Rows are rows in the form that AddRows takes.
type Rows struct {
	Keys    []byte   // Stride bytes for each row
	Hashes  []uint64 // HashKey of each key
	Classes []uint16
	Weights []int64 // nil: each row has weight 1
	Counts  []int64 // number of equal rows, whose weights Weights has in total; nil: 1
	Buckets []uint8 // see Bucket; nil unless the table keeps groups

	// Shares are the shares of the classes in each row, class by class, for tables of soft objects.
	// A class gets its share times the weight of the row. No share is negative, and the shares of
	// each row have the same sum.
	Shares []int32
}

// countAndWeight returns the number of equal rows at position i, and their weight.
func (r *Rows) countAndWeight(i int32) (count, weight int64) {
	count = 1
	if r.Counts != nil {
		count = r.Counts[i]
	}
	if r.Weights != nil {
		return count, r.Weights[i]
	}
	return count, count
}

// AddRows adds the rows at the given positions.
func (t *Table) AddRows(r *Rows, at []int32) {
	if t.soft > 0 {
		t.addSoftRows(r, at)
		return
	}
	stride := t.layout.Stride
	for _, i := range at {
		count, weight := r.countAndWeight(i)
		id := t.Add(r.Keys[int(i)*stride:int(i+1)*stride], r.Hashes[i], r.Classes[i], weight, count)
		if t.groups != nil {
			t.addGroup(id, GroupShare{Bucket: r.Buckets[i], Class: r.Classes[i], Weight: weight, Rows: count})
		}
	}
}

// addSoftRows is AddRows for a table of soft objects.
func (t *Table) addSoftRows(r *Rows, rows []int32) {
	stride := t.layout.Stride
	for _, i := range rows {
		count, weight := r.countAndWeight(i)
		key := r.Keys[int(i)*stride : int(i+1)*stride]
		id := t.Add(key, r.Hashes[i], r.Classes[i], weight, count)
		soft := t.softOf(id)
		if t.groups != nil {
			t.addGroup(id, GroupShare{Bucket: r.Buckets[i], Class: r.Classes[i], Weight: weight, Rows: count})
		}
		for k, share := range r.Shares[int(i)*t.soft : int(i+1)*t.soft] {
			soft[k] += int64(share) * weight
			if t.groups != nil && share != 0 {
				t.addGroup(id, GroupShare{Bucket: r.Buckets[i], Class: uint16(k), Soft: int64(share) * weight})
			}
		}
	}
}

// addSoft adds raw weights to an object.
func (t *Table) addSoft(id int, raw []ClassWeight) {
	soft := t.softOf(id)
	for _, cw := range raw {
		soft[cw.Class] += cw.Weight
	}
}

// softOf returns the raw weights of an object by class.
func (t *Table) softOf(id int) []int64 {
	_, at := t.place(id)
	return t.raw[id>>t.page][at*t.soft : (at+1)*t.soft]
}

// insertSoft makes room for the raw weights of a new object.
func (t *Table) insertSoft(id int) {
	if id>>t.page == len(t.raw) {
		t.raw = append(t.raw, nil)
	}
	page := &t.raw[id>>t.page]
	before := cap(*page)
	*page = append(*page, make([]int64, t.soft)...)
	t.bytes += 8 * (cap(*page) - before)
}

// slotOf returns the slot at which the search for a hash starts: the higher the hash, the later.
func (t *Table) slotOf(hash uint64) int { return int(hash >> 32 >> (t.shift & 63)) }

// place returns the page of an object, and its position there.
func (t *Table) place(id int) (*tablePage, int) {
	return &t.pages[id>>(t.page&63)], id & (1<<(t.page&63) - 1)
}

// find returns the number of the object with this key, and adds an object if the key is new.
func (t *Table) find(key []byte, hash uint64, class uint16) int {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	stride := t.layout.Stride
	mask := len(t.slots) - 1
	tag := hash >> 32
	for at := t.slotOf(hash); ; at++ {
		slot := t.slots[at&mask]
		if slot == 0 {
			t.slots[at&mask] = tag<<32 | uint64(t.n+1)
			return t.insert(key, class)
		}
		if slot>>32 != tag {
			continue
		}
		id := int(uint32(slot)) - 1
		p, i := t.place(id)
		if bytes.Equal(p.keys[i*stride:i*stride+stride], key[:stride]) {
			return id
		}
	}
}

func (t *Table) insert(key []byte, class uint16) int {
	id := t.n
	if id>>t.page == len(t.pages) {
		t.pages = append(t.pages, tablePage{})
	}
	p := &t.pages[id>>t.page]
	if len(p.class) == cap(p.class) {
		t.enlarge(p)
	}
	p.keys = append(p.keys, key[:t.layout.Stride]...)
	p.class = append(p.class, class)
	p.weight = append(p.weight, 0)
	if t.hasRows {
		p.rows = append(p.rows, 0)
	}
	if t.soft > 0 {
		t.insertSoft(id)
	}
	if t.head != nil {
		t.head = append(t.head, 0)
	}
	t.n++
	return id
}

// enlarge makes room in a page. Only the first page of a table grows step by step, because most
// tables of a small data set have few objects.
func (t *Table) enlarge(p *tablePage) {
	n := 1 << t.page
	if len(t.pages) == 1 {
		n = min(n, max(leastPage, 2*len(p.class)))
	}
	more := n - cap(p.class)
	t.bytes += more * (t.layout.Stride + 2 + 8)
	p.keys = append(make([]byte, 0, n*t.layout.Stride), p.keys...)
	p.class = append(make([]uint16, 0, n), p.class...)
	p.weight = append(make([]int64, 0, n), p.weight...)
	if t.hasRows {
		t.bytes += 8 * more
		p.rows = append(make([]int64, 0, n), p.rows...)
	}
}

// grow doubles the capacity of the hash table.
func (t *Table) grow() {
	old := t.slots
	n := max(leastSlot, 2*len(old))
	t.slots, t.shift = make([]uint64, n), uint8(32-bits.TrailingZeros(uint(n)))
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := t.slotOf(slot)
		for t.slots[at&(n-1)] != 0 {
			at++
		}
		t.slots[at&(n-1)] = slot
	}
}

func (t *Table) addMore(id int, class uint16, weight int64) {
	if t.head == nil {
		t.head = make([]int32, t.n)
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

// softWeights lists the raw weights of an object in class order, using the memory of dst.
func (t *Table) softWeights(id int, dst []ClassWeight) []ClassWeight {
	dst = dst[:0]
	for k, weight := range t.softOf(id) {
		if weight != 0 {
			dst = append(dst, ClassWeight{uint16(k), weight})
		}
	}
	return dst
}

// classWeights lists the classes of an object that have weight, in class order.
func (t *Table) classWeights(id int, dst []ClassWeight) []ClassWeight {
	p, at := t.place(id)
	dst = dst[:0]
	if p.weight[at] != 0 {
		dst = append(dst, ClassWeight{p.class[at], p.weight[at]})
	}
	if t.head == nil || t.head[id] == 0 {
		return dst
	}
	for i := t.head[id]; i != 0; i = t.more[i-1].next {
		if e := &t.more[i-1]; e.weight != 0 {
			dst = append(dst, ClassWeight{e.class, e.weight})
		}
	}
	slices.SortFunc(dst, func(a, b ClassWeight) int { return cmp.Compare(a.Class, b.Class) })
	return dst
}
