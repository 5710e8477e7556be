package dataset

import (
	"errors"
	"slices"
)

// Patch rewrites object blocks, adding to their objects or subtracting from them the objects of a
// table. Objects that the table does not have are copied unchanged, so that blocks of many objects
// get the changes of a few without a table of all objects.
//
// No two of the blocks may have objects with equal codes. Only one goroutine at a time may use a
// Patch.
type Patch struct {
	change  *Table
	classes int
	most    int // greatest size of a block, in objects
	blocks  [][]byte

	// The block being written.
	objects int
	columns [][]byte // per feature
	tail    []byte   // the part after the columns
	groups  []byte   // shares of the objects, if the table keeps groups

	// The block being read.
	from int    // the codes of objects before this one are written
	rest []byte // classes of objects, starting with those still to be written

	keys   []byte
	object blockObject   // object of the block
	more   []ClassWeight // class weights of the object in the table
	sum    []ClassWeight // sum of both class weights
}

// NewPatch returns a patch by the objects of a table, whose weights may be negative: see
// SubtractBlock. The table must not be soft, and must not be used afterwards. The patch writes
// blocks of at most most objects, unless it is applied to larger blocks.
func NewPatch(change *Table, classes, most int) *Patch {
	return &Patch{change: change, classes: classes, most: max(1, most), columns: make([][]byte, len(change.layout.Widths))}
}

// Apply rewrites a block. It returns an error if more is subtracted from an object than the object
// has.
func (p *Patch) Apply(block []byte) error {
	const ahead = 16 // objects whose keys are assembled together, feature by feature
	t := p.change
	r, err := openBlock(block, t.layout)
	if err != nil {
		return err
	}
	if r.soft || t.soft > 0 || r.hasRows != t.hasRows || (r.groups != nil) != (t.groups != nil) {
		return errBlock
	}
	p.makeRoom(r)
	p.from, p.rest = 0, r.Rest
	stride := t.layout.Stride
	for first := 0; first < r.objects; first += ahead {
		end := min(first+ahead, r.objects)
		p.keys = r.keys(p.keys[:0], t.layout, first, end)
		for i := range end - first {
			key, before := p.keys[i*stride:(i+1)*stride], r.Rest
			if err := r.next(&p.object, p.classes, r.groups != nil); err != nil {
				return err
			}
			id := t.lookup(key, HashKey(key))
			if r.groups != nil {
				p.addGroups(id)
			}
			if id >= 0 {
				p.tail = append(p.tail, p.rest[:len(p.rest)-len(before)]...)
				if err := p.merge(r, first+i, id, p.object.rows); err != nil {
					return err
				}
			}
		}
	}
	p.pass(r, r.objects)
	p.tail = append(p.tail, p.rest[:len(p.rest)-len(r.Rest)]...)
	if r.groups != nil {
		return errors.Join(r.end(), r.endGroups())
	}
	return r.end()
}

// addGroups writes the shares of p.object, changed by the shares of object id of the table; a
// negative id means that the table has no such object. It writes nothing if nothing is left.
func (p *Patch) addGroups(id int) {
	shares := p.object.shares
	if id >= 0 {
		for _, s := range p.change.sharesOf(id) {
			shares = addShare(shares, s)
		}
	}
	p.object.shares = shares
	if slices.ContainsFunc(shares, func(s GroupShare) bool { return !s.empty() }) {
		p.groups = appendShares(p.groups, shares, false, p.change.hasRows)
	}
}

// merge writes object i of a block, changed by object id of the table, unless nothing is left. It
// empties the object of the table.
func (p *Patch) merge(r *blockReader, i, id int, rows int64) error {
	t := p.change
	p.rest = r.Rest
	p.more = t.classWeights(id, p.more)
	if err := p.addUp(); err != nil {
		return err
	}
	if t.hasRows {
		page, at := t.place(id)
		rows += page.rows[at]
		if rows < 0 || (rows == 0) != (len(p.sum) == 0) {
			return errSubtracted
		}
	}
	t.empty(id)
	if len(p.sum) == 0 {
		p.pass(r, i)
		p.from++
		return nil
	}
	p.tail = appendClasses(p.tail, p.sum, rows, t.hasRows)
	return nil
}

// addUp sets p.sum to the sum of the class weights of p.object and p.more.
func (p *Patch) addUp() error {
	p.sum = p.sum[:0]
	own, more := p.object.labels, p.more
	for len(own) > 0 || len(more) > 0 {
		var cw ClassWeight
		if len(more) == 0 || len(own) > 0 && own[0].Class <= more[0].Class {
			cw, own = own[0], own[1:]
		} else {
			cw.Class = more[0].Class
		}
		if len(more) > 0 && more[0].Class == cw.Class {
			cw.Weight += more[0].Weight
			more = more[1:]
		}
		if cw.Weight < 0 {
			return errSubtracted
		}
		if cw.Weight > 0 {
			p.sum = append(p.sum, cw)
		}
	}
	return nil
}

// makeRoom makes room for the objects of a block and for objects that only the table has.
func (p *Patch) makeRoom(r *blockReader) {
	if p.objects+r.objects > p.most {
		p.flush()
	}
	room := r.objects + p.change.n
	for f, width := range p.change.layout.Widths {
		p.columns[f] = slices.Grow(p.columns[f], room*width)
	}
	p.tail = slices.Grow(p.tail, len(r.Rest)+p.change.n*3) // most objects are few rows of one class
}

// pass copies the codes of objects [p.from, to) of the block.
func (p *Patch) pass(r *blockReader, to int) {
	p.objects += to - p.from
	for f, width := range p.change.layout.Widths {
		p.columns[f] = append(p.columns[f], r.columns[f][p.from*width:to*width]...)
	}
	p.from = to
}

// End returns the blocks. The last of them contain the objects that only the table has.
func (p *Patch) End() ([][]byte, error) {
	t := p.change
	if err := t.DropEmpty(); err != nil {
		return nil, err
	}
	for from := 0; from < t.n; {
		if p.objects >= p.most {
			p.flush()
		}
		to := min(t.n, from+p.most-p.objects)
		for f, width := range t.layout.Widths {
			p.columns[f] = t.appendColumn(p.columns[f], t.layout.Offsets[f], width, from, to)
		}
		p.tail = t.appendTail(p.tail, from, to)
		if t.groups != nil {
			p.groups = t.appendGroups(p.groups, from, to)
		}
		p.objects += to - from
		from = to
	}
	p.flush()
	return p.blocks, nil
}

// flush ends the block being written, unless it is empty.
func (p *Patch) flush() {
	if p.objects == 0 {
		return
	}
	const head = 16
	grouped := p.change.groups != nil
	block := make([]byte, 0, head+p.objects*p.change.layout.Stride+len(p.tail)+len(p.groups)+groupsLength)
	block = appendBlockHead(block, p.objects, p.change.hasRows, false, grouped)
	for f, column := range p.columns {
		block = append(block, column...)
		p.columns[f] = column[:0]
	}
	block = append(block, p.tail...)
	if grouped {
		at := len(block)
		block = endGroups(append(block, p.groups...), at)
	}
	p.blocks = append(p.blocks, block)
	p.objects, p.tail, p.groups = 0, p.tail[:0], p.groups[:0]
}

// empty removes all weight and all rows from an object.
func (t *Table) empty(id int) {
	p, at := t.place(id)
	p.weight[at] = 0
	if t.hasRows {
		p.rows[at] = 0
	}
	if t.groups != nil {
		t.groups.shares[id] = nil
	}
	if t.head == nil {
		return
	}
	for i := t.head[id]; i != 0; i = t.more[i-1].next {
		t.more[i-1].weight = 0
	}
}
